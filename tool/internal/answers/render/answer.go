package render

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// writeAnswer writes the first line: the verdict, the file and the number that decides.
func writeAnswer(page *page, r *answer.Result, j answer.Judgement, folds []deviceFold[answer.Device]) {
	verdict := answerWords(j.Answer)
	if r.Count(answer.CodeBeyondL1) > 0 && (r.Checks.Failed == 0 || j.Answer == answer.DoesNotFit) {
		verdict = "does not fit"
	}
	page.line("%s%s", head(verdict, r), decisive(r, j, folds))
}

// head begins the first line: a word, the file and the filter.
func head(word string, r *answer.Result) string {
	file := shown.End(r.File, 60)
	if r.Rank.V > 0 { // 0 is that of most captures
		file += fmt.Sprintf(" (rank %d)", r.Rank.V)
	}
	return fmt.Sprintf("%s  %s%s  ", word, file, r.Only.Suffix())
}

// decisive says how much of a core's L1 was held at most, or registered where nothing is known to have run. Of some
// operations, it says how many runs they have.
func decisive(r *answer.Result, j answer.Judgement, folds []deviceFold[answer.Device]) string {
	row, d := r.Fullest(), r.FullestDevice()
	var text string
	var id event.Opt[uint64]
	switch {
	case r.Only.Op != "":
		return check{j, r}.ran() + doubtful(r)
	case row != nil && row.Peak.Bytes > 0:
		p := answer.UsablePeak{}
		if row.Usable != nil {
			p = *row.Usable
		} else {
			p.Tracked = row.Peak.Bytes // all of it lies in L1_SMALL
		}
		id, text = row.ID, areasText(r.SpecOf(row.ID), p.Bytes, p.Tracked)
	case d != nil:
		id, text = d.ID, bytesText(r.SpecOf(d.ID), d.Fullest.Bytes)+" registered"
	default:
		return nothingCounted(r)
	}
	text += " on " + subject(r)
	if len(folds) > 1 {
		text += " of " + deviceName(r, id)
	}
	return text + doubtful(r)
}

// doubtful ends the first line with the assumptions that its number rests on.
func doubtful(r *answer.Result) string {
	var doubts []string
	if r.Spec.ArchFrom == event.FromAssumed {
		doubts = append(doubts, string(r.Spec.Arch)+"?")
	}
	if r.Placed {
		doubts = append(doubts, "placed?")
	}
	if len(doubts) == 0 {
		return ""
	}
	return "; " + strings.Join(doubts, ", ")
}

// bytesText puts bytes in relation to usable L1: "125,504 of 1,461,248 usable bytes (8.6%, 122.6 KiB)".
func bytesText(s answer.Spec, n uint64) string {
	usable := s.UsableBytes()
	switch {
	case usable == 0 && n < 1024:
		return grouped(n) + " bytes"
	case usable == 0:
		return fmt.Sprintf("%s bytes (%s)", grouped(n), rounded(n))
	case n < 1024:
		return fmt.Sprintf("%s of %s usable bytes (%s)", grouped(n), grouped(usable), percent(n, usable))
	}
	return fmt.Sprintf("%s of %s usable bytes (%s, %s)", grouped(n), grouped(usable), percent(n, usable), rounded(n))
}

// areasText is bytesText of the bytes below L1_SMALL. It adds the bytes in L1_SMALL, if there are any.
func areasText(s answer.Spec, below, tracked uint64) string {
	text := bytesText(s, below)
	if small := min(tracked-below, s.L1Small); small > 0 {
		text += fmt.Sprintf(", beside %s of %s in L1_SMALL", grouped(small), grouped(s.L1Small))
	}
	return text
}

// writeAtPeak writes what a core held when it held most, a row for each kind.
func writeAtPeak(page *page, r *answer.Result, row *answer.DeviceL1) {
	p := row.Peak.Composed()
	t := headed("bytes", "<what", "from", "to", "<whose")
	t.most = 45
	for k := fit.KindCB; k.InL1(); k++ {
		var all []answer.L1Resident
		for _, x := range p.Residents {
			if x.Kind == k {
				all = append(all, x)
			}
		}
		if k.Below() || p.Kinds[k] == 0 || len(all) == 0 {
			continue
		}
		low, high, largest, owners := all[0].Start, all[0].End, all[0], map[answer.ProgramRun]bool{}
		for _, x := range all {
			low, high = min(low, x.Start), max(high, x.End)
			owners[owner(x)] = true
			if x.Bytes > largest.Bytes {
				largest = x
			}
		}
		more := ""
		if n := len(owners) - 1; n > 0 {
			more = fmt.Sprintf(" and %s more", grouped(n))
		}
		t.named(func(n int) string { return shortOwner(r, largest, n-len(more)) + more },
			p.Kinds[k], shown.Plural(len(all), k.String()), low, high)
	}
	page.table(atPeak(r, row), t)
}

// atPeak names the moment of a peak, and the cores.
func atPeak(r *answer.Result, row *answer.DeviceL1) string {
	p := row.Peak
	on := "core " + p.Core.String()
	if n := p.Cores.Len() - 1; n > 0 {
		on += fmt.Sprintf(" and %s more", grouped(n))
	}
	if len(r.L1) > 1 {
		on += " of " + deviceName(r, row.ID)
	}
	at := r.Where(p.At, p.T)
	if p.Op != "" {
		at = fmt.Sprintf("%s (%s)", shortOp(r, p.Op, p.At, p.T), r.Inside(p.At, p.T))
	}
	return fmt.Sprintf("at the peak, %s, on %s", at, on)
}

// share says which program takes how much of the core.
func share(r *answer.Result, f *answer.FullestCore) string {
	who := nodes(r, f.Program)
	if f.Program.Op != "" {
		who = opName(f.Program.Op, 120) + " (" + who + ")"
	}
	if f.Share < f.Bytes {
		return fmt.Sprintf("%s takes most of them: %s", who, grouped(f.Share))
	}
	return who + " takes all of them"
}

// cores says on which cores most is registered.
func cores(f *answer.FullestCore) string {
	if f.Cores > 1 {
		return fmt.Sprintf("%s and %s more", f.Core, grouped(f.Cores-1))
	}
	return f.Core.String() + " alone"
}

// end returns an end address, and how far it lies beyond L1.
func end(s answer.Spec, address uint64) string {
	if s.L1Size > 0 && address > s.L1Size {
		return fmt.Sprintf("%s (%s beyond L1)", grouped(address), grouped(address-s.L1Size))
	}
	return grouped(address)
}

// nodes names a program's nodes.
func nodes(r *answer.Result, p answer.ProgramDetail) string {
	if p.First == p.Last {
		return r.Inside(p.First, p.T)
	}
	return r.NodeWord() + "s " + nodeRange(p)
}

// nothingCounted says why a capture has no byte of circular buffers on a core.
func nothingCounted(r *answer.Result) string {
	var local, global, apart int64
	var peak, registered uint64
	var devices []string
	for _, d := range r.Devices {
		peak, registered = max(peak, d.CorePeak), max(registered, d.Registered)
		local, global, apart = local+d.LocalCBs, global+d.GlobalCBs, apart+d.Dataflow.Nodes+d.Scratchpad.Nodes
		devices = append(devices, names{namedDevice(&d)}.where())
	}
	where := strings.Join(devices, ", ")
	if len(devices) > 3 {
		where = shown.Plural(len(devices), "device")
	}
	switch {
	case r.Nodes == 0:
		return fmt.Sprintf("the %s has no %ss", r.Source(), r.NodeWord())
	case local > 0 && r.Only.Core.OK:
		return fmt.Sprintf("core %v: 0 bytes, %s: nothing is registered on it", r.Only.Core.V, where)
	case peak > 0 && registered == 0:
		return fmt.Sprintf("0 bytes, %s: nothing is registered any more; %s bytes at most before", where, grouped(peak))
	case local > 0:
		return fmt.Sprintf("0 bytes, %s: the %s cover no core or no byte", where, shown.Plural(local, "local CB"))
	case global > 0:
		return fmt.Sprintf("0 bytes, %s: %s of tensors, without bytes of their own",
			where, all(global, "CB is a view", "CBs are views"))
	case apart > 0:
		return fmt.Sprintf("0 bytes, %s: no circular buffers, but %s", where, others(r))
	case r.Count(answer.CodeCacheHit) > 0 || r.Count(answer.CodeFreeWithoutCBs) > 0 || r.Count(answer.CodeNotShown) > 0:
		return fmt.Sprintf("programs ran, but the %s shows none of their circular buffers", r.Source())
	case r.Log && r.Checks.Failed > 0:
		return fmt.Sprintf("refused %s of %s, nothing is registered", grouped(r.Checks.Failed), shown.Plural(r.Checks.Runs, "program run"))
	case r.Count(answer.CodeRefused) > 0:
		return fmt.Sprintf("nothing is registered; %s refused", shown.Plural(r.Count(answer.CodeRefused), "program run"))
	case r.Log && r.Count(answer.CodeEventRefused) > 0:
		return fmt.Sprintf("nothing is registered; refused %s of the log", shown.Plural(r.Count(answer.CodeEventRefused), "event"))
	default:
		return fmt.Sprintf("the %s places no circular buffer", r.Source())
	}
}

// others counts dataflow buffers and scratchpads. Notes below give their bytes.
func others(r *answer.Result) string {
	var dataflow, pads int64
	for _, d := range r.Devices {
		dataflow, pads = dataflow+d.Dataflow.Nodes, pads+d.Scratchpad.Nodes
	}
	var parts []string
	if dataflow > 0 {
		parts = append(parts, shown.Plural(dataflow, "dataflow buffer"))
	}
	if pads > 0 {
		parts = append(parts, shown.Plural(pads, "scratchpad"))
	}
	return strings.Join(parts, " and ")
}

// all says "the one CB is" or "all 3 CBs are".
func all(n int64, one, many string) string {
	if n == 1 {
		return "the only " + one
	}
	return "all " + grouped(n) + " " + many
}

// subject is the core that a report is about.
func subject(r *answer.Result) string {
	if r.Only.Core.OK {
		return "core " + r.Only.Core.V.String()
	}
	return "the fullest core"
}
