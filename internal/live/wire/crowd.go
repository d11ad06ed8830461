package wire

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
)

// A spot is where lines name things that have no ids there.
type spot struct {
	brings Type
	device int32
}

// A like is the part of such a thing that a line shows: equal likes are interchangeable.
type like struct {
	size  uint64
	owner Client
	kind  uint8
}

// A namelessLot is one of them, under a made-up id.
type namelessLot struct {
	id   uint64
	wide uint64 // how much larger or smaller it may be
}

// A crowd holds the nameless things of one spot.
type crowd struct {
	live map[like][]namelessLot // never empty
	end  uint64                 // of the addresses that were made up
	free map[uint64][]uint64    // of them, by how much they hold
	wide uint64
}

// A heap of nameless things: how many, their bytes, and how much more or less they may be.
type heap struct {
	n           int
	bytes, wide uint64
}

// move adds n things that are alike; -1 takes one back.
func (h *heap) move(n int, bytes, wide uint64) {
	h.n, h.bytes, h.wide = h.n+n, h.bytes+uint64(n)*bytes, h.wide+uint64(n)*wide
}

// near reports whether these may be the bytes of all.
func (h heap) near(a amount) bool {
	return a.spells(amount{least: h.bytes - min(h.wide, h.bytes), most: h.bytes + h.wide})
}

// A gap is the distance of the total of a line above or below the bytes that the lines account for.
type gap struct {
	above, below uint64
	wrapped      bool // and the line's is no number
}

// A wide sum is one of bytes that may lie beyond 2^64.
type wideSum struct{ high, low uint64 }

func sumOf(of ...uint64) (s wideSum) {
	for _, n := range of {
		s = s.plus(n)
	}
	return s
}

func (s wideSum) plus(n uint64) wideSum {
	low, carry := bits.Add64(s.low, n, 0)
	return wideSum{s.high + carry, low}
}

func (s wideSum) less(than wideSum) bool {
	return s.high < than.high || s.high == than.high && s.low < than.low
}

// Crowds hold all live things without an id, by spot.
type crowds struct {
	at      map[spot]*crowd
	off     map[spot]gap
	nobodys map[Type]*heap // CBs and kernels that no line gives to a process
	serial  uint64
}

func newCrowds() crowds {
	nobodys := map[Type]*heap{TypeCBAlloc: {}, TypeKernelLoad: {}}
	return crowds{at: map[spot]*crowd{}, off: map[spot]gap{}, nobodys: nobodys}
}

// Addresses that are made up lie from firstAddress to lastAddress; one that finds no room
// there lies beyond any L1.
const (
	firstAddress = 32
	lastAddress  = 1 << 32
	nowhere      = 1 << 40
)

// id makes up an address for a CB, where nothing else lies, or the id of a kernel.
func (cs *crowds) id(at spot, size uint64) uint64 {
	c := cs.at[at]
	if c == nil {
		c = &crowd{live: map[like][]namelessLot{}, end: firstAddress, free: map[uint64][]uint64{}}
		cs.at[at] = c
	}
	room := roomOf(size)
	if free := c.free[room]; len(free) > 0 {
		c.free[room] = free[:len(free)-1]
		return free[len(free)-1]
	}
	if at.brings != TypeCBAlloc || size == 0 || room > lastAddress-c.end {
		cs.serial++
		return nowhere + cs.serial
	}
	c.end += room
	return c.end - room
}

// roomOf returns how many bytes a made-up address may hold: at most an eighth and 32 bytes more
// than size, so that few addresses serve many sizes.
func roomOf(size uint64) uint64 {
	step := uint64(1) << max(bits.Len64(size)-4, 5)
	return (size + step - 1) &^ (step - 1)
}

// push adds a thing, under an id from id.
func (cs *crowds) push(at spot, alike like, n namelessLot) {
	c := cs.at[at]
	c.live[alike] = append(c.live[alike], n)
	c.wide += n.wide
	if alike.owner == 0 {
		cs.nobodys[at.brings].move(1, alike.size, n.wide)
	}
}

// forget gives back a spot where nothing lives.
func (cs *crowds) forget(at spot) {
	if c := cs.at[at]; c != nil && len(c.live) == 0 {
		delete(cs.at, at)
	}
}

// pop removes the newest of the things that are alike.
func (cs *crowds) pop(at spot, alike like) (n namelessLot, ok bool) {
	c := cs.at[at]
	if c == nil || len(c.live[alike]) == 0 {
		return n, false
	}
	some := c.live[alike]
	n, some = some[len(some)-1], some[:len(some)-1]
	c.wide -= n.wide
	if alike.owner == 0 {
		cs.nobodys[at.brings].move(-1, alike.size, n.wide)
	}
	if c.live[alike] = some; len(some) == 0 {
		delete(c.live, alike)
	}
	if n.id < nowhere {
		room := roomOf(alike.size)
		c.free[room] = append(c.free[room], n.id)
	}
	cs.forget(at)
	return n, true
}

// spots returns the occupied spots of a type, by device.
func (cs *crowds) spots(brings Type) (out []spot) {
	for at := range cs.at {
		if at.brings == brings {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b spot) int { return cmp.Compare(a.device, b.device) })
	return out
}

// kinds returns the likes of a spot, in a fixed order.
func (cs *crowds) kinds(at spot) []like {
	if cs.at[at] == nil {
		return nil
	}
	return slices.SortedFunc(maps.Keys(cs.at[at].live), func(a, b like) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.owner, b.owner), cmp.Compare(a.kind, b.kind))
	})
}

// wide returns how much the sum of a spot may be off because sizes are rounded.
func (cs *crowds) wide(at spot) uint64 {
	if c := cs.at[at]; c != nil {
		return c.wide
	}
	return 0
}
