package device

import (
	"fmt"
	"iter"
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
