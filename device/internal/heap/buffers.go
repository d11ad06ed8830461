package heap

import (
	"iter"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/fit"
)

// buffers holds the buffers of a heap by their ids. A copy costs nothing, and nodes
// are copied when they change: devices that part copy their differences. The zero
// value is empty.
type buffers struct {
	tree *btree.BTreeG[entry]
}

// entry is a buffer and its id.
type entry struct {
	id fit.BufferID
	a  *Allocation
}

// find returns the buffer with an id, nil if there is none.
func (b *buffers) find(id fit.BufferID) *Allocation {
	if b.tree == nil {
		return nil
	}
	at, _ := b.tree.Get(entry{id: id})
	return at.a
}

// put adds a buffer, in the place of one with the same id.
func (b *buffers) put(id fit.BufferID, a *Allocation) {
	if b.tree == nil {
		b.tree = btree.NewG(orderDegree, func(a, b entry) bool { return a.id < b.id })
	}
	b.tree.ReplaceOrInsert(entry{id, a})
}

// drop takes the buffer with an id out.
func (b *buffers) drop(id fit.BufferID) { b.tree.Delete(entry{id: id}) }

// len returns the number of buffers.
func (b *buffers) len() int {
	if b.tree == nil {
		return 0
	}
	return b.tree.Len()
}

// all returns them by id.
func (b *buffers) all() iter.Seq2[fit.BufferID, *Allocation] {
	return func(yield func(fit.BufferID, *Allocation) bool) {
		if b.tree != nil {
			b.tree.Ascend(func(at entry) bool { return yield(at.id, at.a) })
		}
	}
}

// clone returns an independent copy. It writes to b, but not to memory that readers
// use.
func (b *buffers) clone() (out buffers) {
	if b.tree != nil {
		out.tree = b.tree.Clone()
	}
	return out
}

// Moves are the state changes of devices when one buffer comes or goes: one for each
// state that they come from. The zero value is empty.
type Moves struct {
	all  []move
	bare int // the index of the move from no buffers
}

// A move leads from one state to another, or to the same state after its change; nil
// is no buffers.
type move struct {
	From, To *BufferSet
	Users    int              // of From that make the move
	Before   fit.BufferTotals // of From, before anything changed
	Charge   uint64           // of From, too
}

// From returns the move from a state, a new one if there is none.
func (m *Moves) From(s *BufferSet) *move {
	at := &m.bare
	if s != nil {
		at = &s.place
	}
	if *at >= len(m.all) || m.all[*at].From != s {
		*at = len(m.all)
		m.all = append(m.all, move{From: s, Before: s.Heap().Sums(), Charge: s.Heap().Charged()})
	}
	return &m.all[*at]
}
