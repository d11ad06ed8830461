package fit

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// An Outline is what lives on some places as far as it says whether a program fits, and not
// why it does not. Making one costs a look at all buffers; a question looks up what lies
// where the program does. The zero Outline has no places.
type Outline struct {
	sites []site
	free  []l1.Range
}

// NewOutline returns the outline of places. Cost: O(n log n) in their buffers, for each
// set of cores on which the same lie.
func NewOutline(places ...Place) Outline {
	var o Outline
	for i := range places {
		s := siteOf(&places[i])
		s.layers = outlined(s.layers)
		o.sites, o.free = append(o.sites, s), append(o.free, places[i].free())
	}
	return o
}

// outlined returns layers that hold the same: for each tile what lies there of each kind,
// merged. Of unsized buffers it is the lowest.
func outlined(layers []layer) (out []layer) {
	for _, t := range tiles(layers) {
		type group struct {
			kind    Kind
			unsized bool
		}
		groups := map[group][]l1.Range{}
		for _, y := range t.layers {
			g := group{y.buffer.Kind, y.buffer.Unsized}
			groups[g] = append(groups[g], y.ranges...)
		}
		for kind := KindCB; kind.InL1(); kind++ {
			if all := l1.Merge(groups[group{kind, false}]); len(all) > 0 {
				out = append(out, layer{t.cores, all, &Buffer{Kind: kind}})
			}
			if all := groups[group{kind, true}]; len(all) > 0 {
				low := slices.MinFunc(all, l1.Range.Compare)
				out = append(out, layer{t.cores, []l1.Range{low}, &Buffer{Kind: kind, Unsized: true}})
			}
		}
	}
	return out
}

// Fits reports whether a program fits on all places, as Check does. It is false if that is not known.
func (o Outline) Fits(p *program.Program) bool {
	if p == nil {
		return true
	}
	clear := true
	for i := range o.sites {
		clear = clear && Clears(p, o.sites[i].Spec, o.free[i])
	}
	if clear {
		return true
	}
	low := lows{sites: o.sites}
	for i := range o.sites {
		at := &o.sites[i]
		if refusals, doubts := at.refusals(p, &low, at.Hybrid); len(refusals) > 0 || len(doubts) > 0 || at.blocks(p) {
			return false
		}
	}
	return true
}

// blocks reports whether bytes of a program are beyond L1, or held by what is outlined.
func (at *site) blocks(p *program.Program) bool {
	for _, own := range layersOf(p) {
		r := own.ranges[0]
		if at.Spec.L1Size > 0 && r.End > at.Spec.L1Size {
			return true
		}
		for _, y := range at.layers {
			// The first range that ends above the start of r.
			i, _ := slices.BinarySearchFunc(y.ranges, r.Start, func(o l1.Range, start uint64) int {
				if o.End <= start {
					return -1
				}
				return 1
			})
			if i < len(y.ranges) && y.ranges[i].Overlaps(r) && y.cores.Overlaps(own.cores) {
				return true
			}
		}
	}
	return false
}
