package device

import "github.com/cbl1/cbl1/device/internal/bitset"

// A slotSet is the slots of a program. Bits that others have too are
// copied before they change.
type slotSet struct {
	bitset.Set
	shared bool
}

// enter puts slots in.
func (s *slotSet) enter(slots bitset.Set) {
	s.own()
	s.Set = s.Add(slots)
}

// leave takes slots out.
func (s *slotSet) leave(slots bitset.Set) {
	s.own()
	s.Drop(slots)
}

// own makes the bits some that nobody else has.
func (s *slotSet) own() {
	if s.shared {
		*s = slotSet{Set: s.Clone()}
	}
}
