package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// writeAnswer writes the first line, which answers, and a few details of it.
func writeAnswer(page *page, r *replay.Result, folds []fold) {
	d := fullestDevice(r)
	if d == nil {
		writeNothing(page, r)
		return
	}
	where := ""
	for _, f := range folds {
		if slices.Contains(f.devices, d) {
			where = f.where()
		}
	}
	f := d.Fullest
	verdict := ""
	if r.Count(replay.CodeBeyondL1) > 0 {
		verdict = "does not fit; "
	}
	page.line("%s%s: %s CB bytes%s, %s, %s", verdict, subject(r), grouped(f.Bytes), ofUsable(r.SpecOf(d.ID), f.Bytes), where, by(r, f.Program))

	page.note(note{"core", fmt.Sprintf("%s; %s registered, ends at %s", cores(f), rounded(f.Bytes), end(r.SpecOf(d.ID), f.End))},
		note{"program", share(r, f)})
}

// share says which program takes how much of the core.
func share(r *replay.Result, f *replay.Fullest) string {
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
func cores(f *replay.Fullest) string {
	if f.Cores > 1 {
		return fmt.Sprintf("%s and %s more", f.Core, grouped(f.Cores-1))
	}
	return f.Core.String() + " alone"
}

// end says where an end address lies in L1.
func end(s replay.Spec, address uint64) string {
	switch size := s.L1Size; {
	case size == 0:
		return grouped(address)
	case address > size:
		return fmt.Sprintf("%s (%s beyond L1)", grouped(address), grouped(address-size))
	default:
		return fmt.Sprintf("%s (%s below the top of L1)", grouped(address), grouped(size-address))
	}
}

// ofUsable says what share of the usable L1 of a chip the bytes are, and which chip that is.
func ofUsable(s replay.Spec, bytes uint64) string {
	base := string(s.Arch)
	if s.ArchFrom == event.FromAssumed {
		base += " assumed"
	}
	if share := usableShare(s, bytes); share != "" {
		return fmt.Sprintf("%s (%s)", share, base)
	}
	return ""
}

// usableShare says what share of usable L1 the bytes are; nothing where that is not known.
func usableShare(s replay.Spec, bytes uint64) string {
	usable := s.UsableBytes()
	if usable == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of usable L1", percent(bytes, usable))
}

// by says in short what a program belongs to.
func by(r *replay.Result, p replay.ProgramDetail) string {
	if p.Op == "" {
		return nodes(r, p)
	}
	return shown.Start(string(caller(p.Op)), 40)
}

// nodes names a program's nodes.
func nodes(r *replay.Result, p replay.ProgramDetail) string {
	if p.First == p.Last {
		return r.Inside(p.First, p.T)
	}
	return r.NodeWord() + "s " + nodeRange(r, p)
}

// writeNothing answers for a capture without a byte of circular buffers on a core.
func writeNothing(page *page, r *replay.Result) {
	var local, global, apart int64
	var peak, registered uint64
	var names []string
	for _, d := range r.Devices {
		peak, registered = max(peak, d.CorePeak), max(registered, d.Registered)
		local, global, apart = local+d.LocalCBs, global+d.GlobalCBs, apart+d.Dataflow.Nodes+d.Scratchpad.Nodes
		names = append(names, fold{&d, []*replay.Device{&d}}.where())
	}
	where := strings.Join(names, ", ")
	if len(names) > 3 {
		where = shown.Plural(len(names), "device")
	}
	switch {
	case r.Nodes == 0:
		page.line("nothing to count: the %s has no %ss", r.Source(), r.NodeWord())
	case local > 0 && r.Only.Core.OK:
		page.line("core %v: 0 bytes, %s: nothing is registered on it", r.Only.Core.V, where)
	case peak > 0 && registered == 0:
		page.line("fullest core: 0 bytes, %s: nothing is registered any more; %s bytes at most before", where, grouped(peak))
	case local > 0:
		page.line("fullest core: 0 bytes, %s: the %s cover no core or no byte", where, shown.Plural(local, "local CB"))
	case global > 0:
		page.line("fullest core: 0 bytes, %s: %s of tensors, without bytes of their own",
			where, all(global, "CB is a view", "CBs are views"))
	case apart > 0:
		page.line("fullest core: 0 bytes, %s: no circular buffers, but %s", where, others(r))
	case r.Count(replay.CodeCacheHit) > 0 || r.Count(replay.CodeFreeWithoutCBs) > 0 || r.Count(replay.CodeNotShown) > 0:
		page.line("cannot tell: programs ran, but the %s shows none of their circular buffers", r.Source())
	case r.Log && r.Checks.Failed > 0:
		page.line("does not fit: refused %s of %s, nothing is registered", grouped(r.Checks.Failed), shown.Plural(r.Checks.Runs, "program run"))
	case r.Log && r.Count(replay.CodeEventRefused) > 0:
		page.line("nothing is registered: refused %s of the log", shown.Plural(r.Count(replay.CodeEventRefused), "event"))
	default:
		page.line("nothing to count: the %s places no circular buffer", r.Source())
	}
}

// others counts dataflow buffers and scratchpads. What they take is said below.
func others(r *replay.Result) string {
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

// subject is the core that a report begins with.
func subject(r *replay.Result) string {
	if r.Only.Core.OK {
		return "core " + r.Only.Core.V.String()
	}
	return "fullest core"
}
