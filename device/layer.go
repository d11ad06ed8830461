package device

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A layer is something that holds the same ranges on some cores.
type layer struct {
	kind    Kind
	cores   l1.CoreSet
	ranges  []l1.Range
	program *program.Program // of the kinds that programs bring
	cb      int              // its position in that program
	buffer  *allocation      // of the others; nil = the layer is of programs
}

// A tile is a set of cores on which the same layers lie.
type tile struct {
	cores  l1.CoreSet
	layers []*layer // in their order; at least one
}

// tiles divides the cores of layers so that on each part the same ones lie. Most
// layers lie on the same few sets of cores, so that there are few tiles.
func tiles(layers []layer) []tile {
	var out []tile
	for i := range layers {
		y := &layers[i]
		rest := y.cores
		for k := range out { // those there are now: what is split off comes after them
			if rest.IsEmpty() {
				break
			}
			t := &out[k]
			if !rest.Overlaps(t.cores) {
				continue
			}
			if !rest.Contains(t.cores) {
				outside := t.cores.Minus(rest)
				t.cores = t.cores.Intersect(rest)
				out = append(out, tile{outside, slices.Clone(t.layers)})
				t = &out[k]
			}
			t.layers = append(t.layers, y)
			rest = rest.Minus(t.cores)
		}
		if !rest.IsEmpty() {
			out = append(out, tile{rest, []*layer{y}})
		}
	}
	return out
}

// mergedRanges returns the union of the ranges of layers, lowest first.
func mergedRanges(layers []*layer) []l1.Range {
	var all []l1.Range
	for _, y := range layers {
		all = append(all, y.ranges...)
	}
	return l1.Merge(all)
}
