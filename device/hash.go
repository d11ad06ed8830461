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

// of returns the hash of a number. The first call writes.
func (h *hashes) of(n uint64) hash {
	if h.blind || everythingMeets {
		return 0
	}
	if h.seed == (maphash.Seed{}) {
		h.seed = maphash.MakeSeed()
	}
	return hash(maphash.Comparable(h.seed, n))
}

// marks returns the hash of the high-water marks of a group of devices.
func (h *hashes) marks(peak Peaks, cores *corePeaks) hash {
	if h.blind || everythingMeets {
		return 0
	}
	sum := h.of(0) ^ hash(peak.Registered)
	for _, n := range [...]uint64{peak.Reserved, peak.Logical, peak.Core} {
		sum = mix(sum) ^ hash(n)
	}
	if cores != nil {
		for _, b := range cores.bands {
			for _, s := range b.rows {
				sum = mix(sum) ^ hash(s.bytes) // not of the cores: few marks differ in them alone
			}
		}
	}
	return mix(sum)
}

// mix is the finisher of splitmix64: a bijection that looks random.
func mix(x hash) hash {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
