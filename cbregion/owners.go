package cbregion

import (
	"iter"
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// Ranges returns the live ranges with their owners, ordered by start, end and owner. A range that
// is held n times comes n times. The Counter must not change meanwhile.
func (c *Counter) Ranges() iter.Seq2[Owner, l1.Range] {
	return func(yield func(Owner, l1.Range) bool) {
		if c.live != nil {
			c.live.Ascend(func(h holding) bool { return h.all(yield) })
		}
	}
}

// all yields h as often as it is held, and returns false if the reader has had
// enough.
func (h holding) all(yield func(Owner, l1.Range) bool) bool {
	for range h.times {
		if !yield(h.owner, h.Range) {
			return false
		}
	}
	return true
}

// Overlapping returns the live ranges that share a byte with r, in the order of Ranges. Ranges that
// start inside r cost O(1) each. To find the ranges that cover its first byte it visits the
// different starts below r in turn, down to the last one found: O(log n) for each. The Counter must
// not change meanwhile.
func (c *Counter) Overlapping(r l1.Range) iter.Seq2[Owner, l1.Range] {
	return func(yield func(Owner, l1.Range) bool) {
		if c.live == nil || r.IsEmpty() {
			return
		}
		for _, h := range c.covering(r.Start) {
			if !h.all(yield) {
				return
			}
		}
		after := holding{Range: l1.Range{Start: r.Start + 1}}
		c.live.AscendGreaterOrEqual(after, func(h holding) bool {
			return h.Start < r.End && h.all(yield)
		})
	}
}

// Owners returns the owners of the byte at addr, each once, in ascending order. It costs as much as
// Overlapping. The Counter must not change meanwhile.
func (c *Counter) Owners(addr uint64) iter.Seq[Owner] {
	return func(yield func(Owner) bool) {
		var owners []Owner
		for _, h := range c.covering(addr) {
			owners = append(owners, h.owner)
		}
		slices.Sort(owners)
		for _, o := range slices.Compact(owners) {
			if !yield(o) {
				return
			}
		}
	}
}

// covering returns the holdings that cover the byte at addr, in order.
//
// Going down from addr, the holdings of one start come longest first: at the first that is too
// short the search jumps to the next start below. The counts give the number of ranges to find, so
// it ends with the last one.
func (c *Counter) covering(addr uint64) []holding {
	if c.live == nil {
		return nil
	}
	var found []holding
	_, missing := c.cover.below(addr)
	for from, more := addr, missing > 0; more; {
		more = false
		top := holding{l1.Range{Start: from, End: math.MaxUint64}, math.MaxUint64, 0}
		c.live.DescendLessOrEqual(top, func(h holding) bool {
			if h.End <= addr {
				from, more = h.Start-1, h.Start > 0
				return false
			}
			found = append(found, h)
			missing -= int64(h.times)
			return missing > 0
		})
	}
	slices.Reverse(found)
	return found
}
