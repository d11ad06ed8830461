package cbregion

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// CoverageOf returns a Coverage of the ranges. To add them one by one costs several times as much.
// Empty and inverted ranges are no-ops. O(n log n).
func CoverageOf(ranges []l1.Range) *Coverage {
	starts, ends := make([]uint64, 0, len(ranges)), make([]uint64, 0, len(ranges))
	for _, r := range ranges {
		if !r.IsEmpty() {
			starts, ends = append(starts, r.Start), append(ends, r.End)
		}
	}
	slices.Sort(starts)
	slices.Sort(ends)
	v := new(Coverage)
	v.grow(merge(starts, ends))
	return v
}

// merge makes one boundary of the starts and ends at one address, none where they cancel out. Both
// are sorted, and the last end lies behind all starts.
func merge(starts, ends []uint64) (out []boundary) {
	for len(ends) > 0 {
		b := boundary{addr: ends[0]}
		if len(starts) > 0 {
			b.addr = min(b.addr, starts[0])
		}
		for len(starts) > 0 && starts[0] == b.addr {
			b.delta++
			starts = starts[1:]
		}
		for len(ends) > 0 && ends[0] == b.addr {
			b.delta--
			ends = ends[1:]
		}
		if b.delta != 0 {
			out = append(out, b)
		}
	}
	return out
}

// grow makes the tree of sorted boundaries, level by level, for a Coverage that is empty.
// Nodes are three quarters full, so that the next changes find room.
func (v *Coverage) grow(sorted []boundary) {
	if v.boundaries = len(sorted); v.boundaries == 0 {
		return
	}
	if n := len(sorted); n <= v.most() {
		v.root.block = append(make([]boundary, 0, n+2), sorted...)
		top := newChild(v.root)
		v.bytes = top.covered(0)
		return
	}
	var level []child
	for _, block := range divide(sorted, leafLimit*3/4) {
		block = append(make([]boundary, 0, leafLimit+2), block...)
		level = append(level, newChild(node{block: block}))
	}
	for len(level) > 1 {
		var above []child
		for _, kids := range divide(level, innerLimit*3/4) {
			above = append(above, newChild(node{kids: v.roomFor(kids...)}))
		}
		level = above
	}
	v.root, v.bytes = level[0].node, level[0].covered(0)
}

// divide cuts a row into as few parts as have at most so many elements, all of about the
// same size.
func divide[E any](row []E, most int) (parts [][]E) {
	n := len(row)
	k := (n + most - 1) / most
	for i := range k {
		parts = append(parts, row[i*n/k:(i+1)*n/k])
	}
	return parts
}
