package event

import (
	"math"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// fields reads the fields that an event of its kind has.
func (d *decoder) fields(o jsonobject.Object, e *Event) {
	switch e.Kind {
	case KindHeader:
		e.Source, e.Fleet = text(o, "source"), text(o, "fleet")
	case KindDevice:
		d.device(o, e)
	case KindMesh:
		e.Device = needID[device.ID](o, "first")
		e.Rows, e.Cols = int(o.Need("rows", math.MaxInt32)), int(o.Need("cols", math.MaxInt32))
		e.Spec, e.DRAM = needSpec(o), size(o, "dram_bytes")
	case KindProgram:
		e.Program = needID[program.ID](o, "program")
		e.Name = text(o, "name")
		e.AsWritten = flag(o, "as_written")
		for in := range o.Objects("bases") {
			e.Bases = append(e.Bases, program.Base{Cores: d.coreRangeSet(in), Address: in.Need("address", jsonobject.MaxWhole)})
		}
		d.cbs(o, e)
	case KindReplace:
		e.Program = needID[program.ID](o, "program")
		e.With = id[program.ID](o, "with")
	case KindRegister, KindUnregister, KindDispatch, KindEnqueue, KindEvict:
		e.Program = needID[program.ID](o, "program")
		e.Devices = ids[device.ID](o, "devices")
		e.Leaked = e.Kind == KindUnregister && flag(o, "leaked")
	case KindTraceBegin:
		e.Trace = o.NeedID("trace")
		e.Devices = ids[device.ID](o, "devices")
	case KindRecord:
		e.Trace = o.NeedID("trace")
		e.Program = needID[program.ID](o, "program")
	case KindTraceEnd, KindReplay, KindRelease:
		e.Trace = o.NeedID("trace")
	case KindAllocate:
		d.allocate(o, e)
	case KindFree:
		free(o, e)
	case KindRemove, KindResetPeaks, KindHybrid, KindLockstep, KindCBsFreed:
		e.Devices = ids[device.ID](o, "devices")
	case KindOpStart:
		e.Name = text(o, "name")
	default:
		seen(o, e)
	}
}

// seen reads the fields of events of sources that saw runs.
func seen(o jsonobject.Object, e *Event) {
	switch e.Kind {
	case KindRun:
		run(o, e)
	case KindExecuted:
		p := id[program.ID](o, "program")
		e.Program, e.Known = p.V, p.OK
		e.Devices = ids[device.ID](o, "devices")
	case KindHidden, KindAnomaly:
		if !o.Has("code") {
			o.Missing("code")
		}
		e.Code, e.Detail = text(o, "code"), text(o, "detail")
		e.Count = int64(number(o, "count", jsonobject.MaxInt).Or(1))
		e.Devices = ids[device.ID](o, "devices")
	case KindUpstream:
		upstream(o, e)
	case KindEnd:
		e.Nodes = int64(size(o, "nodes"))
		e.Rank = number(o, "rank", jsonobject.MaxWhole)
		e.From = from(o)
		for in := range o.Objects("windows") {
			e.Windows = append(e.Windows, Window{text(in, "file"), in.Need("first", jsonobject.MaxWhole)})
		}
		if o.Has("spec") {
			e.Spec = needSpec(o)
		}
	}
}

func (d *decoder) device(o jsonobject.Object, e *Event) {
	e.Device = needID[device.ID](o, "device")
	e.Spec, e.DRAM = needSpec(o), size(o, "dram_bytes")
	e.Role = word(o, "role", RoleChip, RoleMesh, RoleNone)
	e.Chips = ids[device.ID](o, "chips").V
	e.Like = id[device.ID](o, "like")
	e.From = from(o)
}

func from(o jsonobject.Object) (f From) {
	in, ok := o.Object("from")
	if !ok {
		return f
	}
	return From{Arch: source(in, "arch"), Base: source(in, "base"), Small: source(in, "l1_small"), Grid: source(in, "grid")}
}

func source(o jsonobject.Object, name string) Source {
	return word(o, name, FromOption, FromFile, FromArch, FromAssumed)
}

func run(o jsonobject.Object, e *Event) {
	e.Program = needID[program.ID](o, "program")
	if !o.Has("on") {
		o.Missing("on")
	}
	for on := range o.Objects("on") {
		row := RunOn{
			Device: needID[device.ID](on, "device"),
			First:  on.Need("first", jsonobject.MaxWhole), Last: on.Need("last", jsonobject.MaxWhole),
			CBFirst: size(on, "cb_first"), CBLast: size(on, "cb_last"),
		}
		row.CBOp.V, row.CBOp.OK = on.Text("cb_op")
		e.On = append(e.On, row)
	}
	e.Candidates = idLists[program.ID](o, "candidates")
	e.CandidatesUnsettled = flag(o, "candidates_unsettled")
	e.Inferred, e.Continues, e.Aborted = flag(o, "inferred"), flag(o, "continues"), flag(o, "aborted")
	e.Unsettled, e.Persistent = flag(o, "unsettled"), flag(o, "persistent")
}

// upstream reads ttnn's own figures, which may have run below zero and are then huge.
func upstream(o jsonobject.Object, e *Event) {
	in, ok := o.Object("upstream")
	if !ok {
		o.Missing("upstream")
		return
	}
	u := &e.Upstream
	u.PeakCB, u.PeakL1 = id[uint64](in, "peak_cb"), id[uint64](in, "peak_l1")
	u.PeakDataflow, u.PeakScratchpad = id[uint64](in, "peak_dataflow_buffer"), id[uint64](in, "peak_scratchpad")
	u.PeakTotal = id[uint64](in, "peak_total")
	u.Wrapped, u.PerCore = flag(in, "wrapped"), flag(in, "per_core")
	for cause := range in.Objects("causes") {
		u.Causes = append(u.Causes, UpstreamCause{
			Code: CauseCode(text(cause, "code")), Figure: text(cause, "figure"),
			Upstream: cause.NeedID("upstream_bytes"), Exact: cause.NeedID("exact_bytes"),
			Count: int(cause.Need("count", jsonobject.MaxInt)),
		})
	}
}

func needSpec(o jsonobject.Object) (s l1.Spec) {
	in, ok := o.Object("spec")
	if !ok {
		o.Missing("spec")
		return s
	}
	if arch := text(in, "arch"); arch != "" {
		known, err := l1.ParseArch(arch)
		if err != nil {
			failParse(in, "arch", err)
		}
		s = l1.ArchSpec(known)
	}
	if name := text(in, "board"); name != "" {
		s = board(in, name, s)
	}
	s.Name = textOr(in, "name", s.Name)
	for _, f := range []struct {
		name string
		into *int
	}{{"cols", &s.Cols}, {"rows", &s.Rows}, {"cb_indices", &s.CBIndices}} {
		*f.into = int(number(in, f.name, math.MaxInt32).Or(uint64(*f.into)))
	}
	for _, f := range []struct {
		name string
		into *uint64
	}{{"l1_size", &s.L1Size}, {"cb_base", &s.CBBase}, {"cb_align", &s.CBAlign}, {"l1_align", &s.L1Align}, {"l1_small", &s.L1Small}} {
		*f.into = number(in, f.name, jsonobject.MaxWhole).Or(*f.into)
	}
	return s
}

// board returns the board with a name, with the architecture of s if that has one.
func board(o jsonobject.Object, name string, s l1.Spec) l1.Spec {
	board, ok := l1.Board(name)
	if !ok {
		o.Fail("board", "is not a board that is known here; give its numbers", nil)
		return s
	}
	if s.Arch != "" {
		board.Arch = s.Arch
	}
	return board
}

// cbs reads the buffers of a program: first the stated ones, then the ones with given ranges.
func (d *decoder) cbs(o jsonobject.Object, e *Event) {
	for in := range o.Objects("cbs") {
		cb := CB{Synthesised: flag(in, "synthesised"), CB: program.CB{
			Cores:  d.coreRangeSet(in),
			Size:   in.Need("size", jsonobject.MaxWhole),
			Alias:  int(number(in, "alias", math.MaxInt).V),
			Global: flag(in, "global"),
		}}
		if kind := text(in, "kind"); kind != "" {
			k, ok := memoryKind(kind, fit.KindCB, fit.KindScratchpad)
			if !ok {
				in.Fail("kind", "is none of cb, dataflow, scratchpad", nil)
			}
			cb.Kind = program.Kind(k)
		}
		cb.Address, cb.Fixed = in.Number("address", jsonobject.MaxWhole)
		for index := range in.Objects("indices") {
			cb.Indices = append(cb.Indices, program.Index{Number: int(index.Need("index", math.MaxInt)), PageSize: size(index, "page_size")})
		}
		e.CBs = append(e.CBs, cb)
	}
	for in := range o.Objects("ranges") {
		r := l1.Range{Start: in.Need("start", jsonobject.MaxWhole), End: in.Need("end", jsonobject.MaxWhole)}
		// As Builder.Range.
		e.CBs = append(e.CBs, CB{CB: program.CB{Cores: d.coreRangeSet(in), Size: r.End - r.Start, Address: r.Start, Fixed: true}})
	}
}

func (d *decoder) allocate(o jsonobject.Object, e *Event) {
	b := &e.Buffer
	b.ID = needID[fit.BufferID](o, "buffer")
	b.Name = text(o, "name")
	b.Size = size(o, "size")
	b.Backing, b.Unsized = flag(o, "backing"), flag(o, "unsized")
	e.Devices = ids[device.ID](o, "devices")
	b.Kind = bufferKind(o, text(o, "kind"))
	if mode := text(o, "mode"); mode != "" {
		b.Mode = bufferMode(o, mode)
	}
	if o.Has("hidden") {
		b.Hidden = d.coreRangeSetOf(o, "hidden").Cores()
	}
	for in := range o.Objects("parts") {
		address := in.Need("address", jsonobject.MaxWhole)
		part := Part{
			Range:       l1.Range{Start: address, End: address + in.Need("size", jsonobject.MaxWhole)},
			Synthesised: flag(in, "synthesised"),
		}
		if in.Has("cores") {
			part.Cores = Some(d.coreRangeSet(in).Cores())
		}
		e.Parts = append(e.Parts, part)
	}
	e.Named = id[device.ID](o, "named")
	e.PerCore = number(o, "per_core", jsonobject.MaxWhole)
	e.Address = number(o, "address", jsonobject.MaxWhole)
	e.Layout, e.Unplaced = text(o, "layout"), text(o, "unplaced")
	e.CoresFrom = source(o, "cores_from")
	e.Earlier, e.Corrects = flag(o, "earlier"), flag(o, "corrects")
}

func free(o jsonobject.Object, e *Event) {
	e.Unknown, e.Again, e.Earlier, e.Leaked = flag(o, "unknown"), flag(o, "again"), flag(o, "earlier"), flag(o, "leaked")
	buffer := id[fit.BufferID](o, "buffer")
	if e.Buffer.ID = buffer.V; !buffer.OK && !e.Unknown {
		o.Missing("buffer")
	}
	if kind := text(o, "kind"); kind != "" {
		e.Buffer.Kind = bufferKind(o, kind)
	}
	e.Devices = ids[device.ID](o, "devices")
}

func bufferKind(o jsonobject.Object, word string) fit.Kind {
	k, ok := memoryKind(word, fit.KindL1, fit.KindSystem)
	if !ok {
		o.Fail("kind", "is none of l1, l1_small, global_cb, service, kernel, reserved, dram, trace, system", nil)
	}
	return k
}

func bufferMode(o jsonobject.Object, word string) fit.Mode {
	for m := fit.Lockstep; m <= fit.RangeLockstep; m++ {
		if m.String() == word {
			return m
		}
	}
	o.Fail("mode", "is none of lockstep, per_core, range_lockstep", nil)
	return 0
}

// memoryKind returns the kind with the given spelling, from first to last.
func memoryKind(word string, first, last fit.Kind) (fit.Kind, bool) {
	for k := first; k <= last; k++ {
		if k.Name() == word {
			return k, true
		}
	}
	return 0, false
}
