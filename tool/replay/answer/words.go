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
