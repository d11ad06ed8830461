package program

import (
	"iter"

	"github.com/cbl1/cbl1/l1"
)

// FootprintOf returns the footprint of ranges on sets of cores, for example of a buffer. Its
// Logical is the plain sum of their bytes. A range without bytes, or on no core, takes nothing. ok
// is false if a range is illegal, or if the sum is beyond 2^63-1.
//
// Cost: O(1) for one range. For several, one [l1.Tiles] of their cores, and O(log n) for each range
// of a tile.
func FootprintOf(parts iter.Seq2[l1.CoreSet, l1.Range]) (f Footprint, ok bool) {
	var groups []Group
	for cores, r := range parts {
		if r.Check() != nil {
			return Footprint{}, false
		}
		if !r.IsEmpty() && !cores.IsEmpty() {
			groups = append(groups, Group{cores, []l1.Range{r}, r.Len()})
		}
	}
	if len(groups) < 2 { // as of most buffers
		return sum(groups)
	}
	layers, ranges := make([]layer, len(groups)), make([]l1.Range, len(groups))
	for i, g := range groups {
		layers[i], ranges[i] = layer{g.cores, []int32{int32(i)}}, g.ranges[0]
	}
	return footprint(layers, l1.Tiles(coresOf(layers, layer.where)), ranges, true)
}
