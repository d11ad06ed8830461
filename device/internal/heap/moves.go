package heap

import "github.com/cbl1/cbl1/fit"

// Moves are the ways that devices go when a buffer comes to them or leaves them: one for each
// state that they come from. The zero moves are none.
type Moves struct {
	all  []move
	bare int // the place of the one from no buffers
}

// A move is from one state to another one, or to the same that has changed; nil is no buffers.
type move struct {
	From, To *State
	Users    int              // of From that go
	Before   fit.BufferTotals // of From, before anything changed
	Charge   uint64           // of From, too
}

// From returns the move from a state, a new one if there is none.
func (m *Moves) From(s *State) *move {
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
