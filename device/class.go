package device

import (
	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A class is a set of cores of one device on which the same ranges are registered:
// they share one region tree. Registering a program splits the classes that its
// core groups cut, and then updates every class that lies in a group once.
//
//	before            register on 1-0..2-0         after
//	A {0-0 1-0 2-0}        [s, e)                  A {0-0}  A' {1-0 2-0}: a copy of A plus [s, e)
type class struct {
	cores    l1.CoreSet
	n        uint64 // number of cores
	programs int    // programs with a range on these cores; more than 0
	logical  uint64 // bytes on each core
	covered  *cbregion.Coverage
	folded   uint64 // the cores' high-water marks are at least this (see chip.peaks)
}

// A partition divides the cores of a device that hold anything into classes.
type partition struct {
	classes []*class
	bytes   uint64 // sum over cores of the covered bytes
	logical uint64 // sum over cores of the logical bytes
}

// add registers a footprint.
func (p *partition) add(f program.Footprint) {
	for g := range f.Groups() {
		rest := g.Cores()
		for _, c := range p.classes {
			shared := c.cores.Intersect(rest)
			if shared.IsEmpty() {
				continue
			}
			if n := uint64(shared.Len()); n < c.n {
				c = p.split(c, shared, n)
			}
			p.update(c, g, true)
			if rest = rest.Minus(shared); rest.IsEmpty() {
				break
			}
		}
		if !rest.IsEmpty() {
			c := &class{cores: rest, n: uint64(rest.Len()), covered: new(cbregion.Coverage)}
			p.classes = append(p.classes, c)
			p.update(c, g, true)
		}
	}
}

// split moves the shared cores of c to a class of their own and returns that.
func (p *partition) split(c *class, shared l1.CoreSet, n uint64) *class {
	to := c.clone()
	to.cores, to.n = shared, n
	c.cores, c.n = c.cores.Minus(shared), c.n-n
	p.classes = append(p.classes, to)
	return to
}

// remove takes back a footprint that was added. No class straddles its groups. fold
// is called for a class before its bytes fall.
func (p *partition) remove(f program.Footprint, fold func(*class)) {
	for g := range f.Groups() {
		for _, c := range p.classes {
			if c.cores.Overlaps(g.Cores()) {
				fold(c)
				p.update(c, g, false)
			}
		}
	}
	kept := p.classes[:0]
	for _, c := range p.classes {
		if c.programs > 0 {
			kept = append(kept, c)
		}
	}
	clear(p.classes[len(kept):])
	p.classes = kept
}

// update adds a group to a class inside it, or takes it back.
func (p *partition) update(c *class, g program.Group, add bool) {
	var change uint64
	for r := range g.Ranges() {
		if add {
			change += c.covered.Add(r)
		} else {
			change += c.covered.Remove(r)
		}
	}
	if add {
		c.programs++
		c.logical += g.Logical()
		p.bytes += change * c.n
		p.logical += g.Logical() * c.n
	} else {
		c.programs--
		c.logical -= g.Logical()
		p.bytes -= change * c.n
		p.logical -= g.Logical() * c.n
	}
}

// fullest returns the covered bytes of the fullest core.
func (p *partition) fullest() uint64 {
	most := uint64(0)
	for _, c := range p.classes {
		most = max(most, c.covered.Bytes())
	}
	return most
}

// on returns the class of a core, nil if it holds nothing.
func (p *partition) on(core l1.Core) *class {
	for _, c := range p.classes {
		if c.cores.Has(core) {
			return c
		}
	}
	return nil
}

// ranges returns an independent copy that counts no logical bytes, as the
// reserved partition does.
func (p *partition) ranges() *partition {
	out := &partition{classes: make([]*class, len(p.classes)), bytes: p.bytes}
	for i, c := range p.classes {
		out.classes[i] = c.clone()
		out.classes[i].logical = 0
	}
	return out
}

// clone returns an independent copy.
func (c *class) clone() *class {
	to := *c
	to.covered = c.covered.Clone()
	return &to
}
