package capture

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A logReplayer makes the Result of an event log. A Session says what happened; what is
// made of that is the same as of a capture: lines are the nodes, the header is the first
// of them, number 0. A program is alive from its registration to its end, and each
// registration is a row of ProgramsDetail.
type logReplayer struct {
	opt     Options
	session Session
	events  []device.Event // that the event at hand led to

	result Result
	specs  map[l1.Spec]*replayer // devices of one Spec are reckoned together
	order  []*replayer
	rows   map[device.ID]*logRow
	checks map[*program.Program]*layout
	traces map[device.TraceID][]*program.Program
	asked  bool
	tell   func(Enqueued) // may be nil
	notes  replayer       // its anomalies

	respecified bool // a device came back as another one
}

// A logRow is one device of a log.
type logRow struct {
	by       *replayer
	figures  *replayDevice
	l1       *l1Device
	live     map[device.BufferID]*liveBuffer
	on       map[program.ID]*layout // registered
	users    map[*layout]int        // how often
	detail   map[program.ID]int     // latest row in ProgramsDetail
	sizes    uint64                 // of what is registered, without cores
	loose    uint64
	executed Dispatched
}

// replayLog reads an event log to its end. Of the options only Ask, Progress and
// Enqueued matter: the log says all else.
func replayLog(in io.Reader, file string, opt Options) (*Result, error) {
	r := &logReplayer{
		opt: opt, result: Result{File: file, Log: true, Addresses: AddressesNone},
		specs: map[l1.Spec]*replayer{}, rows: map[device.ID]*logRow{},
		checks: map[*program.Program]*layout{}, traces: map[device.TraceID][]*program.Program{},
		notes: replayer{anomalies: map[Code]*AnomalyCount{}},
	}
	if opt.Enqueued != nil {
		r.tell = opt.Enqueued()
	}
	r.session.fleet.Observe(func(e device.Event) { r.events = append(r.events, e) })
	for e, err := range NewLog(in, file).Events() {
		if err != nil {
			return nil, err
		}
		if opt.Progress != nil && e.Pos.Node%4096 == 0 {
			opt.Progress(e.Pos.Node)
		}
		r.ask(uint64(e.Pos.Node))
		r.result.Nodes = e.Pos.Node + 1
		if e.Kind == LogQuery || e.Kind == LogResetPeaks {
			continue // a Result is about the whole log
		}
		if err := r.event(e); err != nil {
			return nil, err
		}
	}
	r.ask(math.MaxUint64)
	return &r.result, r.finish()
}

// event applies an event and takes in what it led to.
func (r *logReplayer) event(e *LogEvent) error {
	if e.Kind == LogRemove {
		if set, err := r.session.set(e); err == nil {
			for id := range set.All() {
				r.rows[id].keep() // nothing is known of a device that is gone
			}
		}
	}
	err := r.session.Apply(e)
	r.notice(e, err)
	if e.Kind == LogEnqueue || e.Kind == LogDispatch {
		if err == nil || isType[*device.FitError](err) {
			if err := r.check(e); err != nil {
				return err
			}
		}
	}
	for _, happened := range r.events {
		if err := r.take(happened, uint64(e.Pos.Node)); err != nil {
			return err
		}
	}
	r.events = r.events[:0]
	return nil
}

// notice counts what is odd about an event.
func (r *logReplayer) notice(e *LogEvent, err error) {
	at := e.Pos.Node
	if e.Anomaly.Has(AnomalyDuplicateKey) {
		r.notes.note(CodeDuplicateKey, at, "")
	}
	refused, ok := errors.AsType[*LogError](err)
	if !ok {
		return
	}
	code := CodeEventRefused
	switch refused.Code {
	case LogCodeDoesNotFit:
		return // which Checks say
	case LogCodeUnknownEvent:
		code = CodeUnknownType
	case LogCodeNoOp:
		code = CodeEndWithoutStart
	case LogCodeNotAllocated:
		code = CodeFreeUnknown
	case LogCodeTornLine:
		code = CodeTornLine
	}
	r.notes.note(code, at, refused.Error())
}

func (r *logReplayer) take(e device.Event, at uint64) error {
	switch e.Kind {
	case device.EventTraceRecorded:
		r.traces[e.Trace] = append(r.traces[e.Trace], e.Program)
		return nil
	case device.EventTraceReleased:
		delete(r.traces, e.Trace)
		return nil
	}
	var buffer *liveBuffer
	if e.Kind == device.EventAllocated {
		buffer = r.buffer(e, at)
	}
	for id := range e.Set.All() {
		if e.Kind == device.EventDeviceAdded || e.Kind == device.EventMeshAdded {
			if err := r.add(id, e.Spec); err != nil {
				return err
			}
			continue
		}
		row := r.rows[id]
		switch e.Kind {
		case device.EventDeviceRemoved:
			row.clear()
		case device.EventRegistered:
			if err := r.register(row, e.Program, at); err != nil {
				return err
			}
		case device.EventUnregistered:
			row.unregister(e.Program.ID())
		case device.EventReplaced:
			row.unregister(e.Old.ID())
			if e.Program.Len() > 0 {
				if err := r.register(row, e.Program, at); err != nil {
					return err
				}
			}
		case device.EventDispatched:
			r.dispatch(row, e.Program, at)
		case device.EventTraceReplayed:
			r.replay(row, r.traces[e.Trace], at)
		case device.EventAllocated:
			r.allocate(row, e.Buffer, buffer, at)
		case device.EventFreed:
			r.free(row, e.Buffer, at)
		}
	}
	return nil
}

// add makes the row of a device, or takes it up again where an id comes back.
func (r *logReplayer) add(id device.ID, spec l1.Spec) error {
	d, err := r.session.fleet.Device(id)
	if err != nil {
		return err
	}
	if row := r.rows[id]; row != nil { // an id that comes back stays with its first Spec here
		row.l1.dev = d
		r.respecified = r.respecified || spec.CBBase != row.by.spec.CBBase || spec.L1Size != row.by.spec.L1Size
		return nil
	}
	cores := spec.NumCores()
	spec.Cols, spec.Rows = 0, 0 // what is registered was found to lie on the grid
	by := r.specs[spec]
	if by == nil {
		by = &replayer{
			opt: r.opt, know: newKnowledge(), file: r.result.File, reader: &Reader{}, result: &Result{Addresses: AddressesNone},
			devices: map[Opt[uint64]]*replayDevice{}, layouts: map[string]*layout{}, memory: newMemory(), queue: newEnqueuer(),
			spec: Spec{Spec: spec, ArchFrom: FromFile, BaseFrom: FromFile}, decided: true, anomalies: map[Code]*AnomalyCount{},
		}
		by.memory.fleet = &r.session.fleet
		r.specs[spec] = by
		r.order = append(r.order, by)
	}
	row := &logRow{
		by: by, figures: by.device(some(uint64(id))), live: map[device.BufferID]*liveBuffer{},
		on: map[program.ID]*layout{}, users: map[*layout]int{}, detail: map[program.ID]int{},
	}
	row.l1 = &l1Device{id: row.figures.id, slot: id, dev: d, runs: map[*program.Program]ProgramRun{}}
	row.l1.row = DeviceL1{ID: row.figures.id, Kind: KindChip, NumCores: cores, CoresFrom: FromFile, Addresses: AddressesNone}
	by.memory.devices[row.figures.id] = row.l1
	r.rows[id] = row
	return nil
}

// label names a program for people.
func (r *logReplayer) label(id program.ID) string {
	name := fmt.Sprintf("program %d", id)
	if def := r.session.programs[id]; def != nil && def.name != "" {
		name = def.name
	}
	if op := r.session.op(); op != "" {
		return op + " > " + name
	}
	return name
}

// register counts a program as registered for good, and as alive.
func (r *logReplayer) register(row *logRow, p *program.Program, at uint64) error {
	d := row.figures
	var run []program.CB
	recorded, synthesised := false, false
	for _, placed := range p.CBs() {
		cb := placed.CB
		if local := cb.Kind == program.CircularBuffer && !cb.Global; local {
			recorded, synthesised = recorded || cb.Fixed, synthesised || !cb.Fixed
		}
		cb.Fixed, cb.Alias = placed.Known, 0 // where it was placed
		run = append(run, cb)
		figures := &d.row.Dataflow
		switch {
		case cb.Kind == program.CircularBuffer:
			if d.row.CBNodes++; cb.Global {
				d.row.GlobalCBs++
			} else {
				d.row.LocalCBs++
			}
			continue
		case cb.Kind == program.Scratchpad:
			figures = &d.row.Scratchpad
		}
		if figures.Nodes++; cb.Global {
			figures.Borrowed++
		} else {
			figures.Local++
		}
	}
	l, err := row.by.layoutOf(run)
	if err != nil {
		return row.by.internal(at, err)
	}
	row.detail[p.ID()] = -1
	if l.counted[program.CircularBuffer] != nil {
		row.detail[p.ID()] = len(d.row.ProgramsDetail)
	}
	before := d.row
	d.run, d.first, d.last, d.op = run, at, at, r.label(p.ID())
	if err := d.end(row.by); err != nil {
		return err
	}
	// More than one program may be alive here.
	d.row.LogicalPeak, d.row.LogicalSizesPeak, d.row.UnattributedPeak = before.LogicalPeak, before.LogicalSizesPeak, before.UnattributedPeak
	d.alive = nil
	row.on[p.ID()] = l
	row.users[l]++
	row.sizes += l.sizes[program.CircularBuffer]
	row.loose += l.loose
	d.row.LogicalSizesPeak, d.row.UnattributedPeak = max(d.row.LogicalSizesPeak, row.sizes), max(d.row.UnattributedPeak, row.loose)
	r.result.Addresses = r.result.Addresses.with(recorded, synthesised)
	r.result.Placed = r.result.Placed || synthesised
	row.keep()
	return nil
}

func (row *logRow) unregister(id program.ID) {
	l := row.on[id]
	if l == nil {
		return
	}
	delete(row.on, id)
	row.sizes -= l.sizes[program.CircularBuffer]
	row.loose -= l.loose
	if row.users[l]--; row.users[l] == 0 {
		delete(row.users, l)
		row.figures.alive = l
		row.figures.free(row.by)
	}
}

// keep takes in the peaks that the fleet has of a device.
func (row *logRow) keep() {
	t := row.l1.dev.Totals()
	f, on := &row.figures.row, &row.l1.row
	f.LogicalPeak = max(f.LogicalPeak, t.Peak.Logical)
	row.executed.Peak = max(row.executed.Peak, t.Peak.Resident)
	on.L1.Peak, on.DRAM.Peak = max(on.L1.Peak, t.Peak.L1), max(on.DRAM.Peak, t.Peak.DRAM)
	on.L1Small.Peak = max(on.L1Small.Peak, t.Buffers.L1Small)
	on.Buffers.Peak = max(on.Buffers.Peak, uint64(t.Buffers.Count))
	on.Total.Peak = max(on.Total.Peak, t.Peak.Tracked)
}

// clear ends everything on a device that was removed.
func (row *logRow) clear() {
	for _, id := range slices.Collect(maps.Keys(row.on)) {
		row.unregister(id)
	}
	for _, b := range row.live {
		b.on = slices.DeleteFunc(b.on, func(d *l1Device) bool { return d == row.l1 })
	}
	clear(row.live)
	row.l1.bytes, row.l1.content, row.l1.spike = nil, sum128{}, nil
}

// check judges a program that was enqueued or dispatched, beside the buffers that are
// live.
func (r *logReplayer) check(e *LogEvent) error {
	set, err := r.session.set(e)
	if err != nil {
		return r.internal(e, err)
	}
	p, ok := r.session.fleet.Program(e.Program)
	if !ok {
		if p, _, err = r.session.place(e.Program, set); err != nil {
			return r.internal(e, err)
		}
	}
	l := r.checks[p]
	if l == nil {
		if len(r.checks) >= maxRemembered {
			clear(r.checks)
		}
		l = &layout{}
		l.counted[program.CircularBuffer] = p // the log's own, with its id
		r.checks[p] = l
	}
	at := uint64(e.Pos.Node)
	var told [][]launch // of those on whose devices the same lives
	for id := range set.All() {
		row := r.rows[id]
		detail, ok := row.detail[e.Program]
		if !ok {
			detail = -1
		}
		row.by.memory.live = row.live
		one := launch{row.l1, l, ProgramRun{Row: detail, At: at, Op: r.label(e.Program)}, at}
		if err := row.by.check([]launch{one}, at); err != nil {
			return err
		}
		if r.tell == nil {
			continue
		}
		i := slices.IndexFunc(told, func(g []launch) bool { return g[0].on.content == row.l1.content })
		if i < 0 {
			i, told = len(told), append(told, nil)
		}
		told[i] = append(told[i], one)
	}
	for _, group := range told {
		by := r.rows[group[0].on.slot].by
		by.enqueued, by.memory.live = r.tell, r.rows[group[0].on.slot].live
		by.tell(group, at)
	}
	return nil
}

// internal is the error of a call that the session has made without one.
func (r *logReplayer) internal(e *LogEvent, err error) error {
	return &InputError{File: r.result.File, Line: e.Pos.Line, Offset: e.Pos.Offset, Node: -1, Reason: err.Error(), Err: err}
}

func (r *logReplayer) dispatch(row *logRow, p *program.Program, at uint64) {
	d := row.l1
	detail, ok := row.detail[p.ID()]
	if !ok {
		detail = -1
	}
	run := ProgramRun{Row: detail, At: at, Op: r.label(p.ID())}
	d.ran, d.runs[p] = true, run
	row.by.memory.live = row.live
	row.by.raise(d, d.place(p), at, run.Op, nil)
	row.executed.Executions++
	for g := range p.Occupied(program.CircularBuffer).Groups() {
		row.executed.CorePeak = max(row.executed.CorePeak, g.Bytes())
	}
}

// replay takes in that a trace ran: any core may hold any of its programs.
func (r *logReplayer) replay(row *logRow, programs []*program.Program, at uint64) {
	d := row.l1
	for _, p := range programs {
		if _, known := d.runs[p]; !known {
			d.runs[p] = ProgramRun{Row: row.detail[p.ID()], At: at, Op: r.label(p.ID())}
		}
		for kind := program.CircularBuffer; int(kind) < numKinds; kind++ {
			for g := range p.Occupied(kind).Groups() {
				for c := range g.Cores().All() {
					b := d.at(c)
					b.placed[kind] = max(b.placed[kind], g.Bytes())
				}
				if kind == program.CircularBuffer {
					row.executed.CorePeak = max(row.executed.CorePeak, g.Bytes())
				}
			}
		}
	}
	row.by.memory.live = row.live
	row.by.raise(d, math.MaxUint64, at, r.session.op(), nil)
	row.executed.Executions++
}

// buffer describes an allocation.
func (r *logReplayer) buffer(e device.Event, at uint64) *liveBuffer {
	b := &liveBuffer{id: e.Buffer.ID, info: BufferInfo{At: at, Op: cmp.Or(e.Buffer.Name, r.session.op()), Kind: e.Buffer.Kind, Size: e.Buffer.Size}}
	for id := range e.Set.All() {
		b.info.Device = some(uint64(id))
		break
	}
	h := fnv.New128a()
	fmt.Fprint(h, e.Buffer.Kind)
	first := true
	for part := range e.Buffer.All() {
		fmt.Fprint(h, part.Cores, part.Range)
		if first {
			b.r, first = part.Range, false
		}
		b.r = l1.Range{Start: min(b.r.Start, part.Range.Start), End: max(b.r.End, part.Range.End)}
		b.info.PerCore = some(max(b.info.PerCore.V, part.Range.Len()))
		b.info.Address = some(b.r.Start)
	}
	var sum [16]byte
	h.Sum(sum[:0])
	for _, c := range sum {
		b.hash = sum128{b.hash.hi<<8 | b.hash.lo>>56, b.hash.lo<<8 | uint64(c)}
	}
	b.key.address = 1 // recorded
	return b
}

func (r *logReplayer) allocate(row *logRow, given device.Buffer, b *liveBuffer, at uint64) {
	d := row.l1
	d.touched = true
	parts := slices.Collect(given.All())
	row.live[given.ID] = b
	b.on = append(b.on, d)
	if row.keep(); given.Backing {
		d.row.Backings++
		return
	}
	if len(parts) == 0 {
		return
	}
	d.row.Addresses = AddressesRecorded
	bound := uint64(0)
	for _, part := range parts {
		bound = max(bound, d.load(part.Cores, part.Range.Len(), 0))
	}
	d.content = d.content.plus(b.hash)
	row.by.memory.live = row.live
	row.by.raise(d, bound, at, b.info.Op, b)
}

func (r *logReplayer) free(row *logRow, given device.Buffer, at uint64) {
	d, b := row.l1, row.live[given.ID]
	if b == nil {
		return
	}
	delete(row.live, given.ID)
	b.on = slices.DeleteFunc(b.on, func(o *l1Device) bool { return o == d })
	parts := slices.Collect(given.All())
	if given.Backing || len(parts) == 0 {
		return
	}
	for _, part := range parts {
		d.load(part.Cores, 0, part.Range.Len())
	}
	d.content = d.content.minus(b.hash)
	d.freed(b, at)
}

// ask answers Options.Ask if the line before next was the one in question.
func (r *logReplayer) ask(next uint64) {
	q := r.opt.Ask
	if q == nil || r.asked || next <= q.At.Or(math.MaxUint64-1) {
		return
	}
	r.asked = true
	for _, id := range slices.Sorted(maps.Keys(r.rows)) {
		row := r.rows[id]
		row.by.memory.live = row.live
		r.result.Held = append(r.result.Held, row.by.holders(row.l1, row.figures, q.Address)...)
	}
}

func (r *logReplayer) finish() error {
	out := &r.result
	out.Spec = chooseSpec(r.opt, nil)
	if len(r.order) > 0 {
		out.Spec = r.order[0].spec
	}
	all := map[*liveBuffer]bool{}
	var cbs int64
	for _, id := range slices.Sorted(maps.Keys(r.rows)) {
		row := r.rows[id]
		row.keep()
		device := row.figures.finish(row.by)
		device.Kind = KindChip
		cbs += device.CBNodes + device.Dataflow.Nodes + device.Scratchpad.Nodes
		out.Devices = append(out.Devices, device)
		t := row.l1.dev.Totals()
		on := &row.l1.row
		on.Total.Final, on.L1.Final, on.L1Small.Final, on.DRAM.Final = t.Tracked, t.Buffers.L1, t.Buffers.L1Small, t.Buffers.DRAM
		on.Buffers.Final = uint64(t.Buffers.Count)
		if row.executed.Final = t.Resident; row.executed.Executions > 0 {
			on.Dispatched = &row.executed
		}
		out.L1 = append(out.L1, *on)
		for _, b := range row.live {
			all[b] = true
		}
	}
	notes := &r.notes
	slack := uint64(math.MaxUint64)
	for _, by := range r.order {
		if err := by.grow(); err != nil {
			return err
		}
		checks := by.queue.result
		out.Checks.Runs += checks.Runs
		out.Checks.Failed += checks.Failed
		out.Checks.More += checks.More
		for _, failed := range checks.List {
			if len(out.Checks.List) < MaxListed {
				out.Checks.List = append(out.Checks.List, failed)
			} else {
				out.Checks.More++
			}
		}
		if checks.Tightest != nil && (out.Checks.Tightest == nil || by.queue.slack < slack) {
			out.Checks.Tightest, slack = checks.Tightest, by.queue.slack
		}
		if first := r.order[0].spec; by.spec.CBBase != first.CBBase || by.spec.L1Size != first.L1Size {
			notes.note(CodeSpecsDiffer, -1, "")
		}
		for _, a := range by.anomalies {
			notes.add(*a)
		}
	}
	live := memory{live: map[device.BufferID]*liveBuffer{}}
	for b := range all {
		live.live[device.BufferID(len(live.live))] = b
	}
	out.Live = live.leaks()
	if out.Nodes == 0 {
		out.Nodes = 1 // the header
		notes.note(CodeNoNodes, -1, "")
	} else if cbs == 0 {
		notes.note(CodeNoCBs, -1, "")
	}
	for range r.session.ops {
		notes.note(CodeUnfinished, -1, r.session.ops[len(r.session.ops)-1])
	}
	if r.respecified {
		notes.note(CodeSpecsDiffer, -1, "")
	}
	for _, code := range slices.Sorted(maps.Keys(notes.anomalies)) {
		out.Anomalies = append(out.Anomalies, *notes.anomalies[code])
	}
	return nil
}

// add counts an anomaly with others of its code.
func (p *replayer) add(a AnomalyCount) {
	have := p.anomalies[a.Code]
	if have == nil {
		p.anomalies[a.Code] = &a
		return
	}
	have.Count += a.Count
	if a.First < have.First {
		have.First, have.Detail = a.First, a.Detail
	}
}
