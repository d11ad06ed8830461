package render

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/cbl1/cbl1/internal/clash"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// Explain is what tt-metal's messages mean: a table of them, then each with its notes. Its text is
// that of Markdown; clash.WriteText has a shorter one.
func Explain(doc clash.Document) Document {
	var p page
	count := "no message"
	switch n := len(doc.Messages); {
	case n == 1:
		count = "1 message"
	case n > 1:
		count = shown.Plural(n, "different message")
	}
	p.line("%s of tt-metal about L1", count)
	rows := table{left: map[int]bool{2: true}}
	rows.add("line", "times", "message", "bytes too much")
	for _, m := range doc.Messages {
		over := "-"
		if m.Over != nil {
			over = l1.Bytes(*m.Over).Exact()
		}
		rows.add(fmt.Sprint(m.Line), fmt.Sprint(m.Count), shown.Visible(m.Summary), over)
	}
	if doc.More > 0 {
		rows.more = []string{fmt.Sprintf("%s not shown: there are more than %d different ones", shown.Plural(doc.More, "further message"), clash.MaxDistinct)}
	}
	if len(doc.Messages) > 0 {
		p.table("", rows)
	}
	for _, m := range doc.Messages {
		p.line("line %d: %s", m.Line, shown.Visible(m.Text))
		notes := make([]note, 0, len(m.Notes))
		for _, n := range m.Notes {
			notes = append(notes, note{shown.Visible(n.Label), shown.Visible(n.Text)})
		}
		p.note(notes...)
	}
	return Document{page: p, json: func(w io.Writer) error { return json.NewEncoder(w).Encode(doc) }}
}
