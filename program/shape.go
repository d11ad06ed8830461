package program

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// An area is a set of cores, as rectangles and as bits.
type area struct {
	ranges l1.CoreRangeSet // may overlap: a core counts once
	cores  l1.CoreSet      // the cores of ranges
}

// newArea returns the area of legal rectangles. Where many of these share cores it is cut
// anew, so that whoever walks over its rectangles meets each core a few times at most.
func newArea(ranges []l1.CoreRange) area {
	set, _ := l1.NewCoreRangeSet(ranges...)
	a := area{set, set.Cores()}
	if sum(set)/4 > a.cores.Len() {
		a.ranges = a.cores.Ranges()
	}
	return a
}

// sum returns the number of cores of all rectangles of a set.
func sum(set l1.CoreRangeSet) (n int) {
	for r := range set.All() {
		n += r.Len()
	}
	return n
}

// A shape is a core range set that CBs of the program name. Most programs name one
// to three, again and again: what costs time for each core is done once per shape.
type shape struct {
	area                    // its ranges as tt-metal re-cuts them
	stated  l1.CoreRangeSet // its ranges as stated
	cbs     []int           // the CBs that name it, in creation order
	doubled l1.CoreSet      // cores that two of its rectangles share, as stated
	outside l1.CoreSet      // cores outside the grid
}

// shapesOf returns the distinct core range sets of the CBs by first appearance.
func shapesOf(cbs []Placed, spec l1.Spec, known *Shapes) []shape {
	var shapes []shape
	seen := map[string]int{}
	var key []byte
	for i := range cbs {
		set := cbs[i].Cores
		key = key[:0]
		for r := range set.All() {
			key = appendCores(key, r)
		}
		k, found := seen[string(key)]
		if !found {
			k = len(shapes)
			seen[string(key)] = k
			shapes = append(shapes, known.shape(key, set, spec))
		}
		shapes[k].cbs = append(shapes[k].cbs, i)
	}
	return shapes
}

func newShape(set l1.CoreRangeSet, spec l1.Spec) shape {
	s := shape{area: area{set.Merge(), set.Cores()}, stated: set}
	if sum(set) > s.cores.Len() { // only then is it worth looking for the pair
		a, b, _ := set.Overlap()
		s.doubled = a.Cores().Intersect(b.Cores())
	}
	if spec.Cols > 0 {
		s.outside = s.cores.Minus(spec.Grid().Cores())
	}
	return s
}

// unite returns the union of the sets. Halving keeps it cheap for any number.
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

// A cell is a set of cores that the same areas cover.
type cell struct {
	cores l1.CoreSet
	areas []int // ascending, at least one
}

// cells divides the cores of the areas by which areas cover them, ordered by first
// core. Each core has a number for the areas seen so far; an area moves its cores
// to new numbers, one for each old one:
//
//	area 0 [0-0 - 1-0], area 1 [1-0 - 2-0]    core  0-0 1-0 2-0
//	                                                 0   0   0
//	                             after area 0        1   1   0
//	                             after area 1        1   2   3     2: from 1, 3: from 0
//
// Cost: the sum of the areas' cores, whatever their rectangles.
func cells(areas []area) []cell {
	if len(areas) == 1 && !areas[0].cores.IsEmpty() {
		return []cell{{areas[0].cores, []int{0}}}
	}
	return gather(number(areas))
}

// A node is a history of areas: those of its parent, and one more.
type node struct {
	parent int32 // number before the area
	area   int32
}

// A numbering says which areas each core is in, as the number of a node. Node 0 is in no
// area.
type numbering struct {
	nodes []node
	at    []int32 // core x*rows+y -> number
	rows  int
}

// number goes through the areas and moves the cores of each to numbers of their own.
func number(areas []area) numbering {
	cols, rows := 0, 0
	for _, a := range areas {
		for r := range a.ranges.All() {
			cols, rows = max(cols, int(r.End.X)+1), max(rows, int(r.End.Y)+1)
		}
	}
	nodes := []node{{-1, -1}}
	at := make([]int32, cols*rows)
	moved := map[int32]int32{}
	for i, a := range areas {
		clear(moved)
		first := int32(len(nodes)) // numbers from here on have had this area
		last, to := int32(-1), int32(-1)
		for r := range a.ranges.All() {
			for x := int(r.Start.X); x <= int(r.End.X); x++ {
				column := at[x*rows+int(r.Start.Y) : x*rows+int(r.End.Y)+1]
				for k, n := range column {
					if n >= first {
						continue
					}
					if n != last {
						var ok bool
						if to, ok = moved[n]; !ok {
							to = int32(len(nodes))
							nodes = append(nodes, node{n, int32(i)})
							moved[n] = to
						}
						last = n
					}
					column[k] = to
				}
			}
		}
	}
	return numbering{nodes, at, rows}
}

// gather returns a cell for each number that cores have.
func gather(by numbering) []cell {
	nodes, at, rows := by.nodes, by.at, by.rows
	var out []cell
	var cores [][]l1.Core
	index := make([]int, len(nodes)) // number -> 1 + position in out
	for p, n := range at {
		if n == 0 {
			continue
		}
		if index[n] == 0 {
			var c cell
			for n := n; n != 0; n = nodes[n].parent {
				c.areas = append(c.areas, int(nodes[n].area))
			}
			slices.Reverse(c.areas)
			out, cores = append(out, c), append(cores, nil)
			index[n] = len(out)
		}
		k := index[n] - 1
		cores[k] = append(cores[k], l1.Core{X: uint8(p / rows), Y: uint8(p % rows)})
	}
	for k := range out {
		out[k].cores = l1.CoreSetOf(cores[k]...)
	}
	return out
}
