package capture

import (
	"cmp"
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
func (r *run) add(n *node, cb program.CB, c call) {
	if !r.alive() {
		r.first, r.depth, r.key, r.start, r.inOp = n.Counter, c.depth, c.operation, c.start, c.depth > 0
	}
	r.last = n.Counter
	r.cbs = append(r.cbs, cb)
	if cb.Kind != program.CircularBuffer {
		return
	}
	if r.circular++; r.circular == 1 {
		r.cbFirst, r.cbPath = n.Counter, c.path
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

// parts returns the programs that a run stands for. Those of its workload that were not
// told yet come first.
func (r *run) parts() []*run {
	all := append(slices.Clip(r.before), r)
	r.before = nil
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

// openRuns are the runs with nodes that were not told yet; a unit has one at most. Finding k
// of them is O(k log k), however many are open.
type openRuns struct {
	units   *units
	byDepth []*run // of functions, then in the order in which they were opened
	opened  uint64 // so far
}

func byDepth(a, b *run) int {
	return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.opened, b.opened))
}

func (o *openRuns) add(r *run) {
	o.opened++
	r.opened = o.opened
	at, _ := slices.BinarySearchFunc(o.byDepth, r, byDepth)
	o.byDepth = slices.Insert(o.byDepth, at, r)
}

func (o *openRuns) remove(r *run) {
	if at, ok := slices.BinarySearchFunc(o.byDepth, r, byDepth); ok {
		o.byDepth = slices.Delete(o.byDepth, at, at+1)
	}
	r.opened = 0
}

// removeAll removes some.
func (o *openRuns) removeAll(some []*run) {
	if len(some) < len(o.byDepth) {
		for _, r := range some {
			o.remove(r)
		}
		return
	}
	for _, r := range some {
		r.opened = 0
	}
	clear(o.byDepth)
	o.byDepth = o.byDepth[:0]
}

// all returns the runs in the order in which they were opened.
func (o *openRuns) all() []*run { return o.from(0) }

// from returns the runs that began in so many functions or more.
func (o *openRuns) from(depth int) []*run {
	at, _ := slices.BinarySearchFunc(o.byDepth, depth, func(r *run, depth int) int { return cmp.Compare(r.depth, depth) })
	return inOrder(slices.Clone(o.byDepth[at:]))
}

// of returns the open runs of some units.
func (o *openRuns) of(units ...*unit) (runs []*run) {
	for _, u := range units {
		if isOpen(u) {
			runs = append(runs, u.run)
		}
	}
	return inOrder(runs)
}

func inOrder(runs []*run) []*run {
	slices.SortFunc(runs, func(a, b *run) int { return cmp.Compare(a.opened, b.opened) })
	return runs
}

func isOpen(u *unit) bool { return u != nil && u.run != nil && u.run.opened > 0 }

// on returns the open runs of the units that an id reaches.
func (o *openRuns) on(id device.ID) (runs []*run) {
	if reach := 1 + len(o.units.members.chips[id]); reach < len(o.byDepth) && id != event.NoDevice {
		return o.of(o.units.reached(id)...)
	}
	for _, r := range o.byDepth {
		if o.units.members.reaches(id, r.on.id) {
			runs = append(runs, r)
		}
	}
	return inOrder(runs)
}
