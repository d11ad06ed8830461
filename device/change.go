package device

import (
	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
)

// change takes one program off the devices in slots and puts another one on; either
// may be nil. It cannot fail. Devices that hold the same move together, at the cost
// of one.
func (f *Fleet) change(slots bitset.Set, n int, old, new *registration) {
	f.operation++
	if new != nil {
		f.enter(new, slots)
	}
	affected := f.affected[:0]
	if n <= len(f.groups) {
		for slot := range slots.All() {
			if g := f.slots[slot].group; g.met != f.operation {
				g.met = f.operation
				affected = append(affected, g)
			}
		}
	} else {
		for _, g := range f.groups {
			if g.slots.Meets(slots) {
				affected = append(affected, g)
			}
		}
	}
	// A group cannot be merged into one that is still to come: before the change no
	// device of slots is in a state that another one will enter.
	for _, g := range affected {
		f.changeGroup(g, slots, old, new)
	}
	clear(affected)
	f.affected = affected[:0]
	if old != nil {
		old.exit(slots)
	}
	f.publishMeshes()
}

// changeGroup does the change for the devices of one group that are in slots.
func (f *Fleet) changeGroup(g *group, slots bitset.Set, old, new *registration) {
	sub, n := g.slots.And(slots)
	from, before, charge, cores := g.state, g.state.totals, g.state.charge, g.cores
	if old != nil {
		cores = f.raised(from, g, old)
	}
	to := f.next(from, old, new, n == g.n && len(from.groups) == 1)
	peak := g.peak
	peak.reach(&to.totals)
	f.publish(sub, before, charge, to)
	f.move(g, sub, n, to, peak, cores)
}

// publish makes the totals of a state visible on devices that enter it, and counts
// the difference to those before on their meshes.
func (f *Fleet) publish(slots bitset.Set, before classes.Figures, charge uint64, to *state) {
	var m *mesh
	n := 0 // devices of m in a row
	for slot := range slots.All() {
		c := f.slots[slot]
		c.registered.Store(to.totals.Registered)
		if c.mesh != m {
			f.count(m, n, before, charge, to)
			m, n = c.mesh, 0
		}
		n++
	}
	f.count(m, n, before, charge, to)
}

// count moves the share of n devices in the sums of a mesh from one state's figures
// to another's.
func (f *Fleet) count(m *mesh, n int, before classes.Figures, charge uint64, to *state) {
	if m == nil || n == 0 {
		return
	}
	// Unsigned differences wrap and come back: the sums themselves are below 2^63.
	k := uint64(n)
	m.sum.Registered += k * (to.totals.Registered - before.Registered)
	m.sum.Reserved += k * (to.totals.Reserved - before.Reserved)
	m.sum.Logical += k * (to.totals.Logical - before.Logical)
	m.sum.Programs += n * (to.totals.Programs - before.Programs)
	m.charge += k * (to.charge - charge)
	m.peak.Core = max(m.peak.Core, to.totals.Core)
	f.touch(m)
}

// touch notes that the sums of a mesh are to be published.
func (f *Fleet) touch(m *mesh) {
	if !m.touched {
		m.touched = true
		f.touched = append(f.touched, m)
	}
}

// publishMeshes makes the sums of the meshes that were touched visible, after a
// whole operation.
func (f *Fleet) publishMeshes() {
	for _, m := range f.touched {
		m.touched = false
		m.peak.raise(m.sum)
		m.registered.Store(m.sum.Registered)
		m.resident.Store(m.sum.Resident)
	}
	clear(f.touched)
	f.touched = f.touched[:0]
}
