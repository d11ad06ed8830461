package dump_test

import (
	"flag"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/dump"
)

var update = flag.Bool("update", false, "TestFew: write testdata/few.txt anew; review the difference")

// TestFew compares the events of dumps of a few lines: testdata/few.txt has a section for each.
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) []string {
		name, opt := "dump.csv", dump.Options{}
		if words, ok := strings.CutPrefix(asked[0], "with "); ok {
			asked = asked[1:]
			for word := range strings.FieldsSeq(words) {
				key, value, _ := strings.Cut(word, "=")
				n, _ := strconv.ParseUint(value, 10, 64)
				switch key {
				case "arch":
					opt.Arch = l1.Arch(value)
				case "base":
					opt.Base = n
				case "l1_small":
					opt.L1Small = event.Some(n)
				case "l1":
					opt.MaxL1 = n
				case "name":
					name = value
				}
			}
		}
		return eventsOf(t, strings.Join(asked, "\n"), name, opt)
	})
}

// eventsOf returns the events of a dump as lines of a log, in short.
func eventsOf(t *testing.T, text, name string, opt dump.Options) (lines []string) {
	t.Helper()
	var log strings.Builder
	w := event.NewWriter(&log)
	wrong := ""
	for e, err := range dump.Events(strings.NewReader(text), name, opt) {
		if err != nil {
			wrong = err.Error()
			require.ErrorAs(t, err, new(*event.InputError))
			break
		}
		require.NoError(t, w.Write(e))
	}
	lines = testkit.Short(log.String(), "node", "devices", "named", "grid", "cb_align", "l1_align", "cb_indices")
	if wrong != "" {
		lines = append(lines, "wrong: "+wrong)
	}
	return lines
}
