package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
)

// A page is an answer for people: the answer in its first line, and blocks of text below it. Its methods make all
// text visible (shown.Visible), so that no name from a file steers a terminal.
type page struct {
	blocks  []block
	doubts  []string // that a last line names, or several for all pages
	details bool     // blocks of details are written
}

// A block is a few lines, notes or a table. Only one of them is there, but for the heading of
// a table.
type block struct {
	apart  bool          // a blank line stands above it
	detail func() []note // makes the notes, if details are written; nil for other blocks
	lines  []string
	notes  []note
	table  table

	picture draw.Picture // nil: none
}

// line adds a line of its own.
func (p *page) line(format string, args ...any) {
	p.blocks = append(p.blocks, block{lines: []string{shown.Visible(fmt.Sprintf(format, args...))}})
}

// note adds labelled lines.
func (p *page) note(notes ...note) { p.blocks = append(p.blocks, block{notes: visibleNotes(notes)}) }

// visibleNotes returns notes made visible. Line ends are blanks there.
func visibleNotes(notes []note) (out []note) {
	for _, n := range notes {
		text := strings.Join(strings.Fields(n.text), " ")
		out = append(out, note{shown.Visible(n.label), shown.Visible(text)})
	}
	return out
}

// apart adds notes behind a blank line.
func (p *page) apart(notes []note) {
	if len(notes) > 0 {
		p.blocks = append(p.blocks, block{apart: true, notes: visibleNotes(notes)})
	}
}

// detail adds notes that are made and written only with details: they cost as much as
// there are devices.
func (p *page) detail(notes func() []note) {
	p.blocks = append(p.blocks, block{apart: true, detail: notes})
}

// shown returns the blocks that are written.
func (p *page) shown() (out []block) {
	for _, b := range p.blocks {
		if b.detail != nil && p.details {
			b.notes = visibleNotes(b.detail())
		}
		if b.detail == nil || len(b.notes) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// table adds a table behind a blank line, with a heading unless it is "".
func (p *page) table(title string, t table) {
	b := block{apart: true, table: t}
	for i, line := range t.more {
		t.more[i] = shown.Visible(line)
	}
	if title != "" {
		b.lines = []string{shown.Visible(title)}
	}
	p.blocks = append(p.blocks, b)
}

// picture adds a picture behind a blank line.
func (p *page) picture(one draw.Picture) {
	p.blocks = append(p.blocks, block{apart: true, picture: one})
}

// text writes a page for a terminal, or a file.
func (p *page) text(b *bytes.Buffer, s draw.Style) {
	columns := s.Columns
	for i, block := range p.shown() {
		if block.apart {
			b.WriteByte('\n')
		}
		for k, line := range block.lines {
			switch {
			case !s.Colour:
			case i+k == 0:
				word, _, _ := strings.Cut(line, "  ")
				line = fmt.Sprintf("\x1b[1;%dm%s\x1b[m%s", verdictColour(word), word, line[len(word):])
			case len(block.table.rows) > 0:
				line = "\x1b[1m" + line + "\x1b[m"
			}
			fmt.Fprintf(b, "%s\n", line)
		}
		writeNotes(b, block.notes, columns)
		before := b.Len()
		block.table.write(b, columns)
		if s.Colour {
			rows := strings.ReplaceAll(b.String()[before:], "\n->", "\n\x1b[1;31m->\x1b[m")
			b.Truncate(before)
			b.WriteString(rows)
		}
		if block.picture != nil {
			block.picture.Text(b, s)
		}
		for _, line := range block.table.more {
			fmt.Fprintf(b, "%s\n", line)
		}
	}
	if text := shown.Visible(strings.Join(p.doubts, "; ")); text != "" {
		wrap(b, "?"+strings.Repeat(" ", markWidth-1), markWidth, text, columns)
	}
}

// verdictColour returns the colour of the word that a page begins with, by its number on terminals.
func verdictColour(word string) int {
	const red, green, yellow, none = 31, 32, 33, 39
	switch word {
	case "FAIL", "does not fit", "grown too much":
		return red
	case "ok", "fits", "the same":
		return green
	case "cannot tell", "?":
		return yellow
	}
	return none
}

// markdown writes a page as Markdown.
func (p *page) markdown(b *bytes.Buffer) {
	listed := false
	for i, block := range p.shown() {
		for k, line := range block.lines {
			switch {
			case i+k == 0:
				fmt.Fprintf(b, "**%s**\n", inert(line))
			case len(block.table.rows) > 0:
				fmt.Fprintf(b, "\n#### %s\n", inert(line))
			default:
				fmt.Fprintf(b, "\n%s\n", inert(line))
			}
		}
		if len(block.notes) > 0 && !listed {
			b.WriteByte('\n')
		}
		listed = len(block.notes) > 0
		for _, n := range block.notes {
			fmt.Fprintf(b, "- %s: %s\n", inert(n.label), inert(n.text))
		}
		if len(block.table.rows) > 0 {
			b.WriteByte('\n')
			block.table.markdown(b)
		}
		for _, line := range block.table.more {
			fmt.Fprintf(b, "\n%s\n", inert(line))
		}
	}
	if text := shown.Visible(strings.Join(p.doubts, "; ")); text != "" {
		if !listed {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "- ?: %s\n", inert(text))
	}
}

// lineWidth is how wide lines are without a terminal, where names allow it. leastWidth
// is the width of the narrowest terminal that is followed.
const (
	lineWidth  = 100
	leastWidth = 40
)

// A note is one labelled line of text.
type note struct{ label, text string }

// writeNotes writes labelled texts, broken between words and indented below
// themselves. A label that comes twice in a row is shown once.
func writeNotes(b *bytes.Buffer, notes []note, columns int) {
	const indent = 12
	last := ""
	for _, n := range notes {
		label := n.label
		if label == last {
			label = ""
		}
		last = n.label
		wrap(b, gap+label+strings.Repeat(" ", max(1, indent-len(gap)-len(label))), indent, n.text, columns)
	}
}

// wrap writes text behind the begin of a line, broken between words. Further lines are indented.
func wrap(b *bytes.Buffer, line string, indent int, text string, columns int) {
	if columns == 0 {
		columns = lineWidth
	}
	columns = max(columns, leastWidth)
	empty := true
	for word := range strings.FieldsSeq(text) {
		if !empty && shown.Width(line)+shown.Width(word) > columns {
			writeLine(b, line)
			line = strings.Repeat(" ", indent)
		}
		line += word + " "
		empty = false
	}
	writeLine(b, line)
}
