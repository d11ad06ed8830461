package heap

import (
	"cmp"
	"math"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/l1"
)

// An Order holds the buffers of a heap that count when programs are judged, by
// address. The lowest one is found without a search. A copy costs nothing, and nodes
// are copied when they change, so that a moment can be kept. The zero order is empty.
type Order struct {
	above *btree.BTreeG[*Allocation] // by the first byte; nil = none
	below *btree.BTreeG[*Allocation] // kernels and the reserved area, by their end
}

// orderDegree is the degree of the trees: a change after a copy copies two or three
// nodes.
const orderDegree = 16

// byStart reports whether a begins lower than b.
func byStart(a, b *Allocation) bool {
	return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.ID, b.ID)) < 0
}

// byEnd reports whether a ends lower than b.
func byEnd(a, b *Allocation) bool {
	return cmp.Or(cmp.Compare(a.Span.End, b.Span.End), cmp.Compare(a.ID, b.ID)) < 0
}

// of returns the tree of a buffer.
func (o *Order) of(a *Allocation) *btree.BTreeG[*Allocation] {
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
func (o *Order) add(a *Allocation) { o.of(a).ReplaceOrInsert(a) }

// Drop takes a buffer out.
func (o *Order) Drop(a *Allocation) { o.of(a).Delete(a) }

// clone returns an independent copy. It writes to o.
func (o *Order) clone() (out Order) {
	if o.above != nil {
		out.above = o.above.Clone()
	}
	if o.below != nil {
		out.below = o.below.Clone()
	}
	return out
}

// free returns the addresses above all kernels and below everything else.
func (o *Order) free() l1.Range {
	free := Anywhere()
	if o.below != nil {
		if a, ok := o.below.Max(); ok {
			free.Start = a.Span.End
		}
	}
	if o.above != nil {
		if a, ok := o.above.Min(); ok {
			free.End = a.Span.Start
		}
	}
	return free
}

// All returns the buffers in any order.
func (o *Order) All() (out []*Allocation) {
	for _, tree := range []*btree.BTreeG[*Allocation]{o.above, o.below} {
		if tree != nil {
			tree.Ascend(func(a *Allocation) bool {
				out = append(out, a)
				return true
			})
		}
	}
	return out
}

// Anywhere is all addresses.
func Anywhere() l1.Range { return l1.Range{End: math.MaxUint64} }
