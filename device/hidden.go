package device

import (
	"math/bits"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Most programs of a cache start at one base and lie below a larger one: on arrival
// their ranges are covered already and change nothing. Such a program is *hidden* on
// a class: noted with a bit, not counted. Only when a counted one leaves and a gap
// opens are hidden ones counted in its place, the farthest-reaching first.
//
//	counted  P7 [base ............................)   leaves: the gap is closed by P3,
//	hidden   P3 [base ...................)            and P1, P5 stay hidden below it
//	         P1 [base ......)   P5 [base ...)
//
// The union of the counted ranges is that of all ranges, at all times. What is
// counted is then a few boundaries, in one or two cache lines.

// mayHide is how many programs of a fleet can be hidden at a time: those with a
// number below it (roster.go). More would make the bits of a class, and the search through them
// when a gap opens, dearer than what they save.
const mayHide = 512

// hidden are the programs hidden on a class, by number.
type hidden [mayHide / 64]uint64

func (h *hidden) has(n int) bool { return n < mayHide && h[n>>6]>>(n&63)&1 != 0 }
func (h *hidden) set(n int)      { h[n>>6] |= 1 << (n & 63) }
func (h *hidden) drop(n int)     { h[n>>6] &^= 1 << (n & 63) }

// covers reports whether the counted ranges of the class cover a group.
func (c *class) covers(g program.Group) bool {
	for i := range g.NumRanges() {
		if !c.covered.Gap(g.Range(i)).IsEmpty() {
			return false
		}
	}
	return true
}

// uncover counts hidden programs where the ranges of a group, which just ceased to
// be counted, left gaps. It returns the bytes that are covered again.
func (p *partition) uncover(c *class, left program.Group) (bytes uint64) {
	// Many gaps are many searches: then all that is hidden is counted instead.
	gaps := 4
	for i := range left.NumRanges() {
		for rest := left.Range(i); c.hidden != (hidden{}); {
			gap := c.covered.Gap(rest)
			if gap.IsEmpty() {
				break
			}
			if gaps--; gaps < 0 {
				return bytes + p.uncoverAll(c)
			}
			r := p.farthest(c, gap)
			if r == nil {
				rest.Start = gap.End
				continue
			}
			c.hidden.drop(r.number)
			bytes += c.count(p.groupOn(r, c.cores))
		}
	}
	return bytes
}

func (p *partition) uncoverAll(c *class) (bytes uint64) {
	for w, word := range c.hidden {
		for ; word != 0; word &= word - 1 {
			r := p.roster.low.of[w<<6+bits.TrailingZeros64(word)]
			bytes += c.count(p.groupOn(r, c.cores))
		}
	}
	c.hidden = hidden{}
	return bytes
}

// farthest returns the hidden program that reaches farthest among those that reach
// into the gap; nil if there is none.
func (p *partition) farthest(c *class, gap l1.Range) *registration {
	for left := c.hidden; ; {
		var best *registration
		reach := gap.Start
		for w, word := range left {
			for ; word != 0; word &= word - 1 {
				r := p.roster.low.of[w<<6+bits.TrailingZeros64(word)]
				if r.reach > reach {
					best, reach = r, r.reach
				}
			}
		}
		if best == nil {
			return nil
		}
		// Its reach is that on any core; here it may end lower.
		g := p.groupOn(best, c.cores)
		for i := range g.NumRanges() {
			if g.Range(i).Overlaps(gap) {
				return best
			}
		}
		left.drop(best.number)
	}
}

// groupOn returns the group of a registered program that holds the cores of a class.
func (p *partition) groupOn(r *registration, cores l1.CoreSet) program.Group {
	f := p.footprint(r.program)
	for i := range f.NumGroups() {
		if g := f.Group(i); g.Cores().Contains(cores) {
			return g
		}
	}
	return program.Group{}
}
