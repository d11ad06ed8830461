package program

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A site is where a CB is placed.
type site struct {
	cores l1.CoreSet
	own   []int32 // the entries of the ledger with exactly its ranges
	low   uint64  // the lowest address
}

// A shape is a core range set that CBs of the program name. Most programs name one to three, again
// and again: work on each core is done once per shape.
type shape struct {
	site
	ranges  l1.CoreRangeSet // by which it is placed: as stated, or as tt-metal re-cuts them
	doubled l1.CoreSet      // cores that two of its rectangles share, as stated
	outside l1.CoreSet      // cores outside the grid
}

func (s shape) where() l1.CoreSet { return s.cores }

// newShape returns the shape of a core range set.
func (p *Program) newShape(set l1.CoreRangeSet) shape {
	s := shape{site: site{cores: set.Cores(), low: p.spec.CBBase}, ranges: set}
	if !p.written {
		s.ranges = set.Merge()
	}
	sum, inside := uint64(0), true
	for r := range set.All() {
		sum, inside = sum+uint64(r.Len()), inside && p.spec.Has(r.End)
	}
	if sum > uint64(s.cores.Len()) { // only then is it worth looking for the pair
		a, b, _ := set.Overlap()
		s.doubled = a.Cores().Intersect(b.Cores())
	}
	if !inside {
		s.outside = s.cores.Minus(p.spec.Grid().Cores())
	}
	return s
}

// shapes finds the distinct core range sets of the CBs, by first appearance.
func (p *Program) shapes(cbs []CB) (out []shape) {
	out, p.sets, p.on = make([]shape, 0, 1), make([]l1.CoreRangeSet, 0, 1), make([]l1.CoreSet, 0, 1)
	for i := range cbs {
		set := cbs[i].Cores
		k := slices.IndexFunc(p.sets, set.Equal)
		if k < 0 {
			k = len(out)
			out = append(out, p.newShape(set))
			p.sets, p.on = append(p.sets, set), append(p.on, out[k].cores)
		}
		p.cbs[i].set = int32(k)
	}
	p.sets, p.on = slices.Clip(p.sets), slices.Clip(p.on)
	p.cores = unite(coresOf(out, shape.where))
	for _, base := range p.bases {
		cores := base.Cores.Cores()
		for k := range out {
			if out[k].cores.Overlaps(cores) {
				out[k].low = max(out[k].low, base.Address)
			}
		}
	}
	return out
}

// unite returns the union of sets.
func unite(sets []l1.CoreSet) l1.CoreSet {
	switch n := len(sets); n {
	case 0:
		return l1.CoreSet{}
	case 1:
		return sets[0]
	default:
		return unite(sets[:n/2]).Union(unite(sets[n/2:]))
	}
}

// coresOn returns the cores of legal rectangles.
func coresOn(rects []l1.CoreRange) l1.CoreSet {
	if len(rects) == 1 {
		return rects[0].Cores()
	}
	return unite(coresOf(rects, l1.CoreRange.Cores))
}
