package device

import (
	"slices"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A class is a set of cores on which the same ranges are registered: they share
// one region tree. Registering a program splits the classes that its groups of
// cores cut, and then updates every class that lies in a group once.
//
//	before             register on 1-0..2-0       after
//	A {0-0 1-0 2-0}        [s, e)                 A {0-0}  B {1-0 2-0}: what A has, plus [s, e)
//
// When programs leave, classes that hold the same again are joined.
//
// Copies of a partition share their classes. Each copies a class when it changes it first.
type class struct {
	owner    uint64 // the partition that may change it in place
	cores    l1.CoreSet
	first    l1.Core // of cores
	n        uint64  // number of cores
	groups   marks   // the groups of programs that the cores lie in: what the class is
	programs int     // programs with a range on these cores; more than 0
	logical  uint64  // bytes on each core
	counting
}

// clone returns a copy that the partition with the name may change.
func (c *class) clone(owner uint64) *class {
	to := *c
	to.owner = owner
	to.counting = c.counting.clone()
	to.groups.bits = c.groups.bits.clone()
	return &to
}

// A seat is a class in a partition, and what that partition notes of it.
type seat struct {
	*class
	peaks uint64 // the name of marks that are, on each of the cores,
	held  uint64 // at least so many bytes
	met   uint64 // the last walk that met the class
}

// A partition divides the cores that hold anything into classes.
type partition struct {
	owner   uint64 // its name, given to no other that shares classes with it
	classes []seat // disjoint
	grid    grid   // core -> its class
	bytes   uint64 // sum over cores of the covered bytes
	logical uint64 // sum over cores of the logical bytes
	fullest uint64 // covered bytes of the fullest core
	left    int    // footprints taken back since equal classes were last joined
	round   uint64 // the last walk over classes

	live      *live                           // the programs; nil of buffers, of which none is hidden
	roster    *roster                         // of the numbers in class.groups
	footprint func(*holder) program.Footprint // of which view this is
}

// on returns the class of a core, nil if it holds nothing.
func (p *partition) on(core l1.Core) *class {
	if i := p.at(core); i >= 0 {
		return p.classes[i].class
	}
	return nil
}

// own returns a class, by its number, that may be changed in place.
func (p *partition) own(at int) *class {
	c := p.classes[at].class
	if c.owner != p.owner {
		c = c.clone(p.owner)
		p.classes[at].class = c
	}
	return c
}

// at returns the number of the class of a core, -1 if it is in none.
func (p *partition) at(core l1.Core) int {
	if p.grid.wide {
		return slices.IndexFunc(p.classes, func(c seat) bool { return c.cores.Has(core) })
	}
	return p.grid.at(core)
}

// meet calls do with the number of each class that has some of the cores, and returns how many
// of them are in none. do returns how many it took.
// Cost: O(cores), and O(1) if all are in one class; with cores beyond corner O(classes).
func (p *partition) meet(cores l1.CoreSet, do func(at int) uint64) (free uint64) {
	free = uint64(cores.Len())
	p.round++
	if core := first(cores); free == 1 && !p.grid.wide && !beyond(core) {
		if at := p.grid.at(core); at >= 0 {
			free -= do(at)
		}
		return free
	}
	for core := range cores.All() {
		if p.grid.wide || beyond(core) {
			return p.meetWide(cores, free, do)
		}
		at := p.grid.at(core)
		if at < 0 || p.classes[at].met == p.round {
			continue
		}
		p.classes[at].met = p.round
		if free -= do(at); free == 0 {
			break
		}
	}
	return free
}

// meetWide is the rest of meet where cores have no place in a grid. It begins with the last
// class: what do adds or ends is behind.
func (p *partition) meetWide(cores l1.CoreSet, free uint64, do func(at int) uint64) uint64 {
	for at := len(p.classes) - 1; at >= 0 && free > 0; at-- {
		if c := p.classes[at]; c.met != p.round && c.cores.Overlaps(cores) {
			free -= do(at)
		}
	}
	return free
}

// add registers a program.
func (p *partition) add(r *holder) {
	f := p.footprint(r)
	for i := range f.NumGroups() {
		g, m := f.Group(i), r.markOf(i)
		cores := g.Cores()
		free := p.meet(cores, func(at int) uint64 {
			if c := p.classes[at].class; c.n > 1 && !cores.Contains(c.cores) {
				at = p.split(at, cores)
			}
			return p.add1(at, r, g, m)
		})
		if free > 0 {
			p.add1(p.newClass(cores, free), r, g, m)
		}
	}
}

// newClass returns the number of a class of those of the cores, free of them, that are in none.
func (p *partition) newClass(cores l1.CoreSet, free uint64) int {
	if free < uint64(cores.Len()) {
		cores = p.rest(cores)
	}
	c := &class{owner: p.owner, cores: cores, n: free}
	c.covered, c.plain = new(cbregion.Coverage), p.rare(c)
	return p.enter(seat{class: c})
}

// rest returns those of the cores that are in no class.
func (p *partition) rest(cores l1.CoreSet) l1.CoreSet {
	if p.grid.wide || cores.Len() > corner*corner {
		for _, c := range p.classes {
			if c.cores.Overlaps(cores) {
				cores = cores.Minus(c.cores)
			}
		}
		return cores
	}
	var rest []l1.Core
	for core := range cores.All() {
		if p.grid.at(core) < 0 {
			rest = append(rest, core)
		}
	}
	return l1.CoreSetOf(rest...)
}

// enter gives a class that is new a number, and returns it. The walk has met the class.
func (p *partition) enter(c seat) int {
	c.first, c.met = first(c.cores), p.round
	p.grid.put(c.cores, len(p.classes))
	p.classes = append(p.classes, c)
	return len(p.classes) - 1
}

// split moves the cores of a class that are in cores to a class of their own, and returns its
// number.
func (p *partition) split(at int, cores l1.CoreSet) int {
	c := p.own(at)
	to := c.clone(p.owner)
	to.cores, c.cores = c.cores.Intersect(cores), c.cores.Minus(cores)
	to.n = uint64(to.cores.Len())
	c.n -= to.n
	c.first = first(c.cores)
	return p.enter(seat{class: to, peaks: p.classes[at].peaks, held: p.classes[at].held})
}

// remove takes back a program that was added. Every class lies inside one of its
// groups or outside of all.
func (p *partition) remove(r *holder) {
	f := p.footprint(r)
	before := p.fullest
	for i := range f.NumGroups() {
		g, m := f.Group(i), r.markOf(i)
		p.meet(g.Cores(), func(at int) uint64 {
			c := p.own(at)
			had := c.covered.Bytes()
			p.remove1(c, r, g, m)
			if had == before && c.covered.Bytes() < had {
				p.fullest = 0 // or another one is the fullest then
			}
			if c.programs == 0 {
				p.end(at)
			}
			return c.n
		})
	}
	if p.fullest < before {
		for _, c := range p.classes {
			p.fullest = max(p.fullest, c.covered.Bytes())
		}
	}
	// A sweep costs as much as there are classes: so seldom it costs nothing.
	if p.left++; p.left >= len(p.classes) {
		p.join()
	}
}

// end takes a class out that holds nothing any more. The last one gets its number.
func (p *partition) end(at int) {
	last := len(p.classes) - 1
	p.grid.put(p.classes[at].cores, -1)
	if at < last {
		p.classes[at] = p.classes[last]
		p.grid.put(p.classes[at].cores, at)
	}
	p.classes[last] = seat{}
	p.classes = p.classes[:last]
}

// join joins classes that lie in the same groups of the same programs. Equal ranges and
// logical bytes would not do: no class may straddle groups.
func (p *partition) join() {
	p.left = 0
	if len(p.classes) < 2 {
		return
	}
	found := newShelf[class](len(p.classes))
	for i := 0; i < len(p.classes); {
		c := p.classes[i]
		twin := found.find(c.groups.hash, func(o *class) bool { return o.groups.bits.equal(c.groups.bits) })
		if twin == nil {
			found.put(c.groups.hash, c.class)
			i++
			continue
		}
		p.end(i) // another one has its number now
		at := p.at(twin.first)
		p.grid.put(c.cores, at)
		same := p.own(at)
		if same != twin {
			found.drop(twin.groups.hash, twin)
			found.put(same.groups.hash, same)
		}
		same.cores = same.cores.Union(c.cores)
		same.first = first(same.cores)
		same.n += c.n
		if c.plain {
			same.counting = c.counting.clone()
		}
		if now := &p.classes[at]; now.peaks == c.peaks {
			now.held = min(now.held, c.held)
		} else {
			now.peaks, now.held = 0, 0
		}
	}
}

// add1 adds a group of a program to a class inside it, and returns the cores of that.
func (p *partition) add1(at int, r *holder, g program.Group, m mark) uint64 {
	c := p.own(at)
	if grew := p.arrive(c, r, g); grew > 0 {
		p.bytes += grew * c.n
		p.fullest = max(p.fullest, c.covered.Bytes())
	}
	c.programs++
	c.groups.put(m)
	c.logical += g.Logical()
	p.logical += g.Logical() * c.n
	return c.n
}

// remove1 takes a group of a program back from a class inside it.
func (p *partition) remove1(c *class, r *holder, g program.Group, m mark) {
	c.programs--
	c.groups.drop(m)
	p.bytes -= p.depart(c, r, g) * c.n
	c.logical -= g.Logical()
	p.logical -= g.Logical() * c.n
}

// clone returns a copy, with a name. It is independent if p is not changed again under its own
// name, or not at all. Cost: O(classes) words.
func (p *partition) clone(owner uint64) partition {
	out := *p
	out.owner = owner
	out.grid.in, out.classes = slices.Clone(p.grid.in), slices.Clone(p.classes)
	return out
}

// first returns the first core of a set that is not empty.
func first(s l1.CoreSet) l1.Core {
	c, _ := s.First()
	return c
}

// parts returns what lies on the cores of each class.
func (p *partition) parts() (out []fit.Part) {
	for _, c := range p.classes {
		for r := range c.covered.Regions() {
			out = append(out, fit.Part{Cores: c.cores, Range: r})
		}
	}
	return out
}
