package model

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A Counter is the oracle for one core: the list of ranges that live on it and who
// owns them. The zero Counter is empty.
type Counter struct {
	live []holding
}

type holding struct {
	owner uint64
	bytes l1.Range
}

// Add lets an owner hold a range, once more if it holds it already, and returns the
// number of bytes that became covered. An empty range is nothing.
func (c *Counter) Add(owner uint64, r l1.Range) (grew uint64, err error) {
	if r.Start > r.End || r.End > l1.MaxAddr {
		return 0, ErrRange
	}
	grew = c.free(r)
	if r.Start < r.End {
		c.live = append(c.live, holding{owner, r})
	}
	return grew, nil
}

// free returns the number of bytes of a range without a holder.
func (c *Counter) free(r l1.Range) uint64 {
	n := uint64(0)
	for a := r.Start; a < r.End; a++ {
		if !slices.ContainsFunc(c.live, func(h holding) bool { return h.bytes.Start <= a && a < h.bytes.End }) {
			n++
		}
	}
	return n
}

// Remove ends one holding and returns the number of bytes that are free now.
func (c *Counter) Remove(owner uint64, r l1.Range) (freed uint64, err error) {
	if r.Start > r.End || r.End > l1.MaxAddr {
		return 0, ErrRange
	}
	if r.Start == r.End {
		return 0, nil
	}
	i := slices.Index(c.live, holding{owner, r})
	if i < 0 {
		return 0, ErrNotHeld
	}
	c.live = slices.Delete(c.live, i, i+1)
	return c.free(r), nil
}

func (c *Counter) paint() byteSet {
	_, ranges := c.Held()
	return union(ranges)
}

// Bytes returns the number of covered bytes.
func (c *Counter) Bytes() uint64 { return c.paint().count() }

// Regions returns the maximal runs of covered bytes.
func (c *Counter) Regions() []l1.Range { return c.paint().regions() }

// Len returns the number of live ranges.
func (c *Counter) Len() int { return len(c.live) }

// BytesIn returns the number of covered bytes inside a range.
func (c *Counter) BytesIn(r l1.Range) uint64 {
	all, n := c.paint(), uint64(0)
	for a := max(r.Start, all.start()); a < min(r.End, all.end()); a++ {
		if all.holds(a) {
			n++
		}
	}
	return n
}

// Owners returns who covers a byte, each once, ascending.
func (c *Counter) Owners(addr uint64) []uint64 {
	var out []uint64
	for _, h := range c.live {
		if h.bytes.Start <= addr && addr < h.bytes.End {
			out = append(out, h.owner)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Held returns the live ranges, one entry for each holding, in the order in which
// they came.
func (c *Counter) Held() (owners []uint64, ranges []l1.Range) {
	for _, h := range c.live {
		owners, ranges = append(owners, h.owner), append(ranges, h.bytes)
	}
	return owners, ranges
}
