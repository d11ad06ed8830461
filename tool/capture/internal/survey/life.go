package survey

import (
	"iter"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// Forever is the end of a life that no node ends.
const Forever = math.MaxUint64

// byDevice is the nodes about one address, by the id that they name. A node without an id may mean any of the devices:
// all has the nodes of all ids for it.
type byDevice[T any] struct {
	named map[device.ID]*T
	all   T
}

// ofAddress returns the nodes about an address.
func ofAddress[T any](all map[uint64]*byDevice[T], address uint64) *byDevice[T] {
	if all[address] == nil {
		all[address] = &byDevice[T]{named: map[device.ID]*T{}}
	}
	return all[address]
}

// by returns the nodes that name an id, and the nodes of all ids.
func (b *byDevice[T]) by(id device.ID) (named, all *T) {
	if b.named[id] == nil {
		b.named[id] = new(T)
	}
	return b.named[id], &b.all
}

// sharing yields the nodes that may be of one device with an id.
func (b *byDevice[T]) sharing(m *Members, id device.ID) iter.Seq[*T] {
	switch {
	case b == nil:
		return func(func(*T) bool) {}
	case id == event.NoDevice:
		return func(yield func(*T) bool) { yield(&b.all) }
	}
	return sharing(m, b.named, id)
}

// A life is when an allocation of the capture lived: up to, not at, its end.
type life struct{ from, to uint64 }

// A history is lives in their order, at least one.
type history struct {
	lives []*life
	open  int    // that did not end
	last  uint64 // when the last one ended
}

// ended returns when the last life has ended, up to a node.
func (h *history) ended(at uint64) uint64 {
	if h.open > 0 {
		return at
	}
	return h.last
}

// frees are the lost ones in their order, at least one.
type frees []*lostFree

// A lostFree is the free of a buffer in L1 that the capture did not allocate.
type lostFree struct {
	named   device.ID
	kind    fit.Kind
	address uint64
	perCore event.Opt[uint64]
	node    event.Opt[uint64] // buffer node that it names
	at      uint64
	after   uint64 // where the last allocation of the address ended before it
	doubt   bool   // it may be of a hidden allocation, or of another memory
}

// timeline is where the functions of a capture begin and end, if there may be lists, or the slices of a database.
type timeline struct {
	starts, ends []uint64
	open         []int // functions that did not end
	sliced       bool  // it is a database
	listable     bool  // there may be lists, so each life of an address counts for itself
}

// enters and leaves record that a function begins, or that the innermost one ends.
func (t *timeline) enters(at uint64) {
	if t.listable && !t.sliced {
		t.open = append(t.open, len(t.starts))
		t.starts, t.ends = append(t.starts, at), append(t.ends, Forever)
	}
}

func (t *timeline) leaves(at uint64) {
	if len(t.open) == 0 {
		return
	}
	last := len(t.open) - 1
	t.ends[t.open[last]] = at
	t.open = t.open[:last]
}

// endOf returns where the function ends that begins at a node.
func (t *timeline) endOf(at uint64) uint64 {
	i, ok := slices.BinarySearch(t.starts, at)
	if !ok {
		return Forever
	}
	return t.ends[i]
}

// before returns the last slice that starts before a node.
func (t *timeline) before(at uint64) int {
	i, _ := slices.BinarySearch(t.starts, at)
	return max(i-1, 0)
}
