package baseline

import (
	"fmt"
	"math/rand/v2"
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
	bytes uint64
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

// Add counts a range and returns the number of bytes that became covered. O(k + log n)
// for the k boundaries inside r.
func (b *BoundaryCount) Add(r l1.Range) (grew uint64) {
	if r.IsEmpty() {
		return 0
	}
	if b.edges == nil {
		b.edges = newEdges()
	}
	grew, ok := b.shift(r, +1)
	if !ok {
		panic(fmt.Sprintf("baseline: a count below 0 in %v", r))
	}
	b.bytes += grew
	return grew
}

// Remove takes back what one Add has counted and returns the number of bytes that
// ceased to be covered. It panics, and changes nothing, if a byte of r is not covered.
// O(k + log n).
func (b *BoundaryCount) Remove(r l1.Range) (freed uint64) {
	if r.IsEmpty() {
		return 0
	}
	ok := b.edges != nil
	if ok {
		freed, ok = b.shift(r, -1)
	}
	if !ok {
		panic(fmt.Sprintf("baseline: Remove(%v) of a range that is not covered", r))
	}
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

// shift adds d, +1 or -1, to the count of every byte of r and returns the number of
// bytes whose count became, or ceased to be, 0. If a count would become negative it
// returns false and changes nothing.
func (b *BoundaryCount) shift(r l1.Range, d int) (moved uint64, ok bool) {
	lead := b.before(r.Start)
	n, at := lead, r.Start // the count before the change of the segment that starts at at
	var first *edge        // the edge at r.Start
	ok = true
	// segment ends the segment that started at at.
	segment := func(end uint64) {
		if n == 0 || n+d == 0 {
			moved += end - at
		}
	}
	b.edges.AscendRange(b.at(r.Start), &edge{addr: r.End}, func(e *edge) bool {
		if e.addr == r.Start {
			first = e
		} else if ok = n+d >= 0; !ok {
			return false
		} else {
			segment(e.addr)
		}
		n, at = e.n, e.addr
		e.n += d
		return true
	})
	if !ok || n+d < 0 {
		b.undo(r.Start, at, d, first != nil || at > r.Start)
		return 0, false
	}
	segment(r.End)
	switch {
	case first == nil:
		b.edges.ReplaceOrInsert(&edge{r.Start, lead + d})
	case first.n == lead:
		b.edges.Delete(first)
	}
	end, found := b.edges.Get(b.at(r.End))
	switch {
	case !found:
		b.edges.ReplaceOrInsert(&edge{r.End, n})
	case end.n == n+d:
		b.edges.Delete(end)
	}
	return moved, true
}

// undo takes d back from the edges from start to last, if any of them was changed.
func (b *BoundaryCount) undo(start, last uint64, d int, changed bool) {
	if !changed {
		return
	}
	b.edges.AscendRange(b.at(start), &edge{addr: last + 1}, func(e *edge) bool {
		e.n -= d
		return true
	})
}

// BoundaryCountOf returns the BoundaryCount that adding the given ranges one by one
// leads to, in O(n log n): adding long ranges to many takes O(n^2).
func BoundaryCountOf(ranges ...l1.Range) *BoundaryCount {
	b := new(BoundaryCount)
	b.load(endsOf(ranges))
	return b
}

// load counts many ranges at once.
func (b *BoundaryCount) load(ends []end) {
	var old []edge
	if b.edges != nil {
		b.edges.Ascend(func(e *edge) bool {
			old = append(old, *e)
			return true
		})
	}
	edges, bytes := merge(old, ends)
	b.edges, b.bytes = newEdges(), bytes
	// Edges that came one by one lie in memory in the order of their coming, which is
	// not that of their addresses. In order they would be faster than they really are.
	places := rand.New(rand.NewPCG(1, uint64(len(edges)))).Perm(len(edges))
	memory := make([]edge, len(edges))
	for i, e := range edges {
		memory[places[i]] = e
		b.edges.ReplaceOrInsert(&memory[places[i]])
	}
}
