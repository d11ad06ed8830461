package cbregion

import (
	"iter"

	"github.com/cbl1/cbl1/l1"
)

// Regions returns the maximal runs of covered bytes in order. Ranges that overlap or touch are one
// region. The walk skips subtrees that are covered throughout, so it costs O(regions * log n), not
// O(n). The Coverage must not change meanwhile.
func (v *Coverage) Regions() iter.Seq[l1.Range] {
	return func(yield func(l1.Range) bool) {
		if v.IsEmpty() {
			return
		}
		all := v.Span()
		w := regionWalk{start: all.Start, yield: yield}
		if w.node(&v.root, 0) {
			yield(l1.Range{Start: w.start, End: all.End})
		}
	}
}

// A regionWalk finds gaps, segments with count 0: between two of them lies a region. Neighbouring
// segments have different counts, so no two gaps touch.
type regionWalk struct {
	start uint64 // of the region that the next gap will end
	yield func(l1.Range) bool
}

func (w *regionWalk) gap(from, to uint64) bool {
	r := l1.Range{Start: w.start, End: from}
	w.start = to
	return w.yield(r)
}

// node walks below n; count is the count in front of its first boundary. It returns false if the
// reader stops.
func (w *regionWalk) node(n *node, count int64) bool {
	for i, b := range n.block {
		if count == 0 && i > 0 && !w.gap(n.block[i-1].addr, b.addr) {
			return false
		}
		count += b.delta
	}
	for i := range n.kids {
		k := &n.kids[i]
		if count == 0 && i > 0 && !w.gap(n.kids[i-1].last, k.first) {
			return false
		}
		if count+k.min == 0 && !w.node(&k.node, count) {
			return false
		}
		count += k.sum
	}
	return true
}

// BytesIn returns the number of covered bytes inside r: 0 if nothing overlaps r,
// r.Len() if r is covered throughout. O(log n).
func (v *Coverage) BytesIn(r l1.Range) uint64 {
	if r.IsEmpty() || v.IsEmpty() {
		return 0
	}
	end, _ := v.below(r.End)
	start, _ := v.below(r.Start)
	return end - start
}

// below returns the number of covered bytes below addr, and the number of ranges
// that cover the byte at addr.
func (v *Coverage) below(addr uint64) (bytes uint64, count int64) {
	at := uint64(0) // everything below it is counted in bytes
	n := &v.root
	for n.kids != nil {
		kids := n.kids
		down := find(kids, addr)
		for i := range kids[:down] {
			k := &kids[i]
			if count > 0 {
				bytes += k.first - at
			}
			bytes += k.covered(count)
			at = k.last
			count += k.sum
		}
		n = &kids[down].node
	}
	for _, b := range n.block {
		if b.addr > addr {
			break
		}
		if count > 0 {
			bytes += b.addr - at
		}
		at = b.addr
		count += b.delta
	}
	if count > 0 {
		bytes += addr - at
	}
	return bytes, count
}
