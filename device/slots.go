package device

// A slotSet is the slots of a program or a group of devices. Bits that others have too are
// copied before they change.
type slotSet struct {
	bitset
	shared bool
}

// enter puts slots in.
func (s *slotSet) enter(slots bitset) {
	s.own()
	s.bitset = s.add(slots)
}

// leave takes slots out.
func (s *slotSet) leave(slots bitset) {
	s.own()
	s.drop(slots)
}

// own makes the bits some that nobody else has.
func (s *slotSet) own() {
	if s.shared {
		*s = slotSet{bitset: s.clone()}
	}
}
