package draw

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// A ShadedGrid is the cores of a device, shaded by bytes.
type ShadedGrid struct {
	Name       string // of the device, and of the moment
	Cols, Rows int    // 0x0: as far as there are shades
	Full       uint64 // all bytes of a core; 0: unknown
	FullIs     string // what these are: "usable L1"
	Shades     []Shade
}

// A Shade is a set of cores that hold the same number of bytes. Cores that are in none hold
// nothing.
type Shade struct {
	Cores l1.CoreSet
	Bytes uint64
}

// cells are the bytes of each cell, row by row. A cell is n x n cores, and has the bytes of the
// fullest of them.
func (g ShadedGrid) cells(n int) (cells [][]uint64) {
	cols, rows := g.size()
	for range (rows + n - 1) / n {
		cells = append(cells, make([]uint64, (cols+n-1)/n))
	}
	for _, s := range g.Shades {
		for c := range s.Cores.All() {
			if x, y := int(c.X)/n, int(c.Y)/n; y < len(cells) && x < len(cells[y]) {
				cells[y][x] = max(cells[y][x], s.Bytes)
			}
		}
	}
	return cells
}

// size is the size of the grid with all cores that are shaded.
func (g ShadedGrid) size() (cols, rows int) {
	cols, rows = g.Cols, g.Rows
	for _, s := range g.Shades {
		for r := range s.Cores.Ranges().All() {
			cols, rows = max(cols, int(r.End.X)+1), max(rows, int(r.End.Y)+1)
		}
	}
	return cols, rows
}

// most is how much the fullest core holds.
func (g ShadedGrid) most() (bytes uint64) {
	for _, s := range g.Shades {
		bytes = max(bytes, s.Bytes)
	}
	return bytes
}

// full returns the bytes of a full cell, and their name.
func (g ShadedGrid) full() (bytes uint64, is string) {
	if g.Full > 0 {
		return g.Full, g.FullIs
	}
	return g.most(), "what the fullest core holds"
}

// maxLines is how many lines of cells a grid has.
const maxLines = 64

// layout returns how many columns a cell has, and of how many cores it is a square.
func (g ShadedGrid) layout(columns int) (wide, n int) {
	cols, rows := g.size()
	n = max(1, (rows+maxLines-1)/maxLines)
	for ; ; n++ {
		for _, wide := range []int{5, 3, 2, 1} {
			if (cols+n-1)/n*wide+axis <= columns {
				return wide, n
			}
		}
	}
}

// axis is how many columns the numbers of rows have.
const axis = 5

// Text draws the grid: a shade for each core, beside it the share in percent where there is
// room, and a legend.
func (g ShadedGrid) Text(b *bytes.Buffer, s Style) {
	full, _ := g.full()
	line(b, "%s", fitted(g.Name, s.width()))
	wide, n := g.layout(s.width())
	cells := g.cells(n)
	if len(cells) == 0 {
		line(b, "  no core is known")
		return
	}
	step := 1 // columns that have their number above
	for step*wide < 4 {
		step++
	}
	var head strings.Builder
	head.WriteString(strings.Repeat(" ", axis))
	for x := 0; x < len(cells[0]); x += step {
		fmt.Fprintf(&head, "%-*d", wide*step, x*n)
	}
	line(b, "%s", strings.TrimRight(head.String(), " "))
	for y, row := range cells {
		fmt.Fprintf(b, "%*d  ", axis-2, y*n)
		var out strings.Builder
		for _, bytes := range row {
			out.WriteString(cell(s, bytes, full, wide))
		}
		line(b, "%s", out.String())
	}
	var legend strings.Builder
	for i, text := range g.legend() {
		legend.WriteString(s.paint(s.shade(i), shadeColour(i)) + " " + text + "  ")
	}
	line(b, "  %s", legend.String())
	line(b, "  of %s", g.scale(n))
}

// legend names the shades, from the lightest.
func (g ShadedGrid) legend() []string {
	texts := []string{"nothing"}
	for i := range levels {
		texts = append(texts, fmt.Sprintf("up to %d%%", (i+1)*100/levels))
	}
	if full, _ := g.full(); g.most() > full {
		texts = append(texts, "more")
	}
	return texts
}

// scale names the bytes of a full cell, and the cores of a cell.
func (g ShadedGrid) scale(n int) string {
	full, is := g.full()
	text := fmt.Sprintf("%s, %s bytes", is, exact(full))
	if n > 1 {
		text += fmt.Sprintf("; a cell is %dx%d cores, and shows the fullest", n, n)
	}
	return text
}

// cell is one cell in so many columns.
func cell(s Style, bytes, full uint64, wide int) string {
	n := level(bytes, full)
	text := s.shade(n)
	switch {
	case wide >= 5 && bytes > 0:
		text += percent(bytes, full)
	case wide >= 5:
		text += "   "
	case wide == 3:
		text += text
	}
	gap := strings.Repeat(" ", max(0, min(wide-1, 1)))
	return s.paint(text, shadeColour(n)) + gap
}

func (g ShadedGrid) svg(c *canvas) {
	full, _ := g.full()
	c.heading(g.Name)
	_, n := g.layout(200)
	cells := g.cells(n)
	if len(cells) == 0 {
		return
	}
	size := min(56, max(8, (canvasWidth-40)/len(cells[0])))
	for x := range cells[0] {
		if size >= 20 || x%5 == 0 {
			c.text(40+x*size+size/2, c.y+12, "axis mid", fmt.Sprint(x*n))
		}
	}
	c.y += 18
	for y, row := range cells {
		c.text(32, c.y+size/2+4, "axis end", fmt.Sprint(y*n))
		for x, bytes := range row {
			name := fmt.Sprintf("core %d-%d: %s bytes", x*n, y*n, exact(bytes))
			c.rect(40+x*size, c.y, size-2, size-2, fmt.Sprintf("s%d", level(bytes, full)), name)
			if size >= 28 && bytes > 0 {
				c.text(40+x*size+size/2-1, c.y+size/2+4, fmt.Sprintf("mid t%d", level(bytes, full)), strings.TrimSpace(percent(bytes, full)))
			}
		}
		c.y += size
	}
	c.y += 10
	at := 40
	for i, text := range g.legend() {
		c.rect(at, c.y, 14, 14, fmt.Sprintf("s%d", i), text)
		c.text(at+19, c.y+12, "label", text)
		at += 110
	}
	c.y += 34
	c.text(40, c.y, "label", "percent of "+g.scale(n))
	c.y += 26
}
