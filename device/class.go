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
	first    l1.Core // of cores
	n        uint64  // number of cores
	groups   marks   // the groups of programs that the cores lie in: what the class is
	programs int     // programs with a range on these cores; more than 0
	logical  uint64  // bytes on each core
	counting
}

func (c *class) clone() *class {
	to := *c
	to.counting = c.counting.clone()
	to.groups.bits = c.groups.bits.clone()
	return &to
}

// newClass returns a class of some cores, n of them, that hold nothing yet.
func (p *partition) newClass(cores l1.CoreSet, n uint64) *class {
	c := &class{cores: cores, first: first(cores), n: n}
	c.covered, c.plain = new(cbregion.Coverage), p.live == nil
	return c
}

// A partition divides the cores that hold anything into classes.
type partition struct {
	classes []*class // disjoint
	bytes   uint64   // sum over cores of the covered bytes
	logical uint64   // sum over cores of the logical bytes
	left    int      // footprints taken back since equal classes were last joined

	live      *live                                    // the programs; nil of buffers, of which none is hidden
	footprint func(*program.Program) program.Footprint // of which view this is
}

// add registers a program.
func (p *partition) add(r *registration) {
	f := p.footprint(r.program)
	for i := range f.NumGroups() {
		g := f.Group(i)
		m, cores := r.markOf(i), g.Cores()
		missing := uint64(cores.Len())
		for _, c := range p.classes { // those there are now: splits append
			if !cores.Overlaps(c.cores) {
				continue
			}
			if !cores.Contains(c.cores) {
				c = p.split(c, cores)
			}
			p.add1(c, r, g, m)
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
			c := p.newClass(rest, missing)
			p.classes = append(p.classes, c)
			p.add1(c, r, g, m)
		}
	}
}

// split moves the cores of c that are in cores to a class of their own.
func (p *partition) split(c *class, cores l1.CoreSet) *class {
	to := c.clone()
	to.cores, c.cores = c.cores.Intersect(cores), c.cores.Minus(cores)
	to.first, c.first = first(to.cores), first(c.cores)
	to.n = uint64(to.cores.Len())
	c.n -= to.n
	p.classes = append(p.classes, to)
	return to
}

// remove takes back a program that was added. Every class lies inside one of its
// groups or outside of all.
func (p *partition) remove(r *registration) {
	f := p.footprint(r.program)
	gone := false
	for i := range f.NumGroups() {
		g := f.Group(i)
		m, cores := r.markOf(i), g.Cores()
		for _, c := range p.classes {
			if cores.Overlaps(c.cores) {
				p.remove1(c, r, g, m)
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

// join joins classes that lie in the same groups of the same programs. Equal ranges and
// logical bytes would not do: no class may straddle groups.
func (p *partition) join() {
	p.left = 0
	if len(p.classes) < 2 {
		return
	}
	found := shelf[class]{first: make(map[hash]*class, len(p.classes))}
	kept := p.classes[:0]
	for _, c := range p.classes {
		same := found.find(c.groups.hash, func(o *class) bool { return o.groups.bits.equal(c.groups.bits) })
		if same != nil {
			same.cores = same.cores.Union(c.cores)
			same.first = first(same.cores)
			same.n += c.n
			if c.plain {
				same.counting = c.counting
			}
			continue
		}
		found.put(c.groups.hash, c)
		kept = append(kept, c)
	}
	clear(p.classes[len(kept):])
	p.classes = kept
}

// add1 adds a group of a program to a class inside it.
func (p *partition) add1(c *class, r *registration, g program.Group, m mark) {
	p.bytes += p.arrive(c, r, g) * c.n
	c.programs++
	c.groups.put(m)
	c.logical += g.Logical()
	p.logical += g.Logical() * c.n
}

// remove1 takes a group of a program back from a class inside it.
func (p *partition) remove1(c *class, r *registration, g program.Group, m mark) {
	c.programs--
	p.bytes -= p.depart(c, r, g) * c.n
	c.groups.drop(m)
	c.logical -= g.Logical()
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
