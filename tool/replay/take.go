package replay

import (
	"encoding/json"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// take passes one operation of the fleet to the stages.
func (r *replay) take(e *event.Event, notice device.Notice) error {
	switch notice.Kind {
	case device.NoticeTraceBegun, device.NoticeTraceEnded, device.NoticeRefused:
		return nil
	case device.NoticeTraceRecorded:
		r.catalogue.traces[notice.Trace] = append(r.catalogue.traces[notice.Trace], notice.Program)
		return nil
	case device.NoticeTraceReleased:
		delete(r.catalogue.traces, notice.Trace)
		return nil
	case device.NoticeAllocated:
		r.allocate(e, notice)
		return nil
	case device.NoticeDeviceAdded, device.NoticeMeshAdded:
		for i := range notice.Set.Len() {
			if err := r.add(e.Device+device.ID(i), e); err != nil {
				return err
			}
		}
		return nil
	case device.NoticeReplaced: // an id has one layout: the old one ends everywhere before the new one begins
		for _, d := range r.rows.of(notice.Set) {
			if err := r.books.unregister(d, notice.Old.ID()); err != nil {
				return err
			}
		}
	}
	for _, d := range r.rows.of(notice.Set) {
		if err := r.takeOn(d, e, notice); err != nil {
			return err
		}
	}
	return nil
}

// takeOn passes an operation of the fleet to the stages, for one row.
func (r *replay) takeOn(d *row, e *event.Event, notice device.Notice) error {
	switch notice.Kind {
	case device.NoticeDeviceRemoved:
		for _, gone := range r.subscribers.gone {
			gone(d, nil, source.When{})
		}
		return r.books.remove(d)
	case device.NoticeHybridSet:
		r.met(d)
	case device.NoticeRegistered, device.NoticeReplaced:
		if e.Kind == event.KindRun { // which has rows of its own
			return nil
		}
		c, err := r.catalogue.content(notice.Program, r.state.Programs[notice.Program.ID()])
		if err != nil {
			return err
		}
		return r.books.register(d, notice.Program, c, r.runs(notice.Program, e))
	case device.NoticeUnregistered:
		return r.books.unregister(d, notice.Program.ID())
	case device.NoticeDispatched:
		if e.Kind == event.KindRun {
			return nil
		}
		p := notice.Program
		run := d.loggedRun(p, r.runs(p, e))
		r.dispatched(d, []*program.Program{p}, run, e.Node, e)
		d.logged(p)
		d.log.Executions++
	case device.NoticeTraceReplayed:
		for _, p := range r.catalogue.recorded(notice.Trace) {
			if _, known := d.memory.last.Get(p); !known {
				d.memory.ran(p, r.naming.run(p, d.loggedRun(p, r.runs(p, e))))
			}
			d.logged(p)
		}
		r.marker.grown(d, r.state.Now(e), nil)
		d.log.Executions++
	case device.NoticeFreed:
		r.free(d, notice, e)
	}
	return nil
}

// runs returns when an event of a log runs a program. Its operation names the program too.
func (r *replay) runs(p *program.Program, e *event.Event) source.When {
	now := r.state.Now(e)
	now.Op = r.state.Programs.Label(p, now.Op)
	return now
}

// add makes the row of a device, or takes it up again where an id comes back.
func (r *replay) add(id device.ID, e *event.Event) error {
	dev, err := r.state.Fleet.Device(id)
	if err != nil {
		return err
	}
	if d := r.rows.Get(id); d != nil { // an id that comes back stays with its first Spec here
		d = r.rows.Part(d, []device.ID{id})
		d.dev, d.gone = dev, false
		r.met(d)
		for _, back := range r.subscribers.back {
			back(d, e.Spec)
		}
		r.specs.back(d, e.Spec)
		return nil
	}
	like := likenessOf(e, event.FromFile)
	if !r.result.Only.Device.OK && e.Role != event.RoleNone && r.rows.join(id, like) {
		return nil
	}
	d := newRow(dev, like, &answer.Programs{})
	r.rows.add(d)
	r.met(d)
	r.specs.meet(d, r.notes)
	return nil
}

// met records that a row has devices with a Spec and a mode. They may be new.
func (r *replay) met(d *row) {
	for _, met := range r.subscribers.met {
		met(d)
	}
}

// declare records the facts of a source about an id, when it meets the id or knows more.
func (r *replay) declare(e *event.Event) {
	d := r.rows.Get(e.Device)
	if d == nil {
		return
	}
	says := saidOf(e)
	if !d.facts.equal(says) {
		r.rows.alone(e.Device).facts = says
	}
}

// allocate records that a buffer is allocated.
func (r *replay) allocate(e *event.Event, notice device.Notice) {
	given, rows := notice.Buffer, r.rows.of(notice.Set)
	b := newBuffer(e, given, r.state.Now(e), r.marker.count)
	b.info.Tensor = r.tensors.Of(e)
	if !r.state.Captured {
		first := event.Opt[uint64]{}
		if len(rows) > 0 { // the set itself sorts its devices first
			first = event.Some(uint64(rows[0].slot))
		}
		b.ofLog(given.Name, first)
	}
	b.hash, b.name = r.naming.place(b, given), nameOf(&r.naming, b)
	r.outside.compareEnd(e, b, rows, r.notes)
	for _, d := range rows {
		if d.addBuffer(b, given.Backing); given.Backing {
			continue
		}
		for _, laid := range r.subscribers.laid {
			laid(d, given, b)
		}
		if b.measured() {
			r.marker.laid(d, b)
		}
	}
}

// free records that a device does not hold a buffer any more. Devices may have had different ones under one id.
func (r *replay) free(d *row, notice device.Notice, e *event.Event) {
	d.touched = true
	b := d.memory.live.Of(notice.Buffer.ID)
	if b == nil { // it backed another one
		return
	}
	now := r.state.Now(e)
	d.drop(b, now, e.Corrects)
	for _, gone := range r.subscribers.gone {
		gone(d, b, now)
	}
}

// dispatched records that programs ran last on a device.
func (r *replay) dispatched(d *row, programs []*program.Program, run answer.ProgramRun, at uint64, e *event.Event) {
	for _, p := range programs {
		was, ok := d.memory.last.Get(p)
		if ok {
			d.marks.runs(p, was.ProgramRun)
		} else {
			r.catalogue.turn.came++
		}
		d.memory.ran(p, r.naming.run(p, run))
	}
	r.marker.grown(d, source.When{At: at, T: json.Number(e.T), Op: run.Op}, nil)
}

// enqueue gathers the programs that an event enqueues, by a run, a call, or the replay of a trace.
func (r *replay) enqueue(e *event.Event) error {
	if e.Refused {
		return nil
	}
	type called struct {
		program *program.Program
		set     device.Set
	}
	var all []launch
	var calls []called
	switch e.Kind {
	case event.KindRun:
		var err error
		if all, err = r.launched(e); err != nil {
			return err
		}
	case event.KindEnqueue, event.KindDispatch:
		set, err := r.state.Set(e)
		if err != nil || set.Len() == 0 { // a dispatch on no device needs no program
			return err
		}
		p, ok := r.state.Fleet.Program(e.Program)
		if !ok {
			if p, _, err = r.state.Place(e.Program, set); err != nil {
				return err
			}
		}
		calls = append(calls, called{p, set})
	case event.KindReplay: // all that was recorded, as it was recorded, also if the replay is refused
		for _, happened := range r.changes {
			if happened.Kind != device.NoticeTraceReplayed && happened.Kind != device.NoticeRefused {
				continue
			}
			for _, p := range r.catalogue.recorded(happened.Trace) {
				calls = append(calls, called{p, happened.Set})
			}
		}
	}
	for _, call := range calls {
		c, err := r.catalogue.content(call.program, r.state.Programs[call.program.ID()])
		if err != nil {
			return err
		}
		now := r.runs(call.program, e)
		for _, d := range r.rows.of(call.set) {
			spec := r.checks.specOf(r.state.Grids.Of(d.dev))
			all = append(all, launch{on: d, content: c, run: d.loggedRun(call.program, now), spec: spec})
		}
	}
	r.checks.enqueue(e.Node, leave(all, r.result.Only))
	return nil
}

// launched returns the programs of a run, with their candidates.
func (r *replay) launched(e *event.Event) (all []launch, err error) {
	contents := source.ContentsOf(r.state.Launched)
	var others map[l1.Spec]*candidates // nil: it is known what ran
	if len(e.Candidates) > 0 {
		others = map[l1.Spec]*candidates{}
		for _, l := range r.state.Launched {
			spec := source.Placing(r.rows.Get(l.IDs[0]).dev.Spec())
			if others[spec], err = candidatesOf(e, r.state.Programs, spec); err != nil {
				return nil, err
			}
		}
	}
	for _, at := range r.rows.ran(e) {
		d, c := at.row, contents(at.on.Device)
		spec := r.checks.specOf(r.state.Grids.Of(d.dev))
		all = append(all, launch{d, c, d.named(c, at.on, e), spec, others[source.Placing(d.dev.Spec())], e.Unsettled, e.Persistent})
	}
	return all, nil
}

// run gives a run a row on each of its devices. outside: it ran outside the grid of one.
func (r *replay) run(e *event.Event, outside bool) {
	contents := source.ContentsOf(r.state.Launched)
	for _, at := range r.rows.ran(e) {
		c := contents(at.on.Device)
		run := r.books.run(at.row, c, at.on, e, outside)
		if !e.Aborted && !outside {
			r.dispatched(at.row, c.Programs, run, at.on.Last, e)
		}
	}
}
