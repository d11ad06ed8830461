package clash_test

import (
	"cmp"
	"encoding/json"
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
//	chip BASE L1SIZE L1SMALL [ARCH]     that is given
//	device ARCH BANKS SMALLFREE [WORD]  of the run, of which - SMALLFREE is not known; hybrid
//	run OP CORES END [LOWEST] [WORD]... a run whose region ends there, above the lowest L1 buffer. made: its addresses are; log, t=,
//	                                    cached, times=, on=ARCH/BANKS/SMALLFREE; of the lowest, of which there may be several=:
//	                                    placed, bare, wide=; of the run, further CBs on these cores, more=, and one elsewhere=
//	bank START END [START-END]...       where L1 buffers may lie, and where some do. log, t=, op=, on=, device=, end, bare,
//	                                    unnamed; align=, and where L1 ends if that of L1_SMALL is not known, assumed=
//	margin CAPTURE FREE FAILED SMALL SMALLFREE [WORD]  used, log, t=, cached
//	advice CAPTURE TEXT                 of its runs
//	TEXT                                of a message, with \n for line breaks
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) []string {
		var given l1.Spec
		var text strings.Builder
		var on clash.Device
		var capture [][]string
		for _, line := range asked {
			switch f := strings.Fields(line); f[0] {
			case "chip":
				given = l1.Spec{CBBase: numberOf(t, f[1]), L1Size: numberOf(t, f[2]), L1Small: numberOf(t, f[3])}
				if len(f) > 4 {
					given.Arch = l1.Arch(f[4])
				}
			case "device":
				on = deviceOf(t, strings.Join(f[1:], "/"))
			case "run", "bank", "margin", "advice":
				capture = append(capture, f)
			default:
				text.WriteString(strings.ReplaceAll(line, `\n`, "\n") + "\n")
			}
		}
		found := read(t, text.String())
		found.Run = on
		c := clash.Compare(found, given)
		for i, f := range capture {
			addFew(t, c, uint64(i), f)
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

// addFew adds a line of a capture to a comparison.
func addFew(t *testing.T, c *clash.Comparison, event uint64, f []string) {
	t.Helper()
	words := map[string]string{}
	for _, word := range f {
		name, value, _ := strings.Cut(word, "=")
		words[name] = value
	}
	has := func(word string) bool { _, ok := words[word]; return ok }
	number := func(word string) uint64 { return numberOf(t, cmp.Or(words[word], "0")) }
	run := clash.ProgramRun{Capture: "run.json", Log: has("log"), Event: event, T: json.Number(words["t"]), Op: words["op"], Inferred: has("cached"), On: deviceOf(t, words["on"]), Device: words["device"]}
	var later json.Number // of what a run finds
	if has("log") {
		later = "3.5"
	}
	switch f[0] {
	case "bank":
		bank := clash.Bank{Run: run, Usable: rangeOf(t, f[1]+"-"+f[2]), Moment: !has("end"), Align: number("align"), L1Size: number("assumed"), SmallAssumed: has("assumed")}
		if has("unnamed") {
			bank.Run.Capture = ""
		}
		for k, part := range f[3:] {
			if !strings.Contains(part, "-") {
				continue
			}
			at := rangeOf(t, part)
			bank.Laid = append(bank.Laid, clash.PlacedBuffer{What: "L1 buffer", Cores: l1.CoreSetOf(l1.Core{}), Start: at.Start, End: at.End, Event: uint64(k), T: later, Op: map[bool]string{false: "ones"}[has("bare")]})
		}
		c.AddBank(bank)
	case "margin":
		c.AddMargin(clash.Margin{Capture: f[1], Free: numberOf(t, f[2]), Failed: int64(numberOf(t, f[3])), Small: numberOf(t, f[4]), SmallFree: numberOf(t, f[5]),
			SmallUsed: has("used"), Op: "tight", Event: 7, Log: has("log"), T: run.T, Inferred: has("cached")})
	case "advice":
		c.Advise(f[1], func(event uint64) string { return fmt.Sprint(strings.Join(f[2:], " "), " at ", event) })
	case "run":
		f = append(f, "0")
		edit := func(r *clash.ProgramRun) {
			for i := range number("more") {
				r.CBs = append(r.CBs, clash.CB{Number: int(i + 3), Cores: r.CBs[0].Cores, Range: l1.Range{Start: base, End: base + 16 + i}})
			}
			if has("elsewhere") {
				r.CBs = append(r.CBs, clash.CB{Number: 9, Cores: l1.MustParseCoreRangeSet("{[" + words["elsewhere"] + " - " + words["elsewhere"] + "]}"), Range: l1.Range{Start: base, End: base + 99}})
			}
			r.Synthesised, r.Log, r.T, r.Inferred, r.Times, r.On = has("made"), run.Log, run.T, run.Inferred, int64(number("times")), run.On
		}
		lowest := clash.LowestBuffer{Address: numberOf(t, f[4]), PerCore: 4096, Event: event + 1, T: later, Op: "ttnn.zeros", Layout: "INTERLEAVED", Synthesised: has("placed"), Cores: int(number("wide"))}
		if has("bare") {
			lowest.PerCore, lowest.Layout, lowest.Op = 0, "", ""
		}
		all := make([]clash.LowestBuffer, number("several"))
		all = append([]clash.LowestBuffer{lowest}, all...)
		if lowest.Address == 0 {
			all = nil
		}
		addLowest(c, event, enqueued{f[1], "[" + strings.ReplaceAll(f[2], "..", " - ") + "]", numberOf(t, f[3]), 0, edit}, all)
	}
}

// deviceOf is a device in words: ARCH/BANKS/SMALLFREE[/hybrid].
func deviceOf(t *testing.T, text string) (d clash.Device) {
	t.Helper()
	if f := strings.Split(text, "/"); len(f) > 2 {
		d = clash.Device{Spec: l1.ArchSpec(l1.Arch(f[0])), Banks: numberOf(t, f[1]), Small: f[2] != "-", Hybrid: len(f) > 3}
		if d.Small {
			d.SmallFree = numberOf(t, f[2])
		}
	}
	return d
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
