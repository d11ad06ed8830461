package replay

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A launched is a run on devices of Specs that place it alike.
type launched struct {
	content *content
	set     device.Set
	ids     []device.ID
}

// launches returns what a run places, and on which devices.
func (s *Session) launches(e *event.Event) ([]launched, event.Code, error) {
	def := s.programs[e.Program]
	if def == nil {
		return nil, event.CodeUndefined, fmt.Errorf("program %d: no event has defined it", e.Program)
	}
	for _, workload := range e.Candidates {
		for _, id := range workload {
			if s.programs[id] == nil {
				return nil, event.CodeUndefined, fmt.Errorf("program %d: no event has defined it", id)
			}
		}
	}
	var out []launched
	at := map[l1.Spec]int{} // in out
	for _, on := range e.On {
		d, err := s.fleet.Device(on.Device)
		if err != nil {
			return nil, "", err
		}
		spec := placing(d.Spec())
		i, ok := at[spec]
		if !ok {
			i, at[spec] = len(out), len(out)
			c, err := def.apart(spec)
			if err != nil {
				return nil, "", err
			}
			out = append(out, launched{content: c})
		}
		out[i].ids = append(out[i].ids, on.Device)
	}
	for i := range out {
		set, err := s.fleet.Of(out[i].ids...)
		if err != nil {
			return nil, "", err
		}
		out[i].set = set
	}
	return out, "", nil
}

// run registers a program and makes it resident: it did run, whatever a check says. A
// run that goes on takes the place of what it was so far. Of an aborted one nothing is
// resident.
//
// Outside the grid of one of its devices it is a device.ErrGrid, and registered
// nowhere. What it was before it went on is not registered any more.
func (s *Session) run(e *event.Event) (event.Code, error) {
	all, code, err := s.launches(e)
	if err != nil {
		return code, err
	}
	s.launched = all
	for _, on := range e.On {
		if err = s.onGrid(e.Program, on.Device); err != nil {
			break
		}
	}
	if err == nil {
		err = s.registerAll(all)
	}
	if err != nil && !errors.Is(err, device.ErrGrid) {
		return "", err
	}
	if !e.Inferred {
		for _, on := range e.On {
			s.runs(on.Device, e)
		}
	}
	if err != nil {
		return "", err
	}
	for _, l := range all {
		for _, p := range l.content.programs {
			if e.Aborted {
				break
			}
			if err := s.fleet.Dispatch(p.ID(), l.set); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

// registerAll registers programs on all their devices or on none.
func (s *Session) registerAll(all []launched) (err error) {
	var undo []func()
	for _, l := range all {
		for _, p := range l.content.programs {
			added, err := s.fleet.Register(p, l.set)
			if err != nil {
				for _, f := range slices.Backward(undo) {
					f()
				}
				return err
			}
			undo = append(undo, func() { _ = s.fleet.Unregister(p.ID(), added) }) // it was registered just now
		}
	}
	return nil
}

// runs notes that a program ran on a device. What a run was before it went on is not
// registered any more, unless it ran like that at another time.
func (s *Session) runs(id device.ID, e *event.Event) {
	if s.users == nil {
		s.users, s.latest = map[ranOn]int{}, map[device.ID]program.ID{}
	}
	was, known := s.latest[id]
	s.latest[id] = e.Program
	s.users[ranOn{id, e.Program}]++
	if !e.Continues || !known {
		return
	}
	old := ranOn{id, was}
	if s.users[old]--; s.users[old] > 0 {
		return
	}
	delete(s.users, old)
	for _, part := range []program.ID{was, apartID(was)} { // none of them, if it ran outside the grid
		if d, err := s.fleet.Device(id); err == nil && s.fleet.Where(part).Has(id) {
			_ = s.fleet.Unregister(part, d.Set()) // it was there just now
		}
	}
}
