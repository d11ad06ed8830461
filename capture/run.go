package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
)

// place takes in a node that places a CB, dataflow buffer or scratchpad.
func (w *walk) place(n *node) error {
	w.shows.placed, w.shows.recorded = true, w.shows.recorded || n.Address.V != 0
	w.functions.place()
	w.grids.see(n.Cores)
	w.upstream.place(n)
	u := w.meet(idOf(n.DeviceID))
	if n.Address.V == 0 && !n.Global && w.specs.hidesBase() {
		return w.hidePrograms(n.Counter, u.id)
	}
	if u.blind {
		w.unread.hide(hiddenRun{operation: w.functions.operation(), on: u.id})
		u.since.shown = true
		return nil
	}
	if u.run == nil {
		u.run = &run{on: u}
	}
	cb := placedBy(n)
	if w.heralds.wake(u).divides(u.run.cbs, cb) {
		w.divide(u, n.Counter)
	}
	u.since.shown = true
	w.heralds.live(u, n.Counter)
	u.run.add(n, cb, w.functions)
	if u.run.opened == 0 {
		w.open.add(u.run)
	}
	if !n.Global && n.Cores.Len() == 0 {
		w.out.notes.add(noteUnattributed, int64(n.Counter), "")
	}
	return nil
}

// A start is what one unit began to run.
type start struct {
	what startKey
	unit *unit
	on   event.RunOn

	first  uint64         // counter of the first node that the capture shows of it
	others [][]program.ID // workloads that may have begun instead of the one that this is the first program of
}

// A startKey is what starts have in common that are told as one event.
type startKey struct {
	program             program.ID
	op                  string
	inferred, continues bool
	unsettled           bool   // it may be several programs
	aborted             bool   // an exception ended its operation
	outside             bool   // the grid
	persistent          bool   // its unit has persistent pages
	others              string // workloads that may have begun instead, in words
	othersUnsettled     bool   // some of them may be more programs
}

// complete tells some open runs, and before each the programs of its workload that ended
// where the next began.
func (w *walk) complete(at uint64, some []*run) error {
	var all [][]*run
	most := 0
	for _, r := range some {
		w.settle()
		parts := r.parts()
		all, most = append(all, parts), max(most, len(parts))
	}
	for i := range most {
		if err := w.completeParts(all, i, at); err != nil {
			return err
		}
	}
	w.open.removeAll(some)
	return nil
}

// completeParts tells the programs with one number of some workloads. A program ends
// where another one of its workload follows.
func (w *walk) completeParts(all [][]*run, i int, at uint64) error {
	var starts []start
	var ended []device.ID
	for _, parts := range all {
		if i >= len(parts) {
			continue
		}
		r := parts[i]
		what := startKey{op: r.key.path, continues: r.told > 0, unsettled: w.unsettles(r)}
		if r.inOp {
			what.aborted = w.known.aborted[r.start]
			w.functions.decide(r.start)
		}
		var err error
		if what.program, err = w.define(r); err != nil {
			return err
		}
		w.known.bottom.program(r)
		r.told, r.program = len(r.cbs), what.program
		on := r.where()
		starts = append(starts, start{what, r.on, on, r.first, nil})
		if !what.aborted && !w.unread.covers(r.key, r.on.id) {
			w.hits.remember(r, remembered{what.program, r.first, on.CBFirst, on.CBLast, what.unsettled})
		}
		if i+1 < len(parts) {
			ended = append(ended, r.on.id)
		}
	}
	w.start(starts, at)
	w.tellFreed(ended, at)
	return nil
}

// tellFreed tells that what is alive on some units ends.
func (w *walk) tellFreed(ended []device.ID, at uint64) {
	if len(ended) > 0 {
		slices.SortFunc(ended, byID)
		w.out.tell(&event.Event{Kind: event.KindCBsFreed, Node: at, Op: event.Some(w.functions.path()), Devices: event.Some(ended)})
	}
}

// define returns the program of a run, and tells it if it is a new one.
func (w *walk) define(r *run) (program.ID, error) {
	id, cbs, err := w.layouts.of(r.cbs, w.specs.spec)
	if err != nil {
		return 0, &event.InputError{File: w.reader.file, Node: int64(r.first), Reason: err.Error(), Err: err}
	}
	if cbs != nil {
		w.out.tell(&event.Event{Kind: event.KindProgram, Node: r.first, Program: id, CBs: cbs, AsWritten: true})
	}
	return id, nil
}

// start tells what began to run at one moment: one event for units with the same
// program and operation.
func (w *walk) start(all []start, node uint64) {
	slices.SortStableFunc(all, func(a, b start) int { return byID(a.unit.id, b.unit.id) })
	at, first, events := map[startKey]int{}, []*unit(nil), w.starting[:0]
	for _, s := range all {
		if !s.unit.ran {
			first, s.unit.ran = append(first, s.unit), true
			w.units.ran++
		}
		s.what.persistent = w.known.lifts(s.unit.id)
		if s.what.outside = !w.layouts.inside(s.what.program, w.grids.of(s.unit.id)); !s.what.outside {
			w.heralds.wake(s.unit).begin(began{s.what.program, s.first}, s.what.inferred)
		}
		i, ok := at[s.what]
		if !ok {
			i, at[s.what] = len(events), len(events)
			events = append(events, event.Event{
				Kind: event.KindRun, Node: node, Op: event.Some(s.what.op), Program: s.what.program,
				Inferred: s.what.inferred, Continues: s.what.continues, Unsettled: s.what.unsettled,
				Candidates: s.others, CandidatesUnsettled: s.what.othersUnsettled, Aborted: s.what.aborted,
				Persistent: s.what.persistent,
			})
		}
		events[i].On = append(events[i].On, s.on)
	}
	for i := range events {
		w.out.tell(&events[i])
	}
	if clear(events); cap(events) <= maxOut {
		w.starting = events
	}
	for _, a := range w.absent.shown(w.known.members, first) {
		w.out.tell(a.told)
	}
}

// divide ends the run of a unit before a node that begins another program. The run is told
// with those that follow, unless it was told already.
func (w *walk) divide(u *unit, at uint64) {
	a, old := w.heralds.wake(u), u.run
	if a.found++; a.found == a.most && len(a.unsettled) > 0 {
		w.known.settles(a.unsettled)
	}
	u.run = &run{on: u, divided: true}
	if old.open() {
		u.run.before = append(old.before, old)
		old.before = nil
		w.open.remove(old)
		return
	}
	w.tellFreed([]device.ID{u.id}, at)
}

// unsettles reports whether a run that is told now may be several programs. It comes too
// late for this reading if the capture shows afterwards that it is one.
func (w *walk) unsettles(r *run) bool {
	a := w.heralds.wake(r.on)
	if a.over || a.found >= a.most || w.known.settled[r.first] {
		return false
	}
	if n := len(a.unsettled); n < maxAnnounced && (n == 0 || a.unsettled[n-1] != r.first) {
		a.unsettled = append(a.unsettled, r.first)
	}
	return true
}

// freeAll ends the runs of the unit that the node names, and of the chips of the mesh
// with that id; without an id, of all.
func (w *walk) freeAll(n *node) error {
	id := idOf(n.DeviceID)
	if w.unread.free.OK && w.unread.free.V+1 == n.Counter {
		return w.hideFree(n.Counter, id) // it announces programs with the hidden one
	}
	if f := w.functions.freeing; f.repeats(n, id) && w.heralds.again(id) {
		f.last = n.Counter
		return nil
	}
	if w.functions.ownFree() != nil {
		w.hit(n.Counter)
	}
	w.closeFree()
	if err := w.complete(n.Counter, w.open.on(id)); err != nil {
		return err
	}
	w.functions.free(n.Counter, id, !w.known.members.onlyChip(id), w.unread.calls)
	w.heralds.announce(id, n.Counter, w.functions.depth() > 0)
	var ended []device.ID
	for _, u := range w.units.among(&w.heralds.alive, id) {
		ended = append(ended, u.id)
		w.heralds.end(u, n.Counter)
	}
	w.tellFreed(ended, n.Counter)
	w.heralds.miss(id, n.Counter)
	return w.lift(n.Counter, id)
}
