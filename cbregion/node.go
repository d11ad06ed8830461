package cbregion

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A boundary is an address at which the number of covering ranges changes by
// delta, which is never 0.
type boundary struct {
	addr  uint64
	delta int64
}

// A node of the tree is a leaf with a sorted block of boundaries or an inner node
// with children in order. Only the root may be empty; all leaves are equally deep.
//
// Of two neighbouring children of one node at least one is more than a quarter
// full, so memory follows the number of boundaries down as well as up.
type node struct {
	block []boundary
	kids  []child
}

// A child is a subtree and its summary.
type child struct {
	summary
	*node
}

// The limits at which a node is split. While a change is under way a node may
// exceed its limit by two, one for each end of a range; blocks have room for that.
const (
	leafLimit  = 62
	innerLimit = 30
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

func (n *node) size() int {
	if n.kids != nil {
		return len(n.kids)
	}
	return len(n.block)
}

func (n *node) summarise() summary {
	if n.kids != nil {
		return summariseKids(n.kids)
	}
	return summariseBlock(n.block)
}

// change adds d, which is +1 or -1, to the count of every byte of r, which is not
// empty. It returns false and changes nothing if a count would become negative.
func (v *Coverage) change(r l1.Range, d int64) bool {
	if v.root.kids == nil {
		return v.changeFlat(r, d)
	}
	v.changeTree(r, d)
	if v.root.size() == 0 {
		v.bytes = 0
		return true
	}
	s := v.root.summarise()
	if s.min < 0 {
		v.changeTree(r, -d)
		return false
	}
	v.bytes = s.covered(0)
	return true
}

// changeFlat is change while all boundaries are in one block: it walks them up to
// the end of r and needs no summary.
func (v *Coverage) changeFlat(r l1.Range, d int64) bool {
	block := v.root.block
	i, count := 0, int64(0)
	for i < len(block) && block[i].addr <= r.Start {
		count += block[i].delta
		i++
	}
	// A segment's bytes matter if they are about to be covered or about to be free.
	edge := int64(0)
	if d < 0 {
		edge = 1
	}
	at, moved := r.Start, uint64(0)
	for ; i < len(block) && block[i].addr < r.End; i++ {
		if count <= edge {
			if count < edge {
				return false
			}
			moved += block[i].addr - at
		}
		at = block[i].addr
		count += block[i].delta
	}
	switch {
	case count < edge:
		return false
	case count == edge:
		moved += r.End - at
	}
	if block == nil {
		v.root.block = make([]boundary, 0, 4)
	}
	v.shift(&v.root, r.Start, d)
	v.shift(&v.root, r.End, -d)
	if d > 0 {
		v.bytes += moved
	} else {
		v.bytes -= moved
	}
	v.settleRoot()
	return true
}

func (v *Coverage) changeTree(r l1.Range, d int64) {
	v.shiftBoth(&v.root, r, d)
	v.settleRoot()
}

// shiftBoth adds d to the boundary at r.Start and takes it from the one at r.End.
// Both ends share their way down as far as it goes. It leaves n larger than its
// limit, or empty, if it comes to that.
func (v *Coverage) shiftBoth(n *node, r l1.Range, d int64) {
	if n.kids != nil {
		if i := find(n.kids, r.Start); i == find(n.kids, r.End) {
			v.shiftBoth(n.kids[i].node, r, d)
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
	if n.kids != nil {
		i := find(n.kids, addr)
		v.shift(n.kids[i].node, addr, d)
		v.settle(n, i)
		return
	}
	i := search(n.block, addr)
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
// below addr.
func search(block []boundary, addr uint64) int {
	lo, n := 0, len(block)
	for n > 0 {
		half := n >> 1
		if block[lo+half].addr < addr {
			lo += n - half
		}
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
		if kids[lo+half+1].first <= addr {
			lo += n - half
		}
		n = half
	}
	return lo
}

// settle puts child i of n in order after a change below it: one that is empty
// goes, one that is too large is split, one that is small joins a small neighbour,
// and its summary is brought up to date.
func (v *Coverage) settle(n *node, i int) {
	kid := n.kids[i].node
	limit, size := v.limit(kid), kid.size()
	switch {
	case size == 0:
		n.kids = slices.Delete(n.kids, i, i+1)
		if i > 0 && i < len(n.kids) {
			v.settle(n, i-1) // it has a new neighbour
		}
		return
	case size > limit:
		right := v.split(kid)
		n.kids = slices.Insert(n.kids, i+1, child{right.summarise(), right})
	case size <= limit/4:
		if i+1 < len(n.kids) && size+n.kids[i+1].size() <= limit/2 {
			v.join(n, i)
		} else if i > 0 && size+n.kids[i-1].size() <= limit/2 {
			i--
			v.join(n, i)
		}
	}
	n.kids[i].summary = n.kids[i].node.summarise()
}

// settleRoot does for the root what settle does for a child.
func (v *Coverage) settleRoot() {
	if v.root.size() > v.limit(&v.root) {
		left := v.root
		right := v.split(&left)
		v.root = node{kids: v.newKids(child{left.summarise(), &left}, child{right.summarise(), right})}
	}
	for v.root.kids != nil && len(v.root.kids) < 2 {
		if len(v.root.kids) == 0 {
			v.root = node{}
			return
		}
		v.root = *v.root.kids[0].node
	}
}

// split moves the upper half of n to a new node.
func (v *Coverage) split(n *node) *node {
	if n.kids != nil {
		half := len(n.kids) / 2
		right := &node{kids: v.newKids(n.kids[half:]...)}
		clear(n.kids[half:])
		n.kids = n.kids[:half]
		return right
	}
	half := len(n.block) / 2
	block := make([]boundary, 0, v.limit(n)+2)
	right := &node{block: append(block, n.block[half:]...)}
	n.block = n.block[:half]
	return right
}

func (v *Coverage) newKids(kids ...child) []child {
	room := innerLimit
	if v.innerLimit != 0 {
		room = v.innerLimit
	}
	return append(make([]child, 0, room+2), kids...)
}

// join moves all of child i+1 of n to child i, whose summary is then out of date.
func (v *Coverage) join(n *node, i int) {
	left, right := n.kids[i].node, n.kids[i+1].node
	n.kids = slices.Delete(n.kids, i+1, i+2)
	if left.kids == nil {
		left.block = append(left.block, right.block...)
		return
	}
	seam := len(left.kids) - 1
	left.kids = append(left.kids, right.kids...)
	v.settle(left, seam) // it has a new neighbour
}

func (n *node) clone() node {
	if n.kids == nil {
		if n.block == nil {
			return node{}
		}
		return node{block: append(make([]boundary, 0, cap(n.block)), n.block...)}
	}
	kids := append(make([]child, 0, cap(n.kids)), n.kids...)
	for i := range kids {
		c := kids[i].clone()
		kids[i].node = &c
	}
	return node{kids: kids}
}
