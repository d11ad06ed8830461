package device

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device/internal/audit"
	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/program"
)

// A recounting is what a fleet holds that has to be counted anew. It may be looked at without the lock.
type recounting struct {
	groups   []recounted
	programs []recountedProgram
	roster   classes.Roster
	numbers  []recountedNumber // of what is in roster.Of
	states   []recountedState
	live     bitset.Set
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
	hash   lookup.Hash
	totals classes.Figures
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
	named bool       // it was registered, or a state named it
	steps int        // between states that name it
	on    bitset.Set // the devices that had it
	last  bool       // nothing had taken its place
}

// recounting returns room for what is to be recounted, as far as it is known how much that is.
func (f *Fleet) recounting() *recounting {
	f.mu.RLock()
	groups, programs, numbers, states, devices := len(f.groups), len(f.programs), len(f.roster.Of), f.states.Len(), f.live.Count()
	f.mu.RUnlock()
	out := &recounting{groups: touched[recounted](groups), programs: touched[recountedProgram](programs)}
	out.roster.Of, out.numbers = touched[*classes.Holder](numbers), touched[recountedNumber](numbers)
	out.states, out.bits = touched[recountedState](states), touched[uint64](groups+programs)
	out.room = make([]chip, devices)
	clear(out.room)
	return out
}

// recount takes what the fleet holds, programs and groups in any order.
func (f *Fleet) recount(out *recounting, heaps *heap.UsedHeaps, t *audit.Audit) {
	for place, g := range f.groups {
		t.About(f.ids[g.anySlot()], "", nil)
		g.checkFound(t, place, &f.numbers.Hashes)
		out.groups = append(out.groups, recounted{t.ID, g.state.sight(), *g, g.state.hash, g.state.totals, g.state.charge})
		last := &out.groups[len(out.groups)-1]
		last.slots.Set = out.copied(g.slots)
	}
	out.roster.Of = append(out.roster.Of, f.roster.Of...)
	for range f.roster.Of {
		out.numbers = append(out.numbers, recountedNumber{})
	}
	for id, r := range f.programs {
		out.programs = append(out.programs, recountedProgram{id: id, r: r})
		out.name(r)
	}
	for h, s := range f.states.All() {
		out.states = append(out.states, s.recounted(h))
		out.name(s.old)
		out.name(s.new)
	}
	out.live, out.charge = f.live.Clone(), f.charge
	f.copyChips(out, heaps)
	f.pictured.Store(f.numbers.Last + 1)
	f.heaps.Picture(&f.numbers)
}

// name takes what is known of a registration, by its number.
func (all *recounting) name(r *registration) {
	if r == nil || all.roster.At(r.Number) != &r.Holder || all.numbers[r.Number].named {
		return
	}
	all.numbers[r.Number] = recountedNumber{true, r.steps, all.copied(r.on), r.latest() == r}
}

// copied returns the slots of a set as they are now, in memory that copies share.
func (all *recounting) copied(b slotSet) (out bitset.Set) {
	if b.shared {
		return b.Set
	}
	out, all.bits = b.Store(all.bits)
	return out
}

// check recounts what was taken, by first device and by id, so that the first error is always the
// same one.
func (all *recounting) check(t *audit.Audit) {
	slices.SortFunc(all.groups, func(a, b recounted) int { return cmp.Compare(a.anySlot(), b.anySlot()) })
	slices.SortFunc(all.programs, func(a, b recountedProgram) int { return cmp.Compare(a.id, b.id) })
	for p := range audit.Each(t, all.programs) {
		t.About(0, "", p.r.Program)
		audit.Same(t, "id", p.id, p.r.Program.ID())
		if t.Once("number of times that the number is that", all.roster.At(p.r.Number) == &p.r.Holder); t.Err != nil {
			return
		}
		p.recountedNumber = all.numbers[p.r.Number]
		_, gone := p.on.Minus(all.live)
		t.Once("number of times that there are devices", !p.on.Empty())
		t.Once("number of times that nothing took the place", p.last)
		audit.Same(t, "number of removed devices", gone, 0)
	}
	for g := range audit.Each(t, all.groups) {
		all.checkGroup(t, g)
	}
}

// checkGroup holds what is kept for a group of devices against a recount.
func (all *recounting) checkGroup(t *audit.Audit, g *recounted) {
	t.About(g.id, "", nil)
	audit.Same(t, "number of devices in a group", g.n, g.slots.Count())
	again := all.again(t, g)
	if t.Err != nil {
		return
	}
	held, figures := g.open(&all.roster), again.Totals()
	now := totalsOf(&figures)
	t.About(g.id, "device", nil)
	sameTotals(t, totalsOf(&g.totals), now)
	reachedTotals(t, g.peak, now)
	t.About(g.id, "", nil)
	audit.Same(t, "charge", g.charge, again.Charge)
	audit.Same(t, "hash of the state", g.hash, again.Live.Hash)
	held.Check(t, g.id, again)
	t.About(g.id, "", nil)
	t.Once("number of times that a state knows its programs", g.members(bitset.Set{}).Equal(again.Live.Bits))
	g.cores.Check(t)
	t.About(g.id, "occupied", nil)
	g.cores.CheckKnown(t, &held.Occupied)
}
