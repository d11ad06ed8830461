package clash_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// TestFew compares the whole document about messages, beside a chip and runs of a capture: testdata/few.txt has a section
// for each, and behind > the document, without the message itself.
//
//	chip BASE L1SIZE L1SMALL         that is given
//	run OP CORES END [LOWEST] [made] a run whose region ends there, above the lowest L1 buffer; made: its addresses are
//	bank START END [START-END]...    where L1 buffers may lie, and where some do
//	TEXT                             of a message, with \n for line breaks
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) []string {
		var given l1.Spec
		var text strings.Builder
		var capture [][]string
		for _, line := range asked {
			switch f := strings.Fields(line); f[0] {
			case "chip":
				given = l1.Spec{CBBase: numberOf(t, f[1]), L1Size: numberOf(t, f[2]), L1Small: numberOf(t, f[3])}
			case "run", "bank":
				capture = append(capture, f)
			default:
				text.WriteString(strings.ReplaceAll(line, `\n`, "\n") + "\n")
			}
		}
		found := read(t, text.String())
		c := clash.Compare(found, given)
		for i, f := range capture {
			if f[0] == "bank" {
				bank := clash.Bank{Run: clash.ProgramRun{Capture: "run.json", Event: uint64(i)}, Usable: rangeOf(t, f[1]+"-"+f[2]), Moment: true}
				for k, part := range f[3:] {
					at := rangeOf(t, part)
					bank.Laid = append(bank.Laid, clash.PlacedBuffer{What: "L1 buffer", Cores: l1.CoreSetOf(l1.Core{}), Start: at.Start, End: at.End, Event: uint64(k), Op: "ones"})
				}
				c.AddBank(bank)
				continue
			}
			f = append(f, "0", "")
			lowest, made := numberOf(t, f[4]), f[5] == "made"
			add(c, uint64(i), enqueued{f[1], "[" + strings.ReplaceAll(f[2], "..", " - ") + "]", numberOf(t, f[3]), lowest, func(r *clash.ProgramRun) { r.Synthesised = made }})
		}
		if capture != nil {
			found.Matches = c.Matches()
		}
		doc := clash.NewDocument(found, given)
		for i := range doc.Messages {
			doc.Messages[i].Text = ""
		}
		return testkit.Brief(t, doc, "schema")
	})
}

func numberOf(t *testing.T, text string) (n uint64) {
	t.Helper()
	_, err := fmt.Sscan(text, &n)
	require.NoError(t, err, text)
	return n
}

func rangeOf(t *testing.T, text string) l1.Range {
	t.Helper()
	start, end, _ := strings.Cut(text, "-")
	return l1.Range{Start: numberOf(t, start), End: numberOf(t, end)}
}
