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
	// follows a count of 0; the last one has n == 0.
	edges *btree.BTreeG[edge]
	bytes uint64
	moves []edge // room for the edges that a change is about to replace
}

type edge struct {
	addr uint64
	n    int
}

// Add counts a range and returns the number of bytes that became covered. O(k log n)
// for the k boundaries inside r.
func (b *BoundaryCount) Add(r l1.Range) (grew uint64) {
	if r.IsEmpty() {
		return 0
	}
	if b.edges == nil {
		b.edges = btree.NewG(32, func(a, b edge) bool { return a.addr < b.addr })
	}
	grew = b.shift(r, +1)
	b.bytes += grew
	return grew
}

// Remove takes back what one Add has counted and returns the number of bytes that
// ceased to be covered. It panics if a byte of r is not covered. O(k log n).
func (b *BoundaryCount) Remove(r l1.Range) (freed uint64) {
	if r.IsEmpty() {
		return 0
	}
	freed = b.shift(r, -1)
	b.bytes -= freed
	return freed
}

// Bytes returns the number of covered bytes. O(1).
func (b *BoundaryCount) Bytes() uint64 { return b.bytes }

// Boundaries returns the number of addresses at which the count changes. O(1).
func (b *BoundaryCount) Boundaries() int {
	if b.edges == nil {
		return 0
	}
	return b.edges.Len()
}

// before returns the count that holds up to the edge at addr, exclusive.
func (b *BoundaryCount) before(addr uint64) (n int) {
	if addr == 0 {
		return 0
	}
	b.edges.DescendLessOrEqual(edge{addr: addr - 1}, func(e edge) bool {
		n = e.n
		return false
	})
	return n
}

// shift adds d to the count of every byte of r and returns the number of bytes whose
// count became, or ceased to be, 0.
func (b *BoundaryCount) shift(r l1.Range, d int) (moved uint64) {
	if b.edges == nil {
		panic(fmt.Sprintf("baseline: Remove(%v) of a range that is not covered", r))
	}
	lead := b.before(r.Start)
	n, at := lead, r.Start // the count of the segment that starts at at
	b.moves = b.moves[:0]
	segment := func(end uint64) {
		if n+d < 0 {
			panic(fmt.Sprintf("baseline: Remove(%v) of a range that is not covered", r))
		}
		if n == 0 || n+d == 0 {
			moved += end - at
		}
	}
	start := edge{r.Start, lead + d}
	b.edges.AscendRange(edge{addr: r.Start}, edge{addr: r.End}, func(e edge) bool {
		if e.addr == r.Start {
			start.n = e.n + d
		} else {
			segment(e.addr)
			b.moves = append(b.moves, edge{e.addr, e.n + d})
		}
		n, at = e.n, e.addr
		return true
	})
	segment(r.End)
	end, found := b.edges.Get(edge{addr: r.End})
	if !found {
		end = edge{r.End, n}
	}
	for _, e := range b.moves {
		b.edges.ReplaceOrInsert(e)
	}
	b.put(start, lead)
	b.put(end, n+d)
	return moved
}

// put stores e, or deletes it if the count does not change there.
func (b *BoundaryCount) put(e edge, before int) {
	if e.n == before {
		b.edges.Delete(e)
	} else {
		b.edges.ReplaceOrInsert(e)
	}
}
