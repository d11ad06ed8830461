package render

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// Explain returns the meaning of tt-metal's messages. One message begins with its answer, several with a table
// of answers. Each follows in tt-metal's words, with its notes and, of a capture, the buffers that
// meet. Notes that hold for several messages stand below all of them, each once.
func Explain(doc clash.Document) Output {
	var p page
	switch n := len(doc.Messages); n {
	case 0:
		p.line("no message of tt-metal about L1")
	case 1:
		text := doc.Messages[0].Summary
		if n := doc.Messages[0].Count; n > 1 {
			text += fmt.Sprintf("; %s times", grouped(n))
		}
		p.line("%s", text)
	default:
		p.line("%s of tt-metal about L1", shown.Plural(n, "different message"))
		rows := headed("line", "times", "bytes too much", "<message")
		for _, m := range doc.Messages {
			rows.add(fmt.Sprint(m.Line), fmt.Sprint(m.Count), event.Opt[uint64]{V: m.Over, OK: m.Over > 0}, m.Summary)
		}
		p.table("", rows)
	}
	if doc.More > 0 {
		more := shown.Plural(doc.More, "further message")
		p.line("%s not shown: there are more than %d different ones", more, clash.MaxDistinct)
	}
	p.apart(writeMessages(&p, doc.Messages))
	return Output{page: p, json: func(w io.Writer) error { return json.NewEncoder(w).Encode(doc) }}
}

// writeMessages writes each message in tt-metal's words, with its own notes. It returns the notes that hold for
// several, each once.
func writeMessages(p *page, messages []clash.MessageRow) (common []note) {
	seen := map[string]int64{} // lines of messages, by all but their programs
	for _, m := range messages {
		texts := []string{fmt.Sprint(m.Kind, m.What, m.Cores, m.Summary)}
		var own []note
		for _, n := range m.Notes {
			one := note{n.Label, n.Text}
			switch n.Label {
			case "cores", "buffers", "lowest": // are in the words of tt-metal, and in the table
				continue
			case "chip":
				if m.ArchIs != "given" {
					one = note{"?", "chip: " + n.Text + " (--arch)"}
				}
			}
			switch {
			case slices.Index(commonLabels(), one.label) < 0:
				own = append(own, one)
			case !slices.Contains(common, one):
				common = append(common, one)
			}
			texts = append(texts, one.text)
		}
		key := strings.Join(texts, "\n")
		if line, again := seen[key]; again && m.Program != nil {
			p.line("line %d: the same as on line %d, in program %d", m.Line, line, *m.Program)
			continue
		}
		seen[key] = m.Line
		words := shown.Visible(fmt.Sprintf("line %d: %s", m.Line, m.Text))
		p.blocks = append(p.blocks, block{apart: len(messages) > 1, lines: []string{words}})
		slices.SortStableFunc(own, func(a, b note) int { // advice comes first
			return map[bool]int{true: -1, false: 0}[a.label == "try"] - map[bool]int{true: -1, false: 0}[b.label == "try"]
		})
		p.note(own...)
		if m.Match != nil && m.Match.Level != clash.MatchNone {
			writeMeeting(p, m)
		}
	}
	slices.SortStableFunc(common, func(a, b note) int {
		return slices.Index(commonLabels(), a.label) - slices.Index(commonLabels(), b.label)
	})
	return common
}

// commonLabels are the labels of notes that stand once, below all messages.
func commonLabels() []string { return []string{"why", "unknown", "chip", "?"} }

// writeMeeting writes a table of the buffers of the program that a message is about, by address, and
// of a clash with the lowest L1 buffers.
func writeMeeting(p *page, m clash.MessageRow) {
	t := headed("<", "bytes", "start", "end", "<what", "<whose")
	t.most = 50
	short := "CB"
	if m.What == clash.Dataflow {
		short = "DFB"
	}
	cbs := slices.Clone(m.Match.Buffers)
	slices.Reverse(cbs)
	for _, cb := range cbs {
		t.add("", cb.Size, cb.Start, cb.End, fmt.Sprintf("%s %d", short, cb.Number), "")
	}
	for _, x := range m.Match.Tensors {
		if m.Kind != clash.Clash {
			break
		}
		bytes, end, what := any("?"), any("?"), "L1 buffer"
		if x.PerCore != 0 {
			bytes, end = x.PerCore, x.Address+x.PerCore
		}
		if x.Layout != "" {
			what += ", " + x.Layout
		}
		if x.Synthesised {
			t.more = []string{"addresses of L1 buffers are not recorded: these are placed by tt-metal's rule"}
		}
		at := ""
		if x.T != "" {
			at = ", t " + x.T.String()
		}
		whose := func(n int) string { return shown.Op(x.Op, n) + " (" + m.Match.Place(x.Event, "") + at + ")" }
		t.named(whose, "->", bytes, x.Address, end, what)
	}
	if len(t.rows) > 1 {
		p.table("", t)
	}
}
