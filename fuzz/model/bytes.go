package model

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/cbl1/cbl1/l1"
)

// A byteSet is a set of addresses: bit a%64 of words[a/64-first] is set if a is in it. The first and
// the last word are not 0, so that equal sets have equal slices.
type byteSet struct {
	first uint64
	words []uint64
}

// A canvas has the bytes of cores. Cores without any need not be in it.
type canvas map[l1.Core]byteSet

// paint adds the bytes of a range on a core.
func (m canvas) paint(core l1.Core, r l1.Range) {
	s := m[core]
	s.paint(r)
	m[core] = s
}

// unite adds the bytes of a set on a core.
func (m canvas) unite(core l1.Core, o byteSet) {
	s := m[core]
	s.unite(o)
	m[core] = s
}

// most is the largest span that is painted, in bytes.
const most = 1 << 26

// Union returns the number of bytes in any of some ranges, which lie within 64 MiB.
func Union(ranges ...l1.Range) uint64 { return union(ranges).count() }

func union(ranges []l1.Range) (all byteSet) {
	var span l1.Range
	for i, r := range ranges {
		if i == 0 {
			span = r
		}
		span = l1.Range{Start: min(span.Start, r.Start), End: max(span.End, r.End)}
	}
	all.reserve(span.Start/64, (span.End+63)/64) // else it grows with every range
	for _, r := range ranges {
		all.paint(r)
	}
	return all
}

// paint adds the bytes of a range.
func (s *byteSet) paint(r l1.Range) {
	if r.IsEmpty() {
		return
	}
	s.reserve(r.Start/64, (r.End-1)/64+1)
	for a := r.Start; a < r.End; a++ {
		if a%64 == 0 && r.End-a >= 64 { // a whole word
			s.words[a/64-s.first] = math.MaxUint64
			a += 63
			continue
		}
		s.words[a/64-s.first] |= 1 << (a % 64)
	}
}

// reserve makes words reach from from to to, and no less far than before. Both ends are
// to be painted next.
func (s *byteSet) reserve(from, to uint64) {
	if len(s.words) > 0 {
		from, to = min(from, s.first), max(to, s.first+uint64(len(s.words)))
	}
	if to-from > most/64 {
		panic(fmt.Sprintf("model: painting from %d to %d; the model is for small memories", from*64, to*64))
	}
	if uint64(len(s.words)) < to-from {
		words := make([]uint64, to-from)
		if len(s.words) > 0 {
			copy(words[s.first-from:], s.words)
		}
		s.first, s.words = from, words
	}
}

// unite adds the bytes of another set.
func (s *byteSet) unite(o byteSet) {
	if o.empty() {
		return
	}
	s.reserve(o.first, o.first+uint64(len(o.words)))
	for i, w := range o.words {
		s.words[o.first-s.first+uint64(i)] |= w
	}
}

// empty reports whether no address is in s.
func (s byteSet) empty() bool { return len(s.words) == 0 }

// count returns the number of bytes in s.
func (s byteSet) count() (n uint64) {
	for _, w := range s.words {
		n += uint64(bits.OnesCount64(w))
	}
	return n
}

// common returns the number of bytes in both sets.
func (s byteSet) common(o byteSet) (n uint64) {
	for i, w := range s.words {
		n += uint64(bits.OnesCount64(w & o.word(s.first+uint64(i))))
	}
	return n
}

// start returns the address of the first byte of s, 0 if it is empty.
func (s byteSet) start() uint64 {
	if s.empty() {
		return 0
	}
	return s.first*64 + uint64(bits.TrailingZeros64(s.words[0]))
}

// end returns the address after the last byte of s, 0 if it is empty.
func (s byteSet) end() uint64 {
	if s.empty() {
		return 0
	}
	last := len(s.words) - 1
	return (s.first+uint64(last))*64 + uint64(bits.Len64(s.words[last]))
}

// word returns the bits of 64 addresses.
func (s byteSet) word(i uint64) uint64 {
	if i < s.first || i-s.first >= uint64(len(s.words)) {
		return 0
	}
	return s.words[i-s.first]
}

// holds reports whether an address is in s.
func (s byteSet) holds(addr uint64) bool { return s.word(addr/64)>>(addr%64)&1 == 1 }

// meets reports whether a byte of a range is in s.
func (s byteSet) meets(r l1.Range) bool { return s.next(r.Start, true) < r.End }

// next returns the first address from one on that is in s, or that is not. Where none is in s it is
// beyond all addresses.
func (s byteSet) next(a uint64, in bool) uint64 {
	if in {
		a = max(a, s.start())
	}
	for ; a < s.end(); a++ {
		if s.holds(a) == in {
			return a
		}
		if whole := s.word(a / 64); a%64 == 0 && (whole == 0 || whole == math.MaxUint64) {
			a += 63
		}
	}
	if in {
		return math.MaxUint64
	}
	return a
}

// regions returns the maximal runs of bytes in s.
func (s byteSet) regions() (out []l1.Range) {
	for a := s.next(0, true); a < s.end(); a = s.next(a, true) {
		r := l1.Range{Start: a, End: s.next(a, false)}
		out, a = append(out, r), r.End
	}
	return out
}
