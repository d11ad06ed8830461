package device

import (
	"cmp"
	"math"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/l1"
)

// An order is the buffers of a heap that stand in the way of programs, by address: where
// the lowest is asked, nobody looks at all. A copy of it costs nothing, and what is changed
// afterwards is copied then, so that a moment can be kept. The zero order is empty.
type order struct {
	above *btree.BTreeG[*allocation] // by the first byte; nil = none
	below *btree.BTreeG[*allocation] // kernels and the reserved area, by the last one
}

// orderDegree is that of the trees: a change behind a copy copies two or three nodes.
const orderDegree = 16

// byStart says which of two buffers begins lower.
func byStart(a, b *allocation) bool {
	return cmp.Or(cmp.Compare(a.span.Start, b.span.Start), cmp.Compare(a.ID, b.ID)) < 0
}

// byEnd says which of two buffers ends lower.
func byEnd(a, b *allocation) bool {
	return cmp.Or(cmp.Compare(a.span.End, b.span.End), cmp.Compare(a.ID, b.ID)) < 0
}

// of returns the tree that a buffer belongs into.
func (o *order) of(a *allocation) *btree.BTreeG[*allocation] {
	tree, less := &o.above, byStart
	if a.Kind.Below() {
		tree, less = &o.below, byEnd
	}
	if *tree == nil {
		*tree = btree.NewG(orderDegree, less)
	}
	return *tree
}

// add puts a buffer in.
func (o *order) add(a *allocation) { o.of(a).ReplaceOrInsert(a) }

// drop takes a buffer out.
func (o *order) drop(a *allocation) { o.of(a).Delete(a) }

// clone returns an independent copy. It writes to o.
func (o *order) clone() (out order) {
	if o.above != nil {
		out.above = o.above.Clone()
	}
	if o.below != nil {
		out.below = o.below.Clone()
	}
	return out
}

// free returns the addresses above all kernels and below everything else.
func (o *order) free() l1.Range {
	free := anywhere()
	if o.below != nil {
		if a, ok := o.below.Max(); ok {
			free.Start = a.span.End
		}
	}
	if o.above != nil {
		if a, ok := o.above.Min(); ok {
			free.End = a.span.Start
		}
	}
	return free
}

// all returns the buffers in any order.
func (o *order) all() (out []*allocation) {
	for _, tree := range []*btree.BTreeG[*allocation]{o.above, o.below} {
		if tree != nil {
			tree.Ascend(func(a *allocation) bool {
				out = append(out, a)
				return true
			})
		}
	}
	return out
}

// anywhere is all addresses.
func anywhere() l1.Range { return l1.Range{End: math.MaxUint64} }
