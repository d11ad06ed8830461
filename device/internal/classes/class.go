package classes

import (
	"slices"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Class is a set of cores on which the same ranges are registered: they share one
// region tree. Registering a program splits the classes that its groups of cores cut,
// and then updates every class that lies in a group once.
//
//	before             register on 1-0..2-0       after
//	A {0-0 1-0 2-0}        [s, e)                 A {0-0}  B {1-0 2-0}: as A, plus [s, e)
//
// When programs leave, classes that hold the same again are joined.
//
// Copies of a partition share their classes. Each copies a class before its first
// change of it.
type Class struct {
	owner    uint64 // the partition that may change it in place
	Cores    l1.CoreSet
	first    l1.Core // of Cores
	N        uint64  // number of cores
	groups   marks   // the groups of programs that the cores lie in: the identity of the class
	Programs int     // programs with a range on these cores; more than 0
	Logical  uint64  // bytes on each core
	counting
}

// clone returns a copy that the partition with the name may change.
func (c *Class) clone(owner uint64) *Class {
	to := *c
	to.owner = owner
	to.counting = c.counting.clone()
	to.groups.Bits = c.groups.Bits.Clone()
	return &to
}

// A Member is a class in a partition, with the notes of that partition.
type Member struct {
	*Class
	Peaks uint64 // the name of a set of high-water marks of cores
	Held  uint64 // bytes that these marks have at least, on every core of the class
	met   uint64 // the last walk that met the class
}

// A Partition divides the cores that hold anything into classes.
type Partition struct {
	Owner   uint64   // its name, given to no other that shares classes with it
	Classes []Member // disjoint
	grid    grid     // core -> its class
	Bytes   uint64   // sum over cores of the covered bytes
	Logical uint64   // sum over cores of the logical bytes
	Fullest uint64   // covered bytes of the fullest core
	left    int      // departures since equal classes were last joined
	round   uint64   // the last walk over classes

	live      *live                           // the programs; nil for buffers, which are never hidden
	Roster    *Roster                         // of the numbers in Class.groups
	Footprint func(*Holder) program.Footprint // the footprint that this view counts
}

// On returns the class of a core, nil if it holds nothing.
func (p *Partition) On(core l1.Core) *Class {
	if i := p.at(core); i >= 0 {
		return p.Classes[i].Class
	}
	return nil
}

// own returns a class, by its number, that may be changed in place.
func (p *Partition) own(at int) *Class {
	c := p.Classes[at].Class
	if c.owner != p.Owner {
		c = c.clone(p.Owner)
		p.Classes[at].Class = c
	}
	return c
}

// at returns the number of the class of a core, -1 if it is in none.
func (p *Partition) at(core l1.Core) int {
	if p.grid.wide {
		return slices.IndexFunc(p.Classes, func(c Member) bool { return c.Cores.Has(core) })
	}
	return p.grid.at(core)
}

// Meet calls do with the number of each class that has some of the cores, and returns
// how many of them are in none. do returns how many it took. Cost: O(cores), and O(1)
// if all are in one class; with cores beyond corner O(classes).
func (p *Partition) Meet(cores l1.CoreSet, do func(at int) uint64) (free uint64) {
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
		if at < 0 || p.Classes[at].met == p.round {
			continue
		}
		p.Classes[at].met = p.round
		if free -= do(at); free == 0 {
			break
		}
	}
	return free
}

// meetWide is the rest of Meet for cores outside every grid. It begins with the last
// class, because do adds and ends classes behind.
func (p *Partition) meetWide(cores l1.CoreSet, free uint64, do func(at int) uint64) uint64 {
	for at := len(p.Classes) - 1; at >= 0 && free > 0; at-- {
		if c := p.Classes[at]; c.met != p.round && c.Cores.Overlaps(cores) {
			free -= do(at)
		}
	}
	return free
}

// Add registers a program.
func (p *Partition) Add(r *Holder) {
	f := p.Footprint(r)
	for i := range f.NumGroups() {
		g, m := f.Group(i), r.markOf(i)
		cores := g.Cores()
		free := p.Meet(cores, func(at int) uint64 {
			if c := p.Classes[at].Class; c.N > 1 && !cores.Contains(c.Cores) {
				at = p.split(at, cores)
			}
			return p.add1(at, r, g, m)
		})
		if free > 0 {
			p.add1(p.newClass(cores, free), r, g, m)
		}
	}
}

// newClass returns the number of a new class. It takes the given cores that are in no
// class; free is their number.
func (p *Partition) newClass(cores l1.CoreSet, free uint64) int {
	if free < uint64(cores.Len()) {
		cores = p.rest(cores)
	}
	c := &Class{owner: p.Owner, Cores: cores, N: free}
	c.Covered, c.plain = new(cbregion.Coverage), p.rare(c)
	return p.enter(Member{Class: c})
}

// rest returns the given cores that are in no class.
func (p *Partition) rest(cores l1.CoreSet) l1.CoreSet {
	if p.grid.wide || cores.Len() > corner*corner {
		for _, c := range p.Classes {
			if c.Cores.Overlaps(cores) {
				cores = cores.Minus(c.Cores)
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

// enter gives a new class a number, and returns it. The current walk counts it as
// met.
func (p *Partition) enter(c Member) int {
	c.first, c.met = first(c.Cores), p.round
	p.grid.put(c.Cores, len(p.Classes))
	p.Classes = append(p.Classes, c)
	return len(p.Classes) - 1
}

// split moves the cores of a class that are in cores to a class of their own, and returns its
// number.
func (p *Partition) split(at int, cores l1.CoreSet) int {
	c := p.own(at)
	to := c.clone(p.Owner)
	to.Cores, c.Cores = c.Cores.Intersect(cores), c.Cores.Minus(cores)
	to.N = uint64(to.Cores.Len())
	c.N -= to.N
	c.first = first(c.Cores)
	return p.enter(Member{Class: to, Peaks: p.Classes[at].Peaks, Held: p.Classes[at].Held})
}

// Remove removes a program that was added. Every class lies inside one of its groups
// or outside of all.
func (p *Partition) Remove(r *Holder) {
	f := p.Footprint(r)
	before := p.Fullest
	for i := range f.NumGroups() {
		g, m := f.Group(i), r.markOf(i)
		p.Meet(g.Cores(), func(at int) uint64 {
			c := p.own(at)
			had := c.Covered.Bytes()
			p.remove1(c, r, g, m)
			if had == before && c.Covered.Bytes() < had {
				p.Fullest = 0 // another class may be the fullest now
			}
			if c.Programs == 0 {
				p.end(at)
			}
			return c.N
		})
	}
	if p.Fullest < before {
		for _, c := range p.Classes {
			p.Fullest = max(p.Fullest, c.Covered.Bytes())
		}
	}
	// A sweep costs O(classes), and one follows as many departures, so it is free.
	if p.left++; p.left >= len(p.Classes) {
		p.join()
	}
}

// end removes a class that holds nothing any more. The last class gets its number.
func (p *Partition) end(at int) {
	last := len(p.Classes) - 1
	p.grid.put(p.Classes[at].Cores, -1)
	if at < last {
		p.Classes[at] = p.Classes[last]
		p.grid.put(p.Classes[at].Cores, at)
	}
	p.Classes[last] = Member{}
	p.Classes = p.Classes[:last]
}

// join joins classes that lie in the same groups of the same programs. Equal ranges
// and logical bytes would not suffice: no class may straddle groups.
func (p *Partition) join() {
	p.left = 0
	if len(p.Classes) < 2 {
		return
	}
	found := lookup.NewShelf[Class](len(p.Classes))
	for i := 0; i < len(p.Classes); {
		c := p.Classes[i]
		twin := found.Find(c.groups.Hash, func(o *Class) bool { return o.groups.Bits.Equal(c.groups.Bits) })
		if twin == nil {
			found.Put(c.groups.Hash, c.Class)
			i++
			continue
		}
		p.end(i) // another class has its number now
		at := p.at(twin.first)
		p.grid.put(c.Cores, at)
		same := p.own(at)
		if same != twin {
			found.Drop(twin.groups.Hash, twin)
			found.Put(same.groups.Hash, same)
		}
		same.Cores = same.Cores.Union(c.Cores)
		same.first = first(same.Cores)
		same.N += c.N
		if same.plain {
			same.counting = c.counting.clone()
		}
		if now := &p.Classes[at]; now.Peaks == c.Peaks {
			now.Held = min(now.Held, c.Held)
		} else {
			now.Peaks, now.Held = 0, 0
		}
	}
}

// add1 adds a group of a program to a class inside it, and returns the number of
// cores of the class.
func (p *Partition) add1(at int, r *Holder, g program.Group, m mark) uint64 {
	c := p.own(at)
	if grew := p.arrive(c, r, g); grew > 0 {
		p.Bytes += grew * c.N
		p.Fullest = max(p.Fullest, c.Covered.Bytes())
	}
	c.Programs++
	c.groups.put(m)
	c.Logical += g.Logical()
	p.Logical += g.Logical() * c.N
	return c.N
}

// remove1 removes a group of a program from a class inside it.
func (p *Partition) remove1(c *Class, r *Holder, g program.Group, m mark) {
	c.Programs--
	c.groups.drop(m)
	p.Bytes -= p.depart(c, r, g) * c.N
	c.Logical -= g.Logical()
	p.Logical -= g.Logical() * c.N
}

// Clone returns a copy, with a name. It is independent if p is not changed again
// under its own name. Cost: O(classes) words.
func (p *Partition) Clone(owner uint64) Partition {
	out := *p
	out.Owner = owner
	out.grid.in, out.Classes = slices.Clone(p.grid.in), slices.Clone(p.Classes)
	return out
}

// first returns the first core of a set that is not empty.
func first(s l1.CoreSet) l1.Core {
	c, _ := s.First()
	return c
}

// Parts returns the regions of each class.
func (p *Partition) Parts() (out []fit.Part) {
	for _, c := range p.Classes {
		for r := range c.Covered.Regions() {
			out = append(out, fit.Part{Cores: c.Cores, Range: r})
		}
	}
	return out
}
