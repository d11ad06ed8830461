package device

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/program"
)

// A recounting is what a fleet holds that has to be counted anew. It may be looked at without the lock.
type recounting struct {
	groups   []recounted
	programs []recountedProgram
	roster   roster
	numbers  []recountedNumber // of what is in roster.of
	states   []recountedState
	live     bitset
	charge   wide
	bits     []uint64 // room for sets of devices
	room     []chip   // for chips
	copies
}

// A recounted is a group as it was.
type recounted struct {
	id ID // of its first device
	sight
	group
	hash   hash
	totals figures
	charge uint64
}

// A recountedProgram is what was registered under an id.
type recountedProgram struct {
	id program.ID
	r  *registration
	recountedNumber
}

// A recountedNumber is the registration that had a number, if that is of its first group of cores.
type recountedNumber struct {
	named bool   // it was registered, or a state named it
	steps int    // between states that name it
	on    bitset // the devices that had it
	last  bool   // nothing had taken its place
}

// recounting returns room for what is to be recounted, as far as it is known how much that is.
func (f *Fleet) recounting() *recounting {
	f.mu.RLock()
	groups, programs, numbers, states, devices := len(f.groups), len(f.programs), len(f.roster.of), f.states.len(), f.live.count()
	f.mu.RUnlock()
	out := &recounting{groups: touched[recounted](groups), programs: touched[recountedProgram](programs)}
	out.roster.of, out.numbers = touched[*holder](numbers), touched[recountedNumber](numbers)
	out.states, out.bits = touched[recountedState](states), touched[uint64](groups+programs)
	out.room = make([]chip, devices)
	clear(out.room)
	return out
}

// recount takes what the fleet holds, programs and groups in any order.
func (f *Fleet) recount(out *recounting, heaps *usedHeaps, t *audit) {
	for place, g := range f.groups {
		t.about(f.ids[g.anySlot()], "", nil)
		g.checkFound(t, place, &f.numbers.hashes)
		out.groups = append(out.groups, recounted{t.id, g.state.sight(), *g, g.state.hash, g.state.totals, g.state.charge})
		last := &out.groups[len(out.groups)-1]
		last.slots.bitset = out.copied(g.slots)
	}
	out.roster.of = append(out.roster.of, f.roster.of...)
	for range f.roster.of {
		out.numbers = append(out.numbers, recountedNumber{})
	}
	for id, r := range f.programs {
		out.programs = append(out.programs, recountedProgram{id: id, r: r})
		out.name(r)
	}
	for h, s := range f.states.all() {
		out.states = append(out.states, s.recounted(h))
		out.name(s.old)
		out.name(s.new)
	}
	out.live, out.charge = f.live.clone(), f.charge
	f.copyChips(out, heaps)
	f.pictured.Store(f.numbers.last + 1)
	f.heaps.picture(&f.numbers)
}

// name takes what is known of a registration, by its number.
func (all *recounting) name(r *registration) {
	if r == nil || all.roster.at(r.number) != &r.holder || all.numbers[r.number].named {
		return
	}
	all.numbers[r.number] = recountedNumber{true, r.steps, all.copied(r.on), r.latest() == r}
}

// copied returns the slots of a set as they are now, in memory that copies share.
func (all *recounting) copied(b slotSet) (out bitset) {
	if b.shared {
		return b.bitset
	}
	out, all.bits = b.store(all.bits)
	return out
}

// check recounts what was taken, by first device and by id, so that the first error is always the
// same one.
func (all *recounting) check(t *audit) {
	slices.SortFunc(all.groups, func(a, b recounted) int { return cmp.Compare(a.anySlot(), b.anySlot()) })
	slices.SortFunc(all.programs, func(a, b recountedProgram) int { return cmp.Compare(a.id, b.id) })
	for p := range each(t, all.programs) {
		t.about(0, "", p.r.program)
		same(t, "id", p.id, p.r.program.ID())
		if t.once("number of times that the number is that", all.roster.at(p.r.number) == &p.r.holder); t.err != nil {
			return
		}
		p.recountedNumber = all.numbers[p.r.number]
		_, gone := p.on.minus(all.live)
		t.once("number of times that there are devices", !p.on.empty())
		t.once("number of times that nothing took the place", p.last)
		same(t, "number of removed devices", gone, 0)
	}
	for g := range each(t, all.groups) {
		all.checkGroup(t, g)
	}
}

// checkGroup holds what is kept for a group of devices against a recount.
func (all *recounting) checkGroup(t *audit, g *recounted) {
	t.about(g.id, "", nil)
	same(t, "number of devices in a group", g.n, g.slots.count())
	again := all.again(t, g)
	if t.err != nil {
		return
	}
	held, figures := g.open(&all.roster), again.totals()
	now := totalsOf(&figures)
	t.about(g.id, "device", nil)
	sameTotals(t, totalsOf(&g.totals), now)
	reachedTotals(t, g.peak, now)
	t.about(g.id, "", nil)
	same(t, "charge", g.charge, again.charge)
	same(t, "hash of the state", g.hash, again.live.hash)
	held.check(t, g.id, again)
	t.about(g.id, "", nil)
	t.once("number of times that a state knows its programs", g.members(bitset{}).equal(again.live.bits))
	g.cores.check(t)
	t.about(g.id, "occupied", nil)
	g.cores.checkKnown(t, &held.occupied)
}
