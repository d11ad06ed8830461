package device

import "errors"

// CheckInvariants recounts every device and mesh from its registered programs, what
// was dispatched and its buffers, and returns an error for the first kept number that differs: an *InvariantError, or
// one that wraps a *cbregion.InvariantError. Cost: as much as registering everything
// anew, once for each group of devices that share a state. Others wait while it is taken down what there
// is, and looked how it is found; it is recounted afterwards.
func (f *Fleet) CheckInvariants() error {
	var t, buffers, groups audit
	taken, memory := f.recounting(), newTally()
	f.checkKept(taken, &t, &buffers, &groups)
	for _, check := range []func(*audit){
		taken.checkHeaps,
		buffers.tell,
		taken.check,
		func(t *audit) { taken.checkSums(t, memory) },
		groups.tell,
		taken.checkStates,
	} {
		if t.err == nil {
			check(&t)
		}
	}
	if d := (*miscount)(nil); errors.As(t.err, &d) {
		return (*InvariantError)(d)
	}
	return t.err
}

// checkKept verifies how things are found: devices, buffers, and groups. It takes what is to be
// recounted, unless devices are not found.
func (f *Fleet) checkKept(taken *recounting, devices, buffers, groups *audit) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	f.checkIndex(devices)
	heaps := f.usedHeaps()
	f.heaps.checkUsers(devices, &heaps)
	f.checkKnown(devices)
	if devices.err != nil {
		return
	}
	f.recount(taken, &heaps, groups)
	f.heaps.check(buffers, &heaps)
}

// checkSums holds the figures of devices and of meshes against those of their states.
func (all *recounting) checkSums(t *audit, memory *tally) {
	var meshes []*mesh
	sums := map[*mesh]*mesh{}
	members := 0
	var charge wide
	for g := range each(t, all.groups) {
		charge.add(g.charge, g.n)
		now := totalsOf(&g.totals)
		for slot := range g.slots.all() {
			members++
			c := all.chips[slot]
			t.about(c.id, "", nil)
			same(t, "published total", c.registered.Load(), now.Registered)
			memory.checkChip(t, c)
			if m := c.mesh; m != nil && t.err == nil {
				if sums[m] == nil {
					meshes = append(meshes, m)
					sums[m] = new(mesh)
				}
				sums[m].plus(now, g.charge)
				memory.addTo(sums[m], c)
			}
		}
	}
	t.about(0, "", nil)
	same(t, "number of devices in groups", members, all.live.count())
	same(t, "charge of the fleet", all.charge.lo, charge.lo)
	same(t, "charge of the fleet over 2^64", all.charge.hi, charge.hi)
	memory.checkUsers(t, all.chips)
	for m := range each(t, meshes) {
		(*m).check(t, sums[*m])
	}
}

// checkIndex verifies how devices are found.
func (f *Fleet) checkIndex(t *audit) {
	n, found := 0, len(f.lone)
	same(t, "number of ids", len(f.ids), len(f.slots))
	for slot, c := range f.slots {
		if t.err != nil {
			return
		}
		t.about(f.ids[slot], "", nil)
		same(t, "number of live marks of the slot", flag(f.live.has(slot)), flag(c != nil))
		if c == nil {
			continue
		}
		n++
		t.about(c.id, "", nil)
		t.once("number of times that the device is in its group", c.group != nil && c.group.slots.has(slot))
		at, ok := f.find(c.id)
		same(t, "slot", c.slot, slot)
		same(t, "id", c.id, f.ids[slot])
		t.once("number of slots found by its id", ok)
		same(t, "slot found by its id", at, slot)
	}
	for _, m := range f.meshes {
		found += m.live
	}
	t.about(0, "", nil)
	same(t, "number of ids in use", found, n)
	same(t, "number of live slots", f.live.count(), n)
}

// again registers the programs of a group once more, from nothing.
func (all *recounting) again(t *audit, g *recounted) *content {
	again := newContent(&all.roster)
	for p := range each(t, all.programs) {
		switch _, n := g.slots.and(p.on); n {
		case 0:
		case g.n:
			again.add(&p.r.holder)
		default:
			t.about(g.id, "", p.r.program)
			same(t, "number of devices of one group", n, g.n)
		}
	}
	return again
}

// checkFound verifies that a group can be found, and stands at its place.
func (g *group) checkFound(t *audit, place int, h *hashes) {
	byPeak := 0
	if n := len(g.state.groups); n > few {
		byPeak = n
	}
	same(t, "place of a group", g.index, place)
	t.once("number of times that a group is found in its state", g.at < len(g.state.groups) && g.state.groups[g.at] == g)
	t.once("number of times that a group is found by its marks", g.state.group(g.peak, g.cores, h) == g)
	same(t, "number of groups that are found by the hash of their marks", g.state.byPeak.len(), byPeak)
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
func (m *mesh) check(t *audit, again *mesh) {
	t.about(m.first, "mesh", nil)
	have, now := m.sum, again.sum
	have.Core = now.Core // not kept
	sameTotals(t, have, now)
	sameResident(t, m.sum.Resident, m.resident.Load(), m.peak.Resident, now.Resident)
	same(t, "tracked", m.sum.Tracked, now.Tracked)
	sameBuffers(t, m.sum.Buffers, now.Buffers)
	same(t, "load", m.load, again.load)
	reachedTracked(t, m.peak, now)
	same(t, "published total", m.registered.Load(), now.Registered)
	same(t, "charge", m.charge, again.charge)
	reachedTotals(t, m.peak, now)
}

// totals holds what is kept of registered programs against a recount.
func sameTotals(t *audit, have, want Totals) {
	same(t, "registered", have.Registered, want.Registered)
	same(t, "reserved", have.Reserved, want.Reserved)
	same(t, "logical", have.Logical, want.Logical)
	same(t, "fullest core", have.Core, want.Core)
	same(t, "number of programs", have.Programs, want.Programs)
}

// peaks holds the high-water marks of registered programs against what there is now.
func reachedTotals(t *audit, have Peaks, now Totals) {
	t.reached("registered", have.Registered, now.Registered)
	t.reached("reserved", have.Reserved, now.Reserved)
	t.reached("logical", have.Logical, now.Logical)
	t.reached("fullest core", have.Core, now.Core)
}
