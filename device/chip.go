package device

import (
	"sync/atomic"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A chip is what a Device points to. The fleet's lock guards everything but the
// atomic total.
type chip struct {
	fleet *Fleet
	id    ID
	spec  l1.Spec
	slot  int
	mesh  *mesh // nil for a lone device

	registered atomic.Uint64 // = occupied.bytes, published for lock-free reads

	occupied partition
	reserved *partition // nil while it would be equal to occupied
	differ   int        // registered programs that reserve more than they occupy
	programs int
	charge   uint64 // sum of chargeOf over the registered programs

	shown       Totals // what was published last, without Peak
	shownCharge uint64

	peak  Peaks
	peaks map[l1.Core]uint64 // high-water marks of cores; lazily behind, see fold
}

// reservation returns the partition of what is reserved.
func (c *chip) reservation() *partition {
	if c.reserved != nil {
		return c.reserved
	}
	return &c.occupied
}

// now returns the figures without the peaks.
func (c *chip) now() Totals {
	return Totals{
		Registered: c.occupied.bytes,
		Reserved:   c.reservation().bytes,
		Logical:    c.occupied.logical,
		Core:       c.occupied.fullest(),
		Programs:   c.programs,
	}
}

func (c *chip) totals() Totals {
	t := c.shown
	t.Peak = c.peak
	return t
}

// add registers a program that the chip does not have.
func (c *chip) add(p *program.Program) {
	occupied, reserved := p.Occupied(program.CircularBuffer), p.Reserved(program.CircularBuffer)
	// Reserved contains occupied on every core, so that equal bytes mean equal ranges.
	if occupied.Bytes() != reserved.Bytes() {
		c.differ++
	}
	if c.differ > 0 && c.reserved == nil {
		c.reserved = c.occupied.ranges()
	}
	c.occupied.add(occupied)
	if c.reserved != nil {
		c.reserved.add(reserved)
	}
	c.programs++
	c.charge += chargeOf(p)
}

// remove takes off a program that the chip has.
func (c *chip) remove(p *program.Program) {
	occupied, reserved := p.Occupied(program.CircularBuffer), p.Reserved(program.CircularBuffer)
	if occupied.Bytes() != reserved.Bytes() {
		c.differ--
	}
	c.occupied.remove(occupied, c.fold)
	if c.reserved != nil {
		c.reserved.remove(reserved, func(*class) {})
	}
	if c.differ == 0 {
		c.reserved = nil
	}
	c.programs--
	c.charge -= chargeOf(p)
}

// fold brings the high-water marks of a class's cores up to date before its bytes
// fall. While they only rise, or stay below a mark, there is nothing to do.
func (c *chip) fold(k *class) {
	bytes := k.covered.Bytes()
	if bytes <= k.folded {
		return
	}
	k.folded = bytes
	if c.peaks == nil {
		c.peaks = map[l1.Core]uint64{}
	}
	for core := range k.cores.All() {
		c.peaks[core] = max(c.peaks[core], bytes)
	}
}

// clear takes everything off the chip. Its registrations must be dropped beside.
func (c *chip) clear() {
	c.occupied, c.reserved, c.differ, c.programs, c.charge = partition{}, nil, 0, 0, 0
}

// change takes one program off the chips in slots and puts another one on; either
// may be nil. It cannot fail. Afterwards, not before, every total and high-water
// mark is brought up to date and made visible.
func (f *Fleet) change(slots bitset, old, new *program.Program) {
	for slot := range slots.all() {
		c := f.slots[slot]
		if old != nil {
			c.remove(old)
		}
		if new != nil {
			c.add(new)
		}
	}
	f.publish(slots)
}

// publish makes the state of the chips in slots visible, and then that of the
// meshes they belong to.
func (f *Fleet) publish(slots bitset) {
	var touched []*mesh
	for slot := range slots.all() {
		c := f.slots[slot]
		t := c.now()
		if m := c.mesh; m != nil {
			if len(touched) == 0 || touched[len(touched)-1] != m {
				touched = append(touched, m)
			}
			m.move(c.shown, c.shownCharge, t, c.charge)
		}
		c.shown, c.shownCharge = t, c.charge
		c.peak.raise(t)
		c.registered.Store(t.Registered)
	}
	for _, m := range touched {
		m.peak.raise(m.sum)
		m.registered.Store(m.sum.Registered)
	}
}
