package capture

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// openRuns are the runs with CBs that no event has yet; a unit has one at most. Finding k
// of them is O(k log k), however many are open.
type openRuns struct {
	units   *units
	byDepth []*run // of functions, then in the order in which they were opened
	opened  uint64 // so far
}

func byDepth(a, b *run) int {
	return cmp.Or(cmp.Compare(a.call.depth, b.call.depth), cmp.Compare(a.opened, b.opened))
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
	at, _ := slices.BinarySearchFunc(o.byDepth, depth, func(r *run, depth int) int { return cmp.Compare(r.call.depth, depth) })
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
