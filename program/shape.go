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

// find finds the distinct core range sets of the CBs, by first appearance.
func (s *workspace) find(cbs []CB) {
	for i := range cbs {
		set := cbs[i].Cores
		if i > 0 && set.Equal(cbs[i-1].Cores) {
			s.of = append(s.of, s.of[i-1])
			continue
		}
		s.key = appendSet(s.key[:0], set)
		k, fresh := s.roll.number(s.key)
		if fresh {
			s.shapes = append(s.shapes, newShape(set, *s.spec))
		}
		s.of = append(s.of, k)
	}
	s.share()
}

// share gives each shape its CBs, one after the other in one slice.
func (s *workspace) share() {
	s.cbs = slices.Grow(s.cbs[:0], len(s.of))[:len(s.of)]
	s.counts = zeroed(s.counts, len(s.shapes))
	for _, k := range s.of {
		s.counts[k]++
	}
	at := 0
	for k, n := range s.counts {
		s.shapes[k].cbs = s.cbs[at : at : at+int(n)]
		at += int(n)
	}
	for i, k := range s.of {
		s.shapes[k].cbs = append(s.shapes[k].cbs, i)
	}
}

func newShape(set l1.CoreRangeSet, spec l1.Spec) shape {
	s := shape{area: area{set.Merge(), set.Cores()}, stated: set}
	if set.Len() > 1 && sum(set) > s.cores.Len() { // only then is it worth looking for the pair
		a, b, _ := set.Overlap()
		s.doubled = a.Cores().Intersect(b.Cores())
	}
	for r := range set.All() {
		if !spec.Has(r.End) {
			s.outside = s.cores.Minus(spec.Grid().Cores())
			break
		}
	}
	return s
}

// unite returns the union of sets that share no core.
func unite(sets []l1.CoreSet) (all l1.CoreSet) {
	const few = 4
	if len(sets) <= few {
		for _, s := range sets {
			all = all.Union(s)
		}
		return all
	}
	n := 0
	for _, s := range sets {
		n += s.Len()
	}
	cores := make([]l1.Core, 0, n)
	for _, s := range sets {
		cores = slices.AppendSeq(cores, s.All())
	}
	return l1.CoreSetOf(cores...)
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
func (s *workspace) cells(areas []area) []cell {
	if len(areas) == 1 && !areas[0].cores.IsEmpty() {
		return []cell{{areas[0].cores, []int{0}}}
	}
	s.move(areas)
	return s.gather()
}

// A node is a history of areas: those of its parent, and one more.
type node struct {
	parent int32 // number before the area
	area   int32
	last   int32 // the area that moved cores from here last
	to     int32 // and where to
}

// A numbering says which areas each core is in, as the number of a node. Node 0 is in no
// area.
type numbering struct {
	nodes []node
	at    []int32 // core x*rows+y -> number
	rows  int

	// Of gather: number -> 1 + position of its cell, and of each cell the number of its
	// cores and where they begin in cores.
	index, sizes, starts []int32
	cores                []l1.Core
}

// move goes through the areas and moves the cores of each to numbers of their own.
func (by *numbering) move(areas []area) {
	cols, rows := 0, 0
	for _, a := range areas {
		for r := range a.ranges.All() {
			cols, rows = max(cols, int(r.End.X)+1), max(rows, int(r.End.Y)+1)
		}
	}
	by.rows = rows
	by.nodes = append(by.nodes[:0], node{parent: -1, area: -1, last: -1})
	by.at = zeroed(by.at, cols*rows)
	for i, a := range areas {
		first := int32(len(by.nodes)) // numbers from here on have had this area
		for r := range a.ranges.All() {
			for x := int(r.Start.X); x <= int(r.End.X); x++ {
				column := by.at[x*rows+int(r.Start.Y) : x*rows+int(r.End.Y)+1]
				for k, n := range column {
					if n < first {
						column[k] = by.child(n, int32(i))
					}
				}
			}
		}
	}
}

// child returns the number of cores that had number n, and then the area.
func (by *numbering) child(n, area int32) int32 {
	from := &by.nodes[n]
	if from.last != area {
		to := int32(len(by.nodes))
		from.last, from.to = area, to
		by.nodes = append(by.nodes, node{parent: n, area: area, last: -1})
		return to
	}
	return from.to
}

// gather returns a cell for each number that cores have.
func (by *numbering) gather() []cell {
	by.index = zeroed(by.index, len(by.nodes))
	sizes, depths := by.sizes[:0], 0
	for _, n := range by.at {
		switch {
		case n == 0:
			continue
		case by.index[n] == 0:
			sizes = append(sizes, 0)
			by.index[n] = int32(len(sizes))
			for n := n; n != 0; n = by.nodes[n].parent {
				depths++
			}
		}
		sizes[by.index[n]-1]++
	}
	out, areas := make([]cell, len(sizes)), make([]int, 0, depths)
	by.cores = slices.Grow(by.cores[:0], len(by.at))[:len(by.at)]
	starts, at := zeroed(by.starts, len(sizes)), int32(0)
	for k, n := range sizes {
		starts[k], at = at, at+n
	}
	by.sizes, by.starts = sizes, starts
	for p, n := range by.at {
		if n == 0 {
			continue
		}
		k := by.index[n] - 1
		if c := &out[k]; c.areas == nil {
			from := len(areas)
			for n := n; n != 0; n = by.nodes[n].parent {
				areas = append(areas, int(by.nodes[n].area))
			}
			c.areas = areas[from:len(areas):len(areas)]
			slices.Reverse(c.areas)
		}
		by.cores[starts[k]] = l1.Core{X: uint8(p / by.rows), Y: uint8(p % by.rows)}
		starts[k]++
	}
	for k, end := range starts {
		out[k].cores = l1.CoreSetOf(by.cores[end-sizes[k] : end]...)
	}
	return out
}

// zeroed returns n zeros, in the memory of s if it is large enough.
func zeroed(s []int32, n int) []int32 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
