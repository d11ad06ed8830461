package event

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Each field of a line is stated once in this file, with its name, type, limit and presence, in the
// order of the schema. The statement reads it or writes it; see object.

const (
	whole = jsonobject.MaxWhole // of sizes, addresses and counters
	small = jsonobject.MaxInt   // of numbers of cores, indices and times
	anyID = math.MaxUint64
)

// common are the fields that every line may have. A line without process or tag has the one of the
// header. hasNode: the line has a node.
func (o *object) common(e *Event, process, tag string, hasNode bool) {
	if e.Kind == KindHeader {
		text(o, "source", &e.Source, given)
		text(o, "fleet", &e.Fleet, given)
	}
	o.time("t", &e.T)
	o.inherited("process", &e.Process, process)
	o.inherited("tag", &e.Tag, tag)
	o.raw("id", &e.ID)
	if hasNode {
		number(o, "node", &e.Node, whole, stated)
	}
	optText(o, "op", &e.Op)
	o.anomalies("anomalies", &e.Anomaly)
}

// fields are the fields that an event of its kind has.
func (o *object) fields(e *Event) {
	switch e.Kind {
	case KindQuery:
		o.query(e)
	case KindDevice:
		o.device(e)
	case KindMesh:
		number(o, "first", &e.Device, anyID, needed)
		number(o, "rows", &e.Rows, small, needed)
		number(o, "cols", &e.Cols, small, needed)
		o.spec(&e.Spec)
		number(o, "dram_bytes", &e.DRAM, whole, given)
	case KindProgram:
		o.program(e)
	case KindReplace:
		number(o, "program", &e.Program, anyID, needed)
		optNumber(o, "with", &e.With, anyID)
	case KindRegister, KindDispatch, KindEnqueue, KindEvict:
		number(o, "program", &e.Program, anyID, needed)
		optIDs(o, "devices", &e.Devices)
		if e.Kind == KindEnqueue {
			o.flag("refused", &e.Refused)
		}
	case KindUnregister:
		number(o, "program", &e.Program, anyID, needed)
		optIDs(o, "devices", &e.Devices)
		o.flag("leaked", &e.Leaked)
	case KindTraceBegin:
		number(o, "trace", &e.Trace, anyID, needed)
		optIDs(o, "devices", &e.Devices)
	case KindRecord:
		number(o, "trace", &e.Trace, anyID, needed)
		number(o, "program", &e.Program, anyID, needed)
	case KindTraceEnd, KindReplay, KindRelease:
		number(o, "trace", &e.Trace, anyID, needed)
		if e.Kind == KindReplay {
			o.flag("refused", &e.Refused)
		}
	case KindAllocate:
		o.allocate(e)
	case KindFree:
		o.free(e)
	case KindRemove, KindResetPeaks, KindHybrid, KindLockstep, KindCBsFreed:
		optIDs(o, "devices", &e.Devices)
	case KindOpStart:
		text(o, "name", &e.Name, stated)
	default:
		o.seen(e)
	}
}

// seen are the fields of events of sources that saw runs.
func (o *object) seen(e *Event) {
	switch e.Kind {
	case KindRun:
		o.run(e)
	case KindExecuted:
		if o.has("program") {
			e.Known = true
		}
		if e.Known {
			number(o, "program", &e.Program, anyID, needed)
		}
		optIDs(o, "devices", &e.Devices)
	case KindHidden, KindAnomaly:
		text(o, "code", &e.Code, needed)
		if o.reads() {
			e.Count = 1
		}
		number(o, "count", &e.Count, small, stated)
		text(o, "detail", &e.Detail, given)
		optIDs(o, "devices", &e.Devices)
	case KindUpstream:
		o.upstream(&e.Upstream)
	case KindEnd:
		number(o, "nodes", &e.Nodes, whole, stated)
		optNumber(o, "rank", &e.Rank, whole)
		if e.Spec != (l1.Spec{}) || o.has("spec") {
			o.spec(&e.Spec)
		}
		o.from(&e.From)
	}
}

// query are the fields of a query. The answering side knows which of them it needs.
func (o *object) query(e *Event) {
	q := &e.Query
	if q.Err != nil {
		o.l.fail("", "is a query that makes no sense")
	}
	optNumber(o, "device", &q.Device, anyID)
	optNumber(o, "program", &q.Program, anyID)
	o.core("core", &q.Core)
	optNumber(o, "address", &q.Address, whole)
	optNumber(o, "cb", &q.CB, small)
	optIDs(o, "devices", &e.Devices)
	b := &e.Buffer
	optNumber(o, "buffer", &q.Buffer, anyID)
	named(o, "kind", &b.Kind, fit.KindL1, fit.KindSystem, fit.Kind.Name, given)
	o.mode(b)
	optNumber(o, "size", &q.Size, whole)
	o.optCores("cores", &q.Cores)
	list(o, "parts", &e.Parts, given, (*object).part)
	o.flag("unsized", &b.Unsized)
}

// mode are the fields that say how a buffer got its address.
func (o *object) mode(b *fit.Buffer) {
	named(o, "mode", &b.Mode, fit.Lockstep, fit.RangeLockstep, fit.Mode.String, given)
	if !b.Hidden.IsEmpty() || o.has("hidden") {
		o.coreSet("hidden", &b.Hidden)
	}
}

func (o *object) device(e *Event) {
	number(o, "device", &e.Device, anyID, needed)
	o.spec(&e.Spec)
	number(o, "dram_bytes", &e.DRAM, whole, given)
	oneOf(o, "role", &e.Role, RoleChip, RoleMesh, RoleNone)
	chips := Opt[[]device.ID]{e.Chips, e.Chips != nil}
	if optIDs(o, "chips", &chips); o.reads() {
		e.Chips = chips.V
	}
	o.from(&e.From)
}

func (o *object) from(f *Origins) {
	if *f == (Origins{}) && !o.has("from") {
		return
	}
	outer := o.open("from")
	o.source("arch", &f.Arch)
	o.source("base", &f.Base)
	o.source("l1_small", &f.Small)
	o.source("grid", &f.Grid)
	o.close(outer)
}

func (o *object) source(name string, s *Source) {
	oneOf(o, name, s, FromOption, FromFile, FromArch, FromAssumed)
}

// spec are the numbers of a device. A line may name its architecture or board in place of some.
func (o *object) spec(s *l1.Spec) {
	o.need("spec")
	outer := o.open("spec")
	if o.reads() {
		o.preset(s)
	}
	text(o, "name", &s.Name, stated)
	o.arch("arch", s.Arch)
	number(o, "cols", &s.Cols, small, stated)
	number(o, "rows", &s.Rows, small, stated)
	number(o, "l1_size", &s.L1Size, whole, stated)
	number(o, "cb_base", &s.CBBase, whole, stated)
	number(o, "cb_align", &s.CBAlign, whole, stated)
	number(o, "l1_align", &s.L1Align, whole, stated)
	number(o, "l1_small", &s.L1Small, whole, stated)
	number(o, "cb_indices", &s.CBIndices, small, stated)
	if o.reads() {
		*s = s.Based()
	}
	o.close(outer)
}

// program are the fields of a definition. From the first circular buffer on that ends below its
// start all are ranges: a log has no other form for it.
func (o *object) program(e *Event) {
	number(o, "program", &e.Program, anyID, needed)
	text(o, "name", &e.Name, given)
	o.flag("as_written", &e.AsWritten)
	list(o, "bases", &e.Bases, given, (*object).base)
	sized, ranges := e.CBs, []CB(nil)
	if i := slices.IndexFunc(e.CBs, func(cb CB) bool { return cb.Size > whole }); i >= 0 {
		sized, ranges = e.CBs[:i], e.CBs[i:]
	}
	list(o, "cbs", &sized, stated, (*object).cb)
	if list(o, "ranges", &ranges, given, (*object).cbRange); o.reads() {
		e.CBs = append(sized, ranges...)
	}
}

func (o *object) base(b *program.Base) {
	o.cores("cores", &b.Cores)
	number(o, "address", &b.Address, whole, needed)
}

func (o *object) cb(cb *CB) {
	if cb.Kind > program.Scratchpad {
		o.l.fail("cbs.kind", unknownWord)
	}
	name := func(k program.Kind) string { return fit.Kind(k).Name() }
	named(o, "kind", &cb.Kind, program.CircularBuffer, program.Scratchpad, name, given)
	o.cores("cores", &cb.Cores)
	number(o, "size", &cb.Size, whole, needed)
	address := Opt[uint64]{cb.Address, cb.Fixed}
	if optNumber(o, "address", &address, whole); o.reads() {
		cb.Address, cb.Fixed = address.V, address.OK
	}
	o.flag("global", &cb.Global)
	list(o, "indices", &cb.Indices, given, (*object).index)
	number(o, "alias", &cb.Alias, math.MaxInt, given)
	o.flag("synthesised", &cb.Synthesised)
}

func (o *object) index(i *program.Index) {
	number(o, "index", &i.Number, math.MaxInt, needed)
	number(o, "page_size", &i.PageSize, whole, given)
}

// cbRange are the fields of a circular buffer that is given by its range, as Builder.Range has it.
func (o *object) cbRange(cb *CB) {
	plain := cb.Kind == program.CircularBuffer && cb.Indices == nil && !cb.Global && cb.Alias == 0 && !cb.Synthesised
	if !o.reads() && !(cb.Fixed && plain) {
		o.l.fail("cbs.size", "is above 2^63-1")
	}
	o.cores("cores", &cb.Cores)
	start, end := cb.Address, cb.Address+cb.Size // wraps back to the end that was given
	number(o, "start", &start, whole, needed)
	if number(o, "end", &end, whole, needed); o.reads() {
		cb.Address, cb.Size, cb.Fixed = start, end-start, true
	}
}

func (o *object) allocate(e *Event) {
	b := &e.Buffer
	if b.Parts != nil || !b.Cores.IsEmpty() || b.Range != (l1.Range{}) {
		o.l.fail("parts", "belong in the event, not in its buffer")
	}
	number(o, "buffer", &b.ID, anyID, needed)
	named(o, "kind", &b.Kind, fit.KindL1, fit.KindSystem, fit.Kind.Name, needed)
	text(o, "name", &b.Name, given)
	optIDs(o, "devices", &e.Devices)
	number(o, "size", &b.Size, whole, given)
	o.mode(b)
	o.flag("backing", &b.Backing)
	o.flag("unsized", &b.Unsized)
	list(o, "parts", &e.Parts, given, (*object).part)
	optNumber(o, "named", &e.Named, anyID)
	optNumber(o, "per_core", &e.PerCore, whole)
	optNumber(o, "address", &e.Address, whole)
	text(o, "layout", &e.Layout, given)
	o.raw("tensor", &e.Tensor)
	text(o, "unplaced", &e.Unplaced, given)
	o.source("cores_from", &e.CoresFrom)
	o.flag("earlier", &e.Earlier)
	o.flag("corrects", &e.Corrects)
}

func (o *object) part(p *Part) {
	o.optCores("cores", &p.Cores)
	if p.Range.End < p.Range.Start {
		o.l.fail("parts.size", "is negative")
	}
	number(o, "address", &p.Range.Start, whole, needed)
	size := p.Range.End - p.Range.Start
	if number(o, "size", &size, whole, needed); o.reads() {
		p.Range.End = p.Range.Start + size
	}
	o.flag("synthesised", &p.Synthesised)
}

func (o *object) free(e *Event) {
	unknown := e.Unknown
	if o.reads() {
		o.flag("unknown", &unknown)
	}
	if e.Buffer.ID != 0 || !unknown || o.has("buffer") {
		number(o, "buffer", &e.Buffer.ID, anyID, needed)
	}
	named(o, "kind", &e.Buffer.Kind, fit.KindL1, fit.KindSystem, fit.Kind.Name, given)
	optIDs(o, "devices", &e.Devices)
	o.flag("unknown", &e.Unknown)
	o.flag("again", &e.Again)
	o.flag("earlier", &e.Earlier)
	o.flag("leaked", &e.Leaked)
}

func (o *object) run(e *Event) {
	number(o, "program", &e.Program, anyID, needed)
	list(o, "on", &e.On, needed, (*object).on)
	o.flag("inferred", &e.Inferred)
	idLists(o, "candidates", &e.Candidates)
	o.flag("candidates_unsettled", &e.CandidatesUnsettled)
	o.flag("continues", &e.Continues)
	o.flag("unsettled", &e.Unsettled)
	o.flag("aborted", &e.Aborted)
	o.flag("persistent", &e.Persistent)
}

func (o *object) on(r *RunDevice) {
	number(o, "device", &r.Device, anyID, needed)
	number(o, "first", &r.First, whole, needed)
	number(o, "last", &r.Last, whole, needed)
	if o.reads() || r.CBFirst != 0 || r.CBLast != 0 {
		number(o, "cb_first", &r.CBFirst, whole, stated)
		number(o, "cb_last", &r.CBLast, whole, stated)
	}
	optText(o, "cb_op", &r.CBOp)
}

// upstream are ttnn's own figures, which may have run below zero and are then huge.
func (o *object) upstream(u *Upstream) {
	o.need("upstream")
	outer := o.open("upstream")
	optNumber(o, "peak_cb", &u.PeakCB, anyID)
	optNumber(o, "peak_l1", &u.PeakL1, anyID)
	optNumber(o, "peak_dataflow_buffer", &u.PeakDataflow, anyID)
	optNumber(o, "peak_scratchpad", &u.PeakScratchpad, anyID)
	optNumber(o, "peak_total", &u.PeakTotal, anyID)
	o.flag("wrapped", &u.Wrapped)
	o.flag("per_core", &u.PerCore)
	list(o, "causes", &u.Causes, given, (*object).cause)
	o.close(outer)
}

func (o *object) cause(c *UpstreamCause) {
	text(o, "code", &c.Code, stated)
	text(o, "figure", &c.Figure, stated)
	number(o, "upstream_bytes", &c.Upstream, anyID, needed)
	number(o, "exact_bytes", &c.Exact, anyID, needed)
	number(o, "count", &c.Count, small, needed)
}
