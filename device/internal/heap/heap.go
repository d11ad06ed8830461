package heap

import (
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/device/internal/version"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A BufferSet is a set of buffers. Devices with the same buffers share one state, however
// each came to it: see package version. A state with devices has its heap, so that
// reads compute nothing. nil is no buffers.
type BufferSet struct {
	version.Version[BufferSet, Heap, Allocation]
	place int // in the moves that met it last
}

// Heap returns the heap of a state.
func (s *BufferSet) Heap() *Heap {
	if s == nil {
		return nil
	}
	return s.Content
}

// A step puts a buffer in or takes one out; one of the two is nil.
type step = version.Step[Allocation]

// hash returns the hash of the state after a step.
func (s *BufferSet) hash(by step) (h lookup.Hash) {
	if s != nil {
		h = s.Hash
	}
	if by.Old != nil {
		return h - by.Old.hash
	}
	return h + by.New.hash
}

// A Heap holds buffers and their bytes of L1. nil has none.
type Heap struct {
	name   uint64 // given to no other buffers
	live   buffers
	totals fit.BufferTotals
	charge uint64
	placed classes.Partition // the parts of buffers of tracked kinds

	order   Order
	tracked tracked
}

// tracked are the tracked bytes of a device with a heap, by its residue. The first lies outside of the map: most heaps of a
// database, where buffers come in turn, meet one residue (a tenth of the bytes that a database of 4 MB allocates).
type tracked struct {
	first *residue.Residue
	sum   residue.TrackedBytes
	more  map[*residue.Residue]residue.TrackedBytes
}

// orNone returns h, an empty heap for nil.
func (h *Heap) orNone() *Heap {
	if h == nil {
		return new(Heap)
	}
	return h
}

// maxTracked is how many answers a heap remembers: one for each program of a model that
// takes its turn.
const maxTracked = residue.MaxResidues

// Find returns the buffer with an id, nil if there is none.
func (h *Heap) Find(id fit.BufferID) *Allocation { return h.orNone().live.find(id) }

// Sorted returns the buffers by id.
func (h *Heap) Sorted() []*Allocation {
	h = h.orNone()
	out := make([]*Allocation, 0, h.live.len())
	for _, a := range h.live.all() {
		out = append(out, a)
	}
	return out
}

// Sums returns the figures of the buffers.
func (h *Heap) Sums() fit.BufferTotals { return h.orNone().totals }

// Overlap returns the bytes that several buffers hold, once for each but the first, summed over cores.
func (h *Heap) Overlap() uint64 {
	of := &h.orNone().placed
	return of.Logical - of.Bytes
}

// Charged bounds the bytes that the buffers add to any sum. It is below 2^63.
func (h *Heap) Charged() uint64 { return h.orNone().charge }

// Gap returns the addresses above all kernels and the reserved area and below everything
// else, on any core.
func (h *Heap) Gap() l1.Range { return h.orNone().order.free() }

// Classes returns the classes of cores under buffers of tracked kinds.
func (h *Heap) Classes() []classes.Member { return h.orNone().placed.Classes }

// InTheWay returns the present buffers that count when programs are judged. It writes
// to h.
func (h *Heap) InTheWay() Order { return h.orNone().order.clone() }

// Above calls do with the buffers above circular buffers, by their first byte, until
// it returns false.
func (h *Heap) Above(do func(*Allocation) bool) {
	if above := h.orNone().order.above; above != nil {
		above.Ascend(do)
	}
}

// Version returns the name of the buffers, given to no others; 0 of no buffers.
func (h *Heap) Version() uint64 { return h.orNone().name }

// change makes a step, in place.
func (h *Heap) change(by step) {
	h.tracked = tracked{}
	if add := by.New; add != nil {
		h.live.put(add.ID, add)
		h.charge += add.Charge
		h.totals.Add(&add.Buffer, 1)
		if add.placed != nil && !add.Kind.Below() {
			h.placed.Add(add.placed)
		}
		if add.InTheWay() {
			h.order.add(add)
		}
		return
	}
	drop := by.Old
	h.live.drop(drop.ID)
	h.charge -= drop.Charge
	h.totals.Add(&drop.Buffer, -1)
	if drop.placed != nil && !drop.Kind.Below() {
		h.placed.Remove(drop.placed)
	}
	if drop.InTheWay() {
		h.order.Drop(drop)
	}
}

// equals reports whether h after a step holds the same buffers as to.
func (h *Heap) equals(to *Heap, by step) bool {
	n := h.orNone().live.len() + 1
	if by.Old != nil {
		n -= 2
	}
	if n != to.live.len() {
		return false
	}
	for id, a := range to.live.all() {
		if a == by.Old || a != by.New && a != h.Find(id) {
			return false
		}
	}
	return true
}

// TrackedWith returns the tracked bytes of the heap and of a residue together.
func (h *Heap) TrackedWith(left *residue.Residue) residue.TrackedBytes {
	switch {
	case len(h.Classes()) == 0:
		return left.Tracked()
	case left == nil:
		return residue.TrackedBytes{Bytes: h.placed.Bytes, Core: h.placed.Fullest}
	}
	t := &h.tracked
	if t.first == left {
		return t.sum
	}
	sum, ok := t.more[left]
	switch {
	case ok:
		return sum
	case t.first == nil:
		t.first, t.sum = left, h.beside(left)
		return t.sum
	case t.more == nil || len(t.more) >= maxTracked:
		t.more = map[*residue.Residue]residue.TrackedBytes{}
	}
	sum = h.beside(left)
	t.more[left] = sum
	return sum
}

// TrackedOn returns the tracked bytes of the heap and of a residue on a core.
func (h *Heap) TrackedOn(core l1.Core, left *residue.Residue) (bytes uint64) {
	here := h.orNone().placed.On(core)
	if here != nil {
		bytes = here.Covered.Bytes()
	}
	for _, r := range left.HeldOn(core) {
		bytes += r.Len()
		if here != nil {
			bytes -= here.Covered.BytesIn(r)
		}
	}
	return bytes
}

// beside lays a residue over the heap. If all buffers are above it, the usual case,
// only cores that may be fuller than the fullest of both are visited.
func (h *Heap) beside(left *residue.Residue) residue.TrackedBytes {
	sum := residue.TrackedBytes{Bytes: h.placed.Bytes + left.Union(), Core: max(h.placed.Fullest, left.Fullest())}
	apart := left.End <= h.Gap().End
	if apart && left.Fullest()+h.placed.Fullest == sum.Core {
		return sum
	}
	for g := range left.Held().Groups() {
		own := g.Bytes()
		for _, c := range h.placed.Classes {
			bound := own + c.Covered.Bytes()
			if apart && bound <= sum.Core || !g.Cores().Overlaps(c.Cores) {
				continue
			}
			if !apart {
				shared := uint64(0)
				for r := range g.Ranges() {
					shared += c.Covered.BytesIn(r)
				}
				sum.Bytes -= shared * uint64(g.Cores().Intersect(c.Cores).Len())
				bound -= shared
			}
			sum.Core = max(sum.Core, bound)
		}
	}
	return sum
}
