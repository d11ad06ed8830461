package diff

import (
	"math"

	"github.com/cbl1/cbl1/tool/replay/answer"
)

// growth says whether the peak of the fullest core grew by more than the terms allow, and
// what grew there.
func (c *comparison) growth(sides Pair[Side], all []devicePair) *Growth {
	var old, new uint64
	if sides.Old.Peak != nil {
		old = sides.Old.Peak.Bytes
	}
	if sides.New.Peak != nil {
		new = sides.New.Peak.Bytes
	}
	allowed, _ := c.terms.MaxGrowth.Of(old) // of nothing, a share is nothing
	g := &Growth{Text: c.terms.MaxGrowth.String(), Allowed: allowed, Bytes: int64(new) - int64(old)}
	g.Exceeded = new > old && new-old > allowed
	if new <= old {
		return g
	}
	for _, p := range all {
		if p.New == nil || p.New.peak == nil || p.New.peak.Bytes != new {
			continue
		}
		g.Program, g.Grower = grower(c.parts(residents(p.Old, p.New), residents(p.New, p.Old)))
		if g.Program == "" {
			g.Program = p.New.peak.Op
		}
		break
	}
	return g
}

// grower returns the operation whose program grew most, and what grew most of all.
func grower(parts []Resident) (op answer.Name, most *Resident) {
	sums := map[answer.Name]int64{}
	var best int64
	for i := range parts {
		p := &parts[i]
		if n := p.Change(); n > 0 && (most == nil || n > most.Change()) {
			most = p
		}
		if n := p.Change(); p.CB.OK && (n < 0 || sums[p.Op] < math.MaxInt64-n) { // only to be compared
			sums[p.Op] += n
		}
	}
	for _, p := range parts { // in their order, not that of a map
		if n := sums[p.Op]; p.CB.OK && n > best {
			op, best = p.Op, n
		}
	}
	if op == "" && most != nil {
		op = most.Op
	}
	return op, most
}
