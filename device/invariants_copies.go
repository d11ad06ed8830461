package device

import "maps"

// copies are what devices have besides registered programs, as it was. What is equal stays one.
type copies struct {
	chips []*chip    // by slot; in no group
	heaps []usedHeap // by first device
}

// A usedHeap is a heap that so many devices have.
type usedHeap struct {
	*heap
	first   ID // of the devices
	devices int
}

// copyChips copies the devices, their meshes, what was left on them, and these heaps, which are
// all that they have.
func (f *Fleet) copyChips(out *recounting, heaps []usedHeap) {
	meshes, left, known := map[*mesh]*mesh{}, map[*residue]*residue{nil: nil}, map[*heap]*heap{nil: nil}
	for _, h := range heaps {
		known[h.heap] = h.copied()
		out.heaps = append(out.heaps, usedHeap{known[h.heap], h.first, h.devices})
	}
	out.chips = make([]*chip, len(f.slots))
	apart := &group{state: new(state)}
	for slot := range f.live.all() {
		c := f.slots[slot]
		if len(out.room) == 0 {
			out.room = make([]chip, 64)
		}
		to := &out.room[0]
		out.room, out.chips[slot] = out.room[1:], to
		to.id, to.group, to.residentPeak, to.corePeak = c.id, apart, c.residentPeak, c.corePeak
		to.registered.Store(c.registered.Load())
		to.resident.Store(c.resident.Load())
		if m := c.mesh; m != nil {
			if meshes[m] == nil {
				meshes[m] = m.copied()
			}
			to.mesh = meshes[m]
		}
		if c.left != nil && left[c.left] == nil {
			left[c.left] = c.left.copied()
		}
		to.left = left[c.left]
		if c.memory != nil {
			m := *c.memory
			m.heap = known[m.heap]
			to.memory = &m
		}
	}
}

// copied returns the figures of a mesh.
func (m *mesh) copied() *mesh {
	to := &mesh{first: m.first, sum: m.sum, charge: m.charge, load: m.load, peak: m.peak}
	to.registered.Store(m.registered.Load())
	to.resident.Store(m.resident.Load())
	return to
}

// copied returns a heap for reading, as it is now.
func (h *heap) copied() *heap {
	to := *h
	to.tracked = maps.Clone(h.tracked)
	return &to
}
