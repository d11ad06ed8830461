package capture

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
)

// A run is what one unit placed since the last free that reached it.
type run struct {
	on      *unit
	before  []*run // programs of the same workload that ended where the next began, and are not told yet
	divided bool   // it began where such a program ended
	cbs     []program.CB
	told    int        // of cbs, those of which a run was told
	program program.ID // these

	key         operation // that ran at its first node
	depth       int       // how many functions that was
	start       uint64    // of the innermost one
	inOp        bool      // there is one
	first, last uint64    // counters of its nodes

	circular        int    // circular buffers among cbs
	cbFirst, cbLast uint64 // counters of these
	cbPath          string // functions that ran at the first of them

	opened uint64 // its number in openRuns; 0 = it is not there
}

// open reports whether the run has nodes that were not told.
func (r *run) open() bool { return r.told < len(r.cbs) }

// alive reports whether anything was placed since the last free.
func (r *run) alive() bool { return len(r.cbs) > 0 }

// placedBy returns what a node places.
func placedBy(n *node) program.CB {
	return program.CB{
		Kind: kindOf(n.Type), Cores: n.Cores, Size: n.Size.V, Global: n.Global,
		Address: n.Address.V, Fixed: n.Address.V != 0,
	}
}

// add takes in a node that places something.
func (r *run) add(n *node, cb program.CB, f *functions) {
	if !r.alive() {
		r.first, r.depth, r.key = n.Counter, f.depth(), f.operation()
		if inner := f.inner(); inner != nil {
			r.start, r.inOp = inner.start, true
		}
	}
	r.last = n.Counter
	r.cbs = append(r.cbs, cb)
	if cb.Kind != program.CircularBuffer {
		return
	}
	if r.circular++; r.circular == 1 {
		r.cbFirst, r.cbPath = n.Counter, f.path()
	}
	r.cbLast = n.Counter
}

// end forgets the run: a free has reached it.
func (r *run) end() { r.cbs, r.told, r.circular, r.divided, r.inOp = r.cbs[:0], 0, 0, false, false }

// where returns where the capture shows the run.
func (r *run) where() event.RunOn {
	on := event.RunOn{Device: r.on.id, First: r.first, Last: r.last}
	if r.circular > 0 {
		on.CBFirst, on.CBLast = r.cbFirst, r.cbLast
		if r.cbPath != r.key.path {
			on.CBOp = event.Some(r.cbPath)
		}
	}
	return on
}

// place takes in a node that places a CB, dataflow buffer or scratchpad.
func (w *walk) place(n *node) error {
	w.freeing = nil
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
	if w.wake(u).divides(u.run.cbs, cb) {
		w.divide(u, n.Counter)
	}
	u.since.shown = true
	w.live(u, n.Counter)
	u.run.add(n, cb, w.functions)
	if u.run.opened == 0 {
		w.open.add(u.run)
	}
	if !n.Global && n.Cores.Len() == 0 {
		w.notes.add(noteUnattributed, int64(n.Counter), "")
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
		w.tell(&event.Event{Kind: event.KindCBsFreed, Node: at, Op: event.Some(w.functions.path()), Devices: event.Some(ended)})
	}
}

// define returns the program of a run, and tells it if it is a new one.
func (w *walk) define(r *run) (program.ID, error) {
	id, cbs, err := w.layouts.of(r.cbs, w.specs.spec)
	if err != nil {
		return 0, &event.InputError{File: w.reader.file, Node: int64(r.first), Reason: err.Error(), Err: err}
	}
	if cbs != nil {
		w.tell(&event.Event{Kind: event.KindProgram, Node: r.first, Program: id, CBs: cbs, AsWritten: true})
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
			w.wake(s.unit).begin(began{s.what.program, s.first}, s.what.inferred)
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
		w.tell(&events[i])
	}
	if clear(events); cap(events) <= maxOut {
		w.starting = events
	}
	w.expose(first...)
}

// freeAll ends the runs of the unit that the node names, and of the chips of the mesh
// with that id; without an id, of all.
func (w *walk) freeAll(n *node) error {
	id := idOf(n.DeviceID)
	if w.unread.free.OK && w.unread.free.V+1 == n.Counter {
		return w.hideFree(n.Counter, id) // it announces programs with the hidden one
	}
	if w.repeats(n, id) {
		return nil
	}
	if w.ownFree() != nil {
		w.hit(n.Counter)
	}
	w.closeFree()
	if err := w.complete(n.Counter, w.openOn(id)); err != nil {
		return err
	}
	w.frees(n, id)
	w.announce(id, n.Counter)
	freed := w.freed[id]
	freed.grow(n.Counter)
	w.freed[id] = freed
	var ended []device.ID
	for _, u := range w.units.among(w.alive, id, isAlive) {
		ended = append(ended, u.id)
		w.end(u, n.Counter)
	}
	w.tellFreed(ended, n.Counter)
	left := len(w.alive) // that it missed
	if one := w.units.byID[event.NoDevice]; one != nil && isAlive(one) {
		left--
	}
	if left > 0 && !w.anyRun(id) {
		w.aimless.add(id, n.Counter)
	}
	return w.lift(n.Counter, id)
}

// live takes in that something is alive on a unit.
func (w *walk) live(u *unit, at uint64) {
	if u.alive == 0 {
		w.alive = append(w.alive, u)
		u.alive = len(w.alive)
		u.lived.grow(at)
	}
}

// end ends what is alive on a unit.
func (w *walk) end(u *unit, at uint64) {
	last := w.alive[len(w.alive)-1]
	w.alive[u.alive-1], last.alive = last, u.alive
	w.alive = w.alive[:len(w.alive)-1]
	u.alive = 0
	u.lived.grow(at)
	u.run.end()
}

func isAlive(u *unit) bool { return u.alive > 0 }

// missed reports whether frees of a mesh may have missed what was alive on a unit.
func (w *walk) missed(u *unit, mesh device.ID) bool {
	lived := u.lived
	if isAlive(u) {
		lived.grow(w.counter)
	}
	return lived.meets(w.freed[mesh])
}

// relied reports whether executions on a unit may have been told in spite of a free of a
// mesh, which announced other programs.
func (w *walk) relied(u *unit, mesh device.ID) bool {
	return u.since.relied.meets(w.heralds[mesh].all)
}

// anyRun reports whether anything was ever placed under an id or on a chip of it.
func (w *walk) anyRun(id device.ID) bool {
	ran := func(id device.ID) bool { return w.units.byID[id] != nil && w.units.byID[id].run != nil }
	return ran(id) || slices.ContainsFunc(w.known.chips[id], ran)
}

// aimless are the frees that reached nothing while something was alive, by id.
type aimless map[device.ID]*note

func (a aimless) add(id device.ID, at uint64) {
	if a[id] == nil {
		a[id] = &note{first: int64(at), detail: fmt.Sprintf("id %d", id)}
	}
	a[id].count++
}

// sum returns the frees whose ids stay unknown to the end. Nobody can tell what they ended.
// It returns nil if there are none.
func (a aimless) sum(known func(device.ID) bool) *note {
	var all *note
	for id, one := range a {
		switch {
		case known(id):
		case all == nil:
			sum := *one
			all = &sum
		default:
			if one.first < all.first {
				all.first, all.detail = one.first, one.detail
			}
			all.count += one.count
		}
	}
	return all
}

// kindOf returns the kind of what a node places.
func kindOf(t nodeType) program.Kind {
	switch t {
	case typeDataflowBufferAllocate:
		return program.DataflowBuffer
	case typeScratchpadAllocate:
		return program.Scratchpad
	}
	return program.CircularBuffer
}
