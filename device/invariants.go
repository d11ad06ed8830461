package device

import (
	"github.com/cbl1/cbl1/l1"
)

// CheckInvariants recounts every device and mesh from its registered programs and
// returns an *InvariantError for the first kept number that differs. Cost: as much
// as registering everything anew.
func (f *Fleet) CheckInvariants() error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	sums := map[*mesh]Totals{}
	for slot := range f.live.all() {
		c := f.slots[slot]
		again := &chip{fleet: f}
		for _, p := range c.list() {
			again.add(p)
		}
		want := again.now()
		if err := c.compare(want, again.charge); err != nil {
			return err
		}
		if err := c.occupied.check(c.id); err != nil {
			return err
		}
		if c.reserved != nil {
			if err := c.reserved.check(c.id); err != nil {
				return err
			}
		}
		if m := c.mesh; m != nil {
			t := sums[m]
			t.Registered += want.Registered
			t.Reserved += want.Reserved
			t.Logical += want.Logical
			t.Programs += want.Programs
			sums[m] = t
			if t.Core = max(t.Core, want.Core); m.peak.Core < t.Core {
				return &InvariantError{m.first, "mesh peak of the fullest core", m.peak.Core, t.Core}
			}
		}
	}
	for m, want := range sums {
		have := m.sum
		have.Core = want.Core
		if err := compareTotals(m.first, "mesh", have, want); err != nil {
			return err
		}
		if have := m.registered.Load(); have != want.Registered {
			return &InvariantError{m.first, "published mesh total", have, want.Registered}
		}
	}
	return nil
}

// compare holds what the chip shows against a recount.
func (c *chip) compare(want Totals, charge uint64) error {
	have := c.shown
	if err := compareTotals(c.id, "device", have, want); err != nil {
		return err
	}
	for _, check := range []struct {
		what       string
		have, want uint64
	}{
		{"published total", c.registered.Load(), want.Registered},
		{"charge", c.charge, charge},
		{"peak of registered, at least", min(c.peak.Registered, want.Registered), want.Registered},
		{"peak of the fullest core, at least", min(c.peak.Core, want.Core), want.Core},
	} {
		if check.have != check.want {
			return &InvariantError{c.id, check.what, check.have, check.want}
		}
	}
	if want.Registered > want.Logical {
		return &InvariantError{c.id, "registered, at most logical", want.Registered, want.Logical}
	}
	if want.Registered > want.Reserved {
		return &InvariantError{c.id, "registered, at most reserved", want.Registered, want.Reserved}
	}
	return nil
}

func compareTotals(id ID, who string, have, want Totals) error {
	for _, check := range []struct {
		what       string
		have, want uint64
	}{
		{"registered", have.Registered, want.Registered},
		{"reserved", have.Reserved, want.Reserved},
		{"logical", have.Logical, want.Logical},
		{"fullest core", have.Core, want.Core},
		{"number of programs", uint64(have.Programs), uint64(want.Programs)},
	} {
		if check.have != check.want {
			return &InvariantError{id, who + " " + check.what, check.have, check.want}
		}
	}
	return nil
}

// check verifies that classes are disjoint, not empty, and sum up.
func (p *partition) check(id ID) error {
	var seen l1.CoreSet
	var bytes, logical uint64
	for _, c := range p.classes {
		if c.cores.IsEmpty() || c.programs <= 0 || uint64(c.cores.Len()) != c.n {
			return &InvariantError{id, "cores of a class", c.n, uint64(c.cores.Len())}
		}
		if seen.Overlaps(c.cores) {
			return &InvariantError{id, "cores in two classes", uint64(seen.Intersect(c.cores).Len()), 0}
		}
		seen = seen.Union(c.cores)
		if err := c.covered.CheckInvariants(); err != nil {
			return err
		}
		bytes += c.covered.Bytes() * c.n
		logical += c.logical * c.n
	}
	if bytes != p.bytes {
		return &InvariantError{id, "sum of the classes", p.bytes, bytes}
	}
	if logical != p.logical {
		return &InvariantError{id, "logical sum of the classes", p.logical, logical}
	}
	return nil
}
