package cbregion

import (
	"iter"
	"sync"

	"github.com/cbl1/cbl1/l1"
	"github.com/google/btree"
)

// An Owner identifies who placed a range, usually a program. Its meaning is the
// caller's; any number will do.
type Owner uint64

// A Counter holds the live ranges of one core with their owners, and counts the bytes that they
// cover. An owner may hold the same range several times; each has to be removed.
//
// The zero Counter is empty and ready to use. It must not be copied; see Clone. Any number of
// goroutines may read it at once; a change needs it alone.
type Counter struct {
	cloning sync.Mutex // of live: a copy writes to the original

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

// degree of the tree of holdings. Measured from 8 to 64: small sets do not care, at
// 100,000 ranges smaller nodes than this are slower.
const degree = 32

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

// Len returns the number of live ranges. A range that is held n times counts n times. O(1).
func (c *Counter) Len() int { return c.n }

// Regions returns the maximal runs of covered bytes in order. Ranges that overlap or
// touch are one region. O(regions * log n). The Counter must not change meanwhile.
func (c *Counter) Regions() iter.Seq[l1.Range] { return c.cover.Regions() }

// BytesIn returns the number of covered bytes inside r: 0 if nothing overlaps r,
// r.Len() if r is covered throughout. O(log n).
func (c *Counter) BytesIn(r l1.Range) uint64 { return c.cover.BytesIn(r) }

// Clone returns an independent copy, in O(1): both share their nodes, and each copies a node before
// it changes it. Any number of goroutines may clone at once.
func (c *Counter) Clone() *Counter {
	out := &Counter{n: c.n}
	c.cover.copyTo(&out.cover)
	if c.live != nil {
		c.cloning.Lock()
		defer c.cloning.Unlock()
		out.live = c.live.Clone()
	}
	return out
}
