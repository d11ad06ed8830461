package device

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A heap is the set of buffers that live on a device. Devices with the same buffers
// share one, which is changed in place as long as they change together; it is found
// along the ways that lead to it, or by its hash and a comparison, so that devices which
// come to the same buffers one by one meet again.
// nil has none.
type heap struct {
	crossing[heap]
	hash   hash // of its buffers
	users  int  // devices that have it
	place  int  // in the moves that met it last
	live   buffers
	totals fit.BufferTotals
	charge uint64
	placed partition // the parts of buffers of the kinds that Tracked has

	// Kernels and the reserved area lie below free, everything else above, on any core.
	order order
	free  l1.Range

	// What is tracked on a device with this heap, by what its dispatches left.
	tracked map[*residue]tracked
	last    *residue // of which it was asked last
	known   tracked  // what is tracked with it
}

// maxTracked is how many answers a heap remembers: one for each program of a model that
// takes its turn.
const maxTracked = maxResidues

// find returns the buffer with an id, nil if there is none.
func (h *heap) find(id fit.BufferID) *allocation {
	if h == nil {
		return nil
	}
	return h.live.find(id)
}

// sorted returns the buffers by id.
func (h *heap) sorted() []*allocation {
	if h == nil {
		return nil
	}
	out := make([]*allocation, 0, h.live.len())
	for _, a := range h.live.all() {
		out = append(out, a)
	}
	return out
}

// sums returns the figures of the buffers.
func (h *heap) sums() fit.BufferTotals {
	if h == nil {
		return fit.BufferTotals{}
	}
	return h.totals
}

// charged returns a bound of what the buffers add to any sum. It is below 2^63.
func (h *heap) charged() uint64 {
	if h == nil {
		return 0
	}
	return h.charge
}

// gap returns the addresses above all kernels and the reserved area and below everything
// else, on any core.
func (h *heap) gap() l1.Range {
	if h == nil {
		return anywhere()
	}
	return h.free
}

// classes returns the classes of cores that buffers of the kinds that Tracked has lie on.
func (h *heap) classes() []seat {
	if h == nil {
		return nil
	}
	return h.placed.classes
}

// inTheWay returns the buffers that programs are judged by, as they are now. It writes to h.
func (h *heap) inTheWay() order {
	if h == nil {
		return order{}
	}
	return h.order.clone()
}

// above calls do with the buffers that stand above circular buffers, by their first byte,
// until it returns false.
func (h *heap) above(do func(*allocation) bool) {
	if h.order.above != nil {
		h.order.above.Ascend(do)
	}
}

// version returns the name of what is in the heap, given to no other content of one; 0 of no buffers.
func (h *heap) version() uint64 {
	if h == nil {
		return 0
	}
	return h.name
}

// change puts a buffer in or takes one out; one of the two is nil.
func (h *heap) change(add, drop *allocation) {
	h.tracked, h.last = nil, nil
	if add != nil {
		h.live.put(add.ID, add)
		h.hash += add.hash
		h.charge += add.charge
		h.totals.Add(&add.Buffer)
		if add.placed != nil && !add.Kind.Below() {
			h.placed.add(add.placed)
		}
		if add.inTheWay() {
			h.order.add(add)
			h.free = h.order.free()
		}
		return
	}
	h.live.drop(drop.ID)
	h.hash -= drop.hash
	h.charge -= drop.charge
	h.totals.Drop(&drop.Buffer)
	if drop.placed != nil && !drop.Kind.Below() {
		h.placed.remove(drop.placed)
	}
	if drop.inTheWay() {
		h.order.drop(drop)
		h.free = h.order.free()
	}
}

// newHeap returns a heap without buffers, under a name.
func newHeap(name uint64) *heap {
	h := &heap{placed: partition{footprint: occupiedBy}, free: anywhere()}
	h.self, h.name = h, name
	return h
}

// after returns the hash and the number of buffers after a change.
func (h *heap) after(add, drop *allocation) (k hash, n int) {
	if h != nil {
		k, n = h.hash, h.live.len()
	}
	if add != nil {
		return k + add.hash, n + 1
	}
	return k - drop.hash, n - 1
}

// becomes reports whether h with add, or without drop, is the set of buffers of to.
func (h *heap) becomes(to *heap, add, drop *allocation) bool {
	if _, n := h.after(add, drop); n != to.live.len() {
		return false
	}
	for id, a := range to.live.all() {
		if a == drop || a != add && a != h.find(id) {
			return false
		}
	}
	return true
}

// clone returns a copy. Its name is that of its classes, and h may get another one, so that both
// are independent: see partition.clone.
func (h *heap) clone(name uint64) *heap {
	out := *h
	out.crossing = crossing[heap]{self: &out, name: name}
	out.users, out.tracked, out.last = 0, nil, nil
	out.live, out.order = h.live.clone(), h.order.clone()
	out.placed = h.placed.clone(name)
	return &out
}

// trackedWith returns what the tracked kinds of the heap and what dispatches left hold
// together.
func (h *heap) trackedWith(left *residue) tracked {
	switch {
	case h == nil || len(h.placed.classes) == 0:
		return left.tracked()
	case left == nil:
		return tracked{bytes: h.placed.bytes, core: h.placed.fullest}
	case left == h.last: // devices in a row mostly hold the same
		return h.known
	}
	sum, ok := h.tracked[left.keep()]
	if !ok {
		sum = h.beside(left)
		if h.tracked == nil || len(h.tracked) >= maxTracked {
			h.tracked = map[*residue]tracked{}
		}
		h.tracked[left] = sum
	}
	h.last, h.known = left, sum
	return sum
}

// beside lays what dispatches left over the heap. Where all buffers are above, which is
// nearly always so, only cores that may be fuller than the fullest of both are looked at.
func (h *heap) beside(left *residue) tracked {
	sum := tracked{bytes: h.placed.bytes + left.union(), core: max(h.placed.fullest, left.fullest())}
	apart := left.end <= h.free.End
	if apart && left.fullest()+h.placed.fullest == sum.core {
		return sum
	}
	for _, cell := range left.held() {
		for _, c := range h.placed.classes {
			bound := cell.bytes + c.covered.Bytes()
			if apart && bound <= sum.core || !cell.cores.Overlaps(c.cores) {
				continue
			}
			if !apart {
				shared := uint64(0)
				for _, r := range cell.ranges {
					shared += c.covered.BytesIn(r)
				}
				sum.bytes -= shared * uint64(cell.cores.Intersect(c.cores).Len())
				bound -= shared
			}
			sum.core = max(sum.core, bound)
		}
	}
	return sum
}
