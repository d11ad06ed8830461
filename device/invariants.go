package device

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/l1"
)

// CheckInvariants recounts every device and mesh from its registered programs, what
// was dispatched and its buffers, and returns an error for the first kept number that differs: an *InvariantError, or
// one that wraps a *cbregion.InvariantError. Cost: as much as registering everything
// anew, once for each group of devices that share a state. Others wait while it is taken down what there
// is, and looked how it is found; it is recounted afterwards.
func (f *Fleet) CheckInvariants() error {
	taken, buffers, states := f.checkKept()
	if taken == nil {
		return buffers
	}
	memory := newTally()
	for _, check := range []func() error{
		taken.checkHeaps,
		func() error { return buffers },
		taken.check,
		func() error { return taken.checkSums(memory) },
		func() error { return states },
		taken.checkWays, // which follows what was verified under the lock
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkKept verifies how things are found: buffers, and states. It returns what is to be recounted,
// unless devices are not found.
func (f *Fleet) checkKept() (taken *recounting, buffers, states error) {
	taken = f.recounting()
	f.mu.RLock()
	defer f.mu.RUnlock()
	if err := f.checkIndex(); err != nil {
		return nil, err, nil
	}
	heaps, err := f.checkUsers()
	if err != nil {
		return nil, err, nil
	}
	f.recount(taken, heaps)
	return taken, f.checkAllocations(heaps), f.checkStates()
}

// checkSums holds the figures of devices and of meshes against those of their states.
func (all *recounting) checkSums(memory *tally) error {
	var meshes []*mesh
	sums := map[*mesh]*mesh{}
	members := 0
	var charge wide
	for i := range all.groups {
		g := &all.groups[i]
		charge.add(g.charge, g.n)
		now := g.totals.row()
		for slot := range g.slots.all() {
			members++
			c := all.chips[slot]
			if have := c.registered.Load(); have != now.Registered {
				return &InvariantError{c.id, "published total", have, now.Registered}
			}
			if err := memory.checkChip(c); err != nil {
				return err
			}
			if m := c.mesh; m != nil {
				if sums[m] == nil {
					meshes = append(meshes, m)
					sums[m] = new(mesh)
				}
				sums[m].plus(now, g.charge)
				memory.addTo(sums[m], c)
			}
		}
	}
	if have := all.live.count(); have != members {
		return &InvariantError{0, "number of devices in groups", uint64(members), uint64(have)}
	}
	if err := agree(0, "charge of the fleet", figure{"", all.charge.lo, charge.lo}, figure{"over 2^64", all.charge.hi, charge.hi}); err != nil {
		return err
	}
	for _, m := range meshes {
		if err := m.check(sums[m]); err != nil {
			return err
		}
	}
	return nil
}

// checkIndex verifies how devices and registrations are found.
func (f *Fleet) checkIndex() error {
	if len(f.ids) != len(f.slots) {
		return &InvariantError{0, "number of ids", uint64(len(f.ids)), uint64(len(f.slots))}
	}
	n := 0
	for slot, c := range f.slots {
		if live := f.live.has(slot); live != (c != nil) {
			return &InvariantError{f.ids[slot], fmt.Sprintf("number of live marks of slot %d", slot), flag(live), flag(c != nil)}
		}
		if c == nil {
			continue
		}
		n++
		if c.group == nil || !c.group.slots.has(slot) {
			return &InvariantError{c.id, "number of times that the device is in its group", 0, 1}
		}
		at, ok := f.find(c.id)
		if err := agree(c.id, "",
			figure{"slot", uint64(c.slot), uint64(slot)},
			figure{"id", uint64(c.id), uint64(f.ids[slot])},
			figure{"number of slots found by its id", flag(ok), 1},
			figure{"slot found by its id", uint64(at), uint64(slot)},
		); err != nil {
			return err
		}
	}
	found := len(f.lone)
	for _, m := range f.meshes {
		found += m.live
	}
	if err := agree(0, "", figure{"number of ids in use", uint64(found), uint64(n)}, figure{"number of live slots", uint64(f.live.count()), uint64(n)}); err != nil {
		return err
	}
	return nil
}

// again registers the programs of a group once more, from nothing.
func (all *recounting) again(g *recounted) (*content, error) {
	again := newContent(&all.roster)
	for _, p := range all.programs {
		switch _, n := g.slots.and(p.on); n {
		case 0:
		case g.n:
			again.add(p.r)
		default:
			return nil, &InvariantError{
				g.id, fmt.Sprintf("number of devices of one group with program %d", p.r.program.ID()), uint64(n), uint64(g.n),
			}
		}
	}
	return again, nil
}

// check holds what a group holds against a recount, but for its classes.
func (g *recounted) check(held, again *content) error {
	ordered, ranked := held.live.ranked(again.live, again.occupied.roster)
	separate, now := uint64(0), again.totals()
	if held.reserved != nil {
		separate = 1
	}
	return agree(g.id, "",
		figure{"charge", g.charge, again.charge},
		figure{"charge of the content", held.charge, again.charge},
		figure{"number of programs of the content", uint64(held.live.n), uint64(again.live.n)},
		figure{"number of programs by how far they reach", uint64(ordered), uint64(ranked)},
		figure{"number of programs by how far they reach", uint64(ranked), uint64(again.live.n)},
		figure{"number of programs that reserve otherwise than they occupy", uint64(held.differ), uint64(again.differ)},
		figure{"number of separate counts of what is reserved", separate, uint64(min(again.differ, 1))},
		figure{"registered, at most logical", min(now.Registered, now.Logical), now.Registered},
		figure{"registered, at most reserved", min(now.Registered, now.Reserved), now.Registered},
		figure{"hash of the state", uint64(g.hash), uint64(again.live.hash)},
		figure{"hash of the content", uint64(held.live.hash), uint64(again.live.hash)},
		figure{"number of times that the content names its programs", flag(held.live.bits.equal(again.live.bits)), 1},
		figure{"number of times that a state knows its programs", flag(g.members(bitset{}).equal(again.live.bits)), 1},
	)
}

// check verifies that peaks have one form: no two bands for a column, no two neighbours that
// are alike, and no rows without bytes behind the others.
func (p *corePeaks) check(id ID) error {
	if p == nil {
		return nil
	}
	next, last := 0, band{}
	for _, b := range p.bands {
		switch {
		case b.from < next, b.to < b.from:
			return &InvariantError{id, "first column with peaks, after others", uint64(b.from), uint64(next)}
		case b.from == next && slices.Equal(b.rows, last.rows):
			return &InvariantError{id, "columns with equal peaks that stand apart", uint64(b.from), uint64(last.from)}
		}
		end, bytes := 0, ^uint64(0)
		for _, s := range b.rows {
			if s.end <= end || s.bytes == bytes {
				return &InvariantError{id, "end of rows with a peak, after others", uint64(s.end), uint64(end)}
			}
			end, bytes = s.end, s.bytes
		}
		if len(b.rows) == 0 || bytes == 0 {
			return &InvariantError{id, "peak of the last rows, at least 1", 0, 1}
		}
		next, last = b.to+1, b
	}
	return nil
}

// checkStates verifies that every state can be found, and that no more are kept than
// those in use and those between them.
func (f *Fleet) checkStates() error {
	for i, g := range f.groups {
		id := f.ids[g.anySlot()]
		if g.index != i {
			return &InvariantError{id, "place of a group", uint64(g.index), uint64(i)}
		}
		if err := agree(id, "number of times that",
			figure{"a group is found in its state", flag(g.at < len(g.state.groups) && g.state.groups[g.at] == g), 1},
			figure{"a group is found by its marks", flag(g.state.group(g.peak, g.cores, &f.hashes) == g), 1},
			figure{"a state is found by its hash", flag(f.states.has(g.state.hash, g.state)), 1},
		); err != nil {
			return err
		}
		byPeak := 0
		if n := len(g.state.groups); n > few {
			byPeak = n
		}
		if have := g.state.byPeak.len(); have != byPeak {
			return &InvariantError{id, "number of groups that are found by the hash of their marks", uint64(have), uint64(byPeak)}
		}
	}
	for _, s := range f.states.all() {
		if err := s.check(); err != nil {
			return err
		}
	}
	for _, s := range f.states.all() {
		for i, to := range s.after {
			if err := agree(0, "number of times that a state after another one is",
				figure{"at its place", flag(to.from == s && to.place == i), 1},
				figure{"found by its hash", flag(f.states.has(to.hash, to)), 1},
			); err != nil {
				return err
			}
		}
	}
	return nil
}

// check verifies that a state is needed, and that its content is in one place.
func (s *state) check() error {
	used, lent := flag(len(s.groups) > 0), s.lent != nil
	return agree(0, "",
		figure{"number of states with no device before them", flag(s.from != nil) | used, 1},
		figure{"number of states with no device after them", flag(len(s.after) > 0) | used, 1},
		figure{"number of times that the first state of a tree has a content", flag(s.from != nil || lent || s.content != nil), 1},
		figure{"number of contents of a state that has lent its own", flag(lent && s.content != nil), 0},
		figure{"number of times that a content is lent one step", flag(!lent || s.lent.from == s && s.lent.content != nil), 1},
	)
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
func (m *mesh) check(again *mesh) error {
	have := m.sum
	have.Core = again.sum.Core // not kept
	if err := compareTotals(m.first, "mesh", have, again.sum); err != nil {
		return err
	}
	if err := compareResident(m.first, "mesh", m.sum.Resident, m.resident.Load(), m.peak.Resident, again.sum.Resident); err != nil {
		return err
	}
	if err := m.checkMemory(again); err != nil {
		return err
	}
	if have := m.registered.Load(); have != again.sum.Registered {
		return &InvariantError{m.first, "published total of the mesh", have, again.sum.Registered}
	}
	if m.charge != again.charge {
		return &InvariantError{m.first, "charge of the mesh", m.charge, again.charge}
	}
	return atLeast(m.first, "mesh", m.peak, again.sum)
}

// A figure is a kept number and what a recount has.
type figure struct {
	what       string
	have, want uint64
}

// agree verifies that kept numbers are what a recount has. who is whose they are, "" if
// the figures say that.
func agree(id ID, who string, figures ...figure) error {
	for _, f := range figures {
		if f.have != f.want {
			return &InvariantError{id, strings.TrimSpace(who + " " + f.what), f.have, f.want}
		}
	}
	return nil
}

// reached verifies that high-water marks are not below what there is now.
func reached(id ID, who string, figures ...figure) error {
	for _, f := range figures {
		if f.have < f.want {
			return &InvariantError{id, who + " peak of " + f.what, f.have, f.want}
		}
	}
	return nil
}

// flag returns 1 for true: how often something is so that is so once or not at all.
func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func compareTotals(id ID, who string, have, want Totals) error {
	return agree(id, who,
		figure{"registered", have.Registered, want.Registered},
		figure{"reserved", have.Reserved, want.Reserved},
		figure{"logical", have.Logical, want.Logical},
		figure{"fullest core", have.Core, want.Core},
		figure{"number of programs", uint64(have.Programs), uint64(want.Programs)},
	)
}

func atLeast(id ID, who string, have Peaks, now Totals) error {
	return reached(id, who,
		figure{"registered", have.Registered, now.Registered},
		figure{"reserved", have.Reserved, now.Reserved},
		figure{"logical", have.Logical, now.Logical},
		figure{"fullest core", have.Core, now.Core},
	)
}

// check verifies that the classes are disjoint and not empty, sum up, and hold on
// every core what a recount has there.
func (p *partition) check(id ID, view string, again *partition) error {
	var seen l1.CoreSet
	var bytes, logical uint64
	for _, c := range p.classes {
		switch {
		case uint64(c.cores.Len()) != c.n:
			return &InvariantError{id, view + " class: number of cores", c.n, uint64(c.cores.Len())}
		case c.n == 0:
			return &InvariantError{id, view + " class: number of cores, at least 1", 0, 1}
		case c.programs <= 0:
			return &InvariantError{id, view + " class: programs, at least 1, that are missing", uint64(1 - c.programs), 0}
		case seen.Overlaps(c.cores):
			return &InvariantError{id, view + " classes: cores in two of them", uint64(seen.Intersect(c.cores).Len()), 0}
		}
		seen = seen.Union(c.cores)
		if err := c.covered.CheckInvariants(); err != nil {
			return fmt.Errorf("device %d: %s on %s: %w", id, view, coresText(c.cores), err)
		}
		bytes += c.covered.Bytes() * c.n
		logical += c.logical * c.n
		if err := c.against(id, view, again); err != nil {
			return err
		}
	}
	var all l1.CoreSet
	for _, o := range again.classes {
		all = all.Union(o.cores)
	}
	switch {
	case bytes != p.bytes:
		return &InvariantError{id, view + " sum of the classes", p.bytes, bytes}
	case logical != p.logical:
		return &InvariantError{id, view + " logical sum of the classes", p.logical, logical}
	}
	if err := agree(id, view,
		figure{"cores in a class without programs there", uint64(seen.Minus(all).Len()), 0},
		figure{"cores with programs in no class", uint64(all.Minus(seen).Len()), 0},
	); err != nil {
		return err
	}
	return p.checkNumbers(id, view, seen)
}

// checkNumbers verifies that each core names its class, and which one is the fullest.
func (p *partition) checkNumbers(id ID, view string, cores l1.CoreSet) error {
	known, fullest := 0, uint64(0)
	for i, c := range p.classes {
		fullest = max(fullest, c.covered.Bytes())
		for core := range c.cores.All() {
			if at := p.at(core); at != i {
				return &InvariantError{id, fmt.Sprintf("%s number of the class of core %v", view, core), uint64(at), uint64(i)}
			}
		}
	}
	for _, c := range p.classes {
		if c.peaks != nil && c.peaks.raiseOn(c.class) != c.peaks {
			return &InvariantError{id, view + " bytes beyond the peaks that are known, on " + coresText(c.cores), c.covered.Bytes(), c.peaks.at(c.first)}
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
	return agree(id, view,
		figure{"cores with the number of a class", uint64(known), uint64(cores.Len())},
		figure{"bytes of the fullest core", p.fullest, fullest},
	)
}

// against holds a class against those of a recount on its cores.
func (c *class) against(id ID, view string, again *partition) (err error) {
	again.meet(c.cores, func(at int) uint64 {
		if err == nil {
			err = c.compare(id, view, again.classes[at].class)
		}
		return 0
	})
	if err != nil {
		return err
	}
	return c.checkCounted(id, view, again)
}

// compare holds a class against one of a recount that shares a core with it.
func (c *class) compare(id ID, view string, want *class) error {
	differ := func(what string, have, want uint64, cores l1.CoreSet) error {
		return &InvariantError{id, view + " " + what + " on " + coresText(cores), have, want}
	}
	shared := c.cores.Intersect(want.cores)
	switch {
	case c.programs != want.programs:
		return differ("programs", uint64(c.programs), uint64(want.programs), shared)
	case c.logical != want.logical:
		return differ("logical bytes", c.logical, want.logical, shared)
	case c.covered.Bytes() != want.covered.Bytes():
		return differ("bytes", c.covered.Bytes(), want.covered.Bytes(), shared)
	}
	// Equal bytes, so that the first region that differs is in both.
	regions := slices.Collect(c.covered.Regions())
	for i, r := range slices.Collect(want.covered.Regions()) {
		if have := regions[i]; have.Start != r.Start {
			return differ("start of a region", have.Start, r.Start, shared)
		} else if have.End != r.End {
			return differ("end of a region", have.End, r.End, shared)
		}
	}
	switch { // wrong ones join classes that differ, or never join
	case c.groups.hash != want.groups.hash:
		return differ("hash of the groups", uint64(c.groups.hash), uint64(want.groups.hash), shared)
	case !c.groups.bits.equal(want.groups.bits):
		return differ("number of times that a class names its groups", 0, 1, shared)
	}
	return nil
}

// checkCounted verifies that a class, whose regions are right, counts the ranges of the
// programs that are not hidden on it, each once. Where a range is counted too often,
// or not at all, inside others, the bytes are right until one leaves.
func (c *class) checkCounted(id ID, view string, again *partition) error {
	want, named := counting{covered: new(cbregion.Coverage)}, 0
	if o := again.on(c.first); o != nil {
		for number := range o.groups.bits.all() {
			r := again.roster.at(number)
			counted := slices.Contains(c.counted, r)
			if c.plain || counted {
				want.count(again.footprint(r).Group(r.indexOf(number)))
			}
			named += int(flag(counted))
		}
	}
	on := view + " %s on " + coresText(c.cores)
	return agree(id, "",
		figure{fmt.Sprintf(on, "first core"), uint64(c.first.X)<<8 | uint64(c.first.Y), uint64(first(c.cores).X)<<8 | uint64(first(c.cores).Y)},
		figure{fmt.Sprintf(on, "counted programs that are not registered"), uint64(len(c.counted) - named), 0},
		figure{fmt.Sprintf(on, "counted programs beyond those that a class may name"), uint64(max(0, len(c.counted)-mostCounted)), 0},
		figure{fmt.Sprintf(on, "counted programs of a class that counts all"), uint64(len(c.counted)) * flag(c.plain), 0},
		figure{fmt.Sprintf(on, "boundaries"), uint64(c.covered.Boundaries()), uint64(want.covered.Boundaries())},
	)
}
