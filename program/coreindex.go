package program

import "github.com/cbl1/cbl1/l1"

// A coreIndex maps a core to its group, for footprints of many groups: a row of numbers for the
// smallest rectangle around all of them.
type coreIndex struct {
	from l1.Core
	rows int     // cores of the rectangle in a column
	in   []int32 // 1 + the number of the group; 0 = none
}

// manyGroups is the number of groups from which an index is cheaper than a linear search: with another range on
// each core, changes of a device take 1.1 times as long without it.
const manyGroups = 5

// mostCells bounds the area of a coreIndex. Every board fits, and a line of an input cannot demand more
// memory.
const mostCells = 32 * 32

// whereOf returns nil if there are few groups, or the rectangle is too large.
func whereOf(groups []Group) *coreIndex {
	if len(groups) < manyGroups {
		return nil
	}
	from, to := l1.Core{X: 255, Y: 255}, l1.Core{}
	for _, g := range groups {
		for c := range g.cores.All() {
			from.X, from.Y = min(from.X, c.X), min(from.Y, c.Y)
			to.X, to.Y = max(to.X, c.X), max(to.Y, c.Y)
			if (int(to.X-from.X)+1)*(int(to.Y-from.Y)+1) > mostCells {
				return nil
			}
		}
	}
	w := &coreIndex{from: from, rows: int(to.Y-from.Y) + 1}
	w.in = make([]int32, w.rows*(int(to.X-from.X)+1))
	for i, g := range groups {
		for c := range g.cores.All() {
			w.in[w.at(c)] = int32(i + 1)
		}
	}
	return w
}

// at returns the place of a core that is not left of or above the rectangle.
func (w *coreIndex) at(c l1.Core) int { return int(c.X-w.from.X)*w.rows + int(c.Y-w.from.Y) }

// group returns the number of the group of a core, -1 if there is none.
func (w *coreIndex) group(c l1.Core) int {
	if c.X < w.from.X || c.Y < w.from.Y || int(c.Y-w.from.Y) >= w.rows {
		return -1
	}
	if at := w.at(c); at < len(w.in) {
		return int(w.in[at]) - 1
	}
	return -1
}
