package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
)

// maxAnnounced bounds how many programs are remembered behind one free. Of more the last
// one stands for the rest.
const maxAnnounced = 1 << 12

// announced is what a unit began to run since the last free that announced programs
// there: what its chips execute until the next such free.
type announced struct {
	programs   []began
	executions int // of these: the k-th is of the k-th program
	workload
	relied stretch // from the first free or meeting that an execution was told behind, to the last such execution
}

// began is a program that began to run, and the counter of its first node.
type began struct {
	program program.ID
	first   uint64
}

// begin takes in a program. One with the same first node as the last one is the last one,
// which went on.
func (a *announced) begin(what began, inferred bool) {
	n := len(a.programs)
	switch {
	case n > 0 && (!inferred && a.programs[n-1].first == what.first || n == maxAnnounced):
		a.programs[n-1] = what
	default:
		a.programs = append(a.programs, what)
	}
}

// next returns the program of the next execution, a node. It is not known where nothing
// began. What frees announced between behind, which is a node too, and the execution did
// not reach the unit.
func (a *announced) next(behind, at uint64) (id program.ID, known bool) {
	n := len(a.programs)
	if n == 0 {
		return 0, false
	}
	if a.relied == (stretch{}) {
		a.relied.grow(behind)
	}
	a.relied.grow(at)
	if a.executions < n {
		a.executions++
	}
	return a.programs[a.executions-1].program, true
}

// execute takes in an execution: that of a program which its chip began to run.
func (w *walk) execute(n *node) error {
	w.shows.executed = true
	if !n.PhysicalDeviceID.OK {
		return nil
	}
	chip := device.ID(n.PhysicalDeviceID.V)
	if f := w.ownFree(); f != nil && w.known.reaches(f.device, chip) {
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
			w.guessed.alone[chip] = true
			name, start := "", n.Counter
			if inner := w.functions.inner(); inner != nil {
				name, start = inner.name, inner.start
			}
			w.notShown(w.hidden, name, start)
		}
	}
	w.tell(e)
	return nil
}

// shownOnMesh reports whether what a chip executes is shown under the id of its mesh.
func (w *walk) shownOnMesh(chip device.ID, at uint64) (bool, error) {
	for _, mesh := range w.known.meshesOf(chip) {
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

// addAll takes in what was counted apart.
func (n notes) addAll(more notes) {
	for code, o := range more {
		have := n[code]
		if have == nil {
			n[code] = o
			continue
		}
		have.count += o.count
		if o.first < have.first {
			have.first, have.detail = o.first, o.detail
		}
	}
}
