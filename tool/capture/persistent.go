package capture

import (
	"iter"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Persistent pages lie at the bottom of L1 and lift the CBs of programs (PersistentL1Arena of
// tt-metal). A capture shows them where it records an L1 buffer that ends below all CBs of a
// program: without pages the lowest CB starts at the base, where L1 begins for buffers too.
// Addresses that are synthesised from the base are too low then, by an unknown amount.

// A bottom keeps the recorded addresses at the bottom of L1. Values only grow or shrink, so that the
// order of nodes does not matter.
type bottom struct {
	ends   map[owner]uint64     // the lowest end of a buffer
	starts map[device.ID]uint64 // by unit: the highest start of a program
	lifted map[owner]bool       // with a buffer that ends below a program
}

// An owner is the id that a buffer names, or a chip that has a buffer, even if its number is a mesh too.
type owner struct {
	id   device.ID
	unit bool
}

// owners yields the owners of buffers on a unit.
func (m *members) owners(unit device.ID) iter.Seq[owner] {
	return func(yield func(owner) bool) {
		for id := range m.above(unit) {
			if !yield(owner{id, false}) {
				return
			}
		}
		yield(owner{unit, true})
	}
}

// buffer records the end of an L1 buffer with an address.
func (b *bottom) buffer(of owner, kind fit.Kind, r l1.Range) {
	if kind != fit.KindL1 || r.IsEmpty() {
		return
	}
	if end, ok := b.ends[of]; !ok || r.End < end {
		b.ends[of] = r.End
	}
}

// program records the start of a run, if all its local buffers have addresses.
func (b *bottom) program(r *run) {
	if !r.local && r.facts.start > 0 {
		b.starts[r.on.id] = max(b.starts[r.on.id], r.facts.start-1)
	}
}
