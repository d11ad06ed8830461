package device

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/l1"
)

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
	return t.err
}

// tell has another audit find what t has found.
func (t *audit) tell(to *audit) { to.err = t.err }

// checkKept verifies how things are found: devices, buffers, and groups. It takes what is to be
// recounted, unless devices are not found.
func (f *Fleet) checkKept(taken *recounting, devices, buffers, groups *audit) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	f.checkIndex(devices)
	heaps := f.checkUsers(devices)
	f.checkKnown(devices)
	if devices.err != nil {
		return
	}
	f.recount(taken, heaps, groups)
	f.checkAllocations(buffers, heaps)
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

// check holds what a group holds against a recount, but for its classes.
func (g *recounted) check(t *audit, held, again *content) {
	ordered, ranked := held.live.ranked(again.live, again.occupied.roster)
	separate, now := 0, again.totals()
	if held.reserved != nil {
		separate = 1
	}
	t.about(g.id, "", nil)
	same(t, "charge", g.charge, again.charge)
	same(t, "charge of the content", held.charge, again.charge)
	same(t, "number of programs of the content", held.live.n, again.live.n)
	same(t, "number of programs by how far they reach", ordered, ranked)
	same(t, "number of programs by how far they reach", ranked, again.live.n)
	same(t, "number of programs that reserve otherwise than they occupy", held.differ, again.differ)
	same(t, "number of separate counts of what is reserved", separate, min(again.differ, 1))
	same(t, "registered, at most logical", min(now.Registered, now.Logical), now.Registered)
	same(t, "registered, at most reserved", min(now.Registered, now.Reserved), now.Registered)
	same(t, "hash of the state", g.hash, again.live.hash)
	same(t, "hash of the content", held.live.hash, again.live.hash)
	t.once("number of times that the content names its programs", held.live.bits.equal(again.live.bits))
	t.once("number of times that a state knows its programs", g.members(bitset{}).equal(again.live.bits))
}

// check verifies that peaks have one form: no two bands for a column, no two neighbours that
// are alike, and no rows without bytes behind the others.
func (p *corePeaks) check(t *audit) {
	if p == nil {
		return
	}
	next, last := 0, band{}
	for _, b := range p.bands {
		switch {
		case b.from < next, b.to < b.from:
			t.differs("first column with peaks, after others", uint64(b.from), uint64(next))
		case b.from == next && slices.Equal(b.rows, last.rows):
			t.differs("columns with equal peaks that stand apart", uint64(b.from), uint64(last.from))
		}
		end, bytes := 0, ^uint64(0)
		for _, s := range b.rows {
			if s.end <= end || s.bytes == bytes {
				t.differs("end of rows with a peak, after others", uint64(s.end), uint64(end))
			}
			end, bytes = s.end, s.bytes
		}
		t.once("peak of the last rows, at least 1", len(b.rows) > 0 && bytes > 0)
		next, last = b.to+1, b
	}
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
	t.totals(have, now)
	t.resident(m.sum.Resident, m.resident.Load(), m.peak.Resident, now.Resident)
	same(t, "tracked", m.sum.Tracked, now.Tracked)
	t.buffers(m.sum.Buffers, now.Buffers)
	same(t, "load", m.load, again.load)
	t.tracked(m.peak, now)
	same(t, "published total", m.registered.Load(), now.Registered)
	same(t, "charge", m.charge, again.charge)
	t.peaks(m.peak, now)
}

// totals holds what is kept of registered programs against a recount.
func (t *audit) totals(have, want Totals) {
	same(t, "registered", have.Registered, want.Registered)
	same(t, "reserved", have.Reserved, want.Reserved)
	same(t, "logical", have.Logical, want.Logical)
	same(t, "fullest core", have.Core, want.Core)
	same(t, "number of programs", have.Programs, want.Programs)
}

// peaks holds the high-water marks of registered programs against what there is now.
func (t *audit) peaks(have Peaks, now Totals) {
	t.reached("registered", have.Registered, now.Registered)
	t.reached("reserved", have.Reserved, now.Reserved)
	t.reached("logical", have.Logical, now.Logical)
	t.reached("fullest core", have.Core, now.Core)
}

// check verifies that the classes are disjoint and not empty, sum up, and hold on
// every core what a recount has there.
func (p *partition) check(t *audit, id ID, view string, again *partition) {
	var seen, all l1.CoreSet
	var bytes, logical uint64
	for at := range each(t, p.classes) {
		c := at.class
		t.about(id, view, nil)
		same(t, "class: number of cores", c.n, uint64(c.cores.Len()))
		t.once("class: number of cores, at least 1", c.n > 0)
		same(t, "class: programs, at least 1, that are missing", max(0, 1-c.programs), 0)
		same(t, "classes: cores in two of them", seen.Intersect(c.cores).Len(), 0)
		seen = seen.Union(c.cores)
		if err := c.covered.CheckInvariants(); err != nil && t.err == nil {
			t.err = fmt.Errorf("device %d: %s on %s: %w", id, view, coresText(c.cores), err)
		}
		bytes += c.covered.Bytes() * c.n
		logical += c.logical * c.n
		again.meet(c.cores, func(at int) uint64 {
			c.compare(t, id, view, again.classes[at].class)
			return 0
		})
		c.checkCounted(t, id, view, again)
	}
	for _, o := range again.classes {
		all = all.Union(o.cores)
	}
	t.about(id, view, nil)
	same(t, "sum of the classes", p.bytes, bytes)
	same(t, "logical sum of the classes", p.logical, logical)
	same(t, "cores in a class without programs there", seen.Minus(all).Len(), 0)
	same(t, "cores with programs in no class", all.Minus(seen).Len(), 0)
	p.checkNumbers(t, seen)
}

// checkNumbers verifies that each core names its class, and which one is the fullest.
func (p *partition) checkNumbers(t *audit, cores l1.CoreSet) {
	known, fullest := 0, uint64(0)
	for i, c := range p.classes {
		fullest = max(fullest, c.covered.Bytes())
		for core := range c.cores.All() {
			if at := p.at(core); at != i {
				t.differs("number of the class of core "+core.String(), uint64(at), uint64(i))
			}
		}
	}
	for _, n := range p.grid.in {
		if n > 0 {
			known++
		}
	}
	if p.grid.wide {
		known = cores.Len() // it keeps no numbers
	}
	same(t, "cores with the number of a class", known, cores.Len())
	same(t, "bytes of the fullest core", p.fullest, fullest)
}

// checkPeaks verifies what is known of the marks of a group. Of others nothing is believed.
func (p *partition) checkPeaks(t *audit, of *corePeaks) {
	for _, c := range p.classes {
		if c.peaks != of.id() {
			continue
		}
		for core := range c.cores.All() {
			if peak := of.at(core); peak < c.held {
				t.differs("bytes that a peak has at least, on "+coresText(c.cores), c.held, peak)
			}
		}
	}
}

// compare holds a class against one of a recount that shares a core with it.
func (c *class) compare(t *audit, id ID, view string, want *class) {
	t.about(id, view, c.cores.Intersect(want.cores))
	same(t, "programs", c.programs, want.programs)
	same(t, "logical bytes", c.logical, want.logical)
	same(t, "bytes", c.covered.Bytes(), want.covered.Bytes())
	t.ranges("a region", slices.Collect(c.covered.Regions()), slices.Collect(want.covered.Regions()))
	// Wrong ones join classes that differ, or never join.
	same(t, "hash of the groups", c.groups.hash, want.groups.hash)
	t.once("number of times that a class names its groups", c.groups.bits.equal(want.groups.bits))
}

// ranges notes what differs first between two lists of ranges: an end of one, or their number.
func (t *audit) ranges(of string, have, want []l1.Range) {
	for i := range min(len(have), len(want)) {
		same(t, "start of "+of, have[i].Start, want[i].Start)
		same(t, "end of "+of, have[i].End, want[i].End)
	}
	same(t, "number of times that there is "+of, len(have), len(want))
}

// checkCounted verifies that a class, whose regions are right, counts the ranges of the
// programs that are not hidden on it, each once. Where a range is counted too often,
// or not at all, inside others, the bytes are right until one leaves.
func (c *class) checkCounted(t *audit, id ID, view string, again *partition) {
	want, named := counting{covered: new(cbregion.Coverage), reach: c.reach}, 0
	if o := again.on(c.first); o != nil {
		for number := range o.groups.bits.all() {
			r := again.roster.at(number)
			g, counted := again.footprint(r).Group(r.indexOf(number)), slices.Contains(c.counted, r)
			if c.plain || counted {
				want.count(g)
			} else {
				want.reach = max(want.reach, endOf(g))
			}
			named += int(flag(counted))
		}
	}
	t.about(id, view, c.cores)
	t.once("number of times that the first core is known", c.first == first(c.cores))
	same(t, "counted programs that are not registered", len(c.counted)-named, 0)
	same(t, "counted programs beyond those that a class may name", max(0, len(c.counted)-mostCounted), 0)
	same(t, "counted programs of a class that counts all", uint64(len(c.counted))*flag(c.plain), 0)
	same(t, "boundaries", c.covered.Boundaries(), want.covered.Boundaries())
	same(t, "reach of the hidden programs", c.reach, want.reach)
}
