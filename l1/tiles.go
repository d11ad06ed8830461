package l1

import "slices"

// A Tile is a set of cores that lie in the same ones of some core sets.
type Tile struct {
	Cores CoreSet // at least one
	In    []int   // indices of the sets, ascending; at least one
}

// Tiles divides the cores of sets so that each part lies wholly inside or outside of
// each set:
//
//	sets    0: 0-0 1-0      1: 1-0 2-0
//	tiles   0-0 in 0        1-0 in 0 and 1        2-0 in 1
//
// Cost: O(sets x tiles). Most sets of a program or device are the same few, so that
// there are few tiles.
func Tiles(sets []CoreSet) []Tile {
	var out []Tile
	for i, rest := range sets {
		for k := range out { // those there are now: what is split off comes after them
			if rest.IsEmpty() {
				break
			}
			t := &out[k]
			if rest.Equal(t.Cores) { // most sets are one that was there
				t.In, rest = append(t.In, i), CoreSet{}
				break
			}
			if !rest.Overlaps(t.Cores) {
				continue
			}
			if !rest.Contains(t.Cores) {
				outside := t.Cores.Minus(rest)
				t.Cores = t.Cores.Intersect(rest)
				out = append(out, Tile{outside, slices.Clone(t.In)})
				t = &out[k]
			}
			t.In = append(t.In, i)
			rest = rest.Minus(t.Cores)
		}
		if !rest.IsEmpty() {
			out = append(out, Tile{rest, []int{i}})
		}
	}
	return out
}
