package device

import (
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A key names a multiset of things by the sum of their 128-bit random numbers: it
// does not depend on the order in which they came, and equal keys mean equal sets
// but for a chance of about 2^-128 per pair of sets that ever meet.
type key struct {
	a, b uint64
}

// newKey returns the n-th random number.
func newKey(n uint64) key {
	return key{mix(n * 0x9e3779b97f4a7c15), mix(n*0xd1342543de82ef95 + 0x2545f4914f6cdd1d)}
}

func (k key) plus(o key) key  { return key{k.a + o.a, k.b + o.b} }
func (k key) minus(o key) key { return key{k.a - o.a, k.b - o.b} }

// on returns the number of a program with key k on the cores of a group. It
// depends on the ranges alone, so that it is the same for the occupied and the
// reserved footprint where these agree.
func (k key) on(g program.Group) key {
	for i := range g.NumRanges() {
		r := g.Range(i)
		k.a = mix(k.a ^ r.Start + mix(r.End))
		k.b = mix(k.b + r.End ^ mix(r.Start))
	}
	return k
}

// sized returns the number of logical bytes that a program with key k counts on a
// core. There are none in a reserved footprint: 0 bytes are no number at all.
func (k key) sized(logical uint64) key {
	if logical == 0 {
		return key{}
	}
	return key{mix(k.a + logical), mix(k.b ^ logical)}
}

// of returns the number of a program with key k that holds some cores.
func (k key) of(cores l1.CoreSet) key {
	for c := range cores.All() {
		at := uint64(c.X)<<8 | uint64(c.Y)
		k.a = mix(k.a ^ at)
		k.b = mix(k.b + at)
	}
	return k
}

// salted returns another number for each salt but 0.
func (k key) salted(salt uint64) key {
	if salt == 0 {
		return k
	}
	return key{mix(k.a + salt), mix(k.b ^ salt)}
}

// mix is the finisher of splitmix64: a bijection that looks random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
