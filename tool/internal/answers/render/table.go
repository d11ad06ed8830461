package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
)

// A table aligns its columns by their width on a terminal: to the right, except for the columns in left. Trailing
// blanks are cut. The first row is the head.
type table struct {
	left map[int]bool
	rows [][]string
	more []string // lines below the table
	// spans are headings over several columns, above the first row.
	spans []span
	// names are, by row, last cells that can be cut to about n columns. most is n without a terminal.
	names map[int]func(n int) string
	most  int
}

// A span is a heading over the columns first to last.
type span struct {
	text        string
	first, last int
}

const gap = "  "

// headed returns a table with a head. A "<" before the name of a column aligns it left.
func headed(names ...string) table {
	t := table{left: map[int]bool{}, most: 60}
	for i, name := range names {
		names[i], t.left[i] = strings.CutPrefix(name, "<")
	}
	t.rows = [][]string{names}
	return t
}

// first returns the first rows of a list for a table. The table then counts the other rows and rest, the rows that
// the list itself lacks.
func first[T any](t *table, rows []T, most int, rest int64) []T {
	if n := int64(len(rows)-most) + rest; n > 0 {
		t.more = append(t.more, grouped(n)+" more: --format json shows all")
	}
	return rows[:min(len(rows), most)]
}

// add adds a row. Its cells are made visible.
func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, v := range cells {
		row[i] = shown.Visible(cell(v))
	}
	t.rows = append(t.rows, row)
}

// named adds a row whose last cell is a name that can be cut to about n columns.
func (t *table) named(name func(n int) string, cells ...any) {
	if t.names == nil {
		t.names = map[int]func(int) string{}
	}
	t.names[len(t.rows)] = name
	t.add(append(cells, name(t.most))...)
}

// leastName is how many columns a name has in the narrowest terminal.
const leastName = 16

// fit shortens names until the table fits into columns. Names may use free columns.
func (t *table) fit(columns int) {
	if columns == 0 || len(t.names) == 0 {
		return
	}
	for n := columns; ; {
		for row, name := range t.names {
			cells := t.rows[row]
			cells[len(cells)-1] = shown.Visible(name(n))
		}
		over := t.total() - columns
		if over <= 0 || n == leastName {
			return
		}
		n = max(n-over, leastName)
	}
}

// widths returns the width of each column.
func (t *table) widths() (width []int) {
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], shown.Width(cell))
		}
	}
	return width
}

// total is the width of the table.
func (t *table) total() (sum int) {
	for _, w := range t.widths() {
		sum += w + len(gap)
	}
	return sum - len(gap)
}

// over is the width of the columns of a span.
func (s span) over(width []int) int {
	sum := len(gap) * (s.last - s.first)
	for _, w := range width[s.first : s.last+1] {
		sum += w
	}
	return sum
}

// write writes the table for a terminal with so many columns, 0 for none. One that is too wide
// is turned: each column becomes a line.
func (t *table) write(b *bytes.Buffer, columns int) {
	t.fit(columns)
	if columns > 0 && len(t.names) == 0 && t.total() > columns {
		if turned := t.turned(); turned.total() <= columns {
			t = &turned
		}
	}
	width := t.widths()
	for _, s := range t.spans { // a heading wider than its columns widens the last of them
		width[s.last] += max(0, len(s.text)-s.over(width))
	}
	if len(t.spans) > 0 {
		line, at := "", 0
		for _, s := range t.spans {
			for ; at < s.first; at++ {
				line += strings.Repeat(" ", width[at]) + gap
			}
			line += ruled(s.text, s.over(width)) + gap
			at = s.last + 1
		}
		writeLine(b, line)
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-shown.Width(cell))
			if t.left[i] {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
			line.WriteString(gap)
		}
		writeLine(b, line.String())
	}
}

// turned returns the table with its columns as rows.
func (t *table) turned() table {
	out := table{left: map[int]bool{0: true}}
	for i, head := range t.head() {
		cells := []any{head}
		for _, row := range t.rows[1:] {
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			cells = append(cells, cell)
		}
		out.add(cells...)
	}
	return out
}

// head returns the first row, each cell with the heading above it.
func (t *table) head() []string {
	head := append([]string{}, t.rows[0]...)
	for _, s := range t.spans {
		for i := s.first; i <= s.last; i++ {
			head[i] = s.text + ": " + head[i]
		}
	}
	return head
}

// markdown writes the table as Markdown.
func (t *table) markdown(b *bytes.Buffer) {
	for i, row := range t.rows {
		if i == 0 {
			row = t.head()
		}
		for _, cell := range row {
			text := inert(strings.TrimLeft(cell, " "))
			if strings.HasPrefix(cell, "  ") { // it belongs to the row above
				text = "- " + text
			}
			fmt.Fprintf(b, "| %s ", text)
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for k := range row {
			rule := "--:"
			if t.left[k] {
				rule = ":--"
			}
			fmt.Fprintf(b, "| %s ", rule)
		}
		b.WriteString("|\n")
	}
}

// ruled centres a heading on a rule, to show which columns it covers.
func ruled(text string, width int) string {
	free := width - len(text) - 2
	if free < 2 {
		return text + strings.Repeat(" ", width-len(text))
	}
	return strings.Repeat("-", free/2) + " " + text + " " + strings.Repeat("-", free-free/2)
}

func writeLine(b *bytes.Buffer, line string) {
	b.WriteString(strings.TrimRight(line, " "))
	b.WriteByte('\n')
}
