package device

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device/internal/bitset"
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

// A set holds the data of a Set. It never changes after it is made.
type set struct {
	fleet *Fleet
	slots bitset.Bits
	n     int
	ids   []ID     // slot -> id, of all devices of the fleet when the set was made
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
		ids := make([]ID, 0, s.s.n)
		for slot := range s.s.slots.All() {
			ids = append(ids, s.s.ids[slot])
		}
		slices.Sort(ids)
		slices.Values(ids)(yield)
	}
}

// Equal reports whether both sets have the same devices. Cost: O(n/64) in the devices of
// the fleet, and nothing for a Set and itself.
func (s Set) Equal(o Set) bool {
	if s.s == nil || o.s == nil {
		return s.s == o.s
	}
	return s.s == o.s || s.s.fleet == o.s.fleet && s.s.n == o.s.n && s.s.slots.Subset(o.s.slots)
}

// Spec returns the board of all devices of s; ok is false if there are none, or they
// differ.
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
	for slot := range s.s.slots.All() {
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

// A slotSet holds the slots of a program. Shared bits are copied before they change.
type slotSet struct {
	bitset.Bits
	shared bool
}

// enter adds slots.
func (s *slotSet) enter(slots bitset.Bits) {
	s.own()
	s.Bits = s.Add(slots)
}

// leave removes slots.
func (s *slotSet) leave(slots bitset.Bits) {
	s.own()
	s.Drop(slots)
}

// own copies the bits if they are shared.
func (s *slotSet) own() {
	if s.shared {
		*s = slotSet{Bits: s.Clone()}
	}
}
