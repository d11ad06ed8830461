package device

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Device is a handle to one device of a fleet. Handles may be copied and compared
// with ==. The zero Device, and one that was removed, count nothing.
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

// Spec returns what the device is.
func (d Device) Spec() l1.Spec {
	if d.c == nil {
		return l1.Spec{}
	}
	return d.c.spec
}

// Set returns the set of this one device.
func (d Device) Set() Set {
	if d.c == nil {
		return Set{}
	}
	d.c.fleet.mu.RLock()
	defer d.c.fleet.mu.RUnlock()
	return d.c.fleet.setOf([]*chip{d.c})
}

// Registered returns the physical bytes of all registered programs, summed over
// cores: one atomic load, no lock, no allocation.
func (d Device) Registered() uint64 {
	if d.c == nil {
		return 0
	}
	return d.c.registered.Load()
}

// Totals returns all figures of one moment.
func (d Device) Totals() Totals {
	if d.c == nil {
		return Totals{}
	}
	d.c.fleet.mu.RLock()
	defer d.c.fleet.mu.RUnlock()
	return d.c.totals()
}

// ResetPeaks sets the high-water marks of the device and its cores to what is
// registered now.
func (d Device) ResetPeaks() {
	if d.c == nil {
		return
	}
	d.c.fleet.mu.Lock()
	defer d.c.fleet.mu.Unlock()
	d.c.peak, d.c.peaks = Peaks{}, nil
	d.c.peak.raise(d.c.now())
	for _, c := range d.c.occupied.classes {
		c.folded = 0
	}
}

// Core returns the figures of one core. A core outside the grid has none.
func (d Device) Core(core l1.Core) CoreTotals {
	if d.c == nil {
		return CoreTotals{}
	}
	d.c.fleet.mu.RLock()
	defer d.c.fleet.mu.RUnlock()
	t := CoreTotals{Peak: d.c.peaks[core]}
	if c := d.c.occupied.on(core); c != nil {
		t.Registered, t.Logical, t.Programs = c.covered.Bytes(), c.logical, c.programs
		t.Peak = max(t.Peak, t.Registered)
	}
	if c := d.c.reservation().on(core); c != nil {
		t.Reserved = c.covered.Bytes()
	}
	return t
}

// Regions returns the merged registered regions of a core, lowest first, as they
// were when it was called.
func (d Device) Regions(core l1.Core) iter.Seq[l1.Range] {
	var regions []l1.Range
	if d.c != nil {
		d.c.fleet.mu.RLock()
		defer d.c.fleet.mu.RUnlock()
		if c := d.c.occupied.on(core); c != nil {
			regions = slices.Collect(c.covered.Regions())
		}
	}
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
	if d.c == nil {
		return slices.Values[[]*program.Program](nil)
	}
	d.c.fleet.mu.RLock()
	defer d.c.fleet.mu.RUnlock()
	return slices.Values(d.c.list())
}

// list returns the registered programs by id.
func (c *chip) list() []*program.Program {
	var out []*program.Program
	for r := range maps.Values(c.fleet.programs) {
		if r.on.has(c.slot) {
			out = append(out, r.program)
		}
	}
	slices.SortFunc(out, func(a, b *program.Program) int { return cmp.Compare(a.ID(), b.ID()) })
	return out
}
