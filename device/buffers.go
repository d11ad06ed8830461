package device

import (
	"iter"

	"github.com/google/btree"
)

// buffers are those of a heap by their ids. A copy of them costs nothing, and what is changed
// afterwards is copied then: so devices that part copy what differs. The zero buffers are none.
type buffers struct {
	tree *btree.BTreeG[named]
}

// named is a buffer and its id.
type named struct {
	id BufferID
	a  *allocation
}

func (b *buffers) find(id BufferID) *allocation {
	if b.tree == nil {
		return nil
	}
	at, _ := b.tree.Get(named{id: id})
	return at.a
}

func (b *buffers) put(id BufferID, a *allocation) {
	if b.tree == nil {
		b.tree = btree.NewG(orderDegree, func(a, b named) bool { return a.id < b.id })
	}
	b.tree.ReplaceOrInsert(named{id, a})
}

func (b *buffers) drop(id BufferID) { b.tree.Delete(named{id: id}) }

func (b *buffers) len() int {
	if b.tree == nil {
		return 0
	}
	return b.tree.Len()
}

// all returns them by id.
func (b *buffers) all() iter.Seq2[BufferID, *allocation] {
	return func(yield func(BufferID, *allocation) bool) {
		if b.tree != nil {
			b.tree.Ascend(func(at named) bool { return yield(at.id, at.a) })
		}
	}
}

// clone returns an independent copy. It writes to b, but to nothing that a reader looks at.
func (b *buffers) clone() (out buffers) {
	if b.tree != nil {
		out.tree = b.tree.Clone()
	}
	return out
}

// equal reports whether both are the same.
func (b *buffers) equal(o *buffers) bool {
	if b.len() != o.len() {
		return false
	}
	for id, a := range b.all() {
		if o.find(id) != a {
			return false
		}
	}
	return true
}
