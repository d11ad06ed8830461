package device

import (
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A layer is something that holds the same ranges on some cores.
type layer struct {
	kind    fit.Kind
	cores   l1.CoreSet
	ranges  []l1.Range
	program *program.Program // of the kinds that programs bring
	cb      int              // its position in that program
	buffer  *heap.Allocation // of the others; nil = the layer is of programs
}

// A tile is a set of cores on which the same layers lie.
type tile struct {
	cores  l1.CoreSet
	layers []*layer // in their order; at least one
}

// tiles divides the cores of layers into sets on which the same layers lie.
func tiles(layers []layer) []tile {
	sets := make([]l1.CoreSet, len(layers))
	for i := range layers {
		sets[i] = layers[i].cores
	}
	parts := l1.Tiles(sets)
	out := make([]tile, len(parts))
	for i, part := range parts {
		out[i] = tile{part.Cores, make([]*layer, len(part.In))}
		for n, k := range part.In {
			out[i].layers[n] = &layers[k]
		}
	}
	return out
}
