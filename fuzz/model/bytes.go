package model

import (
	"fmt"

	"github.com/cbl1/cbl1/l1"
)

// A byteSet is a set of addresses: has[i] is true if at+i is in it. Addresses beyond both ends of
// has are not in it; the first and the last one of has are, so that equal sets have equal slices.
type byteSet struct {
	at  uint64
	has []bool
}

// most is where painting byte by byte stops being a good idea.
const most = 1 << 26

// paint adds the bytes of a range.
func (s *byteSet) paint(r l1.Range) {
	if r.IsEmpty() {
		return
	}
	s.reserve(r.Start, r.End)
	for a := r.Start; a < r.End; a++ {
		s.has[a-s.at] = true
	}
}

// reserve makes has reach from from to to, and no less far than before. Both ends are
// to be painted next.
func (s *byteSet) reserve(from, to uint64) {
	if len(s.has) > 0 {
		from, to = min(from, s.at), max(to, s.at+uint64(len(s.has)))
	}
	if to-from > most {
		panic(fmt.Sprintf("model: painting from %d to %d; the model is for toy devices", from, to))
	}
	if uint64(len(s.has)) < to-from {
		has := make([]bool, to-from)
		if len(s.has) > 0 {
			copy(has[s.at-from:], s.has)
		}
		s.at, s.has = from, has
	}
}

// unite adds the bytes of another set.
func (s *byteSet) unite(o byteSet) {
	if len(o.has) == 0 {
		return
	}
	s.reserve(o.at, o.at+uint64(len(o.has)))
	for i, has := range o.has {
		if has {
			s.has[o.at-s.at+uint64(i)] = true
		}
	}
}

// count returns the number of bytes in s.
func (s byteSet) count() uint64 {
	n := uint64(0)
	for _, has := range s.has {
		if has {
			n++
		}
	}
	return n
}

// end returns the address after the last byte of s, 0 if it is empty.
func (s byteSet) end() uint64 {
	if len(s.has) == 0 {
		return 0
	}
	return s.at + uint64(len(s.has))
}

// meets reports whether a byte of a range is in s.
func (s byteSet) meets(r l1.Range) bool {
	for a := r.Start; a < r.End; a++ {
		if s.holds(a) {
			return true
		}
	}
	return false
}

// holds reports whether an address is in s.
func (s byteSet) holds(addr uint64) bool {
	return addr >= s.at && addr-s.at < uint64(len(s.has)) && s.has[addr-s.at]
}

// regions returns the maximal runs of bytes in s.
func (s byteSet) regions() []l1.Range {
	var out []l1.Range
	before := false
	for i, has := range s.has {
		if has && !before {
			out = append(out, l1.Range{Start: s.at + uint64(i)})
		}
		if has {
			out[len(out)-1].End = s.at + uint64(i) + 1
		}
		before = has
	}
	return out
}
