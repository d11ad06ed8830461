package heap

import (
	"sync/atomic"

	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/fit"
)

// A Book has the heaps of devices, found by what is in them, and the live buffers. The
// zero Book has none.
type Book struct {
	found lookup.Shelf[Heap]
	live  map[fit.BufferID][]*Allocation // on any device; different ones may share an id
	// Heaps that were named before this number are read without the lock: who changes one
	// changes a copy.
	pictured atomic.Uint64
}

// Picture notes that all heaps there are may be read without the lock from now on.
func (o *Book) Picture(n *lookup.Numbers) { o.pictured.Store(n.Last + 1) }

// Has reports whether a device has a buffer with an id.
func (o *Book) Has(id fit.BufferID) bool { return len(o.live[id]) > 0 }

// Devices returns how many devices have a buffer with an id.
// Cost: O(different buffers of the id).
func (o *Book) Devices(id fit.BufferID) (n int) {
	for _, a := range o.live[id] {
		n += a.users
	}
	return n
}

// Allocation returns the form of a plain buffer in which it is counted: the one that other
// devices have, if they have the same, so that they find each other's heaps. It returns false
// if a sum of bytes is above 2^63-1.
func (o *Book) Allocation(b fit.Buffer, n *lookup.Numbers) (*Allocation, bool) {
	for _, a := range o.live[b.ID] {
		if a.equal(&b) {
			return a, true
		}
	}
	return newAllocation(b, n)
}

// Give notes that so many more devices have an allocation. It comes before Lead, which needs the
// numbers that it gives.
func (o *Book) Give(a *Allocation, devices int, to *classes.Roster, n *lookup.Numbers) {
	if a.users == 0 {
		if a.placed != nil {
			to.Enter(a.placed, &n.Hashes)
		}
		if o.live == nil {
			o.live = map[fit.BufferID][]*Allocation{}
		}
		a.at = len(o.live[a.ID])
		o.live[a.ID] = append(o.live[a.ID], a)
	}
	a.users += devices
}

// Take notes that so many devices less have an allocation, after their heaps have lost it or with
// the end of their heap. Where none is left its numbers go back.
func (o *Book) Take(a *Allocation, devices int, from *classes.Roster) {
	if a.users -= devices; a.users > 0 {
		return
	}
	if a.placed != nil {
		from.Retire(a.placed)
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

// Lead finds where moves lead to, with one buffer more or one less; one of the two is nil. What
// is added was on none of the devices, so that no move leads where another one begins.
// Where a whole heap moves on, it is changed in place.
func (o *Book) Lead(m *Moves, add, drop *Allocation, n *lookup.Numbers) {
	for i := range m.all {
		w := &m.all[i]
		w.To = o.after(w.From, w.Devices, add, drop, n)
	}
}

// after returns the heap that so many devices with the heap from come to.
func (o *Book) after(from *Heap, devices int, add, drop *Allocation, n *lookup.Numbers) *Heap {
	k, left := from.after(add, drop)
	if left == 0 {
		return nil
	}
	if from != nil {
		if to := from.Follow(drop.id(), add.id()); to != nil {
			return to
		}
	}
	if to := o.found.Find(k, func(to *Heap) bool { return from.becomes(to, add, drop) }); to != nil {
		if from != nil {
			from.Connect(&to.Crossing, drop.id(), add.id())
		}
		return to
	}
	to := from
	switch {
	case from == nil:
		to = newHeap(n.Next())
	case from.users == devices && from.Name >= o.pictured.Load():
		o.found.Drop(from.hash, from)
		to.Rename(n.Next())
	default:
		to = from.clone(n.Next())
		if from.Name >= o.pictured.Load() {
			from.placed.Owner = n.Next()
		}
		from.Connect(&to.Crossing, drop.id(), add.id())
	}
	to.change(add, drop)
	o.found.Put(k, to)
	return to
}

// Move notes that a device which had one heap has another one now, or the same; nil is none.
func (o *Book) Move(from, to *Heap) {
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
func (o *Book) abandon(h *Heap) {
	if h.users--; h.users == 0 {
		o.found.Drop(h.hash, h)
		if h.Name < o.pictured.Load() {
			h.Rename(0) // the rest may be read without the lock
		} else {
			*h = Heap{}
		}
	}
}

// End notes that a device which had a heap is gone, with all buffers that it had.
func (o *Book) End(h *Heap, from *classes.Roster) {
	for _, a := range h.live.all() {
		o.Take(a, 1, from)
	}
	o.abandon(h)
}
