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

	missed map[device.ID]bool // meshes whose frees did not reach it
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
func (w *walk) place(n *node) {
	w.freeing = nil
	w.shows.placed, w.shows.recorded = true, w.shows.recorded || n.Address.V != 0
	if inner := w.functions.inner(); inner != nil {
		inner.placed = true
	}
	w.grids.see(n.Cores)
	w.upstream.place(n)
	u := w.meet(idOf(n.DeviceID))
	if u.run == nil {
		u.run = &run{on: u}
	}
	cb := placedBy(n)
	if u.since.divides(u.run.cbs, cb) {
		w.divide(u, n.Counter)
	}
	u.since.shown = true
	if !u.run.alive() {
		w.alive = append(w.alive, u.run)
	}
	if !u.run.open() {
		w.open = append(w.open, u.run)
	}
	u.run.add(n, cb, w.functions)
	if !n.Global && n.Cores.Len() == 0 {
		w.notes.add(noteUnattributed, int64(n.Counter), "")
	}
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
	others              string // workloads that may have begun instead, in words
	othersUnsettled     bool   // some of them may be more programs
}

// complete tells the open runs of those asked for, and before each the programs of its
// workload that ended where the next began.
func (w *walk) complete(at uint64, which func(*run) bool) error {
	var all [][]*run
	most := 0
	for _, r := range w.open {
		if which(r) {
			w.settle()
			parts := r.parts()
			all, most = append(all, parts), max(most, len(parts))
		}
	}
	for i := range most {
		if err := w.completeParts(all, i, at); err != nil {
			return err
		}
	}
	if most > 0 {
		w.open = slices.DeleteFunc(w.open, func(r *run) bool { return !r.open() })
	}
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
		r.told, r.program = len(r.cbs), what.program
		on := r.where()
		starts = append(starts, start{what, r.on, on, r.first, nil})
		if !what.aborted {
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
func (w *walk) start(all []start, at uint64) {
	slices.SortStableFunc(all, func(a, b start) int { return byID(a.unit.id, b.unit.id) })
	events, first := map[startKey]*event.Event{}, false
	for _, s := range all {
		first = first || !s.unit.ran
		s.unit.ran = true
		if s.what.outside = !w.layouts.inside(s.what.program, w.grids.of(s.unit.id)); !s.what.outside {
			s.unit.since.begin(began{s.what.program, s.first}, s.what.inferred)
		}
		e := events[s.what]
		if e == nil {
			e = &event.Event{
				Kind: event.KindRun, Node: at, Op: event.Some(s.what.op), Program: s.what.program,
				Inferred: s.what.inferred, Continues: s.what.continues, Unsettled: s.what.unsettled,
				Candidates: s.others, CandidatesUnsettled: s.what.othersUnsettled, Aborted: s.what.aborted,
			}
			events[s.what] = e
			w.tell(e)
		}
		e.On = append(e.On, s.on)
	}
	if first {
		w.expose()
	}
}

// freeAll ends the runs of the unit that the node names, and of the chips of the mesh
// with that id; without an id, of all.
func (w *walk) freeAll(n *node) error {
	id := idOf(n.DeviceID)
	if w.repeats(n, id) {
		return nil
	}
	if w.ownFree() != nil {
		w.hit(n.Counter)
	}
	w.closeFree()
	reaches := func(r *run) bool { return w.known.reaches(id, r.on.id) }
	if err := w.complete(n.Counter, reaches); err != nil {
		return err
	}
	w.frees(n, id)
	w.announce(id, n.Counter)
	var ended []device.ID
	missed := false
	w.alive = slices.DeleteFunc(w.alive, func(r *run) bool {
		if !reaches(r) {
			if r.on.id != event.NoDevice {
				r.miss(id)
				missed = true
			}
			return false
		}
		ended = append(ended, r.on.id)
		r.end()
		return true
	})
	w.tellFreed(ended, n.Counter)
	if missed && !w.anyRun(id) {
		w.aimless.add(id, n.Counter)
	}
	return nil
}

// miss takes in that a free of a mesh did not reach the run. If it turns out to be the
// mesh of its unit, it should have.
func (r *run) miss(mesh device.ID) {
	if r.missed == nil {
		r.missed = map[device.ID]bool{}
	}
	r.missed[mesh] = true
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
