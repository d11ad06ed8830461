package baseline

import (
	"fmt"
	"sync"

	"github.com/cbl1/cbl1/l1"
	"github.com/google/btree"
)

// A BoundaryCount counts ranges the classical way: an ordered tree of boundaries,
// each with the number of ranges that cover the bytes up to the next boundary.
//
//	n: 0 | 1 | 2 | 1 | 0
//	     a   b   c   d
//
// A change touches every boundary that the range spans. The zero BoundaryCount is
// empty and ready to use.
type BoundaryCount struct {
	_ [0]sync.Mutex // lets vet report copies

	// edges has one edge for each address at which the count changes. The first one
	// follows a count of 0; the last one has n == 0. They are pointers because a
	// change then adds to the counts as it passes by, which is ten times as fast as
	// putting an edge in the place of each.
	edges *btree.BTreeG[*edge]
	probe edge // what to look for, so that looking allocates nothing
}

// An edge is an address and the count of the bytes that follow it.
type edge struct {
	addr uint64
	n    int
}

func (b *BoundaryCount) at(addr uint64) *edge {
	b.probe.addr = addr
	return &b.probe
}

func refuse(r l1.Range) {
	panic(fmt.Sprintf("baseline: %v is taken back, and is not covered", r))
}

func newEdges() *btree.BTreeG[*edge] {
	return btree.NewG(32, func(a, b *edge) bool { return a.addr < b.addr })
}

// before returns the count that holds up to the edge at addr, exclusive.
func (b *BoundaryCount) before(addr uint64) (n int) {
	if addr == 0 {
		return 0
	}
	b.edges.DescendLessOrEqual(b.at(addr-1), func(e *edge) bool {
		n = e.n
		return false
	})
	return n
}

// Shift takes O(k + log n) for the k boundaries inside r.
//
// One walk does it. The end of r is looked for in the walk, where it is one comparison:
// in AscendRange it would be a call for every edge.
func (b *BoundaryCount) Shift(r l1.Range, d int) (moved uint64) {
	if b.edges == nil {
		b.edges = newEdges()
	}
	lead := b.before(r.Start)
	n, at := lead, r.Start // the count before the change of the segment that starts at at
	var first, last *edge  // the edges at r.Start and r.End
	b.edges.AscendGreaterOrEqual(b.at(r.Start), func(e *edge) bool {
		if e.addr >= r.End {
			last = e
			return false
		}
		if e.addr == r.Start {
			first = e
		} else if n == 0 || n+d == 0 {
			moved += e.addr - at
		}
		n, at = e.n, e.addr
		if e.n += d; e.n < 0 {
			refuse(r)
		}
		return true
	})
	if n == 0 || n+d == 0 {
		moved += r.End - at
	}
	switch {
	case first != nil && first.n == lead:
		b.edges.Delete(first)
	case first == nil && lead+d < 0:
		refuse(r)
	case first == nil:
		b.edges.ReplaceOrInsert(&edge{r.Start, lead + d})
	}
	switch {
	case last == nil || last.addr != r.End:
		b.edges.ReplaceOrInsert(&edge{r.End, n})
	case last.n == n+d:
		b.edges.Delete(last)
	}
	return moved
}
