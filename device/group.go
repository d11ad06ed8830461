package device

import (
	"sync/atomic"

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

	hybrid       bool     // mode of the allocator
	left         *residue // what is resident
	residentPeak uint64
	corePeak     uint64  // of what is resident on the fullest core, while memory is nil
	memory       *memory // nil while nothing but circular buffers was ever resident
}

// A group is a set of devices in one state, with the same high-water marks. Most
// operations move whole groups.
type group struct {
	state *state
	slots bitset
	n     int // number of devices, more than 0
	peak  Peaks
	cores *corePeaks
	index int    // in Fleet.groups
	met   uint64 // the last operation that met the group
}

// anySlot returns a device of the group.
func (g *group) anySlot() int {
	for slot := range g.slots.all() {
		return slot
	}
	return -1
}

// totals returns the figures of a device that was not removed.
func (c *chip) totals() Totals {
	t := c.group.state.totals
	t.Peak = c.group.peak
	t.Resident, t.Peak.Resident = c.left.total(), c.residentPeak
	t.Tracked, t.Peak.Tracked = t.Resident, t.Peak.Resident
	t.TrackedCore, t.Peak.TrackedCore = c.left.fullest(), c.corePeak
	if m := c.memory; m != nil {
		t.Tracked, t.TrackedCore, t.Buffers = m.tracked.bytes, m.tracked.core, m.heap.sums()
		t.Peak.Tracked, t.Peak.TrackedCore = m.peak.bytes, m.peak.core
		t.Peak.L1, t.Peak.L1Small, t.Peak.DRAM = m.l1Peak, m.smallPeak, m.dramPeak
	}
	return t
}

// enter puts a group that is in no state into s.
func (f *Fleet) enter(g *group, s *state) {
	g.state = s
	s.groups = append(s.groups, g)
	s.line.users++
}

// exit takes a group out of a state.
func (f *Fleet) exit(g *group, s *state) {
	for i, other := range s.groups {
		if other == g {
			last := len(s.groups) - 1
			s.groups[i] = s.groups[last]
			s.groups[last] = nil
			s.groups = s.groups[:last]
			break
		}
	}
	f.leave(s.line, 1)
}

// place returns the group of state s with the given peaks, a new one if there is
// none.
func (f *Fleet) place(s *state, peak Peaks, cores *corePeaks) *group {
	if g := s.group(peak, cores); g != nil {
		return g
	}
	g := &group{peak: peak, cores: cores, index: len(f.groups)}
	f.groups = append(f.groups, g)
	f.enter(g, s)
	return g
}

func (s *state) group(peak Peaks, cores *corePeaks) *group {
	for _, g := range s.groups {
		if g.peak == peak && g.cores.equal(cores) {
			return g
		}
	}
	return nil
}

// take moves n devices of group from to group g, and ends from if it has no others.
func (f *Fleet) take(g, from *group, slots bitset, n int) {
	g.slots = g.slots.add(slots)
	g.n += n
	for slot := range slots.all() {
		f.slots[slot].group = g
	}
	f.release(from, slots, n)
}

// release takes devices out of a group, and ends the group if it has no others.
func (f *Fleet) release(g *group, slots bitset, n int) {
	if g.n -= n; g.n > 0 {
		g.slots.drop(slots)
		return
	}
	last := len(f.groups) - 1
	f.groups[g.index] = f.groups[last]
	f.groups[g.index].index = g.index
	f.groups[last] = nil
	f.groups = f.groups[:last]
	f.exit(g, g.state)
}

// move brings n devices of a group into a state and gives them its peaks.
func (f *Fleet) move(g *group, slots bitset, n int, to *state, peak Peaks, cores *corePeaks) {
	same := to.group(peak, cores)
	switch {
	case same == g:
	case n < g.n:
		if same == nil {
			same = f.place(to, peak, cores)
		}
		f.take(same, g, slots, n)
	case same == nil:
		from := g.state
		g.peak, g.cores = peak, cores
		if from != to {
			f.enter(g, to)
			f.exit(g, from)
		}
	case same.n >= g.n:
		f.take(same, g, g.slots, g.n)
	default: // the larger one stays where its devices point to
		from := g.state
		g.peak, g.cores = peak, cores
		if from != to {
			f.enter(g, to)
			f.exit(g, from)
		}
		f.take(g, same, same.slots, same.n)
	}
}
