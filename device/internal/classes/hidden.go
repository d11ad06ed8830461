package classes

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Most programs of a cache start at one base and lie below a larger one: on arrival
// their ranges are covered already and change nothing. Such a program is *hidden* on
// a class: not counted, and not listed. The class lists its counted programs, which
// are few; all others with a group on its cores are hidden. When a counted program
// leaves and a gap opens, hidden ones are counted in its place, the farthest-reaching
// first.
//
//	counted  P7 [base ............................)   leaves: the gap is closed by P3,
//	hidden   P3 [base ...................)            and P1, P5 stay hidden below it
//	         P1 [base ......)   P5 [base ...)
//
// The union of the counted ranges equals the union of all ranges, at all times. The
// counted ranges have few boundaries, in one or two cache lines.
//
// A class keeps an address that no hidden program reaches beyond. An arrival may
// raise it. A search in a gap lowers it to the reach that it has seen. Gaps beyond it
// are not searched.
//
// A class with few of the programs, rare among the classes, hides none: a search
// would mostly visit programs of other classes.
//
// Some programs make a search dear: they reach far on other cores, or they are
// counted in any case. So a search has a budget. If it is spent, or the list would
// grow too long, or the class would hide many programs with many groups of cores, it
// counts all its programs. It is *plain* then until it is joined with another class or
// ends.

const (
	// mostCounted is how many programs a class may list.
	mostCounted = 64
	// A search may visit as many programs as the class has, in these limits. With 128 for all, 2,000 programs
	// with four CBs on random cores take 3.6 times as long; with 512 for all, 100 such programs 1.8 times.
	leastSearched, mostSearched = 128, 1024
	// worthSearching is the largest ratio of all programs to the programs of the class at which
	// a search among all of them pays.
	worthSearching = 16
	// mostOwn is how many hidden programs of a class may have ownGroups groups of cores or more. When a large program
	// left 2,000 below it with another range on each of 130 cores, all classes gave up in one call, which took 28
	// times as long (347 and 12.5 ms).
	mostOwn, ownGroups = 128, 16
)

// A counting holds the counted programs of a class.
type counting struct {
	Covered *cbregion.Coverage // the counted programs
	counted []*Holder          // the list; empty for a plain class
	plain   bool               // all are counted
	own     int                // hidden programs with many groups
	reach   uint64             // no hidden program reaches beyond it
}

func (c *counting) clone() counting {
	out := *c
	out.Covered, out.counted = c.Covered.Clone(), slices.Clone(c.counted)
	return out
}

// many reports whether a program may differ on nearly every core.
func (r *Holder) many() bool { return len(r.more) >= ownGroups-1 }

// covers reports whether the counted ranges of the class cover a group.
func (c *counting) covers(g program.Group) bool {
	for i := range g.NumRanges() {
		if !c.Covered.Gap(g.Range(i)).IsEmpty() {
			return false
		}
	}
	return true
}

// count counts the ranges of a group and returns the bytes that became covered.
func (c *counting) count(g program.Group) (grew uint64) {
	for i := range g.NumRanges() {
		grew += c.Covered.Add(g.Range(i))
	}
	return grew
}

// rare reports whether a search for programs of the class would mostly visit others.
// Such a class hides none.
func (p *Partition) rare(c *Class) bool {
	return p.live == nil || c.Programs < p.live.n/worthSearching
}

// arrive counts a program that is not live yet, if its group is not covered. It
// returns the bytes that became covered.
func (p *Partition) arrive(c *Class, r *Holder, g program.Group) uint64 {
	switch {
	case c.plain:
		return c.count(g)
	case c.covers(g):
		if r.many() {
			if c.own++; c.own > mostOwn {
				return p.countAll(c) + c.count(g)
			}
		}
		c.reach = max(c.reach, endOf(g))
		return 0
	case len(c.counted) == mostCounted:
		return p.countAll(c) + c.count(g)
	}
	c.counted = append(c.counted, r)
	return c.count(g)
}

// depart removes a program that is not live any more. It returns the bytes that
// ceased to be covered.
func (p *Partition) depart(c *Class, r *Holder, g program.Group) (freed uint64) {
	if !c.plain {
		at := slices.Index(c.counted, r)
		if at < 0 {
			if r.many() {
				c.own--
			}
			return 0
		}
		c.counted = slices.Delete(c.counted, at, at+1)
	}
	for i := range g.NumRanges() {
		freed += c.Covered.Remove(g.Range(i))
	}
	if freed > 0 && !c.plain {
		freed -= p.uncover(c, g)
	}
	return freed
}

// uncover counts hidden programs where the ranges of a group, which just ceased to be
// counted, left gaps. It returns the bytes that are covered again.
func (p *Partition) uncover(c *Class, left program.Group) (bytes uint64) {
	budget := min(max(c.Programs, leastSearched), mostSearched)
	for i := range left.NumRanges() {
		for rest := left.Range(i); c.Programs > len(c.counted); {
			rest.End = min(rest.End, c.reach)
			gap := c.Covered.Gap(rest)
			if gap.IsEmpty() {
				break
			}
			if p.rare(c) || len(c.counted) == mostCounted {
				return bytes + p.countAll(c)
			}
			r, g := p.farthest(c, gap, &budget)
			switch {
			case budget == 0:
				return bytes + p.countAll(c)
			case r == nil:
				rest.Start = gap.End
				continue
			}
			if r.many() {
				c.own--
			}
			c.counted = append(c.counted, r)
			bytes += c.count(g)
		}
	}
	return bytes
}

// farthest returns the hidden program that reaches farthest on the cores of the
// class, among the programs that reach into the gap; nil if there is none. Each
// visited program takes one step off the budget, and the search ends with the budget.
// A search that ends within its budget updates the reach of the class.
func (p *Partition) farthest(c *Class, gap l1.Range, budget *int) (best *Holder, group program.Group) {
	end, beyond := gap.Start, uint64(0) // beyond: the highest end outside the gap
	p.live.sort(p.Roster)
	for r := range p.live.search {
		if r.reach <= end || end == c.reach || *budget == 0 { // the others reach no higher, on any core
			break
		}
		*budget--
		g, here := p.Footprint(r).On(c.first)
		switch {
		case !here || endOf(g) <= end:
		case meets(g, gap) && !slices.Contains(c.counted, r):
			best, group, end = r, g, endOf(g)
		default:
			beyond = max(beyond, endOf(g))
		}
	}
	c.reach = max(end, beyond)
	return best, group
}

// meets reports whether a range of a group shares bytes with r.
func meets(g program.Group, r l1.Range) bool {
	for i := range g.NumRanges() {
		if g.Range(i).Overlaps(r) {
			return true
		}
	}
	return false
}

// here returns the group of each program of a class, by its numbers.
func (p *Partition) here(c *Class) iter.Seq2[*Holder, program.Group] {
	return func(yield func(*Holder, program.Group) bool) {
		for number := range c.groups.Bits.All() {
			p.live.looked++
			r := p.Roster.At(number)
			if g, _ := p.Footprint(r).On(c.first); !yield(r, g) {
				return
			}
		}
	}
}

// countAll counts all programs of a class at once. It returns the bytes that became
// covered.
func (p *Partition) countAll(c *Class) (grew uint64) {
	ranges := make([]l1.Range, 0, c.Programs)
	for _, g := range p.here(c) {
		ranges = slices.AppendSeq(ranges, g.Ranges())
	}
	before := c.Covered.Bytes()
	c.counting = counting{Covered: cbregion.CoverageOf(ranges), plain: true}
	return c.Covered.Bytes() - before
}
