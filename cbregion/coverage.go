package cbregion

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cbl1/cbl1/l1"
)

// A Coverage counts ranges and the bytes that they cover. It does not know their owners: the caller
// keeps account of the added ranges, as [Counter] does for one core and package device for classes
// of cores.
//
// The zero Coverage is empty and ready to use. It must not be copied; see Clone. Any number of
// goroutines may read it at once; a change needs it alone.
type Coverage struct {
	_ [0]sync.Mutex // lets vet report copies

	// root holds every address at which the number of covering ranges changes, and
	// by how much. Addresses where as many ranges end as start are not there: the
	// two ranges [a, b) and [b, c) have boundaries at a and c only.
	//
	//	delta:  +2      +1    -1     -2
	//	        a       b     c      d
	//	count: 0 |  2   |  3  |  2   | 0
	//
	// A count is the sum of all deltas to its left. It is never negative, and 0
	// outside the first and the last boundary.
	root       node
	boundaries int
	bytes      uint64 // covered; what root.summarise() says, kept at hand

	// Nodes are shared with copies of v: only owned nodes are changed in place.
	owner  *token
	shared atomic.Bool // copied since the last change: v owns nothing any more

	leafLimit, innerLimit int // 0 = the constants; tests make small nodes
}

// Add adds one count to every byte of r and returns the number of bytes that
// became covered. An empty or inverted range is a no-op. O(log n) for n boundaries,
// however many of them r spans.
//
// Ends up to 2^64-1 work; the caller checks that a range is legal ([l1.Range.Check]).
func (v *Coverage) Add(r l1.Range) (grew uint64) {
	if r.IsEmpty() {
		return 0
	}
	before := v.bytes
	v.change(r, +1)
	return v.bytes - before
}

// Remove takes one count from every byte of r and returns the number of bytes that
// ceased to be covered. An empty or inverted range is a no-op. O(log n).
//
// The caller guarantees that r was added and not removed since. Remove panics, and
// changes nothing, if a byte of r is not covered at all. It cannot notice when all
// bytes of r are covered by other ranges.
func (v *Coverage) Remove(r l1.Range) (freed uint64) {
	if r.IsEmpty() {
		return 0
	}
	before := v.bytes
	if !v.change(r, -1) {
		panic(fmt.Sprintf("cbregion: Remove(%v) of a range that is not covered", r))
	}
	return before - v.bytes
}

// Bytes returns the number of covered bytes. O(1).
func (v *Coverage) Bytes() uint64 { return v.bytes }

// Span returns the addresses from the first covered byte to the last one, an empty range if
// there is none. O(1).
func (v *Coverage) Span() (r l1.Range) {
	if !v.IsEmpty() {
		r.Start, r.End = v.root.ends()
	}
	return r
}

// IsEmpty reports whether no byte is covered.
func (v *Coverage) IsEmpty() bool { return v.boundaries == 0 }

// Boundaries returns the number of addresses at which the number of covering ranges
// changes; memory and time depend on it, not on the number of ranges. O(1).
func (v *Coverage) Boundaries() int { return v.boundaries }

// Clone returns an independent copy, in O(1): both share their nodes, and each copies the few nodes
// of a change. Any number of goroutines may clone at once.
func (v *Coverage) Clone() *Coverage {
	out := new(Coverage)
	v.copyTo(out)
	return out
}

func (v *Coverage) copyTo(out *Coverage) {
	v.shared.Store(true)
	out.shared.Store(true)
	out.root = v.root
	out.boundaries, out.bytes = v.boundaries, v.bytes
	out.leafLimit, out.innerLimit = v.leafLimit, v.innerLimit
}

// A token identifies the owner of a node by its address.
type token struct{ _ byte }

// begin prepares v for a change.
func (v *Coverage) begin() {
	if v.shared.Load() {
		v.owner = new(token)
		v.shared.Store(false)
	}
}

// own makes n a node that v may change in place. n stands where v may write to.
func (v *Coverage) own(n *node) {
	if n.owner != v.owner {
		n.block, n.kids, n.owner = cloneRoom(n.block), cloneRoom(n.kids), v.owner
	}
}
