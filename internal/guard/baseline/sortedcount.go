package baseline

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cbl1/cbl1/l1"
)

// A SortedCount counts ranges in a sorted slice of boundaries, the best that small sets can have.
// Its edges mean the same as the edges of a BoundaryCount. The zero SortedCount is empty and ready
// to use.
type SortedCount struct {
	_ [0]sync.Mutex // lets vet report copies

	edges []edge
}

// before returns the count that holds up to edge i.
func (s *SortedCount) before(i int) int {
	if i == 0 {
		return 0
	}
	return s.edges[i-1].n
}

// index returns the index of the edge at addr. It makes one if there is none.
func (s *SortedCount) index(addr uint64) int {
	i, found := slices.BinarySearchFunc(s.edges, addr, func(e edge, a uint64) int { return cmp.Compare(e.addr, a) })
	if !found {
		s.edges = slices.Insert(s.edges, i, edge{addr, s.before(i)})
	}
	return i
}

// drop deletes edge i if the count does not change there.
func (s *SortedCount) drop(i int) {
	if s.edges[i].n == s.before(i) {
		s.edges = slices.Delete(s.edges, i, i+1)
	}
}

// Shift takes O(n).
func (s *SortedCount) Shift(r l1.Range, d int) (moved uint64) {
	i := s.index(r.Start)
	k := s.index(r.End)
	for j := i; j < k; j++ {
		e := &s.edges[j]
		if e.n+d < 0 {
			refuse(r)
		}
		if e.n == 0 || e.n+d == 0 {
			moved += s.edges[j+1].addr - e.addr
		}
		e.n += d
	}
	s.drop(k)
	s.drop(i)
	return moved
}
