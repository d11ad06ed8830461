package cbregion

import (
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/cbl1/cbl1/l1"
	"github.com/google/btree"
)

// An Owner identifies who placed a range, usually a program. Its meaning is the
// caller's; any number will do.
type Owner uint64

// A Counter holds the ranges that live on one core and who owns them, and says how
// many bytes they cover. An owner may hold the same range several times; each has
// to be removed.
//
// The zero Counter is empty and ready to use. It must not be copied; see Clone. It
// is not safe for concurrent use, except that any number of goroutines may read it
// while nobody changes it.
type Counter struct {
	_ [0]sync.Mutex // lets vet report copies

	cover Coverage // has each live range once per times it is held
	live  *btree.BTreeG[holding]
	n     int // live ranges: the sum of all times
}

// A holding is a range that is alive, under the order of live: by start, end and
// owner.
type holding struct {
	l1.Range
	owner Owner
	times int // never 0 in the tree
}

func (h holding) less(o holding) bool {
	if h.Start != o.Start {
		return h.Start < o.Start
	}
	if h.End != o.End {
		return h.End < o.End
	}
	return h.owner < o.owner
}

// degree of the tree of holdings, measured: larger nodes make insertions move more,
// smaller ones make searches miss the cache more.
const degree = 16

// Add lets owner o hold r, once more if o holds it already, and returns the number
// of bytes that became covered. An empty range is a no-op. An illegal range changes
// nothing and gives a *l1.RangeError. O(log n).
func (c *Counter) Add(o Owner, r l1.Range) (grew uint64, err error) {
	if err := r.Check(); err != nil {
		return 0, err
	}
	if r.IsEmpty() {
		return 0, nil
	}
	if c.live == nil {
		c.live = btree.NewG(degree, holding.less)
	}
	h := holding{r, o, 1}
	if old, held := c.live.ReplaceOrInsert(h); held {
		h.times += old.times
		c.live.ReplaceOrInsert(h)
	}
	c.n++
	return c.cover.Add(r), nil
}

// Remove ends one holding of r by owner o and returns the number of bytes that ceased
// to be covered. If there is none it changes nothing and gives a *NotFoundError,
// which matches [ErrNotFound]; for an illegal range it gives a *l1.RangeError. An
// empty range is a no-op. O(log n).
func (c *Counter) Remove(o Owner, r l1.Range) (freed uint64, err error) {
	if err := r.Check(); err != nil {
		return 0, err
	}
	if r.IsEmpty() {
		return 0, nil
	}
	if c.live == nil {
		return 0, &NotFoundError{o, r}
	}
	h, held := c.live.Delete(holding{r, o, 0})
	if !held {
		return 0, &NotFoundError{o, r}
	}
	if h.times > 1 {
		h.times--
		c.live.ReplaceOrInsert(h)
	}
	c.n--
	return c.cover.Remove(r), nil
}

// Bytes returns the number of covered bytes. O(1), no allocation.
func (c *Counter) Bytes() uint64 { return c.cover.Bytes() }

// Len returns the number of live ranges; one that is held several times counts as
// often. O(1).
func (c *Counter) Len() int { return c.n }

// Regions returns the maximal runs of covered bytes in order. Ranges that overlap or
// touch are one region. O(regions * log n). The Counter must not change meanwhile.
func (c *Counter) Regions() iter.Seq[l1.Range] { return c.cover.Regions() }

// BytesIn returns the number of covered bytes inside r: 0 if nothing overlaps r,
// r.Len() if r is covered throughout. O(log n).
func (c *Counter) BytesIn(r l1.Range) uint64 { return c.cover.BytesIn(r) }

// Ranges returns the live ranges with their owners, ordered by start, end and owner;
// one that is held several times comes as often. The Counter must not change
// meanwhile.
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

// Overlapping returns the live ranges that share a byte with r, in the order of
// Ranges. Those that start inside r cost O(1) each. To find those that cover its
// first byte it looks at the different starts below r in turn, but no further down
// than the last one found: O(log n) for each. The Counter must not change meanwhile.
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

// Owners returns who covers the byte at addr, each owner once, in ascending order.
// The cost is that of Overlapping. The Counter must not change meanwhile.
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
// Going down from addr, the holdings of one start come longest first: at the first
// that is too short the search jumps to the next start below. The counts tell how
// many are to be found, so it ends with the last one.
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

// Clone returns an independent deep copy, in O(n log n).
//
// It does not use btree's own Clone, which writes to its receiver, so that two
// readers could not clone at once, and makes later changes of both trees dearer.
func (c *Counter) Clone() *Counter {
	out := &Counter{n: c.n}
	c.cover.copyTo(&out.cover)
	if c.live != nil {
		out.live = btree.NewG(degree, holding.less)
		c.live.Ascend(func(h holding) bool {
			out.live.ReplaceOrInsert(h)
			return true
		})
	}
	return out
}
