package classes

import "github.com/cbl1/cbl1/l1"

// A grid maps each core to the number of its class in a partition. It covers the
// smallest rectangle from core 0-0 that has all cores in use. A partition with a core
// beyond corner is wide, and has no grid: a hostile input of one line could make it
// take 260 KB, and no board is that large.
type grid struct {
	cols, rows int
	in         []int32 // 1 + the number of the class; 0 = none
	wide       bool
}

// corner is how many columns and rows a grid has at most.
const corner = 32

// beyond reports whether a core has no place in any grid.
func beyond(c l1.Core) bool { return c.X >= corner || c.Y >= corner }

// at returns the number of the class of a core, -1 if it is in none.
func (g *grid) at(c l1.Core) int {
	if int(c.X) >= g.cols || int(c.Y) >= g.rows {
		return -1
	}
	return int(g.in[int(c.X)*g.rows+int(c.Y)]) - 1
}

// put puts some cores in a class, or in none if it is -1.
func (g *grid) put(cores l1.CoreSet, class int) {
	if g.wide {
		return
	}
	for c := range cores.All() {
		if int(c.X) >= g.cols || int(c.Y) >= g.rows {
			if g.room(cores); g.wide {
				return
			}
		}
		g.in[int(c.X)*g.rows+int(c.Y)] = int32(class + 1)
	}
}

// room makes room for some cores.
func (g *grid) room(cores l1.CoreSet) {
	cols, rows := g.cols, g.rows
	for c := range cores.All() {
		if beyond(c) {
			*g = grid{wide: true}
			return
		}
		cols, rows = max(cols, int(c.X)+1), max(rows, int(c.Y)+1)
	}
	larger := grid{cols: cols, rows: rows, in: make([]int32, cols*rows)}
	for x := range g.cols {
		copy(larger.in[x*rows:], g.in[x*g.rows:][:g.rows])
	}
	*g = larger
}
