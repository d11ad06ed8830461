package lookup

import (
	"hash/maphash"
)

// A Hash is a number by which possibly equal values are found. Equal values have
// equal hashes. Different ones may collide, so a comparison follows: see Shelf.
//
// The hash of a set is the sum of the hashes of its elements. It does not depend on
// their order.
type Hash uint64

// Hashes gives hashes to numbers. They are different in each fleet, so that an
// attacker cannot choose programs whose hashes collide.
type Hashes struct {
	seed  maphash.Seed
	Blind bool // of tests: every hash is 0
}

// alike reports whether all hashes are the same.
func (h *Hashes) alike() bool { return h.Blind || everythingMeets }

// Of returns the hash of a number. The first call writes.
func (h *Hashes) Of(n uint64) Hash {
	if h.alike() {
		return 0
	}
	if h.seed == (maphash.Seed{}) {
		h.seed = maphash.MakeSeed()
	}
	return Hash(maphash.Comparable(h.seed, n))
}

// Mix is the finisher of splitmix64: a bijection that looks random.
func Mix(x Hash) Hash {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Numbers give out serial numbers, and hashes of them. The zero numbers begin at 1.
type Numbers struct {
	Last uint64 // given out
	Hashes
}

// Next returns a number that was never given out before.
func (n *Numbers) Next() uint64 {
	n.Last++
	return n.Last
}
