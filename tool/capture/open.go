package capture

import (
	"cmp"
	"slices"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// openRuns are the runs with CBs that no event has yet; a unit has one at most. Finding k
// of them is O(k log k), however many are open.
type openRuns struct {
	units   *units
	byDepth *btree.BTreeG[*run] // of functions, then in the order in which they were opened
	opened  uint64              // so far
	least   run                 // where from begins
}

func newOpenRuns(u *units) openRuns {
	return openRuns{units: u, byDepth: btree.NewG(16, func(a, b *run) bool {
		return cmp.Or(cmp.Compare(a.call.depth, b.call.depth), cmp.Compare(a.opened, b.opened)) < 0
	})}
}

func (o *openRuns) add(r *run) {
	o.opened++
	r.opened = o.opened
	o.byDepth.ReplaceOrInsert(r)
}

func (o *openRuns) remove(r *run) {
	o.byDepth.Delete(r)
	r.opened = 0
}

// from returns the runs that began in so many functions or more, in the order in which they were opened.
func (o *openRuns) from(depth int) (runs []*run) {
	o.least.call.depth = depth
	o.byDepth.AscendGreaterOrEqual(&o.least, func(r *run) bool {
		runs = append(runs, r)
		return true
	})
	return inOrder(runs)
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
	if reach := 1 + len(o.units.members.Chips[id]); reach < o.byDepth.Len() && id != event.NoDevice {
		return o.of(o.units.reached(id)...)
	}
	return slices.DeleteFunc(o.from(0), func(r *run) bool { return !o.units.members.Reaches(id, r.on.id) })
}
