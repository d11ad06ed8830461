package survey

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

// A Bottom keeps the recorded addresses at the bottom of L1. Values only grow or shrink, so that the
// order of nodes does not matter.
type Bottom struct {
	ends   map[Owner]uint64     // the lowest end of a buffer
	starts map[device.ID]uint64 // by unit: the highest start of a program
	lifted map[Owner]bool       // with a buffer that ends below a program
}

// An Owner is the id that a buffer names, or a chip that has a buffer, even if its number is a mesh too.
type Owner struct {
	ID   device.ID
	Unit bool
}

// owners yields the owners of buffers on a unit.
func (m *Members) owners(unit device.ID) iter.Seq[Owner] {
	return func(yield func(Owner) bool) {
		for id := range m.Above(unit) {
			if !yield(Owner{id, false}) {
				return
			}
		}
		yield(Owner{unit, true})
	}
}

// Buffer records the end of an L1 buffer with an address.
func (b *Bottom) Buffer(of Owner, kind fit.Kind, r l1.Range) {
	if kind != fit.KindL1 || r.IsEmpty() {
		return
	}
	if end, ok := b.ends[of]; !ok || r.End < end {
		b.ends[of] = r.End
	}
}

// Program records where the circular buffers of a program start on a unit.
func (b *Bottom) Program(unit device.ID, start uint64) { b.starts[unit] = max(b.starts[unit], start) }
