package device

import (
	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/internal/corepeaks"
)

// change takes one program off the devices in slots and puts another one on; either
// may be nil. It cannot fail. Devices with the same programs share the work.
func (f *Fleet) change(slots bitset.Bits, by step) {
	f.operation++
	if by.New != nil {
		f.enter(by.New, slots)
	}
	if by.Old != nil {
		f.leaving(slots, by.Old)
	}
	var from, to *state
	var before state // from, before the step
	left := f.left[:0]
	for part := range f.shares(slots) {
		c := f.cut(part)
		if c.state != from {
			from = c.state
			before.totals, before.charge = from.totals, from.charge
			if from.moves == nil { // for the first of its cohorts
				from.moves = f.next(from, by)
				left = append(left, from)
			}
			to = from.moves
		}
		if c.state != to {
			from.Users--
			to.Users++
			c.state = to
		}
		c.note(by)
		f.moved(c.mesh, c.n, &before, to)
	}
	// Until here the states that the devices left must stay readable.
	for _, s := range left {
		s.moves = nil
		f.states.Leave((*programs)(f), &s.Version)
	}
	clear(left)
	f.left = left[:0]
	f.states.Sweep((*programs)(f), len(f.programs))
	if by.Old != nil {
		by.Old.exit(slots)
	}
	f.publishMeshes()
}

// leaving raises the high-water marks of devices, on the cores of a program that is
// taken off.
func (f *Fleet) leaving(slots bitset.Bits, off *registration) {
	var s *state // of the device before
	var from, to *corepeaks.Marks
	for part := range f.shares(slots) {
		c := f.cut(part)
		if c.state != s || c.cores != from {
			s, from = c.state, c.cores
			to = f.raised(s, from, off)
		}
		if from != to {
			c.cores = to
		}
	}
}

// note makes the totals of a device visible after a step, and raises its marks.
func (c *cohort) note(by step) {
	s := c.state
	c.registered.Store(s.totals.Registered)
	if by.New != nil {
		c.peak.reach(&s.totals)
	}
	if by.Old != nil && c.cores != s.cores {
		if c.cores.Equal(s.cores) {
			c.cores = s.cores
		}
		s.cores = c.cores
	}
}

// moved moves the share of n devices in the sums of a mesh from one state's figures to another's.
func (f *Fleet) moved(m *mesh, n int, from, to *state) {
	if m == nil || n == 0 {
		return
	}
	// Unsigned differences may wrap; the sums stay below 2^63, so they are right in
	// the end.
	k := uint64(n)
	m.sum.Registered += k * (to.totals.Registered - from.totals.Registered)
	m.sum.Reserved += k * (to.totals.Reserved - from.totals.Reserved)
	m.sum.Logical += k * (to.totals.Logical - from.totals.Logical)
	m.sum.Programs += n * (to.totals.Programs - from.totals.Programs)
	m.charge += k * (to.charge - from.charge)
	m.peak.Core = max(m.peak.Core, to.totals.Core)
	f.touch(m)
}

// touch notes that the sums of a mesh are to be published.
func (f *Fleet) touch(m *mesh) {
	if !m.touched {
		m.touched = true
		f.touched = append(f.touched, m)
	}
}

// publishMeshes makes the sums of the meshes that were touched visible, after a
// whole operation.
func (f *Fleet) publishMeshes() {
	for _, m := range f.touched {
		m.touched = false
		m.peak.raise(&m.sum)
		m.registered.Store(m.sum.Registered)
		m.resident.Store(m.sum.Resident)
	}
	clear(f.touched)
	f.touched = f.touched[:0]
}

// registeredPeaks are the high-water marks of the registered bytes of a device.
type registeredPeaks struct {
	registered, reserved, logical, core uint64
}

// reach raises the peaks to the figures of a state.
func (p *registeredPeaks) reach(s *classes.Figures) {
	p.registered = max(p.registered, s.Registered)
	p.reserved = max(p.reserved, s.Reserved)
	p.logical = max(p.logical, s.Logical)
	p.core = max(p.core, s.Core)
}
