package device

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
	c.memory = &memory{tracked: left.tracked(), peak: tracked{bytes: c.residentPeak, core: c.corePeak}}
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

// reheap puts a buffer on the devices in slots or takes one off; one of the two is
// nil. It cannot fail.
func (f *Fleet) reheap(slots bitset, add, drop *allocation) {
	var moves moves
	if add != nil {
		f.heaps.give(add, slots.count(), &f.roster, &f.numbers)
	}
	for slot := range slots.all() {
		moves.from(f.slots[slot].heap()).devices++
	}
	f.heaps.lead(&moves, add, drop, &f.numbers)
	for slot := range slots.all() {
		c := f.slots[slot]
		w := moves.from(c.heap())
		if c.memory == nil {
			c.remember(c.left)
		}
		f.heaps.move(w.from, w.to)
		c.memory.heap = w.to
		f.noteBuffers(c, w.before, w.charge)
	}
	if drop != nil {
		f.heaps.take(drop, slots.count(), &f.roster)
	}
	f.publishMeshes()
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
	before, charge := h.sums(), h.charged()
	c.memory.heap = nil
	f.heaps.end(h, &f.roster)
	f.noteBuffers(c, before, charge)
}
