package device

import "github.com/cbl1/cbl1/device/internal/bitset"

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
