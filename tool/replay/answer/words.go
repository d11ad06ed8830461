package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// words explain a code: its meaning for the figures, and the cure.
type words struct {
	code Code
	// one and many describe it, after the count.
	one, many string
	// means has the consequence; "" where another part of the report has it.
	means string
}

// anomalyWords has all codes, the most important one first.
func anomalyWords() []words { return slices.Concat(graveWords(), serverWords(), mildWords()) }

// graveWords have the codes that bear on what ran and what lived.
func graveWords() []words {
	return []words{
		{CodeBeyondL1, "program ends beyond L1", "programs end beyond L1",
			"does not fit; if this is another chip, say so with --arch"},
		{CodeBufferBeyondL1, "buffer ends beyond L1", "buffers end beyond L1",
			"the L1 of the device must be larger: say so with --arch or --set l1=BYTES"},
		{CodeTensorsOnly, "dump of an allocator lists tensors alone", "dumps of an allocator list tensors alone",
			"CBs and programs are not in it, nor what came and went between two moments"},
		{CodeOutsideGrid, "run names cores outside the compute grid", "runs name cores outside the compute grid",
			"tt-metal refuses it: it is judged, and neither registered nor left in L1"},
		{CodeOperationFailed, "operation failed", "operations failed",
			"what it placed before it failed is counted"},
		{CodeAborted, "operation was aborted", "operations were aborted",
			"what they placed is judged and registered, and did not run"},
		{CodeEventRefused, "event of the log was refused", "events of the log were refused",
			"what is refused changes nothing, and is not counted"},
		{CodeRefused, "program run was refused when it was enqueued", "program runs were refused when they were enqueued",
			"the log says so: they changed nothing, and are not judged again"},
		{CodeTornLine, "cut last line", "cut last lines",
			"the log was cut: what came later is missing"},
		{CodeUnfinished, "function did not end", "functions did not end",
			"the run threw, or the capture was cut: what came later is missing"},
		{CodeBetween, "device of which the database does not list the buffers that lived when each operation ended",
			"devices of which the database does not list the buffers that lived when each operation ended",
			"frees between operations do not show: L1 buffers may be gone that are counted; read the JSON of the run"},
		{CodeOperationLost, "operation of which the database has no graph", "operations of which the database has no graph",
			"what they placed is not shown, as of one that failed; read the JSON of the run"},
		{CodeUnreadable, "node or row with a field that cannot be read", "nodes or rows with fields that cannot be read",
			"hidden, and with it the program of a CB, and everything alive on the device of a free: the other figures stand"},
		{CodeRangeLockstep, "program fits or not by a buffer in range lockstep", "programs fit or not by a buffer in range lockstep",
			"whether tt-metal compares it with programs on other cores is not known: allocate it in lockstep or per core"},
		{CodePerCoreHidden, "buffer was allocated per core, and hides addresses", "buffers were allocated per core, and hide addresses",
			"captures record the address on the first core alone: programs on the others may clash with it; an event log can name each address"},
		{CodeBuffersOverlap, "L1 buffer shares bytes of a core with another one", "L1 buffers share bytes of a core with another one",
			"no allocator does that: it is wrong, or a free is missing in the file"},
		{CodePersistentL1, "program run depends on pages at the bottom of L1", "program runs depend on pages at the bottom of L1",
			"a buffer is recorded below CBs: they do not start at the base; capture all programs with addresses, without NO_DISPATCH"},
		{CodeIDCollision, "number is that of a mesh and of a chip", "numbers are those of a mesh and of a chip",
			"nothing says which of them its CBs name: they are read as the chip's, and may lie on the chips of the mesh"},
		{CodeSpecsDiffer, "device or mesh differs in base or L1 size", "devices or meshes differ in base or L1 size",
			"the first device's L1 is used for all; a program of a mesh whose chips differ in base is hidden if it has no addresses"},
		{CodeMeshUnknown, "free names a mesh whose chips the capture does not show", "frees name meshes whose chips the capture does not show",
			"programs ran together: there are more of them, alive figures may be too high, and CBs that seem to share bytes may not"},
		{CodeCacheHit, "operation hit the program cache", "operations hit the program cache",
			"what they place does not show again; alive figures miss it, and so do registered ones if the first run was not captured"},
		{CodeFreeWithoutCBs, "operation freed CBs and placed none", "operations freed CBs and placed none",
			"probably a program-cache hit, whose CBs no capture shows; L1 is as full as at its first run: capture that one, or clear the program cache"},
		{CodeNotShown, "operation ran something that is not shown", "operations ran something that is not shown",
			"real runs show no dataflow buffers, nor what was in the program cache before: capture it with NO_DISPATCH, and clear the program cache afterwards"},
		{CodeUnsettled, "program run does not fit that may be several programs", "program runs do not fit that may be several programs",
			"frees announce more programs than can be told apart; one after the other they may fit"},
		{CodeInferred, "operation ran from the program cache", "operations ran from the program cache",
			"taken to run what ran last time, in figures of the whole L1 and in checks; alive figures miss it"},
		{CodeAmbiguous, "ambiguous cache hit", "ambiguous cache hits", "all are judged; figures follow the last"},
		{CodeBufferUnplaced, "buffer in L1 whose place is not known", "buffers in L1 whose places are not known",
			"counted in bytes, but on no core; --l1-small places L1_SMALL buffers without address"},
		{CodeBufferUnsized, "buffer in L1 without a size per core", "buffers in L1 without a size per core",
			"tt-metal's test compares with the address alone, and no core counts a byte"},
	}
}

// serverWords have the codes of allocation servers.
func serverWords() []words {
	return []words{
		{CodeClientLost, "client of the server was closed", "clients of the server were closed",
			"what it had and said later is not known: its devices are incomplete"},
		{CodeNotRecorded, "event before this log was not recorded", "events before this log were not recorded",
			"the disk was full, or failed: programs that did not fit then are not recorded"},
		{CodeOddRecord, "record contradicts what was recorded before", "records contradict what was recorded before",
			"something came or went that no record shows: start the server before the processes"},
		{CodeEveryCore, "log of records that name no cores", "logs of records that name no cores",
			"each CB counts as if it were on every core: figures of CBs are a bound"},
	}
}

// mildWords have the codes that bear on names and single figures, or on nothing.
func mildWords() []words {
	return []words{
		{CodeUnattributed, "buffer of a program names no core", "buffers of programs name no core",
			"the true figures are higher"},
		{CodeSmallReached, "program run ends in L1_SMALL", "program runs end in L1_SMALL",
			"tt-metal compares it with all of L1: it runs, over what L1_SMALL buffers may hold there"},
		{CodeSmallWrong, "device has a bank of L1 that contradicts its L1 or an L1_SMALL buffer",
			"devices have a bank of L1 that contradicts their L1 or an L1_SMALL buffer",
			"the size of L1_SMALL does not follow from it; --l1-small states it"},
		{CodeMixedAddresses, "program has only some addresses", "programs have only some addresses",
			"the missing ones were placed around the recorded ones"},
		{CodeOverlap, "program has CBs that share bytes", "programs have CBs that share bytes",
			"shared bytes count once; if it is not meant, one CB overwrites another"},
		{CodeBadDeviceTensors, "device_tensors cannot be read", "device_tensors cannot be read",
			"if that hides the chips of a mesh, alive figures may be too high"},
		{CodeUnknownType, "node of an unknown kind", "nodes of unknown kinds",
			"skipped; memory that is placed there is not counted"},
		{CodeEndWithoutStart, "function ended that did not start", "functions ended that did not start",
			"names of operations may be wrong, bytes are not"},
		{CodeFreeUnknown, "free of a buffer from before the capture", "frees of buffers from before the capture",
			"no effect on CBs"},
		{CodeFreeAgain, "free of a buffer that was freed already", "frees of buffers that were freed already",
			"no effect"},
		{CodeDuplicateKey, "key comes twice", "keys come twice", "the values are equal: no effect"},
		{CodeDanglingConnection, "connection to a missing node", "connections to missing nodes",
			"the capture may be cut; no figure depends on it"},
		// These are said elsewhere: the first two in the first line, the last in the last.
		{CodeNoNodes, "capture without nodes", "captures without nodes", ""},
		{CodeNoCBs, "capture without CBs", "captures without CBs", ""},
		{CodeUpstreamWrapped, "sum of ttnn wrapped", "sums of ttnn wrapped", ""},
	}
}

// AnomalyTexts returns a text for each kind of anomaly, except the given reasons, the most important one first.
func (r *Result) AnomalyTexts(told ...Reason) (out []string) {
	all := anomalyWords()
	rank := func(a AnomalyCount) int {
		i := slices.IndexFunc(all, func(w words) bool { return w.code == a.Code })
		return cmp.Or(i+1, len(all)+1) // a code without words comes last
	}
	sorted := slices.Clone(r.Anomalies)
	slices.SortStableFunc(sorted, func(a, b AnomalyCount) int { return rank(a) - rank(b) })
	for _, a := range sorted {
		code := shown.Start(string(a.Code), 60)
		w := words{one: code, many: code, means: "see the documentation"}
		if i := rank(a); i <= len(all) {
			w = all[i-1]
		}
		if w.means != "" && !slices.ContainsFunc(told, func(why Reason) bool { return why.Code == a.Code }) {
			out = append(out, r.anomalyText(a, w))
		}
	}
	return out
}

func (r *Result) anomalyText(a AnomalyCount, w words) string {
	what, where := w.many, ""
	if a.Count == 1 {
		what = w.one
	}
	switch {
	case r.Log && a.Detail != "": // which names the line
		if a.T != "" {
			where = "t " + a.T.String()
		}
	case a.First >= 0 && a.Count > 1:
		where = "first at " + r.Inside(uint64(a.First), a.T)
	case a.First >= 0:
		where = r.Inside(uint64(a.First), a.T)
	}
	if a.Detail != "" {
		if where != "" {
			where += ", "
		}
		where += detailText(a)
	}
	if where != "" {
		where = " (" + where + ")"
	}
	inInput := func(text string) string { return strings.ReplaceAll(text, "the capture", "the "+r.Source()) }
	return fmt.Sprintf("%s %s%s: %s", l1.Bytes(a.Count).Exact(), inInput(what), where, inInput(w.means))
}

// detailText is the detail of an anomaly for people. Of an exception it is the text before the backtrace,
// on one line.
func detailText(a AnomalyCount) string {
	if a.Code != CodeAborted {
		return shown.Start(a.Detail, 80)
	}
	text, _, _ := strings.Cut(a.Detail, "\nbacktrace:")
	return shown.Start(strings.Join(strings.Fields(text), " "), 400)
}

// Codes returns all codes of anomalies and of reasons, by name.
func Codes() []Code {
	out := []Code{
		CodeEarlierUsed, CodeEarlierFreed, CodeBuffersApart, CodeL1Unknown, CodeChipAssumed, CodeBudgetUnknown, CodeBanksUnknown, CodeNothingRan, CodeMayClash, CodeMeshBuffers,
	}
	for _, w := range anomalyWords() {
		out = append(out, w.code)
	}
	slices.Sort(out)
	return out
}

// Reason returns a code with its text.
func (r *Result) Reason(code Code) Reason { return Reason{code, r.reasonText(code)} }

func (r *Result) reasonText(code Code) string {
	if text := r.roomReason(code); text != "" {
		return text
	}
	bytes := func(n uint64) string { return l1.Bytes(n).Exact() }
	switch source := r.Source(); code {
	case CodeEarlierUsed:
		return fmt.Sprintf("%s from before the %s, with %s bytes over all cores: not counted, because nothing says where they lie",
			shown.Plural(r.Earlier.L1, "L1 buffer"), source, bytes(r.Earlier.Bytes))
	case CodeEarlierFreed:
		return fmt.Sprintf("%s of L1 buffers from before the %s: until then they lay in L1, and are not counted", shown.Plural(r.Earlier.Freed, "free"), source)
	case CodeL1Unknown:
		return "the size of L1 is not known, or the base of circular buffers does not lie in it: buffers that end beyond it cannot be found"
	case CodeChipAssumed:
		if r.onQuasarAlone() {
			return fmt.Sprintf("%s is assumed: dataflow buffers end beyond its L1 of %s, and fit on a quasar alone, whose L1 has %s: --arch names the chip, --base its base",
				r.Spec.Arch, bytes(r.Spec.L1Size), bytes(l1.ArchSpec(l1.Quasar).L1Size))
		}
		other, end := l1.ArchSpec(l1.Wormhole), uint64(0)
		for _, d := range r.Devices {
			end = max(end, d.HighestEnd)
		}
		return fmt.Sprintf("%s is assumed: circular buffers end at %s, beyond the L1 of a %s, which ends at %s: --arch names the chip",
			r.Spec.Arch, bytes(end), other.Arch, bytes(other.L1Size))
	case CodeBudgetUnknown:
		return "the budget is a share of usable L1, whose size is not known or not the same everywhere: give the budget in bytes"
	case CodeBanksUnknown:
		return "the grid of a device is not known, or leads to other bytes than that of another: --size takes the bytes of each core as well"
	case CodeNothingRan:
		return r.nothingRan()
	case CodeMayClash:
		return r.clashText()
	case CodeMeshBuffers:
		return "L1 buffers are recorded under the id of a mesh alone, at " + shown.Plural(r.Recording.Unplaced, "address") + ": no record says on which chips"
	case CodeNoNodes:
		return fmt.Sprintf("the %s has no %ss", source, r.NodeWord())
	case CodeNoCBs:
		if r.Log {
			return "no program of the log was registered"
		}
		return "the capture places no circular buffer, dataflow buffer or scratchpad"
	}
	return r.codeText(code)
}

// apart is the reason that L1 buffers of a device count nowhere.
func (r *Result) apart(id uint64) Reason {
	return Reason{CodeBuffersApart, fmt.Sprintf(
		"L1 buffers of device %d are compared with no program: nothing in the %s says whether they lie where programs run", id, r.Source())}
}

// codeText explains an anomaly of the Result.
func (r *Result) codeText(code Code) string {
	i := slices.IndexFunc(r.Anomalies, func(a AnomalyCount) bool { return a.Code == code })
	for _, w := range anomalyWords() {
		if i >= 0 && w.code == code && w.means != "" {
			return r.anomalyText(r.Anomalies[i], w)
		}
	}
	return shown.Start(string(code), 60)
}

func (r *Result) nothingRan() string {
	registered := int64(0)
	for i := range r.Devices {
		if r.Log {
			registered += r.Devices[i].Programs
		}
	}
	if r.Recording.CBs > 0 {
		return "a recording shows no runs, and a budget is of what runs"
	}
	which := "no program is"
	switch registered {
	case 0:
	case 1:
		which = "the registered program is not"
	default:
		which = fmt.Sprintf("none of %s is", shown.Plural(registered, "registered program"))
	}
	return which + " known to have run" + r.Only.Suffix()
}

// roomReason gives a reason for "cannot tell" where room needs other words than check; "" elsewhere.
func (r *Result) roomReason(code Code) string {
	if r.Rooms == nil {
		return ""
	}
	switch code {
	case CodeChipAssumed:
		other := l1.ArchSpec(l1.Wormhole)
		return fmt.Sprintf("%s is assumed; the L1 of a %s ends at %s: --arch names the chip", r.Spec.Arch, other.Arch, l1.Bytes(other.L1Size).Exact())
	case CodeAmbiguous:
		return "an operation hit the program cache and ran one of several programs: all of them were taken to be in the way"
	case CodeUnsettled:
		return "a run may be several programs: their circular buffers may end lower than was reckoned"
	case CodeBufferUnsized:
		return "an L1 buffer has an address and no size: all above it was taken to be in the way"
	case CodeNothingRan:
		if r.Recording.CBs > 0 {
			return "a recording names no cores and no ends of L1 buffers: there is no more room than this"
		}
	case CodePerCoreHidden:
		return "an L1 buffer that was allocated per core hides its address on some cores: they were taken to be full"
	}
	return ""
}

// Count returns how often something odd was seen.
func (r *Result) Count(code Code) int64 {
	for _, a := range r.Anomalies {
		if a.Code == code {
			return a.Count
		}
	}
	return 0
}

// Source names the kind of input: "capture", "log", or "dump" of an allocator.
func (r *Result) Source() string {
	if r.Count(CodeTensorsOnly) > 0 {
		return "dump"
	}
	if r.Log {
		return "log"
	}
	return "capture"
}

// NodeWord names the things that a counter of the Result counts: "node" or "event". A dump counts its
// moments. A nil Result counts nodes.
func (r *Result) NodeWord() string {
	if r != nil && r.Log {
		return "event"
	}
	if r != nil && r.Count(CodeTensorsOnly) > 0 {
		return "moment"
	}
	return "node"
}

// Where names a node of a capture, or an event of a log with its time: "node 3", "event 8 (t 1210)".
func (r *Result) Where(at uint64, t json.Number) string {
	if t == "" {
		return r.Inside(at, t)
	}
	return fmt.Sprintf("%s %d (t %s)", r.NodeWord(), at, t)
}

// Inside is Where as it stands in brackets: "event 8, t 1210".
func (r *Result) Inside(at uint64, t json.Number) string {
	text := fmt.Sprintf("%s %d", r.NodeWord(), at)
	if t != "" {
		text += ", t " + t.String()
	}
	return text
}

// Whose names something by the functions that made it, in at most n columns, and its node or event:
// "ttnn.add > Add (node 3)".
func (r *Result) Whose(op Name, at uint64, t json.Number, n int) string {
	if op == "" {
		return r.Where(at, t)
	}
	return fmt.Sprintf("%s (%s)", shown.Nested(strings.ReplaceAll(string(op), "tt::tt_metal::", ""), n), r.Inside(at, t))
}

// Verdict returns the verdict of a failed check. Its advice names buffers as the tables do.
func (r *Result) Verdict(f *FailedCheck) fit.Verdict {
	return f.Verdict.Named(func(b fit.Buffer) string {
		info, ok := f.Buffers[b.ID]
		if !ok {
			return b.String()
		}
		return r.Named(info, 80)
	})
}

// Named returns what a buffer is called: its tensor, if that is known, and the operation that returned it, or else in which
// it was allocated. The name of the operation has so many columns.
func (r *Result) Named(b BufferInfo, n int) string {
	name := b.Tensor.Name(b.Layout)
	switch {
	case name == "":
	case b.Tensor.Output == "":
		name += ", made in "
	case b.Tensor.Caller != "":
		return name + ", output of " + r.owner(b, n) + ", " + b.Tensor.Caller
	default:
		name += ", output of "
	}
	return name + r.owner(b, n)
}

// Short returns the shape of a buffer's tensor, if that is known, and its operation.
func (r *Result) Short(b BufferInfo, n int) string {
	if b.Tensor == nil || b.Tensor.Shape == "" {
		return r.owner(b, n)
	}
	return b.Tensor.Shape + ", " + r.owner(b, n)
}

// owner names the operation that returned a buffer, or else allocated it.
func (r *Result) owner(b BufferInfo, n int) string {
	if b.Tensor != nil && b.Tensor.Output != "" {
		return r.Whose(Name(b.Tensor.Output), b.Tensor.OutputAt, "", n)
	}
	return r.Whose(b.Op, b.At, b.T, n)
}
