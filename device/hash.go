package device

import (
	"hash/maphash"
)

// A hash is a number by which things are found that may be equal. Equal things have
// equal hashes. Different ones may have equal hashes too, so that nothing is believed
// for its hash: see shelf.
//
// The hash of a set is the sum of the hashes of what is in it. It does not depend on the
// order in which that came.
type hash uint64

// hashes gives hashes to numbers. They are different in each fleet, so that nobody can
// choose programs whose hashes meet and make them slow.
type hashes struct {
	seed  maphash.Seed
	blind bool // of tests: every hash is 0
}

// alike reports whether all hashes are the same.
func (h *hashes) alike() bool { return h.blind || everythingMeets }

// of returns the hash of a number. The first call writes.
func (h *hashes) of(n uint64) hash {
	if h.alike() {
		return 0
	}
	if h.seed == (maphash.Seed{}) {
		h.seed = maphash.MakeSeed()
	}
	return hash(maphash.Comparable(h.seed, n))
}

// mix is the finisher of splitmix64: a bijection that looks random.
func mix(x hash) hash {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
