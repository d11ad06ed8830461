package device

import (
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// LeastHeadroom returns the least Free of Fleet.Headroom over all registered programs on a core of the device. ok is
// false if no byte is registered. Cost: O(classes of cores) where all buffers lie above all programs.
func (d Device) LeastHeadroom() (free uint64, ok bool) {
	var closely *fit.Place
	d.look(func(now *classes.Content) { free, ok, closely = d.quickHeadroom(&now.Occupied) })
	if closely != nil {
		for _, room := range fit.HeadroomOver(*closely) {
			free = min(free, room.Free)
		}
	}
	return free, ok
}

// quickHeadroom is LeastHeadroom by a quick test. If a kernel reaches into programs,
// or a buffer among them has no size, it returns the place for the full judgement.
func (d Device) quickHeadroom(programs *classes.Partition) (free uint64, ok bool, closely *fit.Place) {
	if len(programs.Classes) == 0 {
		return 0, false, nil
	}
	c := d.c.cohort.Load()
	held := l1.Range{Start: c.spec.CBBase, End: c.spec.CBBase}
	for _, class := range programs.Classes {
		one := class.Covered.Span()
		held = l1.Range{Start: min(held.Start, one.Start), End: max(held.End, one.End)}
	}
	free = less(c.spec.Usable().End, held.End)
	h := c.heap()
	sure := h.Gap().Start <= held.Start
	if sure {
		h.Above(func(a *heap.Allocation) bool {
			if less(a.Span.Start, held.End) >= free {
				return false
			}
			if sure = !a.Unsized; sure {
				free = below(a, programs, c.spec.CBBase, free)
			}
			return sure
		})
	}
	if !sure {
		at := site{alike: c.alike(), first: d.c.id, devices: 1}
		place := at.place()
		place.Held, closely = programs.Parts(), &place
	}
	return free, true, closely
}

// less returns a - b, or 0 if b is larger.
func less(a, b uint64) uint64 { return a - min(a, b) }

// below returns the room between programs and a buffer above them, on the core with
// the least of it; at most most.
func below(a *heap.Allocation, programs *classes.Partition, base, most uint64) uint64 {
	for p := range a.All() {
		if p.Range.IsEmpty() {
			continue
		}
		for _, c := range programs.Classes {
			held := c.Covered.Span()
			room := less(p.Range.Start, max(held.End, base))
			if room < most && p.Range.End > held.Start && c.Cores.Overlaps(p.Cores) {
				most = room
			}
		}
		room := less(p.Range.Start, base)
		if room >= most || p.Range.End <= base {
			continue
		}
		bare := p.Cores // without programs
		for _, c := range programs.Classes {
			bare = bare.Minus(c.Cores)
		}
		if !bare.IsEmpty() {
			most = room
		}
	}
	return most
}
