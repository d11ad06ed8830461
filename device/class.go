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
	n        uint64             // number of cores
	groups   marks              // the groups of programs that the cores lie in: what the class is
	programs int                // programs with a range on these cores; more than 0
	logical  uint64             // bytes on each core
	covered  *cbregion.Coverage // the programs that are not hidden
	hidden   hidden             // programs whose ranges the others cover
}

func (c *class) clone() *class {
	to := *c
	to.covered = c.covered.Clone()
	to.groups.bits = c.groups.bits.clone()
	return &to
}

// A partition divides the cores that hold anything into classes.
type partition struct {
	classes []*class // disjoint
	bytes   uint64   // sum over cores of the covered bytes
	logical uint64   // sum over cores of the logical bytes
	left    int      // footprints taken back since equal classes were last joined

	roster    *roster
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
			c := &class{cores: rest, n: missing, covered: new(cbregion.Coverage)}
			p.classes = append(p.classes, c)
			p.add1(c, r, g, m)
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
	first := shelf[class]{first: make(map[hash]*class, len(p.classes))}
	kept := p.classes[:0]
	for _, c := range p.classes {
		same := first.find(c.groups.hash, func(o *class) bool { return o.groups.bits.equal(c.groups.bits) })
		if same != nil {
			same.cores = same.cores.Union(c.cores)
			same.n += c.n
			continue
		}
		first.put(c.groups.hash, c)
		kept = append(kept, c)
	}
	clear(p.classes[len(kept):])
	p.classes = kept
}

// add1 adds a group of a program to a class inside it.
func (p *partition) add1(c *class, r *registration, g program.Group, m mark) {
	if r.number < mayHide && c.covers(g) {
		c.hidden.set(r.number)
	} else {
		p.bytes += c.count(g) * c.n
	}
	c.programs++
	c.groups.put(m)
	c.logical += g.Logical()
	p.logical += g.Logical() * c.n
}

// remove1 takes a group of a program back from a class inside it.
func (p *partition) remove1(c *class, r *registration, g program.Group, m mark) {
	if c.hidden.has(r.number) {
		c.hidden.drop(r.number)
	} else {
		var freed uint64
		for i := range g.NumRanges() {
			freed += c.covered.Remove(g.Range(i))
		}
		if freed > 0 {
			freed -= p.uncover(c, g)
		}
		p.bytes -= freed * c.n
	}
	c.programs--
	c.groups.drop(m)
	c.logical -= g.Logical()
	p.logical -= g.Logical() * c.n
}

// count counts the ranges of a group and returns the bytes that became covered.
func (c *class) count(g program.Group) (grew uint64) {
	for i := range g.NumRanges() {
		grew += c.covered.Add(g.Range(i))
	}
	return grew
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
