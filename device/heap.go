package device

import (
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
	place  int  // where the change of buffers that met it last noted it
	live   buffers
	totals BufferTotals
	charge uint64
	placed partition // the parts of buffers of the kinds that Tracked has

	// Kernels and the reserved area lie below free, everything else above, on any core.
	order order
	free  l1.Range

	full uint64 // bytes of placed on the fullest core

	// What is tracked on a device with this heap, by what its dispatches left.
	tracked map[*residue]tracked
	last    *residue // of which it was asked last
	known   tracked  // what is tracked with it
}

// maxTracked is how many answers a heap remembers: one for each program of a model that
// takes its turn.
const maxTracked = maxResidues

// memory is what a device has besides circular buffers. Most devices of most fleets
// have none: then what is tracked is what is resident.
type memory struct {
	heap    *heap
	tracked tracked

	peak                        tracked
	l1Peak, smallPeak, dramPeak uint64
}

// remember gives a device that held circular buffers alone a memory.
func (c *chip) remember(left *residue) {
	c.memory = &memory{tracked: left.tracked(), peak: tracked{c.residentPeak, c.corePeak}}
}

// trackedNow returns what is tracked on a device.
func (c *chip) trackedNow() tracked {
	if c.memory != nil {
		return c.memory.tracked
	}
	return c.left.tracked()
}

func (c *chip) heap() *heap {
	if c.memory == nil {
		return nil
	}
	return c.memory.heap
}

func (h *heap) find(id BufferID) *allocation {
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

func (h *heap) sums() BufferTotals {
	if h == nil {
		return BufferTotals{}
	}
	return h.totals
}

func (h *heap) charged() uint64 {
	if h == nil {
		return 0
	}
	return h.charge
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
			h.full = h.placed.fullest
		}
		if add.stands() {
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
		h.full = h.placed.fullest
	}
	if drop.stands() {
		h.order.drop(drop)
		h.free = h.order.free()
	}
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

// id returns the serial number, 0 for none.
func (a *allocation) id() uint64 {
	if a == nil {
		return 0
	}
	return a.serial
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

// reheap puts a buffer on the devices in slots or takes one off; one of the two is
// nil. It cannot fail.
func (f *Fleet) reheap(slots bitset, add, drop *allocation) {
	type move struct {
		from, to *heap
		n        int // devices
		before   BufferTotals
		charge   uint64
	}
	var moves []move
	bare := 0 // the place in moves of devices without buffers
	find := func(h *heap) *move {
		at := &bare
		if h != nil {
			at = &h.place
		}
		if *at >= len(moves) || moves[*at].from != h {
			*at = len(moves)
			moves = append(moves, move{from: h, before: h.sums(), charge: h.charged()})
		}
		return &moves[*at]
	}
	if add != nil && add.users == 0 && add.placed != nil {
		f.roster.enter(add.placed, &f.numbers.hashes)
	}
	for slot := range slots.all() {
		find(f.slots[slot].heap()).n++
	}
	// Where a whole heap moves on, it is changed in place. None of the
	// targets is among the sources: what is added was on none of these devices.
	for i := range moves {
		w := &moves[i]
		w.to = f.heapAfter(w.from, w.n, add, drop)
	}
	for slot := range slots.all() {
		c := f.slots[slot]
		w := find(c.heap())
		if c.memory == nil {
			c.remember(c.left)
		}
		if w.from != w.to {
			if w.from != nil {
				f.abandon(w.from)
			}
			if c.memory.heap = w.to; w.to != nil {
				w.to.users++
			}
		}
		f.noteBuffers(c, w.before, w.charge)
	}
	if add != nil {
		f.hold(add, slots.count())
	} else {
		f.hold(drop, -slots.count())
	}
	f.publishMeshes()
}

// heapAfter returns the heap that n devices with the heap from come to.
func (f *Fleet) heapAfter(from *heap, n int, add, drop *allocation) *heap {
	k, left := from.after(add, drop)
	if left == 0 {
		return nil
	}
	if from != nil {
		if to := from.follow(drop.id(), add.id()); to != nil {
			return to
		}
	}
	if to := f.heaps.find(k, func(to *heap) bool { return from.becomes(to, add, drop) }); to != nil {
		if from != nil {
			from.connect(&to.crossing, drop.id(), add.id())
		}
		return to
	}
	to := from
	switch {
	case from == nil:
		to = &heap{placed: partition{footprint: occupiedBy}, free: anywhere()}
		to.self, to.name = to, f.newSerial()
	case from.users == n && from.name >= f.heapsPictured.Load():
		f.heaps.drop(from.hash, from)
		to.rename(f.newSerial())
	default:
		to = from.clone(f.newSerial())
		if from.name >= f.heapsPictured.Load() {
			from.placed.owner = f.newSerial()
		}
		from.connect(&to.crossing, drop.id(), add.id())
	}
	to.change(add, drop)
	f.heaps.put(k, to)
	return to
}

// abandon notes that a device has another heap now.
func (f *Fleet) abandon(h *heap) {
	if h.users--; h.users == 0 {
		f.heaps.drop(h.hash, h)
		if h.name < f.heapsPictured.Load() {
			h.rename(0) // the rest may be read without the lock
		} else {
			*h = heap{}
		}
	}
}

// hold notes that n more devices have an allocation, or fewer.
func (f *Fleet) hold(a *allocation, n int) {
	if a.users == 0 {
		if f.allocations == nil {
			f.allocations = map[BufferID][]*allocation{}
		}
		a.at = len(f.allocations[a.ID])
		f.allocations[a.ID] = append(f.allocations[a.ID], a)
	}
	if a.users += n; a.users > 0 {
		return
	}
	if a.placed != nil {
		f.roster.retire(a.placed)
	}
	same := f.allocations[a.ID]
	last := len(same) - 1
	if last == 0 {
		delete(f.allocations, a.ID)
		return
	}
	same[a.at] = same[last]
	same[a.at].at = a.at
	same[last] = nil
	f.allocations[a.ID] = same[:last]
}

// noteBuffers brings the sums and marks of a device whose heap has changed up to date.
func (f *Fleet) noteBuffers(c *chip, before BufferTotals, charge uint64) {
	now := c.heap().sums()
	c.memory.l1Peak = max(c.memory.l1Peak, now.L1)
	c.memory.smallPeak = max(c.memory.smallPeak, now.L1Small)
	c.memory.dramPeak = max(c.memory.dramPeak, now.DRAM)
	if m := c.mesh; m != nil {
		m.sum.Buffers.Move(before, now)
		m.load += c.heap().charged() - charge // wraps and comes back
		f.touch(m)
	}
	f.noteTracked(c)
}

// noteTracked brings what is tracked on a device up to date.
func (f *Fleet) noteTracked(c *chip) {
	before, now := c.memory.tracked, c.heap().trackedWith(c.left)
	c.memory.tracked = now
	c.memory.peak = c.memory.peak.raise(now)
	if m := c.mesh; m != nil {
		m.sum.Tracked += now.bytes - before.bytes // wraps and comes back
		m.peak.TrackedCore = max(m.peak.TrackedCore, now.core)
		f.touch(m)
	}
}

// clearHeap takes all buffers off a device that leaves the fleet.
func (f *Fleet) clearHeap(c *chip) {
	h := c.heap()
	if h == nil {
		return
	}
	for _, a := range h.live.all() {
		f.hold(a, -1)
	}
	before, charge := h.totals, h.charge
	c.memory.heap = nil
	f.abandon(h)
	f.noteBuffers(c, before, charge)
}

// trackedWith returns what the tracked kinds of the heap and what dispatches left hold
// together.
func (h *heap) trackedWith(left *residue) tracked {
	switch {
	case h == nil || len(h.placed.classes) == 0:
		return left.tracked()
	case left == nil:
		return tracked{h.placed.bytes, h.full}
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
	sum := tracked{h.placed.bytes + left.union(), max(h.full, left.fullest())}
	apart := left.end <= h.free.End
	if apart && left.fullest()+h.full == sum.core {
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
