package heap

import "github.com/cbl1/cbl1/fit"

// Moves are the state changes of devices when one buffer comes or goes: one for each
// state that they come from. The zero value is empty.
type Moves struct {
	all  []move
	bare int // the index of the move from no buffers
}

// A move leads from one state to another, or to the same state after its change; nil
// is no buffers.
type move struct {
	From, To *BufferSet
	Users    int              // of From that make the move
	Before   fit.BufferTotals // of From, before anything changed
	Charge   uint64           // of From, too
}

// From returns the move from a state, a new one if there is none.
func (m *Moves) From(s *BufferSet) *move {
	at := &m.bare
	if s != nil {
		at = &s.place
	}
	if *at >= len(m.all) || m.all[*at].From != s {
		*at = len(m.all)
		m.all = append(m.all, move{From: s, Before: s.Heap().Sums(), Charge: s.Heap().Charged()})
	}
	return &m.all[*at]
}
