package device

import (
	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A class is a set of cores on which the same ranges are registered: they share
// one region tree. Registering a program splits the classes that its groups of
// cores cut, and then updates every class that lies in a group once.
//
//	before             register on 1-0..2-0       after
//	A {0-0 1-0 2-0}        [s, e)                 A {0-0}  B {1-0 2-0}: a copy of A, plus [s, e)
//
// When programs leave, classes that hold the same again are joined.
type class struct {
	cores    l1.CoreSet
	n        uint64 // number of cores
	key      key    // of the programs' ranges on these cores
	sizes    key    // of the programs' logical bytes on these cores
	programs int    // programs with a range on these cores; more than 0
	logical  uint64 // bytes on each core
	covered  *cbregion.Coverage
}

func (c *class) clone() *class {
	to := *c
	to.covered = c.covered.Clone()
	return &to
}

// A partition divides the cores that hold anything into classes.
type partition struct {
	classes []*class // disjoint
	bytes   uint64   // sum over cores of the covered bytes
	logical uint64   // sum over cores of the logical bytes
	left    int      // footprints taken back since equal classes were last joined
}

// add registers the footprint of the program with key k.
func (p *partition) add(f program.Footprint, k key) {
	for i := range f.NumGroups() {
		g := f.Group(i)
		on, sized, cores := k.on(g), k.sized(g.Logical()), g.Cores()
		missing := uint64(cores.Len())
		for _, c := range p.classes { // those there are now: splits append
			if !cores.Overlaps(c.cores) {
				continue
			}
			if !cores.Contains(c.cores) {
				c = p.split(c, cores)
			}
			p.update(c, g, on, sized, true)
			if missing -= c.n; missing == 0 {
				break
			}
		}
		if missing > 0 {
			rest := cores
			for _, c := range p.classes {
				if cores.Overlaps(c.cores) {
					rest = rest.Minus(c.cores)
				}
			}
			c := &class{cores: rest, n: missing, covered: new(cbregion.Coverage)}
			p.classes = append(p.classes, c)
			p.update(c, g, on, sized, true)
		}
	}
}

// split moves the cores of c that are in cores to a class of their own.
func (p *partition) split(c *class, cores l1.CoreSet) *class {
	to := c.clone()
	to.cores, c.cores = c.cores.Intersect(cores), c.cores.Minus(cores)
	to.n = uint64(to.cores.Len())
	c.n -= to.n
	p.classes = append(p.classes, to)
	return to
}

// remove takes back a footprint that was added. Every class lies inside one of its
// groups or outside of all.
func (p *partition) remove(f program.Footprint, k key) {
	gone := false
	for i := range f.NumGroups() {
		g := f.Group(i)
		on, sized, cores := k.on(g), k.sized(g.Logical()), g.Cores()
		for _, c := range p.classes {
			if cores.Overlaps(c.cores) {
				p.update(c, g, on, sized, false)
				gone = gone || c.programs == 0
			}
		}
	}
	if gone {
		kept := p.classes[:0]
		for _, c := range p.classes {
			if c.programs > 0 {
				kept = append(kept, c)
			}
		}
		clear(p.classes[len(kept):])
		p.classes = kept
	}
	// A sweep costs as much as there are classes: so seldom it costs nothing.
	if p.left++; p.left >= len(p.classes) {
		p.join()
	}
}

// join joins classes that hold the same: the same groups of the same programs, so
// that no class straddles groups. Equal sums of logical bytes would not do.
func (p *partition) join() {
	p.left = 0
	if len(p.classes) < 2 {
		return
	}
	first := make(map[[2]key]*class, len(p.classes)) // by ranges and sizes
	kept := p.classes[:0]
	for _, c := range p.classes {
		if same := first[[2]key{c.key, c.sizes}]; same != nil {
			same.cores = same.cores.Union(c.cores)
			same.n += c.n
			continue
		}
		first[[2]key{c.key, c.sizes}] = c
		kept = append(kept, c)
	}
	clear(p.classes[len(kept):])
	p.classes = kept
}

// update adds a group to a class inside it, or takes it back.
func (p *partition) update(c *class, g program.Group, on, sized key, add bool) {
	var change uint64
	if add {
		for i := range g.NumRanges() {
			change += c.covered.Add(g.Range(i))
		}
		c.programs++
		c.key, c.sizes = c.key.plus(on), c.sizes.plus(sized)
		c.logical += g.Logical()
		p.bytes += change * c.n
		p.logical += g.Logical() * c.n
		return
	}
	for i := range g.NumRanges() {
		change += c.covered.Remove(g.Range(i))
	}
	c.programs--
	c.key, c.sizes = c.key.minus(on), c.sizes.minus(sized)
	c.logical -= g.Logical()
	p.bytes -= change * c.n
	p.logical -= g.Logical() * c.n
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

// clone returns an independent copy.
func (p *partition) clone() partition {
	out := *p
	out.classes = make([]*class, len(p.classes))
	for i, c := range p.classes {
		out.classes[i] = c.clone()
	}
	return out
}
