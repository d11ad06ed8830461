package heap

import (
	"sync/atomic"

	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/device/internal/version"
	"github.com/cbl1/cbl1/fit"
)

// A Book holds the states of devices and their live buffers. The zero Book is empty.
type Book struct {
	Numbers lookup.Numbers // of allocations and heaps
	states  version.Store[BufferSet, Heap, Allocation]
	live    map[fit.BufferID][]*Allocation // on any device; different ones may share an id
	// Heaps named before this number are read without the lock. A change copies them
	// first.
	pictured atomic.Uint64
}

// Picture records that all present heaps may be read without the lock from now on.
func (o *Book) Picture() { o.pictured.Store(o.Numbers.Last + 1) }

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

// Allocation returns the counted form of a plain buffer. Devices with equal buffers
// get the same one, so that they find each other's heaps. It returns false if a sum
// of bytes is above 2^63-1.
func (o *Book) Allocation(b fit.Buffer) (*Allocation, bool) {
	for _, a := range o.live[b.ID] {
		if a.equal(&b) {
			return a, true
		}
	}
	return newAllocation(b, &o.Numbers)
}

// Give adds users of an allocation. It comes before Lead, which needs the numbers
// that it gives.
func (o *Book) Give(a *Allocation, devices int, to *classes.Roster) {
	if a.users == 0 {
		if a.placed != nil {
			to.Enter(a.placed, &o.Numbers.Hashes)
		}
		if o.live == nil {
			o.live = map[fit.BufferID][]*Allocation{}
		}
		a.at = len(o.live[a.ID])
		o.live[a.ID] = append(o.live[a.ID], a)
	}
	a.users += devices
}

// Take removes users of an allocation, after their heaps have lost it or with the end
// of their heap. The last one returns its numbers.
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

// Lead sets the target of each move: its start with the buffer add, or without the buffer drop. One of
// the two is nil. An added buffer was on none of the devices, so that no move leads where
// another one begins.
func (o *Book) Lead(m *Moves, add, drop *Allocation) {
	o.states.Sweep((*heaps)(o), len(o.live))
	for i := range m.all {
		w := &m.all[i]
		w.To = o.next(w.From, w.Users, step{Old: drop, New: add})
	}
}

// next returns the state of some users of s after a step. If all users of s make it
// and no state leans on s, s itself changes.
func (o *Book) next(s *BufferSet, users int, by step) *BufferSet {
	h, r := s.hash(by), (*heaps)(o)
	if by.New == nil && s.Content.live.len() == 1 {
		return nil
	}
	same := func(to *BufferSet) bool {
		o.states.Fill(r, &to.Version)
		return s.Heap().equals(to.Content, by)
	}
	if s == nil {
		if to := o.states.Find(h, same); to != nil {
			return to
		}
		to := newState(h)
		to.Content = r.Change(&Heap{name: o.Numbers.Next(), placed: classes.Partition{Footprint: classes.OccupiedBy}}, by)
		o.states.Put(&to.Version)
		return to
	}
	whole := users == s.Users
	to := o.states.Next(&s.Version, h, by, same)
	switch {
	case to == nil && whole && o.states.Become(r, &s.Version, h, by):
		return s
	case to == nil:
		to = newState(h)
		most := 0 // s keeps its heap, for devices
		if whole {
			most = max(64, s.Content.live.len()/2)
		}
		o.states.Advance(r, &s.Version, &to.Version, by, most)
	default:
		o.states.Pass(r, &s.Version, &to.Version, by, whole)
	}
	return to
}

func newState(h lookup.Hash) *BufferSet {
	s := new(BufferSet)
	s.Self, s.Hash = s, h
	return s
}

// Move moves a user from one state to another, or to the same; nil is no buffers.
func (o *Book) Move(from, to *BufferSet) {
	if from == to {
		return
	}
	if to != nil {
		to.Users++ // before the user leaves from, which may lean on it
	}
	if from != nil {
		o.leave(from)
	}
}

// leave removes a user of a state.
func (o *Book) leave(s *BufferSet) {
	if s.Users--; s.Users == 0 {
		o.states.Leave((*heaps)(o), &s.Version)
	}
}

// End removes devices, one user of a state, with all their buffers.
func (o *Book) End(s *BufferSet, devices int, from *classes.Roster) {
	for _, a := range s.Content.live.all() {
		o.Take(a, devices, from)
	}
	o.leave(s)
}

// heaps implements version.Editor: how the heaps of a Book are copied and changed.
type heaps Book

// Copy returns a copy of a heap. Its classes get its name, and the classes of h
// another one, so that both are independent: see classes.Partition.Clone.
func (o *heaps) Copy(h *Heap) *Heap {
	out := *h
	out.name = o.Numbers.Next()
	out.tracked = tracked{}
	out.live, out.order = h.live.clone(), h.order.clone()
	out.placed = h.placed.Clone(out.name)
	if h.name >= o.pictured.Load() {
		h.placed.Owner = o.Numbers.Next()
	}
	return &out
}

// Change makes a step, in place unless the heap may be read without the lock.
func (o *heaps) Change(h *Heap, by step) *Heap {
	if h.name < o.pictured.Load() {
		h = o.Copy(h)
	}
	h.name = o.Numbers.Next()
	h.change(by)
	return h
}

// Name has nothing to do: a step keeps its buffer.
func (o *heaps) Name(*Allocation, int) {}
