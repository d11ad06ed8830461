package device

import "github.com/cbl1/cbl1/l1"

// A grid says of each core in which class of a partition it is, by its number. It has room
// for the smallest rectangle from core 0-0 that has all cores in use.
type grid struct {
	cols, rows int
	in         []int32 // 1 + the number of the class; 0 = none
}

// at returns the number of the class of a core, -1 if it is in none.
func (g *grid) at(c l1.Core) int {
	if int(c.X) >= g.cols || int(c.Y) >= g.rows {
		return -1
	}
	return int(g.in[int(c.X)*g.rows+int(c.Y)]) - 1
}

// put says that some cores are in a class, or in none if it is -1.
func (g *grid) put(cores l1.CoreSet, class int) {
	g.room(cores)
	for c := range cores.All() {
		g.in[int(c.X)*g.rows+int(c.Y)] = int32(class + 1)
	}
}

// room makes room for some cores.
func (g *grid) room(cores l1.CoreSet) {
	cols, rows := g.cols, g.rows
	for c := range cores.All() {
		cols, rows = max(cols, int(c.X)+1), max(rows, int(c.Y)+1)
	}
	if cols == g.cols && rows == g.rows {
		return
	}
	larger := grid{cols, rows, make([]int32, cols*rows)}
	for x := range g.cols {
		copy(larger.in[x*rows:], g.in[x*g.rows:][:g.rows])
	}
	*g = larger
}
