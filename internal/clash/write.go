package clash

import (
	"bufio"
	"fmt"
	"io"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// WriteText prints messages and their explanations for people: a block of at most 14 lines for
// each message. Its first line answers. A message that differs from an earlier one only in its
// program takes one line. The match of a message in a capture takes up to five lines more.
// Nothing is written if nothing was found. For given see Explain.
func WriteText(w io.Writer, found Found, given l1.Spec) error {
	out := bufio.NewWriter(w)
	seen := make(map[key]int64)
	for i, m := range found.Messages {
		if first, ok := seen[m.sameBut()]; ok {
			fmt.Fprintf(out, "line %d: the same as on line %d, in program %d%s\n", m.Line, first, m.Program, often(m))
			continue
		}
		seen[m.sameBut()] = m.Line
		if i > 0 {
			fmt.Fprintln(out)
		}
		e := found.explain(i, given)
		fmt.Fprintf(out, "line %d: %s%s\n", m.Line, shown.Visible(e.Summary), often(m))
		label := ""
		for _, n := range e.Notes {
			if n.Label == label {
				n.Label = ""
			} else {
				label = n.Label
			}
			fmt.Fprintf(out, "  %-8s %s\n", shown.Visible(n.Label), shown.Visible(n.Text))
		}
	}
	if found.More > 0 {
		fmt.Fprintf(out, "\n%d further messages are not shown: more than %d different ones\n", found.More, MaxDistinct)
	}
	return out.Flush()
}

// sameBut is the key of m without its program, if it names one.
func (m Message) sameBut() key {
	k := m.key()
	k.program = 0
	return k
}

func often(m Message) string {
	if m.Count < 2 {
		return ""
	}
	return fmt.Sprintf(" [%d times]", m.Count)
}
