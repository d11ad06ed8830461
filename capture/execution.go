package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// execute takes in an execution: that of a program which its chip began to run.
func (w *walk) execute(n *node) error {
	w.shows.executed = true
	if !n.PhysicalDeviceID.OK {
		return nil
	}
	chip := device.ID(n.PhysicalDeviceID.V)
	if f := w.functions.ownFree(); f != nil && w.known.members.reaches(f.device, chip) {
		w.hit(n.Counter)
	}
	if err := w.complete(n.Counter, w.open.of(w.units.byID[chip])); err != nil {
		return err
	}
	e := &event.Event{
		Kind: event.KindExecuted, Node: n.Counter, Op: event.Some(w.functions.path()), Devices: event.Some([]device.ID{chip}),
	}
	if u := w.units.byID[chip]; u != nil {
		e.Program, e.Known = u.since.next(max(u.met, u.since.at), n.Counter)
	}
	if !e.Known {
		onMesh, err := w.shownOnMesh(chip, n.Counter)
		if err != nil {
			return err
		}
		if u := w.units.byID[chip]; !onMesh && !(u != nil && u.blind) {
			w.heralds.guessed.alone[chip] = true
			name, start := "", n.Counter
			if inner := w.functions.inner(); inner != nil {
				name, start = inner.name, inner.start
			}
			w.notShown(w.out.hidden, name, start)
		}
	}
	w.out.tell(e)
	return nil
}

// shownOnMesh reports whether what a chip executes is shown under the id of its mesh.
func (w *walk) shownOnMesh(chip device.ID, at uint64) (bool, error) {
	for _, mesh := range w.known.members.meshesOf(chip) {
		if err := w.complete(at, w.open.of(w.units.byID[mesh])); err != nil {
			return false, err
		}
		if u := w.units.byID[mesh]; u != nil && len(u.since.programs) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// shows tells a plan from a run. A plan shows everything.
type shows struct {
	placed, recorded, executed bool // something; with an address; an execution

	operation event.Opt[uint64] // start of the last function that counts as not shown
}

// plan reports whether the capture shows everything that would run: it was recorded
// instead of dispatched.
func (s *shows) plan() bool { return s.placed && !s.recorded && !s.executed }

// notShown notes that a function ran a program that the capture does not show. All frees and
// executions of the function count once.
func (w *walk) notShown(in notes, name string, start uint64) {
	if w.shows.operation == event.Some(start) {
		return
	}
	w.shows.operation = event.Some(start)
	in.add(hiddenNotShown, int64(start), name)
}
