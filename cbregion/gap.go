package cbregion

import (
	"math"

	"github.com/cbl1/cbl1/l1"
)

// Gap returns the lowest free bytes inside r, as many as follow each other: r itself
// if nothing in it is covered, and an empty range if it is covered throughout.
// O(log n).
func (v *Coverage) Gap(r l1.Range) l1.Range {
	if r.IsEmpty() {
		return l1.Range{}
	}
	if v.IsEmpty() {
		return r
	}
	s := gapSearch{in: r}
	first, last := v.root.ends()
	_ = s.segment(0, first) || s.node(&v.root, 0) || s.segment(last, math.MaxUint64)
	return s.found
}

// ends returns the addresses of the first and last boundary below n, which has some.
func (n *node) ends() (first, last uint64) {
	if n.kids != nil {
		return n.kids[0].first, n.kids[len(n.kids)-1].last
	}
	return n.block[0].addr, n.block[len(n.block)-1].addr
}

// A gapSearch finds the first segment with count 0 that shares bytes with in.
type gapSearch struct {
	in, found l1.Range
}

// segment visits a segment with count 0 and reports whether it meets the sought range.
func (s *gapSearch) segment(from, to uint64) bool {
	s.found = s.in.Intersect(l1.Range{Start: from, End: to})
	return !s.found.IsEmpty()
}

// node searches below n; count is the count in front of its first boundary.
func (s *gapSearch) node(n *node, count int64) bool {
	for i, b := range n.block {
		if count == 0 && i > 0 && s.segment(n.block[i-1].addr, b.addr) {
			return true
		}
		if b.addr >= s.in.End {
			return false
		}
		count += b.delta
	}
	for i := range n.kids {
		k := &n.kids[i]
		if count == 0 && i > 0 && s.segment(n.kids[i-1].last, k.first) {
			return true
		}
		if k.first >= s.in.End {
			return false
		}
		if k.last > s.in.Start && count+k.min == 0 && s.node(&k.node, count) {
			return true
		}
		count += k.sum
	}
	return false
}
