package device

import (
	"errors"

	"github.com/cbl1/cbl1/device/internal/audit"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/heap"
)

// CheckInvariants recounts every device and mesh from its registered programs, what
// was dispatched and its buffers, and returns an error for the first kept number that differs: an *InvariantError, or
// one that wraps a *cbregion.InvariantError. Cost: as much as registering everything
// anew, once for each state. Others wait while it is taken down what there
// is, and looked how it is found; it is recounted afterwards.
func (f *Fleet) CheckInvariants() error {
	var t, buffers audit.Audit
	taken, memory := f.recounting(), newTally()
	f.checkKept(taken, &t, &buffers)
	for _, check := range []func(*audit.Audit){
		taken.checkHeaps,
		buffers.Tell,
		taken.check,
		func(t *audit.Audit) { taken.checkSums(t, memory) },
		taken.checkStates,
	} {
		if t.Err == nil {
			check(&t)
		}
	}
	if d := (*audit.Miscount)(nil); errors.As(t.Err, &d) {
		return (*InvariantError)(d)
	}
	return t.Err
}

// checkKept verifies how things are found: devices and buffers. It takes what is to be
// recounted, unless devices are not found.
func (f *Fleet) checkKept(taken *recounting, devices, buffers *audit.Audit) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	f.checkIndex(devices)
	heaps := f.usedHeaps()
	f.heaps.CheckUsers(devices, &heaps)
	f.checkKnown(devices)
	if devices.Err != nil {
		return
	}
	f.recount(taken, &heaps)
	f.heaps.Check(buffers, &heaps)
}

// checkSums holds the figures of devices and of meshes against those of their states.
func (all *recounting) checkSums(t *audit.Audit, memory *tally) {
	var meshes []*mesh
	sums := map[*mesh]*mesh{}
	members := 0
	var charge wide
	for g := range audit.Each(t, all.states) {
		charge.add(g.charge, g.users)
		now := totalsOf(&g.totals)
		for slot := range g.slots.All() {
			members++
			c := all.chips[slot]
			t.About(c.id, "", nil)
			audit.Same(t, "published total", c.registered.Load(), now.Registered)
			memory.checkChip(t, c)
			if m := c.mesh; m != nil && t.Err == nil {
				if sums[m] == nil {
					meshes = append(meshes, m)
					sums[m] = new(mesh)
				}
				sums[m].plus(now, g.charge)
				memory.addTo(sums[m], c)
			}
		}
	}
	t.About(0, "", nil)
	audit.Same(t, "number of devices in states", members, all.live.Count())
	audit.Same(t, "charge of the fleet", all.charge.lo, charge.lo)
	audit.Same(t, "charge of the fleet over 2^64", all.charge.hi, charge.hi)
	memory.checkUsers(t, all.chips)
	for m := range audit.Each(t, meshes) {
		(*m).check(t, sums[*m])
	}
}

// checkIndex verifies how devices are found.
func (f *Fleet) checkIndex(t *audit.Audit) {
	n, found := 0, len(f.lone)
	audit.Same(t, "number of ids", len(f.ids), len(f.slots))
	for slot, c := range f.slots {
		if t.Err != nil {
			return
		}
		t.About(f.ids[slot], "", nil)
		audit.Same(t, "number of live marks of the slot", audit.Flag(f.live.Has(slot)), audit.Flag(c != nil))
		if c == nil {
			continue
		}
		n++
		t.About(c.id, "", nil)
		t.Once("number of times that the device is in a state", c.state != nil)
		at, ok := f.find(c.id)
		audit.Same(t, "slot", c.slot, slot)
		audit.Same(t, "id", c.id, f.ids[slot])
		t.Once("number of slots found by its id", ok)
		audit.Same(t, "slot found by its id", at, slot)
	}
	for _, m := range f.meshes {
		found += m.live
	}
	t.About(0, "", nil)
	audit.Same(t, "number of ids in use", found, n)
	audit.Same(t, "number of live slots", f.live.Count(), n)
}

// again registers the programs of a state once more, from nothing.
func (all *recounting) again(t *audit.Audit, g *recounted) *classes.Content {
	again := classes.NewContent(&all.roster)
	for p := range audit.Each(t, all.programs) {
		switch _, n := g.slots.And(p.on); n {
		case 0:
		case g.users:
			again.Add(&p.r.Holder)
		default:
			t.About(g.id, "", p.r.Program)
			audit.Same(t, "number of devices of one state", n, g.users)
		}
	}
	return again
}

// plus adds the figures of one device to the sums of a mesh.
func (m *mesh) plus(now Totals, charge uint64) {
	m.sum.Registered += now.Registered
	m.sum.Reserved += now.Reserved
	m.sum.Logical += now.Logical
	m.sum.Programs += now.Programs
	m.sum.Core = max(m.sum.Core, now.Core)
	m.charge += charge
}

// check holds the mesh against sums over its devices.
func (m *mesh) check(t *audit.Audit, again *mesh) {
	t.About(m.first, "mesh", nil)
	have, now := m.sum, again.sum
	have.Core = now.Core // not kept
	sameTotals(t, have, now)
	sameResident(t, m.sum.Resident, m.resident.Load(), m.peak.Resident, now.Resident)
	audit.Same(t, "tracked", m.sum.Tracked, now.Tracked)
	heap.SameBuffers(t, m.sum.Buffers, now.Buffers)
	audit.Same(t, "load", m.load, again.load)
	reachedTracked(t, m.peak, now)
	audit.Same(t, "published total", m.registered.Load(), now.Registered)
	audit.Same(t, "charge", m.charge, again.charge)
	reachedTotals(t, m.peak, now)
}

// sameTotals holds what is kept of registered programs against a recount.
func sameTotals(t *audit.Audit, have, want Totals) {
	audit.Same(t, "registered", have.Registered, want.Registered)
	audit.Same(t, "reserved", have.Reserved, want.Reserved)
	audit.Same(t, "logical", have.Logical, want.Logical)
	audit.Same(t, "fullest core", have.Core, want.Core)
	audit.Same(t, "number of programs", have.Programs, want.Programs)
}

// reachedTotals holds the high-water marks of registered programs against what there is now.
func reachedTotals(t *audit.Audit, have Peaks, now Totals) {
	t.Reached("registered", have.Registered, now.Registered)
	t.Reached("reserved", have.Reserved, now.Reserved)
	t.Reached("logical", have.Logical, now.Logical)
	t.Reached("fullest core", have.Core, now.Core)
}
