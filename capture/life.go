package capture

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// forever is the end of a life that no node ends.
const forever = math.MaxUint64

// Lives and frees of one address, by the id that their nodes name. A node without an id may mean any
// of the devices: there are sums over all ids for it.

// A life is when an allocation of the capture lived: up to, not at, its end.
type life struct {
	from, to uint64
}

// lives are the allocations of one address.
type lives struct {
	named map[device.ID]*history
	all   tally
}

// A history is the lives of one address and id, in their order.
type history struct {
	lives []*life
	tally
}

// A tally says how lives ended.
type tally struct {
	open int    // that did not end
	last uint64 // when the last one ended
}

// begin adds an allocation. If each is false, an allocation is one life with the allocation before it.
func (l *lives) begin(named device.ID, from life, each bool) *life {
	h := l.named[named]
	if h == nil {
		h = &history{}
		l.named[named] = h
	}
	var one *life
	if n := len(h.lives); n > 0 && !each && h.lives[n-1].to != forever {
		one = h.lives[n-1]
		one.to = forever
	} else {
		one = &from
		h.lives = append(h.lives, one)
	}
	h.open++
	l.all.open++
	return one
}

// end adds the free of an allocation.
func (l *lives) end(named device.ID, one *life, at uint64) {
	one.to = at
	l.named[named].end(at)
	l.all.end(at)
}

func (t *tally) end(at uint64) { t.open, t.last = t.open-1, at }

// ended returns when the last life has ended, up to a node; 0 without any.
func (t *tally) ended(at uint64) uint64 {
	if t.open > 0 {
		return at
	}
	return t.last
}

// sharing yields the histories that may be of one device with an id.
func (l *lives) sharing(members *members, id device.ID) iter.Seq[*history] {
	if l == nil {
		return func(func(*history) bool) {}
	}
	return sharing(members, l.named, id)
}

// ended is tally.ended for an id.
func (l *lives) ended(members *members, id device.ID, at uint64) (last uint64) {
	if l != nil && id == event.NoDevice {
		return l.all.ended(at)
	}
	for h := range l.sharing(members, id) {
		last = max(last, h.ended(at))
	}
	return last
}

// frees are the lost ones of one address.
type frees struct {
	named map[device.ID][]lostFree // by the id that they name, in their order
	at    []uint64                 // of all, in their order
}

func (f *frees) add(one lostFree) {
	f.named[one.named], f.at = append(f.named[one.named], one), append(f.at, one.at)
}

// last returns the counter of the last one that may be of one device with an id; 0 = there is none.
func (f *frees) last(members *members, id device.ID) (at uint64) {
	switch {
	case f == nil:
		return 0
	case id == event.NoDevice:
		return f.at[len(f.at)-1]
	}
	for list := range sharing(members, f.named, id) {
		at = max(at, list[len(list)-1].at)
	}
	return at
}

// first returns the counter of the first one from a node on, or forever.
func (f *frees) first(members *members, id device.ID, from uint64) uint64 {
	at := uint64(forever)
	if f == nil {
		return at
	}
	if id == event.NoDevice {
		if i, _ := slices.BinarySearch(f.at, from); i < len(f.at) {
			at = f.at[i]
		}
		return at
	}
	for list := range sharing(members, f.named, id) {
		i, _ := slices.BinarySearchFunc(list, from, func(f lostFree, from uint64) int { return cmp.Compare(f.at, from) })
		if i < len(list) {
			at = min(at, list[i].at)
		}
	}
	return at
}

// sorted returns the frees in their order.
func (f *frees) sorted() []lostFree {
	all := slices.Concat(slices.Collect(maps.Values(f.named))...)
	slices.SortFunc(all, func(a, b lostFree) int { return cmp.Compare(a.at, b.at) })
	return all
}

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
