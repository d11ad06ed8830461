package baseline

import (
	"sync"

	"github.com/cbl1/cbl1/l1"
)

// An IntervalTree keeps the ranges themselves, in a search tree by their starts in which every node
// knows how far the ranges of its subtree reach: the textbook's augmented interval tree. The bytes
// that a range covers alone are found by a walk over the bytes of the others: from a covered
// address to the farthest end of the ranges that start before.
//
//	at start: among ranges that start here or before, the farthest end     go there
//	in a gap: the start of the next range                                  the gap is ours
//
// A change takes O((1 + j) log n) for the j such jumps in its range, however many ranges
// overlap it. The zero IntervalTree is empty and ready to use.
type IntervalTree struct {
	_ [0]sync.Mutex // lets vet report copies

	// nodes are a treap: ordered by range, and as a heap by a number that is made of
	// the index. Index 0 is no node. They lie side by side, with indices for pointers.
	nodes []interval
	root  int32
	free  int32 // the first of the nodes that are not in use, linked by kids[0]
	bytes uint64
}

// An interval is a node of an IntervalTree.
type interval struct {
	l1.Range
	reach uint64   // the farthest end in the subtree
	kids  [2]int32 // what comes before, and after
	n     int32    // how many have this range
}

// Add counts a range and returns the number of bytes that became covered.
func (t *IntervalTree) Add(r l1.Range) (grew uint64) {
	if r.IsEmpty() {
		return 0
	}
	grew = t.uncovered(r)
	t.root = t.insert(t.root, r)
	t.bytes += grew
	return grew
}

// Remove takes back what one Add has counted and returns the number of bytes that
// ceased to be covered. It panics if no range is r.
func (t *IntervalTree) Remove(r l1.Range) (freed uint64) {
	if r.IsEmpty() {
		return 0
	}
	t.root = t.remove(t.root, r)
	freed = t.uncovered(r)
	t.bytes -= freed
	return freed
}

// Bytes returns the number of covered bytes. O(1).
func (t *IntervalTree) Bytes() uint64 { return t.bytes }

// uncovered returns the number of bytes of r that no range covers.
func (t *IntervalTree) uncovered(r l1.Range) (bytes uint64) {
	for at := r.Start; at < r.End; {
		far, next := t.around(at)
		if far <= at {
			far = min(next, r.End)
			bytes += far - at
		}
		at = far
	}
	return bytes
}

// around returns the farthest end of the ranges that start at or before addr, and the
// first start after it.
func (t *IntervalTree) around(addr uint64) (far, next uint64) {
	next = l1.MaxAddr
	for i := t.root; i != 0; {
		x := &t.nodes[i]
		if x.Start > addr {
			next, i = x.Start, x.kids[0]
			continue
		}
		far = max(far, x.End, t.nodes[x.kids[0]].reach) // the reach of no node is 0
		i = x.kids[1]
	}
	return far, next
}

// heavier reports whether node a belongs above node b.
func heavier(a, b int32) bool {
	const odd = 0x9e3779b1 // its multiples are scattered over all numbers
	return uint32(a)*odd > uint32(b)*odd
}

// sideOf returns which child is on the side of a comparison.
func sideOf(c int) int {
	if c < 0 {
		return 0
	}
	return 1
}

// pull corrects what node i knows of its subtree and returns i.
func (t *IntervalTree) pull(i int32) int32 {
	x := &t.nodes[i]
	x.reach = max(x.End, t.nodes[x.kids[0]].reach, t.nodes[x.kids[1]].reach)
	return i
}

// insert adds r to the subtree of node i and returns its new root.
func (t *IntervalTree) insert(i int32, r l1.Range) int32 {
	if i == 0 {
		return t.node(r)
	}
	c := r.Compare(t.nodes[i].Range)
	if c == 0 {
		t.nodes[i].n++
		return i
	}
	side := sideOf(c)
	k := t.insert(t.nodes[i].kids[side], r)
	t.nodes[i].kids[side] = k
	if heavier(k, i) { // k goes up, and gives i what lies between them
		t.nodes[i].kids[side] = t.nodes[k].kids[1-side]
		t.nodes[k].kids[1-side] = t.pull(i)
		i = k
	}
	return t.pull(i)
}

// node returns a new node for r.
func (t *IntervalTree) node(r l1.Range) int32 {
	x := interval{Range: r, reach: r.End, n: 1}
	if i := t.free; i != 0 {
		t.free = t.nodes[i].kids[0]
		t.nodes[i] = x
		return i
	}
	if len(t.nodes) == 0 {
		t.nodes = make([]interval, 1, 2)
	}
	t.nodes = append(t.nodes, x)
	return int32(len(t.nodes) - 1)
}

// remove takes r from the subtree of node i and returns its new root.
func (t *IntervalTree) remove(i int32, r l1.Range) int32 {
	if i == 0 {
		refuse(r)
	}
	x := &t.nodes[i]
	if c := r.Compare(x.Range); c != 0 {
		side := sideOf(c)
		x.kids[side] = t.remove(x.kids[side], r)
		return t.pull(i)
	}
	if x.n--; x.n > 0 {
		return i
	}
	rest := t.join(x.kids[0], x.kids[1])
	x.kids, t.free = [2]int32{t.free}, i
	return rest
}

// join returns the root of a subtree of all nodes under a and b; those under a come first.
func (t *IntervalTree) join(a, b int32) int32 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	case heavier(a, b):
		t.nodes[a].kids[1] = t.join(t.nodes[a].kids[1], b)
		return t.pull(a)
	}
	t.nodes[b].kids[0] = t.join(a, t.nodes[b].kids[0])
	return t.pull(b)
}

// load counts many ranges at once.
func (t *IntervalTree) load(l *loading) {
	for _, r := range l.ranges {
		t.Add(r)
	}
}
