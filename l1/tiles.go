package l1

// A Tile is a set of cores that belong to the same sets, of the sets that were given.
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
// Cost: O(sets x tiles), but for sets that share no core with an earlier one. Most sets of a
// program or device are the same few, so that there are few tiles.
func Tiles(sets []CoreSet) []Tile {
	out := make([]Tile, 0, len(sets))
	in := func(of ...int) []int { return append(make([]int, 0, min(len(sets), 8)), of...) } // few sets need no more room
	var all CoreSet                                                                         // of the sets so far
	for i, set := range sets {
		fresh := set.Minus(all)
		left := set.Len() - fresh.Len() // cores of tiles that are there
		for k := range out {            // the present tiles: the parts split off come after them
			t := &out[k]
			if left == 0 {
				break
			}
			if !set.Overlaps(t.Cores) {
				continue
			}
			if !set.Contains(t.Cores) {
				outside := t.Cores.Minus(set)
				t.Cores = t.Cores.Intersect(set)
				out = append(out, Tile{outside, in(t.In...)})
				t = &out[k]
			}
			t.In = append(t.In, i)
			left -= t.Cores.Len()
		}
		if !fresh.IsEmpty() {
			out = append(out, Tile{fresh, in(i)})
			all = all.Union(fresh)
		}
	}
	return out
}
