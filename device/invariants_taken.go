package device

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/program"
)

// A recounting is what a fleet holds that has to be counted anew. It may be looked at without the lock.
type recounting struct {
	groups   []recounted
	programs []recountedProgram
	roster   roster
	steps    []int // how many name what is in roster.of
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
	id   program.ID
	r    *registration
	on   bitset // the devices that had it
	last bool   // nothing had taken its place
}

// recounting returns room for what is to be recounted, as far as it is known how much that is.
func (f *Fleet) recounting() *recounting {
	f.mu.RLock()
	groups, programs, numbers, states, devices := len(f.groups), len(f.programs), len(f.roster.of), f.states.len(), f.live.count()
	f.mu.RUnlock()
	out := &recounting{groups: touched[recounted](groups), programs: touched[recountedProgram](programs)}
	out.roster.of, out.steps = touched[*registration](numbers), touched[int](numbers)
	out.states, out.bits = touched[recountedState](states), touched[uint64](groups+programs)
	out.room = make([]chip, devices)
	clear(out.room)
	return out
}

// recount takes what the fleet holds, programs and groups in any order.
func (f *Fleet) recount(out *recounting, heaps []usedHeap) {
	for _, g := range f.groups {
		out.groups = append(out.groups, recounted{f.ids[g.anySlot()], g.state.sight(), *g, g.state.hash, g.state.totals, g.state.charge})
		last := &out.groups[len(out.groups)-1]
		last.slots.bitset = out.copied(g.slots)
	}
	for id, r := range f.programs {
		out.programs = append(out.programs, recountedProgram{id, r, out.copied(r.on), r.latest() == r})
	}
	for _, r := range f.roster.of {
		n := 0
		if r != nil {
			n = r.steps
		}
		out.roster.of, out.steps = append(out.roster.of, r), append(out.steps, n)
	}
	for _, s := range f.states.all() {
		out.states = append(out.states, s.recounted())
	}
	out.live, out.charge = f.live.clone(), f.charge
	f.copyChips(out, heaps)
	f.pictured.Store(f.serial + 1)
	f.heapsPictured.Store(f.serial + 1)
}

// copied returns the slots of a set as they are now, in memory that copies share.
func (all *recounting) copied(b slotSet) bitset {
	if b.shared {
		return b.bitset
	}
	if cap(all.bits)-len(all.bits) < len(b.words) {
		all.bits = make([]uint64, 0, max(1024, len(b.words)))
	}
	from := len(all.bits)
	all.bits = append(all.bits, b.words...)
	return bitset{b.low, all.bits[from:len(all.bits):len(all.bits)]}
}

// check recounts what was taken, by first device and by id, so that the first error is always the
// same one.
func (all *recounting) check() error {
	slices.SortFunc(all.groups, func(a, b recounted) int { return cmp.Compare(a.anySlot(), b.anySlot()) })
	slices.SortFunc(all.programs, func(a, b recountedProgram) int { return cmp.Compare(a.id, b.id) })
	for i := range all.programs {
		if err := all.checkProgram(&all.programs[i]); err != nil {
			return err
		}
	}
	for i := range all.groups {
		if err := all.checkGroup(&all.groups[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkProgram verifies how a registered program is found.
func (all *recounting) checkProgram(p *recountedProgram) error {
	_, gone := p.on.minus(all.live)
	return agree(0, "",
		figure{"id of a registered program", uint64(p.id), uint64(p.r.program.ID())},
		figure{fmt.Sprintf("number of devices of registered program %d", p.id), flag(!p.on.empty()), 1},
		figure{fmt.Sprintf("number of times that registered program %d is what took its place last", p.id), flag(p.last), 1},
		figure{fmt.Sprintf("number of times that registered program %d has its number", p.id), flag(all.roster.at(p.r.number) == p.r), 1},
		figure{fmt.Sprintf("number of removed devices that have program %d", p.id), uint64(gone), 0},
	)
}

// checkGroup holds what is kept for a group of devices against a recount.
func (all *recounting) checkGroup(g *recounted) error {
	if n := g.slots.count(); g.n != n {
		return &InvariantError{g.id, "number of devices in a group", uint64(g.n), uint64(n)}
	}
	again, err := all.again(g)
	if err != nil {
		return err
	}
	now := again.totals().row()
	if err := compareTotals(g.id, "device", g.totals.row(), now); err != nil {
		return err
	}
	if err := atLeast(g.id, "device", g.peak, now); err != nil {
		return err
	}
	held := g.open(&all.roster)
	if err := g.check(held, again); err != nil {
		return err
	}
	if err := held.occupied.check(g.id, "occupied", &again.occupied); err != nil {
		return err
	}
	if held.reserved != nil {
		if err := held.reserved.check(g.id, "reserved", again.reserved); err != nil {
			return err
		}
	}
	return g.cores.check(g.id)
}
