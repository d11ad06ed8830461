package classes

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Most programs of a cache start at one base and lie below a larger one: on arrival
// their ranges are covered already and change nothing. Such a program is *hidden* on
// a class: not counted, and named nowhere. The class names those that are counted, which
// are few; all others with a group on its cores are hidden. Only when a counted one leaves
// and a gap opens are hidden ones counted in its place, the farthest-reaching first.
//
//	counted  P7 [base ............................)   leaves: the gap is closed by P3,
//	hidden   P3 [base ...................)            and P1, P5 stay hidden below it
//	         P1 [base ......)   P5 [base ...)
//
// The union of the counted ranges is that of all ranges, at all times. What is
// counted is then a few boundaries, in one or two cache lines.
//
// A class knows an address that no hidden program reaches beyond. Each that comes may raise it, and a
// search in a gap lowers it again to what it has seen. No gap beyond is searched.
//
// A class that few of the programs lie on, rare among the classes, hides none: a search would look
// at the programs of others.
//
// There are programs that make searching dear: those that reach far on other cores, and
// those that are counted in any case. So a class keeps account of what searching has
// cost: its debt. A hidden program that comes or leaves pays for some steps, since it
// changes no tree. When more is owed than a step for each program on the class, which is
// what counting all of them costs, or too many would be named, all are counted: the class is
// *plain*. A plain class tries anew when it has changed a few times as often as it has
// programs, and waits twice as long each time that this was in vain.

const (
	// mostCounted is how many programs a class may name.
	mostCounted = 64
	// fewCounted is how many of the programs of a plain class may have to be counted, so
	// that hiding the others is worth it again.
	fewCounted = 32
	// worthCounting is how many steps of searching cost as much as a change of a tree,
	// measured.
	worthCounting = 32
	// worthSearching is how many programs there may be for each one of the class, so that those of
	// the class are found among all.
	worthSearching = 16
	// worthTrying is after how many changes a plain class tries anew, for each of its programs.
	worthTrying = 4
	// mostVain is how many times this is doubled at most.
	mostVain = 4
)

// A counting is what of the programs of a class is counted.
type counting struct {
	Covered *cbregion.Coverage // the counted programs
	counted []*Holder          // their names; none of a plain class
	plain   bool               // all are counted
	changes int                // of a plain class, since it became one
	reach   uint64             // no hidden program reaches beyond it
	debt    int                // steps of searching beyond those that are paid; at least 0
	spared  int                // changes of the tree that were not made, since the class hides
	vain    int                // tries to hide in a row that did not pay, at most mostVain
}

func (c *counting) clone() counting {
	out := *c
	out.Covered, out.counted = c.Covered.Clone(), slices.Clone(c.counted)
	return out
}

// pay notes that a hidden program came or left, and no tree was changed.
func (c *counting) pay() {
	c.debt = max(0, c.debt-worthCounting)
	c.spared++
}

// patience is after how many changes a plain class tries anew.
func (c *Class) patience() int { return worthTrying << c.vain * c.Programs }

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

// rare reports whether a search for programs of the class would mostly look at others. Such a class
// hides none.
func (p *Partition) rare(c *Class) bool {
	return p.live == nil || c.Programs < p.live.n/worthSearching
}

// arrive counts a program that is not among the live ones yet, if its group is not covered.
// It returns the bytes that became covered.
func (p *Partition) arrive(c *Class, r *Holder, g program.Group) uint64 {
	if c.plain {
		if c.changes++; p.rare(c) || c.changes <= c.patience() {
			return c.count(g)
		}
		p.tryAnew(c)
	}
	switch {
	case c.plain:
		return c.count(g)
	case c.covers(g):
		c.pay()
		c.reach = max(c.reach, endOf(g))
		return 0
	}
	if len(c.counted) == mostCounted {
		p.countAll(c)
	} else {
		c.counted = append(c.counted, r)
	}
	return c.count(g)
}

// depart takes back a program that is not among the live ones any more. It returns the
// bytes that ceased to be covered.
func (p *Partition) depart(c *Class, r *Holder, g program.Group) (freed uint64) {
	if c.plain {
		c.changes++
	} else {
		at := slices.Index(c.counted, r)
		if at < 0 {
			c.pay()
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

// uncover counts hidden programs where the ranges of a group, which just ceased to
// be counted, left gaps. It returns the bytes that are covered again.
func (p *Partition) uncover(c *Class, left program.Group) (bytes uint64) {
	for i := range left.NumRanges() {
		for rest := left.Range(i); c.Programs > len(c.counted); {
			rest.End = min(rest.End, c.reach)
			gap := c.Covered.Gap(rest)
			if gap.IsEmpty() {
				break
			}
			if p.rare(c) {
				return bytes + p.countAll(c)
			}
			r, g := p.farthest(c, gap)
			if len(c.counted) == mostCounted || c.debt > c.Programs {
				return bytes + p.countAll(c)
			}
			if r == nil {
				rest.Start = gap.End
				continue
			}
			c.counted = append(c.counted, r)
			bytes += c.count(g)
		}
	}
	return bytes
}

// farthest returns the hidden program that reaches farthest on the cores of the class,
// among those that reach into the gap; nil if there is none. Each step is owed, and the search
// ends when too much is: all are counted then. Else it knows how far the others reach.
func (p *Partition) farthest(c *Class, gap l1.Range) (best *Holder, group program.Group) {
	end, beyond := gap.Start, uint64(0) // beyond: the end of those that leave the gap out
	p.live.sort(p.Roster)
	for r := range p.live.search {
		if r.reach <= end || end == c.reach || c.debt > c.Programs { // that of the others is no higher, on any core
			break
		}
		c.debt++
		g, here := p.Footprint(r).On(c.first)
		switch {
		case !here || endOf(g) <= end || slices.Contains(c.counted, r):
		case meets(g, gap):
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

// here returns the group of each program on a class: whose numbers it names.
func (p *Partition) here(c *Class) iter.Seq2[*Holder, program.Group] {
	return func(yield func(*Holder, program.Group) bool) {
		for number := range c.groups.Bits.All() {
			p.live.looked++
			r := p.Roster.At(number)
			if !yield(r, p.Footprint(r).Group(r.indexOf(number))) {
				return
			}
		}
	}
}

// countAll counts all programs of a class, all at once. It returns the bytes that became covered.
// Hiding has paid if it spared as many changes as are made up for now.
func (p *Partition) countAll(c *Class) (grew uint64) {
	ranges := make([]l1.Range, 0, c.Programs)
	for _, g := range p.here(c) {
		ranges = slices.AppendSeq(ranges, g.Ranges())
	}
	before, vain := c.Covered.Bytes(), min(c.vain+1, mostVain)
	if c.spared >= c.Programs {
		vain = 0
	}
	c.counting = counting{Covered: cbregion.CoverageOf(ranges), plain: true, vain: vain}
	return c.Covered.Bytes() - before
}

// tryAnew hides all programs of a plain class that few others cover, if there are few.
func (p *Partition) tryAnew(c *Class) {
	type candidate struct {
		end uint64
		at  int
	}
	all, groups := make([]*Holder, 0, c.Programs), make([]program.Group, 0, c.Programs)
	order := make([]candidate, 0, c.Programs) // the farthest-reaching first
	for r, g := range p.here(c) {
		order = append(order, candidate{endOf(g), len(all)})
		all, groups = append(all, r), append(groups, g)
	}
	slices.SortFunc(order, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.end, a.end), cmp.Compare(a.at, b.at)) })
	c.changes = 0
	few := counting{Covered: new(cbregion.Coverage), vain: c.vain}
	for _, x := range order {
		r, g := all[x.at], groups[x.at]
		if few.covers(g) {
			few.reach = max(few.reach, x.end)
			continue
		}
		if len(few.counted) == fewCounted {
			c.vain = min(c.vain+1, mostVain)
			return
		}
		few.counted = append(few.counted, r)
		few.count(g)
	}
	c.counting = few
}
