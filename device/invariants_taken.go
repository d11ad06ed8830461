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
	states   []recounted
	programs []recountedProgram
	roster   classes.Roster
	numbers  []recountedNumber // of what is in roster.Of
	live     bitset.Set
	charge   wide
	bits     []uint64 // room for sets of devices
	room     []chip   // for chips
	copies
}

// A recounted is a state as it was. The states that it names are not looked into.
type recounted struct {
	id    ID         // of its first device
	slots bitset.Set // its devices
	sight
	state  *state
	users  int
	found  bool        // by its hash
	hash   lookup.Hash // of its programs
	totals classes.Figures
	charge uint64
	to     *state // what it leans on
	by     step
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
	programs, numbers, states, devices := len(f.programs), len(f.roster.Of), f.states.Len(), f.live.Count()
	f.mu.RUnlock()
	out := &recounting{states: touched[recounted](states), programs: touched[recountedProgram](programs)}
	out.roster.Of, out.numbers = touched[*classes.Holder](numbers), touched[recountedNumber](numbers)
	out.bits = touched[uint64](programs)
	out.room = make([]chip, devices)
	clear(out.room)
	return out
}

// recount takes what the fleet holds, programs and states in any order.
func (f *Fleet) recount(out *recounting, heaps *heap.UsedHeaps) {
	out.roster.Of = append(out.roster.Of, f.roster.Of...)
	for range f.roster.Of {
		out.numbers = append(out.numbers, recountedNumber{})
	}
	for id, r := range f.programs {
		out.programs = append(out.programs, recountedProgram{id: id, r: r})
		out.name(r)
	}
	for s := range f.states.All() {
		out.add(s, f.states.Find(s.Hash, func(o *state) bool { return o == s }) == s)
	}
	known := make(map[*state]int, len(out.states))
	for i := range out.states {
		known[out.states[i].state] = i
	}
	for slot := range f.live.All() {
		s := f.slots[slot].state
		at, ok := known[s]
		if !ok {
			at = len(out.states)
			known[s] = at
			out.add(s, false)
		}
		g := &out.states[at]
		if g.slots.Empty() {
			g.id = f.ids[slot]
		}
		g.slots = g.slots.With(slot)
	}
	out.live, out.charge = f.live.Clone(), f.charge
	f.copyChips(out, heaps)
	f.pictured.Store(f.numbers.Last + 1)
	f.heaps.Picture()
}

// add takes a state, and what the step names by which it leans on another one.
func (all *recounting) add(s *state, found bool) {
	to, by := s.Leans()
	all.states = append(all.states, recounted{
		sight: s.sight(), state: s, users: s.Users, found: found, hash: s.Hash,
		totals: s.totals, charge: s.charge, to: to, by: by,
	})
	all.name(by.Old)
	all.name(by.New)
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
	slices.SortFunc(all.states, func(a, b recounted) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.users, b.users))
	})
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
	for g := range audit.Each(t, all.states) {
		t.About(g.id, "", nil)
		t.Once("number of times that a state is found by its hash", g.found)
		audit.Same(t, "number of devices in a state", g.users, g.slots.Count())
		if t.Err == nil && !g.slots.Empty() {
			all.checkState(t, g)
		}
	}
}

// checkState holds what is kept for a state that devices are in against a recount.
func (all *recounting) checkState(t *audit.Audit, g *recounted) {
	again := all.again(t, g)
	if t.Err != nil {
		return
	}
	held, figures := g.open(&all.roster), again.Totals()
	now := totalsOf(&figures)
	t.About(g.id, "device", nil)
	sameTotals(t, totalsOf(&g.totals), now)
	t.About(g.id, "", nil)
	audit.Same(t, "charge", g.charge, again.Charge)
	audit.Same(t, "hash of the state", g.hash, again.Live.Hash)
	held.Check(t, g.id, again)
	t.About(g.id, "", nil)
	t.Once("number of times that a state knows its programs", g.members(bitset.Set{}).Equal(again.Live.Bits))
	var last *chip
	for slot := range g.slots.All() {
		c := all.chips[slot]
		if last != nil && c.cores == last.cores && c.peak == last.peak {
			continue
		}
		last = c
		t.About(c.id, "device", nil)
		reachedTotals(t, c.totals().Peak, now)
		t.About(c.id, "", nil)
		c.cores.Check(t)
		t.About(c.id, "occupied", nil)
		c.cores.CheckKnown(t, &held.Occupied)
	}
}

// checkStates verifies that all states that are kept serve a device, that no two are equal, and what leads
// from one to the next.
func (all *recounting) checkStates(t *audit.Audit) {
	known, leaners := make(map[*state]*recounted, len(all.states)), make(map[*state]int, len(all.states))
	for s := range audit.Each(t, all.states) {
		known[s.state] = s
		leaners[s.to]++
	}
	named, seen := map[*classes.Holder]int{}, make(map[string]bool, len(all.states))
	for s := range audit.Each(t, all.states) {
		t.About(s.id, "", nil)
		t.Once("number of times that a state serves a device", s.users > 0 || leaners[s.state] > 0)
		set := s.members(bitset.Set{})
		if s.to != nil {
			to := known[s.to]
			t.Once("number of times that a state leads to the right one", to != nil && over(set.Clone(), s.by).Equal(to.members(bitset.Set{})))
		}
		for _, r := range []*registration{s.by.Old, s.by.New} {
			if r != nil {
				named[&r.Holder]++
			}
		}
		var text []byte
		for number := range set.All() {
			text = append(text, byte(number), byte(number>>8), byte(number>>16), byte(number>>24))
		}
		if seen[string(text)] {
			t.Differs("number of states with the same programs", 2, 1)
		}
		seen[string(text)] = true
	}
	for i, r := range all.roster.Of {
		if r == nil || r.Serial == 0 || r.Number != i {
			continue
		}
		t.About(0, "", r.Program)
		t.Once("number of times that what has a number is registered or between states", all.numbers[i].named)
		audit.Same(t, "number of steps", all.numbers[i].steps, named[r])
	}
}
