package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/cbl1/cbl1/compare"
)

// DiffMarkdown writes a comparison as DiffText does, in Markdown for a pull request. Names
// are inert in it: nothing in them is markup.
func DiffMarkdown(w io.Writer, d *compare.Diff) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "**%s**\n\n", inert(diffAnswer(d)))
	for _, n := range diffNotes(d) {
		fmt.Fprintf(&b, "- %s: %s\n", inert(n.label), inert(n.text))
	}
	for _, s := range diffSections(d) {
		b.WriteByte('\n')
		if s.title != "" {
			fmt.Fprintf(&b, "#### %s\n\n", inert(s.title))
		}
		writeMarkdown(&b, s.table)
		if s.more != "" {
			for line := range strings.SplitSeq(s.more, "\n") {
				fmt.Fprintf(&b, "\n%s\n", inert(line))
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeMarkdown writes a table whose first row is its head.
func writeMarkdown(b *bytes.Buffer, t table) {
	for i, row := range t.rows {
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

// inert returns text that Markdown shows as it stands. It was made visible before.
func inert(text string) string {
	var b strings.Builder
	text = strings.ReplaceAll(text, "www.", "www\\.") // which would be a link
	for i, r := range text {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '@': // names nobody
			b.WriteString("&#64;")
		case '\\', '`', '*', '_', '{', '}', '[', ']', '(', ')', '#', '|', '~', '!', '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		case ':': // begins no name of a picture and no address: those go on behind it
			if next := text[i+1:]; next == "" || next[0] == ' ' {
				b.WriteByte(':')
			} else {
				b.WriteString("&#58;")
			}
		case '\n':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
