package heap

import "github.com/cbl1/cbl1/fit"

// Moves are the ways that devices go when a buffer comes to them or leaves them: one for each
// heap that they come from. The zero moves are none.
type Moves struct {
	all  []move
	bare int // the place of the one from no heap
}

// A move is from one heap to another one, or to the same that has changed; nil is no buffers.
type move struct {
	From, To *Heap
	Devices  int
	Before   fit.BufferTotals // of From, before anything changed
	Charge   uint64           // of From, too
}

// From returns the move from a heap, a new one if there is none.
func (m *Moves) From(h *Heap) *move {
	at := &m.bare
	if h != nil {
		at = &h.place
	}
	if *at >= len(m.all) || m.all[*at].From != h {
		*at = len(m.all)
		m.all = append(m.all, move{From: h, Before: h.Sums(), Charge: h.Charged()})
	}
	return &m.all[*at]
}
