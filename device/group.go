package device

import (
	"sync/atomic"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/corepeaks"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/l1"
)

// A chip is what a Device points to. The fleet's lock guards everything that
// changes but the atomic total.
type chip struct {
	registered atomic.Uint64 // = group.state.totals.Registered, for lock-free reads
	resident   atomic.Uint64 // = left.bytes, for lock-free reads
	group      *group        // nil if the device was removed
	fleet      *Fleet
	mesh       *mesh // nil for a lone device
	spec       *l1.Spec
	id         ID
	slot       int

	left         *residue.Residue // what is resident
	residentPeak uint64
	corePeak     uint64  // of what is resident on the fullest core, while memory is nil
	memory       *memory // nil while nothing but circular buffers was ever resident
}

// A group is a set of devices in one state, with the same high-water marks. Most
// operations move whole groups.
type group struct {
	state *state
	slots slotSet
	n     int // number of devices, more than 0
	peak  Peaks
	cores *corepeaks.Peaks
	hash  lookup.Hash // of the marks, where they are looked for by hash
	index int         // in Fleet.groups
	at    int         // in state.groups
	met   uint64      // the last operation that met the group
}

// anySlot returns a device of the group.
func (g *group) anySlot() int {
	for slot := range g.slots.All() {
		return slot
	}
	return -1
}

// totals returns the figures of a device that was not removed.
func (c *chip) totals() Totals {
	t := totalsOf(&c.group.state.totals)
	t.Peak = c.group.peak
	t.Resident, t.Peak.Resident = c.left.Total(), c.residentPeak
	t.Tracked, t.Peak.Tracked = t.Resident, t.Peak.Resident
	t.TrackedCore, t.Peak.TrackedCore = c.left.Fullest(), c.corePeak
	if m := c.memory; m != nil {
		t.Tracked, t.TrackedCore, t.Buffers = m.tracked.Bytes, m.tracked.Core, m.heap.Sums()
		t.Peak.Tracked, t.Peak.TrackedCore = m.peak.Bytes, m.peak.Core
		t.Peak.L1, t.Peak.L1Small, t.Peak.DRAM = m.l1Peak, m.smallPeak, m.dramPeak
	}
	return t
}

// hashOfMarks returns the hash of the high-water marks of a group of devices.
func hashOfMarks(h *lookup.Hashes, peak Peaks, cores *corepeaks.Peaks) lookup.Hash {
	if h.Alike() {
		return 0
	}
	sum := h.Of(0) ^ lookup.Hash(peak.Registered)
	for _, n := range [...]uint64{peak.Reserved, peak.Logical, peak.Core} {
		sum = lookup.Mix(sum) ^ lookup.Hash(n)
	}
	return lookup.Mix(cores.AddTo(sum))
}

// A gathering is the groups that are in one state.
type gathering struct {
	groups []*group
	byPeak lookup.Shelf[group] // the same, once there are more than few
}

// few is how many groups are found by looking at each.
const few = 8

// join adds a group, which has marks that no other one has.
func (s *gathering) join(g *group, h *lookup.Hashes) {
	g.at = len(s.groups)
	s.groups = append(s.groups, g)
	var fresh []*group // in byPeak
	switch {
	case len(s.groups) == few+1:
		fresh = s.groups
	case len(s.groups) > few:
		fresh = s.groups[g.at:]
	}
	for _, g := range fresh {
		g.hash = hashOfMarks(h, g.peak, g.cores)
		s.byPeak.Put(g.hash, g)
	}
}

// part takes a group away.
func (s *gathering) part(g *group) {
	last := len(s.groups) - 1
	s.groups[g.at] = s.groups[last]
	s.groups[g.at].at = g.at
	s.groups[last] = nil
	s.groups = s.groups[:last]
	switch {
	case last == few:
		s.byPeak = lookup.Shelf[group]{}
	case last > few:
		s.byPeak.Drop(g.hash, g)
	}
}

// group returns the group with the given marks, nil if there is none.
func (s *gathering) group(peak Peaks, cores *corepeaks.Peaks, h *lookup.Hashes) *group {
	same := func(g *group) bool { return g.peak == peak && g.cores.Equal(cores) }
	if len(s.groups) > few {
		return s.byPeak.Find(hashOfMarks(h, peak, cores), same)
	}
	for _, g := range s.groups {
		if same(g) {
			return g
		}
	}
	return nil
}

// bring puts a group into a state, with the given marks.
func (f *Fleet) bring(g *group, to *state, peak Peaks, cores *corepeaks.Peaks) {
	from := g.state
	if from != nil {
		from.part(g)
	}
	g.state, g.peak, g.cores = to, peak, cores
	to.join(g, &f.numbers.Hashes)
	if from != nil {
		f.leave(from, to)
	}
}

// place returns the group of state s with the given peaks, a new one if there is
// none.
func (f *Fleet) place(s *state, peak Peaks, cores *corepeaks.Peaks) *group {
	if g := s.group(peak, cores, &f.numbers.Hashes); g != nil {
		return g
	}
	g := &group{index: len(f.groups)}
	f.groups = append(f.groups, g)
	f.bring(g, s, peak, cores)
	return g
}

// take moves n devices of group from to group g, and ends from if it has no others.
func (f *Fleet) take(g, from *group, slots bitset.Set, n int) {
	if g.n == 0 {
		g.slots = slotSet{slots, true} // nobody changes them: a Set has them, or from, which ends
	} else {
		g.slots.enter(slots)
	}
	g.n += n
	for slot := range slots.All() {
		f.slots[slot].group = g
	}
	f.release(from, slots, n, g.state)
}

// release takes devices out of a group, and ends the group if it has no others. They went to a
// state, or it is nil.
func (f *Fleet) release(g *group, slots bitset.Set, n int, to *state) {
	if g.n -= n; g.n > 0 {
		g.slots.leave(slots)
		return
	}
	last := len(f.groups) - 1
	f.groups[g.index] = f.groups[last]
	f.groups[g.index].index = g.index
	f.groups[last] = nil
	f.groups = f.groups[:last]
	g.state.part(g)
	f.leave(g.state, to)
}

// move brings n devices of a group into a state and gives them its peaks.
func (f *Fleet) move(g *group, slots bitset.Set, n int, to *state, peak Peaks, cores *corepeaks.Peaks) {
	if to == g.state && n == g.n && len(to.groups) == 1 { // it is alone there, and stays
		g.peak, g.cores = peak, cores
		return
	}
	same := to.group(peak, cores, &f.numbers.Hashes)
	switch {
	case same == g:
	case n < g.n:
		if same == nil {
			same = f.place(to, peak, cores)
		}
		f.take(same, g, slots, n)
	case same == nil:
		f.bring(g, to, peak, cores)
	case same.n >= g.n:
		f.take(same, g, g.slots.Set, g.n)
	default: // the larger one stays where its devices point to
		f.bring(g, to, peak, cores)
		f.take(g, same, same.slots.Set, same.n)
	}
}
