package device

import (
	"iter"
	"slices"
	"sync/atomic"

	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Device is a handle to one device of a fleet. Handles may be copied and compared
// with ==. The zero Device, and one that was removed, count nothing; the latter
// keeps its ID and Spec.
type Device struct {
	c *chip
}

// ID returns the id of the device.
func (d Device) ID() ID {
	if d.c == nil {
		return 0
	}
	return d.c.id
}

// Spec returns the board of the device.
func (d Device) Spec() l1.Spec {
	if d.c == nil {
		return l1.Spec{}
	}
	return *d.c.cohort.Load().spec
}

// Set returns the set of this one device. Calls with the set of a removed device are
// refused with ErrNoDevice.
func (d Device) Set() (s Set) {
	d.read(func(c *cohort) { s = c.fleet.row(d.c.slot, 1, c.spec, c.fleet.ids) })
	return s
}

// Registered returns the physical bytes of all registered programs, summed over
// cores: three atomic loads, again if a call divided the devices meanwhile, no lock, no allocation.
func (d Device) Registered() uint64 {
	if d.c == nil {
		return 0
	}
	return d.c.published(func(c *cohort) uint64 { return c.registered.Load() })
}

// Resident returns the physical bytes that the last dispatches left, summed over
// cores: three atomic loads, again if a call divided the devices meanwhile, no lock, no allocation.
func (d Device) Resident() uint64 {
	if d.c == nil {
		return 0
	}
	return d.c.published(func(c *cohort) uint64 { return c.resident.Load() })
}

// ResidentOn returns the program that was dispatched to a core last, and the ranges
// that it left there: none if it has only global CBs on the core. The program may be
// unregistered by now. ok is false if no dispatch reached the core.
func (d Device) ResidentOn(core l1.Core) (p *program.Program, ranges iter.Seq[l1.Range], ok bool) {
	d.read(func(c *cohort) {
		if w := c.left.On(program.CircularBuffer, core); w != nil {
			p, ranges, ok = w.Program, w.Group().Ranges(), true
		}
	})
	return p, ranges, ok
}

// Totals returns all figures, of one moment.
func (d Device) Totals() (t Totals) {
	d.read(func(c *cohort) {
		if c.state != nil {
			t = c.totals()
		}
	})
	return t
}

// Hybrid reports whether the allocator of the device is in HYBRID mode.
func (d Device) Hybrid() (hybrid bool) {
	d.read(func(c *cohort) { hybrid = c.hybrid })
	return hybrid
}

// ResetPeaks sets the high-water marks of the device and its cores to the bytes that
// are registered and resident now. The marks of its mesh stay.
func (d Device) ResetPeaks() {
	d.write(func(c *cohort) {
		f := c.fleet
		if c.state == nil {
			return
		}
		c = f.cut(share{c, d.c.slot, 1})
		c.peak, c.cores = registeredPeaks{}, nil
		c.peak.reach(&c.state.totals)
		c.residentPeak, c.corePeak = c.left.Total(), c.left.Fullest()
		if m := c.memory; m != nil {
			now := m.buffers.Heap().Sums()
			m.peak, m.l1Peak, m.smallPeak, m.dramPeak = m.tracked, now.L1, now.L1Small, now.DRAM
		}
		if f.observer != nil {
			f.emit(Notice{Kind: NoticePeaksReset, Set: f.row(c.slot, 1, c.spec, f.ids)})
		}
	})
}

// Core returns the figures of one core. A core outside the grid has none. Cost: O(log
// n) in the buffers, for each range that dispatches left on the core.
func (d Device) Core(core l1.Core) CoreTotals {
	var t CoreTotals
	d.look(func(now *classes.Content) {
		c := d.c.cohort.Load()
		t.Peak = c.cores.At(core)
		if w := c.left.On(program.CircularBuffer, core); w != nil {
			t.Resident = w.Group().Bytes()
		}
		t.Tracked = c.heap().TrackedOn(core, c.left)
		if c := now.Occupied.On(core); c != nil {
			t.Registered, t.Logical, t.Programs = c.Covered.Bytes(), c.Logical, c.Programs
			t.Peak = max(t.Peak, t.Registered)
		}
		if c := now.Reservation().On(core); c != nil {
			t.Reserved = c.Covered.Bytes()
		}
	})
	return t
}

// Regions returns the merged registered regions of a core, lowest first, as they
// were when it was called.
func (d Device) Regions(core l1.Core) iter.Seq[l1.Range] {
	var regions []l1.Range
	d.look(func(now *classes.Content) {
		if c := now.Occupied.On(core); c != nil {
			regions = slices.Collect(c.Covered.Regions())
		}
	})
	return slices.Values(regions)
}

// Owners returns the registered programs that hold the byte of a core, by id.
// Cost: O(live programs).
func (d Device) Owners(core l1.Core, addr uint64) iter.Seq[*program.Program] {
	var owners []*program.Program
	for p := range d.Programs() {
		if g, ok := p.Occupied(program.CircularBuffer).On(core); ok {
			for r := range g.Ranges() {
				if r.Has(addr) {
					owners = append(owners, p)
				}
			}
		}
	}
	return slices.Values(owners)
}

// Programs returns the programs registered on the device when it was called, by id.
func (d Device) Programs() iter.Seq[*program.Program] {
	var out []*program.Program
	d.read(func(c *cohort) { out = c.programs() })
	slices.SortFunc(out, byID)
	return slices.Values(out)
}

// read calls do with the cohort of d, under the lock. The zero Device has no cohort,
// and do is not called.
func (d Device) read(do func(*cohort)) {
	if d.c != nil {
		d.c.fleet.mu.RLock()
		defer d.c.fleet.mu.RUnlock()
		do(d.c.cohort.Load())
	}
}

// write is read for a change. Queries that copy a B-tree need it too, because a copy
// writes to the original.
func (d Device) write(do func(*cohort)) {
	if d.c != nil {
		d.c.fleet.mu.Lock()
		defer d.c.fleet.mu.Unlock()
		do(d.c.cohort.Load())
	}
}

// look calls do with the content of a device, under the lock, unless the device was
// removed. A state that leans on others gets a content of its own first.
func (d Device) look(do func(*classes.Content)) {
	behind := false
	d.read(func(c *cohort) {
		if s := c.state; s != nil {
			if behind = s.Content == nil; !behind {
				do(s.Content)
			}
		}
	})
	if !behind {
		return
	}
	d.write(func(c *cohort) {
		if s := c.state; s != nil {
			c.fleet.fill(s)
			do(s.Content)
		}
	})
}

// A chip holds the identity of a device and its cohort. A Device points to it.
type chip struct {
	cohort atomic.Pointer[cohort]
	fleet  *Fleet
	id     ID
	slot   int
}

// published returns an atomic total of the cohort of a device. If the cohort was divided meanwhile, the
// total may be of other devices: it is read again.
func (c *chip) published(of func(*cohort) uint64) uint64 {
	for {
		at := c.cohort.Load()
		if total := of(at); c.cohort.Load() == at {
			return total
		}
	}
}
