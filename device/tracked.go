package device

import (
	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/fit"
)

// memory holds everything in the L1 of a device besides circular buffers. Most
// devices of most fleets have no memory: then the resident bytes are the tracked
// ones.
type memory struct {
	buffers *heap.BufferSet
	tracked residue.TrackedBytes

	peak                        residue.TrackedBytes
	l1Peak, smallPeak, dramPeak uint64
}

// remember gives a memory to a device that held circular buffers alone.
func (c *cohort) remember(left *residue.Residue) {
	c.memory = &memory{tracked: left.Tracked(), peak: residue.TrackedBytes{Bytes: c.residentPeak, Core: c.corePeak}}
}

// trackedNow returns the tracked bytes of a device.
func (c *cohort) trackedNow() residue.TrackedBytes {
	if c.memory != nil {
		return c.memory.tracked
	}
	return c.left.Tracked()
}

// buffers returns the state of the buffers of a device.
func (c *cohort) buffers() *heap.BufferSet {
	if c.memory == nil {
		return nil
	}
	return c.memory.buffers
}

// heap returns the heap of a device.
func (c *cohort) heap() *heap.Heap { return c.buffers().Heap() }

// reheap puts a buffer on the devices in slots or takes one off; one of the two is
// nil. It cannot fail.
func (f *Fleet) reheap(slots bitset.Bits, add, drop *heap.Allocation) {
	var moves heap.Moves
	if add != nil {
		f.heaps.Give(add, slots.Count(), &f.roster)
	}
	for c := range f.shares(slots) {
		moves.From(f.cut(c).buffers()).Users++
	}
	f.heaps.Lead(&moves, add, drop)
	for c := range f.shares(slots) {
		w := moves.From(c.buffers())
		if c.memory == nil {
			c.remember(c.left)
		}
		f.heaps.Move(w.From, w.To)
		c.memory.buffers = w.To
		f.noteBuffers(c.cohort, w.Before, w.Charge)
	}
	if drop != nil {
		f.heaps.Take(drop, slots.Count(), &f.roster)
	}
	f.publishMeshes()
}

// noteBuffers updates the sums and marks of a device after its heap has changed.
func (f *Fleet) noteBuffers(c *cohort, before fit.BufferTotals, charge uint64) {
	now := c.heap().Sums()
	c.memory.l1Peak = max(c.memory.l1Peak, now.L1)
	c.memory.smallPeak = max(c.memory.smallPeak, now.L1Small)
	c.memory.dramPeak = max(c.memory.dramPeak, now.DRAM)
	if m := c.mesh; m != nil {
		m.sum.Buffers.Move(before, now, c.n)
		m.load += uint64(c.n) * (c.heap().Charged() - charge) // wraps and comes back
		f.touch(m)
	}
	f.noteTracked(c)
}

// noteTracked updates the tracked bytes of a device.
func (f *Fleet) noteTracked(c *cohort) {
	before, now := c.memory.tracked, c.heap().TrackedWith(c.left)
	c.memory.tracked = now
	c.memory.peak = c.memory.peak.Raise(now)
	if m := c.mesh; m != nil {
		m.sum.Tracked += uint64(c.n) * (now.Bytes - before.Bytes) // wraps and comes back
		m.peak.TrackedCore = max(m.peak.TrackedCore, now.Core)
		f.touch(m)
	}
}

// clearHeap takes all buffers off devices that leave the fleet.
func (f *Fleet) clearHeap(c *cohort) {
	s := c.buffers()
	if s == nil {
		return
	}
	before, charge := s.Heap().Sums(), s.Heap().Charged()
	c.memory.buffers = nil
	f.heaps.End(s, c.n, &f.roster)
	f.noteBuffers(c, before, charge)
}
