package device

import (
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/residue"
)

// copies are what devices have besides registered programs, as it was. What is equal stays one.
type copies struct {
	chips []*chip         // by slot; in no state
	heaps []heap.UsedHeap // by first device
}

// copyChips copies the devices, their meshes, what was left on them, and these heaps, which are
// all that they have.
func (f *Fleet) copyChips(out *recounting, heaps *heap.UsedHeaps) {
	meshes, left := map[*mesh]*mesh{}, map[*residue.Residue]*residue.Residue{nil: nil}
	all, known := heaps.Copied()
	out.heaps = all
	out.chips = make([]*chip, len(f.slots))
	apart := new(state)
	for slot := range f.live.All() {
		c := f.slots[slot]
		if len(out.room) == 0 {
			out.room = make([]chip, 64)
		}
		to := &out.room[0]
		out.room, out.chips[slot] = out.room[1:], to
		to.id, to.state, to.peak, to.cores = c.id, apart, c.peak, c.cores
		to.residentPeak, to.corePeak = c.residentPeak, c.corePeak
		to.registered.Store(c.registered.Load())
		to.resident.Store(c.resident.Load())
		if m := c.mesh; m != nil {
			if meshes[m] == nil {
				meshes[m] = m.copied()
			}
			to.mesh = meshes[m]
		}
		if c.left != nil && left[c.left] == nil {
			left[c.left] = c.left.Copied()
		}
		to.left = left[c.left]
		if c.memory != nil {
			m := *c.memory
			m.buffers = known[m.buffers]
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
