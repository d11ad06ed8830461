package device

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// An ID names a device within a fleet. Any number is an ordinary id.
type ID = fit.DeviceID

// A Set is an immutable set of devices of one fleet. The zero Set is empty. It is
// one word to pass around, whatever its size.
type Set struct {
	s *set
}

// A set is what a Set points to. Nobody changes it after it is made.
type set struct {
	fleet *Fleet
	slots bitset
	n     int
	ids   []ID     // slot -> id, of all devices that the fleet had when the set was made
	spec  *l1.Spec // of all its devices; nil if they differ
}

// Len returns the number of devices.
func (s Set) Len() int {
	if s.s == nil {
		return 0
	}
	return s.s.n
}

// All returns the ids in ascending order. Cost: O(n log n) the first step.
func (s Set) All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		if s.s == nil {
			return
		}
		if s.s.ascending() {
			for slot := range s.s.slots.all() {
				if !yield(s.s.ids[slot]) {
					return
				}
			}
			return
		}
		ids := make([]ID, 0, s.s.n)
		for slot := range s.s.slots.all() {
			ids = append(ids, s.s.ids[slot])
		}
		slices.Sort(ids)
		for _, id := range ids {
			if !yield(id) {
				return
			}
		}
	}
}

// ascending reports whether devices came in the order of their ids, as they mostly do.
func (s *set) ascending() bool {
	last := ID(0)
	for slot := range s.slots.all() {
		if s.ids[slot] < last {
			return false
		}
		last = s.ids[slot]
	}
	return true
}

// Equal reports whether both sets have the same devices. Cost: O(n/64) in the devices of
// the fleet, and nothing for a Set and itself.
func (s Set) Equal(o Set) bool {
	if s.s == nil || o.s == nil {
		return s.s == o.s
	}
	return s.s == o.s || s.s.fleet == o.s.fleet && s.s.n == o.s.n && s.s.slots.subset(o.s.slots)
}

// Spec returns what all devices of s are; ok is false if there are none, or they differ.
func (s Set) Spec() (spec l1.Spec, ok bool) {
	if s.s == nil || s.s.spec == nil {
		return l1.Spec{}, false
	}
	return *s.s.spec, true
}

// Has reports whether the device with the given id is in s. Cost: O(n).
func (s Set) Has(id ID) bool {
	if s.s == nil {
		return false
	}
	for slot := range s.s.slots.all() {
		if s.s.ids[slot] == id {
			return true
		}
	}
	return false
}

// String lists up to eight ids: "{0 1 2}", "{0 1 2 3 4 5 6 7 ... 32 devices}".
func (s Set) String() string {
	var b strings.Builder
	b.WriteByte('{')
	i := 0
	for id := range s.All() {
		if i == 8 {
			fmt.Fprintf(&b, " ... %d devices", s.Len())
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, uint64(id))
		i++
	}
	b.WriteByte('}')
	return b.String()
}

// A bitset is a set of slots. Trailing words may be missing.
type bitset []uint64

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]>>(i&63)&1 != 0 }

// with returns b with slot i, in place where b is long enough.
func (b bitset) with(i int) bitset {
	if missing := i>>6 + 1 - len(b); missing > 0 {
		b = append(b, make(bitset, missing)...)
	}
	b[i>>6] |= 1 << (i & 63)
	return b
}

// equal reports whether two sets have the same slots, however long they are.
func (b bitset) equal(o bitset) bool {
	if len(b) > len(o) {
		b, o = o, b
	}
	return slices.Equal(b, o[:len(b)]) && o[len(b):].empty()
}

// flip returns b with i where it was without, and the other way round, in place where b
// is long enough.
func (b bitset) flip(i int) bitset {
	for len(b) <= i>>6 {
		b = append(b, 0)
	}
	b[i>>6] ^= 1 << (i & 63)
	return b
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// minus returns the slots in b that are not in o, and their number. It returns b
// itself where o has none of them.
func (b bitset) minus(o bitset) (bitset, int) {
	n, shared := 0, false
	for i, w := range b {
		if i < len(o) {
			shared = shared || w&o[i] != 0
			w &^= o[i]
		}
		n += bits.OnesCount64(w)
	}
	if !shared {
		return b, n
	}
	if n == 0 {
		return nil, 0
	}
	out := slices.Clone(b)
	for i := range min(len(b), len(o)) {
		out[i] &^= o[i]
	}
	return out, n
}

// add puts all of o into b, in place where b is long enough.
func (b bitset) add(o bitset) bitset {
	for len(b) < len(o) {
		b = append(b, 0)
	}
	for i, w := range o {
		b[i] |= w
	}
	return b
}

// drop takes all of o out of b, in place.
func (b bitset) drop(o bitset) {
	for i := range min(len(b), len(o)) {
		b[i] &^= o[i]
	}
}

// and returns the slots in both b and o, and their number. It returns one of them
// itself where that is the answer.
func (b bitset) and(o bitset) (bitset, int) {
	n, allB, allO := 0, true, true
	for i := range max(len(b), len(o)) {
		var x, y uint64
		if i < len(b) {
			x = b[i]
		}
		if i < len(o) {
			y = o[i]
		}
		allB, allO = allB && x&^y == 0, allO && y&^x == 0
		n += bits.OnesCount64(x & y)
	}
	switch {
	case allB:
		return b, n
	case allO:
		return o, n
	}
	out := slices.Clone(b[:min(len(b), len(o))])
	for i := range out {
		out[i] &= o[i]
	}
	return out, n
}

// subset reports whether all slots of b are in o.
func (b bitset) subset(o bitset) bool {
	for i, w := range b {
		if i >= len(o) && w != 0 || i < len(o) && w&^o[i] != 0 {
			return false
		}
	}
	return true
}

// meets reports whether b and o share a slot.
func (b bitset) meets(o bitset) bool {
	for i := range min(len(b), len(o)) {
		if b[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

func (b bitset) empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

// all returns the slots in ascending order.
func (b bitset) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
