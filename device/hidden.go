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
// number below it. More would make the bits of a class, and the search through them
// when a gap opens, dearer than what they save.
const mayHide = 512

// A roster gives numbers to registrations, so that a class can name those hidden on
// it with bits.
type roster struct {
	registrations [mayHide]*registration
	free          [mayHide]int16 // a stack of numbers that were given back
	returned      int            // its height
	given         int            // numbers below it were given out before
}

// unnumbered is the number of a registration that cannot be hidden.
const unnumbered = -1

// enter gives r a number, if there is one left.
func (o *roster) enter(r *registration) {
	switch {
	case o.returned > 0:
		o.returned--
		r.number = int(o.free[o.returned])
	case o.given < mayHide:
		r.number = o.given
		o.given++
	default:
		r.number = unnumbered
		return
	}
	o.registrations[r.number] = r
}

// retire takes the number of r back if r is gone: registered nowhere, and in no step
// of a trail, from where it could return.
func (o *roster) retire(r *registration) {
	if r.number == unnumbered || r.steps > 0 || !r.on.empty() {
		return
	}
	o.registrations[r.number] = nil
	o.free[o.returned] = int16(r.number)
	o.returned++
	r.number = unnumbered
}

// hidden are the programs hidden on a class, by number.
type hidden [mayHide / 64]uint64

func (h *hidden) has(n int) bool { return n >= 0 && h[n>>6]>>(n&63)&1 != 0 }
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
			r := p.roster.registrations[w<<6+bits.TrailingZeros64(word)]
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
				r := p.roster.registrations[w<<6+bits.TrailingZeros64(word)]
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
