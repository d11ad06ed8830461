package event

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// fields writes the fields that an event of its kind has, in the order of the schema.
func (l *line) fields(e *Event) {
	switch e.Kind {
	case KindQuery:
		l.question(e)
	case KindDevice:
		l.device(e)
	case KindMesh:
		l.id("first", uint64(e.Device))
		l.small("rows", e.Rows)
		l.small("cols", e.Cols)
		l.spec(e.Spec)
		l.dram(e)
	case KindProgram:
		l.program(e)
	case KindReplace:
		l.id("program", uint64(e.Program))
		optID(l, "with", e.With)
	case KindRegister, KindUnregister, KindDispatch, KindEnqueue, KindEvict:
		l.id("program", uint64(e.Program))
		l.devices(e)
		l.flag("leaked", e.Leaked && e.Kind == KindUnregister)
	case KindTraceBegin:
		l.id("trace", e.Trace)
		l.devices(e)
	case KindRecord:
		l.id("trace", e.Trace)
		l.id("program", uint64(e.Program))
	case KindTraceEnd, KindReplay, KindRelease:
		l.id("trace", e.Trace)
	case KindAllocate:
		l.allocate(e)
	case KindFree:
		l.free(e)
	case KindRemove, KindResetPeaks, KindHybrid, KindLockstep, KindCBsFreed:
		l.devices(e)
	case KindOpStart:
		l.text("name", e.Name)
	default:
		l.seen(e)
	}
}

// seen writes the fields of events of sources that saw runs.
func (l *line) seen(e *Event) {
	switch e.Kind {
	case KindRun:
		l.run(e)
	case KindExecuted:
		if e.Known {
			l.id("program", uint64(e.Program))
		}
		l.devices(e)
	case KindHidden, KindAnomaly:
		l.text("code", e.Code)
		l.times("count", e.Count)
		l.some("detail", e.Detail)
		l.devices(e)
	case KindUpstream:
		l.upstream(e.Upstream)
	case KindEnd:
		l.count("nodes", e.Nodes)
		l.optNumber("rank", e.Rank)
		l.windows(e.Windows)
		if e.Spec != (l1.Spec{}) {
			l.spec(e.Spec)
		}
		l.from(e.From)
	}
}

func (l *line) devices(e *Event) {
	if e.Devices.OK {
		listIDs(l, "devices", e.Devices.V)
	}
}

func (l *line) question(e *Event) {
	q := e.Query
	if q.Err != nil {
		l.fail("", "is a query that makes no sense")
	}
	optID(l, "device", q.Device)
	optID(l, "program", q.Program)
	if q.Core.OK {
		l.text("core", q.Core.V.String())
	}
	l.optNumber("address", q.Address)
	if q.CB.OK {
		l.small("cb", int(min(q.CB.V, math.MaxInt32)))
		if q.CB.V > math.MaxInt32 {
			l.fail("cb", "is above 2^31-1")
		}
	}
	l.devices(e)
}

func (l *line) dram(e *Event) {
	if e.DRAM != 0 {
		l.number("dram_bytes", e.DRAM)
	}
}

func (l *line) device(e *Event) {
	l.id("device", uint64(e.Device))
	l.spec(e.Spec)
	l.dram(e)
	oneOf(l, "role", e.Role, RoleChip, RoleMesh, RoleNone)
	if e.Chips != nil {
		listIDs(l, "chips", e.Chips)
	}
	optID(l, "like", e.Like)
	l.from(e.From)
}

func (l *line) from(f From) {
	if f == (From{}) {
		return
	}
	l.open("from", '{')
	l.source("arch", f.Arch)
	l.source("base", f.Base)
	l.source("l1_small", f.Small)
	l.source("grid", f.Grid)
	l.end('}')
}

func (l *line) source(name string, s Source) {
	oneOf(l, name, s, FromOption, FromFile, FromArch, FromAssumed)
}

func (l *line) spec(s l1.Spec) {
	l.open("spec", '{')
	l.text("name", s.Name)
	if s.Arch != "" {
		if known, err := l1.ParseArch(string(s.Arch)); err != nil || known != s.Arch {
			l.fail("spec.arch", "is none that a log knows")
		}
		l.text("arch", string(s.Arch))
	}
	l.small("cols", s.Cols)
	l.small("rows", s.Rows)
	l.number("l1_size", s.L1Size)
	l.number("cb_base", s.CBBase)
	l.number("cb_align", s.CBAlign)
	l.number("l1_align", s.L1Align)
	l.number("l1_small", s.L1Small)
	l.small("cb_indices", s.CBIndices)
	l.end('}')
}

func (l *line) program(e *Event) {
	l.id("program", uint64(e.Program))
	l.some("name", e.Name)
	l.flag("as_written", e.AsWritten)
	l.bases(e.Bases)
	reversed := slices.IndexFunc(e.CBs, func(cb CB) bool { return cb.Size > jsonobject.MaxWhole })
	if reversed < 0 {
		reversed = len(e.CBs)
	}
	l.open("cbs", '[')
	for _, cb := range e.CBs[:reversed] {
		l.cb(cb)
	}
	l.end(']')
	if reversed == len(e.CBs) {
		return
	}
	l.open("ranges", '[')
	for _, cb := range e.CBs[reversed:] {
		l.cbRange(cb)
	}
	l.end(']')
}

func (l *line) bases(all []program.Base) {
	if len(all) == 0 {
		return
	}
	l.open("bases", '[')
	for _, base := range all {
		l.open("", '{')
		l.text("cores", base.Cores.String())
		l.number("address", base.Address)
		l.end('}')
	}
	l.end(']')
}

// cbRange writes a circular buffer by its range: a log has no other form for an end below the
// start. The circular buffers after it in a log are ranges too.
func (l *line) cbRange(cb CB) {
	if !cb.Fixed || cb.Kind != program.CircularBuffer || cb.Indices != nil || cb.Global || cb.Alias != 0 || cb.Synthesised {
		l.fail("cbs.size", "is above 2^63-1")
	}
	l.open("", '{')
	l.text("cores", cb.Cores.String())
	l.number("start", cb.Address)
	l.number("end", cb.Address+cb.Size) // wraps back to the end that was given
	l.end('}')
}

func (l *line) cb(cb CB) {
	l.open("", '{')
	switch {
	case cb.Kind > program.Scratchpad:
		l.fail("cbs.kind", "is none that a log knows")
	case cb.Kind != program.CircularBuffer:
		l.text("kind", fit.Kind(cb.Kind).Name())
	}
	l.text("cores", cb.Cores.String())
	l.number("size", cb.Size)
	if cb.Fixed {
		l.number("address", cb.Address)
	}
	l.flag("global", cb.Global)
	if len(cb.Indices) > 0 {
		l.open("indices", '[')
		for _, index := range cb.Indices {
			l.open("", '{')
			l.count("index", int64(index.Number))
			if index.PageSize != 0 {
				l.number("page_size", index.PageSize)
			}
			l.end('}')
		}
		l.end(']')
	}
	if cb.Alias != 0 {
		l.count("alias", int64(cb.Alias))
	}
	l.flag("synthesised", cb.Synthesised)
	l.end('}')
}

func (l *line) allocate(e *Event) {
	b := e.Buffer
	if b.Parts != nil || !b.Cores.IsEmpty() || b.Range != (l1.Range{}) {
		l.fail("parts", "belong in the event, not in its buffer")
	}
	l.id("buffer", uint64(b.ID))
	l.bufferKind(b.Kind)
	l.some("name", b.Name)
	l.devices(e)
	if b.Size != 0 {
		l.number("size", b.Size)
	}
	if b.Mode != fit.Lockstep {
		if b.Mode > fit.RangeLockstep {
			l.fail("mode", "is none that a log knows")
		}
		l.text("mode", b.Mode.String())
	}
	if !b.Hidden.IsEmpty() {
		l.text("hidden", b.Hidden.String())
	}
	l.flag("backing", b.Backing)
	l.flag("unsized", b.Unsized)
	if len(e.Parts) > 0 {
		l.open("parts", '[')
		for _, part := range e.Parts {
			l.part(part)
		}
		l.end(']')
	}
	optID(l, "named", e.Named)
	l.optNumber("per_core", e.PerCore)
	l.optNumber("address", e.Address)
	l.some("layout", e.Layout)
	l.some("unplaced", e.Unplaced)
	l.source("cores_from", e.CoresFrom)
	l.flag("earlier", e.Earlier)
	l.flag("corrects", e.Corrects)
}

func (l *line) bufferKind(k fit.Kind) {
	if k < fit.KindL1 || k > fit.KindSystem {
		l.fail("kind", "is none that a log knows")
	}
	l.text("kind", k.Name())
}

func (l *line) part(p Part) {
	l.open("", '{')
	if p.Cores.OK {
		l.text("cores", p.Cores.V.String())
	}
	if p.Range.End < p.Range.Start {
		l.fail("parts.size", "is negative")
	}
	l.number("address", p.Range.Start)
	l.number("size", p.Range.End-p.Range.Start)
	l.flag("synthesised", p.Synthesised)
	l.end('}')
}

func (l *line) free(e *Event) {
	if e.Buffer.ID != 0 || !e.Unknown {
		l.id("buffer", uint64(e.Buffer.ID))
	}
	if e.Buffer.Kind != 0 {
		l.bufferKind(e.Buffer.Kind)
	}
	l.devices(e)
	l.flag("unknown", e.Unknown)
	l.flag("again", e.Again)
	l.flag("earlier", e.Earlier)
	l.flag("leaked", e.Leaked)
}

func (l *line) run(e *Event) {
	l.id("program", uint64(e.Program))
	l.open("on", '[')
	for _, on := range e.On {
		l.open("", '{')
		l.id("device", uint64(on.Device))
		l.number("first", on.First)
		l.number("last", on.Last)
		if on.CBFirst != 0 || on.CBLast != 0 {
			l.number("cb_first", on.CBFirst)
			l.number("cb_last", on.CBLast)
		}
		if on.CBOp.OK {
			l.text("cb_op", on.CBOp.V)
		}
		l.end('}')
	}
	l.end(']')
	l.flag("inferred", e.Inferred)
	if e.Candidates != nil {
		l.workloads("candidates", e.Candidates)
	}
	l.flag("candidates_unsettled", e.CandidatesUnsettled)
	l.flag("continues", e.Continues)
	l.flag("unsettled", e.Unsettled)
	l.flag("aborted", e.Aborted)
	l.flag("persistent", e.Persistent)
}

// workloads writes a list of workloads. One program stands for itself, several are a list.
func (l *line) workloads(name string, all [][]program.ID) {
	l.open(name, '[')
	for _, of := range all {
		switch len(of) {
		case 0:
			l.fail(name, "has a workload without programs")
		case 1:
			l.id("", uint64(of[0]))
		default:
			listIDs(l, "", of)
		}
	}
	l.end(']')
}

func (l *line) windows(all []Window) {
	if len(all) == 0 {
		return
	}
	l.open("windows", '[')
	for _, one := range all {
		l.open("", '{')
		l.text("file", one.File)
		l.number("first", one.First)
		l.end('}')
	}
	l.end(']')
}

func (l *line) upstream(u Upstream) {
	l.open("upstream", '{')
	optID(l, "peak_cb", u.PeakCB)
	optID(l, "peak_l1", u.PeakL1)
	optID(l, "peak_dataflow_buffer", u.PeakDataflow)
	optID(l, "peak_scratchpad", u.PeakScratchpad)
	optID(l, "peak_total", u.PeakTotal)
	l.flag("wrapped", u.Wrapped)
	l.flag("per_core", u.PerCore)
	if len(u.Causes) > 0 {
		l.open("causes", '[')
		for _, c := range u.Causes {
			l.open("", '{')
			l.text("code", string(c.Code))
			l.text("figure", c.Figure)
			l.id("upstream_bytes", c.Upstream)
			l.id("exact_bytes", c.Exact)
			l.small("count", c.Count)
			l.end('}')
		}
		l.end(']')
	}
	l.end('}')
}
