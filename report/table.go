package report

import (
	"bytes"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
)

// A table lines its columns up, by what they take on a terminal. Cells are aligned right but for those of the
// columns in left. Trailing blanks are cut.
type table struct {
	left map[int]bool
	rows [][]string
	// spans are headings over several columns, above the first row.
	spans []span
}

// A span is a heading over the columns first to last.
type span struct {
	text        string
	first, last int
}

const gap = "  "

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(b *bytes.Buffer) {
	var width []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], shown.Width(cell))
		}
	}
	// A heading wider than its columns widens the last of them.
	over := func(s span) int {
		sum := len(gap) * (s.last - s.first)
		for i := s.first; i <= s.last; i++ {
			sum += width[i]
		}
		return sum
	}
	for _, s := range t.spans {
		width[s.last] += max(0, len(s.text)-over(s))
	}
	if len(t.spans) > 0 {
		line, at := "", 0
		for _, s := range t.spans {
			for ; at < s.first; at++ {
				line += strings.Repeat(" ", width[at]) + gap
			}
			line += ruled(s.text, over(s)) + gap
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

// lineWidth is how wide the report's lines are, where names allow it.
const lineWidth = 100

// A note is one labelled line of text.
type note struct{ label, text string }

// writeNotes writes labelled texts, broken between words and indented below
// themselves. A label that comes twice in a row is shown once.
func writeNotes(b *bytes.Buffer, notes []note) {
	const indent = 12
	last := ""
	for _, n := range notes {
		label := n.label
		if label == last {
			label = ""
		}
		last = n.label
		line := gap + label + strings.Repeat(" ", max(1, indent-len(gap)-len(label)))
		empty := true
		for word := range strings.FieldsSeq(n.text) {
			if !empty && shown.Width(line)+shown.Width(word) > lineWidth {
				writeLine(b, line)
				line = strings.Repeat(" ", indent)
			}
			line += word + " "
			empty = false
		}
		writeLine(b, line)
	}
}
