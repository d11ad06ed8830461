package source

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Launch is a run on devices of Specs that place it alike.
type Launch struct {
	content *Content
	set     device.Set
	IDs     []device.ID
}

// launches returns what a run places, and on which devices.
func (defs Definitions) launches(e *event.Event, f *device.Fleet) (out []Launch, code event.Code, err error) {
	def := defs[e.Program]
	if def == nil {
		return nil, event.CodeUndefined, errUndefined(e.Program)
	}
	for _, workload := range e.Candidates {
		for _, id := range workload {
			if defs[id] == nil {
				return nil, event.CodeUndefined, errUndefined(id)
			}
		}
	}
	var specs []l1.Spec // of out
	for _, on := range e.On {
		d, err := f.Device(on.Device)
		if err != nil {
			return nil, "", err
		}
		spec := Placing(d.Spec())
		i := slices.Index(specs, spec)
		if i < 0 {
			c, err := def.Apart(spec)
			if err != nil {
				return nil, "", err
			}
			i, specs, out = len(out), append(specs, spec), append(out, Launch{content: c})
		}
		out[i].IDs = append(out[i].IDs, on.Device)
	}
	for i := range out {
		if out[i].set, err = f.Of(out[i].IDs...); err != nil {
			return nil, "", err
		}
	}
	return out, "", nil
}

// registerAll registers programs on all their devices or on none.
func registerAll(fleet *device.Fleet, all []Launch) (err error) {
	var undo []func()
	for _, l := range all {
		for _, p := range l.content.Programs {
			added, err := fleet.Register(p, l.set)
			if err != nil {
				for _, f := range slices.Backward(undo) {
					f()
				}
				return err
			}
			if len(all) == 1 && len(l.content.Programs) == 1 { // as of most runs
				return nil
			}
			undo = append(undo, func() { _ = fleet.Unregister(p.ID(), added) }) // it was registered just now
		}
	}
	return nil
}

// A deviceProgram is a program on a device.
type deviceProgram struct {
	device  device.ID
	program program.ID
}

// ranCounts count the runs that have events.
type ranCounts struct {
	latest map[device.ID]program.ID // of the last one
	users  map[deviceProgram]int
}

// add notes that a program ran on a device. What a run was before it went on is not
// registered any more, unless it ran like that at another time.
func (c *ranCounts) add(id device.ID, e *event.Event, fleet *device.Fleet) {
	if c.users == nil {
		c.users, c.latest = map[deviceProgram]int{}, map[device.ID]program.ID{}
	}
	was, known := c.latest[id]
	c.latest[id] = e.Program
	c.users[deviceProgram{id, e.Program}]++
	if !e.Continues || !known {
		return
	}
	old := deviceProgram{id, was}
	if c.users[old]--; c.users[old] > 0 {
		return
	}
	delete(c.users, old)
	for _, part := range []program.ID{was, apartID(was)} { // none of them, if it ran outside the grid
		if d, err := fleet.Device(id); err == nil && fleet.Where(part).Has(id) {
			_ = fleet.Unregister(part, d.Set()) // it was there just now
		}
	}
}

// ContentsOf returns what runs place, by device.
func ContentsOf(all []Launch) func(device.ID) *Content {
	if len(all) == 1 {
		return func(device.ID) *Content { return all[0].content }
	}
	contents := map[device.ID]*Content{}
	for _, l := range all {
		for _, id := range l.IDs {
			contents[id] = l.content
		}
	}
	return func(id device.ID) *Content { return contents[id] }
}

// traces are the traces of a log that were not released, by its numbers.
type traces map[uint64]device.TraceID

// begin begins a trace on some devices, which are not known if there is an error.
func (t *traces) begin(e *event.Event, f *device.Fleet, on device.Set, err error) (event.Code, error) {
	if _, known := (*t)[e.Trace]; known {
		return event.CodeTraceExists, fmt.Errorf("trace %d was begun and not released", e.Trace)
	}
	if err != nil {
		return "", err
	}
	id, err := f.BeginTrace(on)
	if err != nil {
		return "", err
	}
	if *t == nil {
		*t = traces{}
	}
	(*t)[e.Trace] = id
	return "", nil
}

// call makes the call of a fleet that an event about a trace stands for.
func (t traces) call(e *event.Event, f *device.Fleet) (event.Code, error) {
	id, known := t[e.Trace]
	if !known {
		return event.CodeNoTrace, fmt.Errorf("trace %d: %w", e.Trace, device.ErrNoTrace)
	}
	var err error
	switch e.Kind {
	case event.KindRecord:
		err = f.Record(id, e.Program)
	case event.KindTraceEnd:
		err = f.EndTrace(id)
	case event.KindReplay:
		err = f.Replay(id)
	case event.KindRelease:
		if err = f.ReleaseTrace(id); err == nil {
			delete(t, e.Trace)
		}
	}
	// The fleet numbers traces for itself; people know the log's number.
	if refused, ok := errors.AsType[*device.Error](err); ok {
		refused.Trace = device.TraceID(e.Trace)
	}
	return "", err
}
