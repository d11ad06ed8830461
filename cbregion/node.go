package cbregion

import (
	"math/bits"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A boundary is an address at which the number of covering ranges changes by
// delta, which is never 0.
type boundary struct {
	addr  uint64
	delta int64
}

// A node of the tree is a leaf with a sorted block of boundaries, or it has children.
// Only the root may be empty; all leaves are equally deep.
//
// Of two neighbouring children of one node at least one is more than a quarter
// full, so memory follows the number of boundaries down as well as up.
type node struct {
	block []boundary
	kids  []child // nil in a leaf
	owner *token  // who may change both in place
}

// A child is a subtree and its summary. Children are held by value: the way down costs one access
// to distant memory per level.
type child struct {
	summary
	node
}

func newChild(n node) child {
	k := child{node: n}
	k.update()
	return k
}

// update brings the summary of k up to date. k must not be empty.
func (k *child) update() {
	if k.kids != nil {
		k.ofKids(k.kids)
	} else {
		k.ofBlock(k.block)
	}
}

// The limits at which a node is split, measured; little depends on them. While a
// change is under way a node may exceed its limit by two, one for each end of a range;
// blocks have room for that.
const (
	leafLimit  = 62
	innerLimit = 14
)

func (v *Coverage) limit(n *node) int {
	switch {
	case n.kids != nil && v.innerLimit != 0:
		return v.innerLimit
	case n.kids != nil:
		return innerLimit
	case v.leafLimit != 0:
		return v.leafLimit
	}
	return leafLimit
}

// most returns the limit of the root. A leaf may be as large there as two leaves, and is as fast:
// it needs no summary, and only what lies before the end of a range is walked over.
func (v *Coverage) most() int {
	limit := v.limit(&v.root)
	if v.root.kids == nil {
		return 2*limit - 2 // the two that it is split into have room
	}
	return limit
}

func (n *node) size() int {
	if n.kids != nil {
		return len(n.kids)
	}
	return len(n.block)
}

// shiftBoth adds d to the boundary at r.Start and takes it from the one at r.End.
// Both ends share their way down as far as it goes. It leaves n larger than its
// limit, or empty, if it comes to that.
func (v *Coverage) shiftBoth(n *node, r l1.Range, d int64) {
	v.own(n)
	if n.kids != nil {
		if i := find(n.kids, r.Start); i == find(n.kids, r.End) {
			v.shiftBoth(&n.kids[i].node, r, d)
			v.settle(n, i)
			return
		}
	}
	v.shift(n, r.End, -d)
	v.shift(n, r.Start, d)
}

// shift adds d to the boundary at addr below n. It leaves n larger than its limit,
// or empty, if it comes to that.
func (v *Coverage) shift(n *node, addr uint64, d int64) {
	v.own(n)
	if n.kids != nil {
		i := find(n.kids, addr)
		v.shift(&n.kids[i].node, addr, d)
		v.settle(n, i)
		return
	}
	v.put(n, search(n.block, addr), addr, d)
}

// put adds d to the boundary at addr of a leaf that v owns. i is the index of the first boundary
// that is not below addr.
func (v *Coverage) put(n *node, i int, addr uint64, d int64) {
	switch {
	case i == len(n.block) || n.block[i].addr != addr:
		n.block = slices.Insert(n.block, i, boundary{addr, d})
		v.boundaries++
	case n.block[i].delta != -d:
		n.block[i].delta += d
	default:
		n.block = slices.Delete(n.block, i, i+1)
		v.boundaries--
	}
}

// search returns the index of the first boundary in a sorted block that is not
// below addr. It computes its way instead of branching: no processor can guess the
// branches of a binary search.
func search(block []boundary, addr uint64) int {
	lo, n := 0, len(block)
	for n > 0 {
		half := n >> 1
		_, below := bits.Sub64(block[lo+half].addr, addr, 0) // 1 if it is below addr
		lo += (n - half) & -int(below)
		n = half
	}
	return lo
}

// find returns the index of the child that has, or would have, the boundary at
// addr: the last one that begins at or below it, or the first of all.
func find(kids []child, addr uint64) int {
	lo, n := 0, len(kids)-1
	for n > 0 {
		half := n >> 1
		_, above := bits.Sub64(addr, kids[lo+half+1].first, 0) // 1 if it begins above addr
		lo += (n - half) & (int(above) - 1)
		n = half
	}
	return lo
}

// settle puts child i of n in order after a change below it. An empty child is removed, a large one
// is split, a small one joins a small neighbour, and the summaries are updated.
func (v *Coverage) settle(n *node, i int) {
	kid := &n.kids[i]
	limit, size := v.limit(&kid.node), kid.size()
	switch {
	case size == 0:
		n.kids = slices.Delete(n.kids, i, i+1)
		if i > 0 && i < len(n.kids) {
			v.settle(n, i-1) // it has a new neighbour
		}
	case size > limit:
		right := newChild(v.split(&kid.node))
		kid.update()
		n.kids = slices.Insert(n.kids, i+1, right)
	case size <= limit/4 && i+1 < len(n.kids) && size+n.kids[i+1].size() <= limit/2:
		v.join(n, i)
		v.settle(n, i) // it may have become smaller where both met
	case size <= limit/4 && i > 0 && size+n.kids[i-1].size() <= limit/2:
		v.join(n, i-1)
		v.settle(n, i-1)
	default:
		kid.update()
	}
}

// settleRoot is settle for the root.
func (v *Coverage) settleRoot() {
	if v.root.size() > v.most() {
		left := v.root
		right := v.split(&left)
		v.root = node{kids: v.roomFor(newChild(left), newChild(right)), owner: v.owner}
	}
	for v.root.kids != nil && len(v.root.kids) < 2 {
		if len(v.root.kids) == 0 {
			v.root = node{}
			return
		}
		v.root = v.root.kids[0].node
	}
}

// split moves the upper half of n to a new node.
func (v *Coverage) split(n *node) (right node) {
	half := n.size() / 2
	right.owner = v.owner
	if n.kids != nil {
		right.kids = v.roomFor(n.kids[half:]...)
		clear(n.kids[half:])
		n.kids = n.kids[:half]
		return right
	}
	right.block = append(make([]boundary, 0, v.limit(n)+2), n.block[half:]...)
	n.block = n.block[:half]
	return right
}

// roomFor returns the given children with room for all that may join them.
func (v *Coverage) roomFor(kids ...child) []child {
	room := innerLimit
	if v.innerLimit != 0 {
		room = v.innerLimit
	}
	return append(make([]child, 0, room+2), kids...)
}

// join moves all of child i+1 of n to child i.
func (v *Coverage) join(n *node, i int) {
	left, right := &n.kids[i], n.kids[i+1].node
	v.own(&left.node)
	n.kids = slices.Delete(n.kids, i+1, i+2)
	if left.kids != nil {
		seam := len(left.kids) - 1
		left.kids = append(left.kids, right.kids...)
		v.settle(&left.node, seam) // it has a new neighbour
	} else {
		left.block = append(left.block, right.block...)
	}
	left.update()
}

// cloneRoom copies a slice with the room behind it.
func cloneRoom[E any](s []E) []E {
	if s == nil {
		return nil
	}
	return append(make([]E, 0, cap(s)), s...)
}
