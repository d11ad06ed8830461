package device

import (
	"sync/atomic"

	"github.com/cbl1/cbl1/fit"
)

// heaps are those that devices have, found by what is in them, and the live buffers. The
// zero heaps are none.
type heaps struct {
	found shelf[heap]
	live  map[fit.BufferID][]*allocation // on any device; different ones may share an id
	// Heaps that were named before this number are read without the lock: who changes one
	// changes a copy.
	pictured atomic.Uint64
}

// picture notes that all heaps there are may be read without the lock from now on.
func (o *heaps) picture(n *numbers) { o.pictured.Store(n.last + 1) }

// has reports whether a device has a buffer with an id.
func (o *heaps) has(id fit.BufferID) bool { return len(o.live[id]) > 0 }

// devices returns how many devices have a buffer with an id.
// Cost: O(different buffers of the id).
func (o *heaps) devices(id fit.BufferID) (n int) {
	for _, a := range o.live[id] {
		n += a.users
	}
	return n
}

// allocation returns the form of a plain buffer in which it is counted: the one that other
// devices have, if they have the same, so that they find each other's heaps. It returns false
// if a sum of bytes is above 2^63-1.
func (o *heaps) allocation(b fit.Buffer, n *numbers) (*allocation, bool) {
	for _, a := range o.live[b.ID] {
		if a.equal(&b) {
			return a, true
		}
	}
	return newAllocation(b, n)
}

// give notes that so many more devices have an allocation.
func (o *heaps) give(a *allocation, devices int, to *roster, n *numbers) {
	if a.users == 0 {
		if a.placed != nil {
			to.enter(a.placed, &n.hashes)
		}
		if o.live == nil {
			o.live = map[fit.BufferID][]*allocation{}
		}
		a.at = len(o.live[a.ID])
		o.live[a.ID] = append(o.live[a.ID], a)
	}
	a.users += devices
}

// take notes that so many devices less have an allocation. No heap of a device has it then.
func (o *heaps) take(a *allocation, devices int, from *roster) {
	if a.users -= devices; a.users > 0 {
		return
	}
	if a.placed != nil {
		from.retire(a.placed)
	}
	same := o.live[a.ID]
	last := len(same) - 1
	if last == 0 {
		delete(o.live, a.ID)
		return
	}
	same[a.at] = same[last]
	same[a.at].at = a.at
	same[last] = nil
	o.live[a.ID] = same[:last]
}

// moves are the ways that devices go when a buffer comes to them or leaves them: one for each
// heap that they come from. The zero moves are none.
type moves struct {
	all  []move
	bare int // the place of the one from no heap
}

// A move is from one heap to another one, or to the same that has changed; nil is no buffers.
type move struct {
	from, to *heap
	devices  int
	before   fit.BufferTotals // of from, before anything changed
	charge   uint64           // of from, too
}

// from returns the move from a heap, a new one if there is none.
func (m *moves) from(h *heap) *move {
	at := &m.bare
	if h != nil {
		at = &h.place
	}
	if *at >= len(m.all) || m.all[*at].from != h {
		*at = len(m.all)
		m.all = append(m.all, move{from: h, before: h.sums(), charge: h.charged()})
	}
	return &m.all[*at]
}

// lead finds where moves lead to, with one buffer more or one less; one of the two is nil. What
// is added was on none of the devices, so that no move leads where another one begins.
// Where a whole heap moves on, it is changed in place.
func (o *heaps) lead(m *moves, add, drop *allocation, n *numbers) {
	for i := range m.all {
		w := &m.all[i]
		w.to = o.after(w.from, w.devices, add, drop, n)
	}
}

// after returns the heap that so many devices with the heap from come to.
func (o *heaps) after(from *heap, devices int, add, drop *allocation, n *numbers) *heap {
	k, left := from.after(add, drop)
	if left == 0 {
		return nil
	}
	if from != nil {
		if to := from.follow(drop.id(), add.id()); to != nil {
			return to
		}
	}
	if to := o.found.find(k, func(to *heap) bool { return from.becomes(to, add, drop) }); to != nil {
		if from != nil {
			from.connect(&to.crossing, drop.id(), add.id())
		}
		return to
	}
	to := from
	switch {
	case from == nil:
		to = newHeap(n.next())
	case from.users == devices && from.name >= o.pictured.Load():
		o.found.drop(from.hash, from)
		to.rename(n.next())
	default:
		to = from.clone(n.next())
		if from.name >= o.pictured.Load() {
			from.placed.owner = n.next()
		}
		from.connect(&to.crossing, drop.id(), add.id())
	}
	to.change(add, drop)
	o.found.put(k, to)
	return to
}

// move notes that a device which had one heap has another one now, or the same; nil is none.
func (o *heaps) move(from, to *heap) {
	if from == to {
		return
	}
	if from != nil {
		o.abandon(from)
	}
	if to != nil {
		to.users++
	}
}

// abandon notes that a device less has a heap.
func (o *heaps) abandon(h *heap) {
	if h.users--; h.users == 0 {
		o.found.drop(h.hash, h)
		if h.name < o.pictured.Load() {
			h.rename(0) // the rest may be read without the lock
		} else {
			*h = heap{}
		}
	}
}

// end notes that a device which had a heap is gone, with all buffers that it had.
func (o *heaps) end(h *heap, from *roster) {
	for _, a := range h.live.all() {
		o.take(a, 1, from)
	}
	o.abandon(h)
}
