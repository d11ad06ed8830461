package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// TestFew compares whole documents about two runs of a few events: testdata/few.txt has a section for each, with terms,
// the events of both runs in short (testkit.EventLog) on two sides of --, and behind > the comparison, of which the
// figures that differ are shown. The comparison the other way round has the same rows.
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) []string {
		var terms diff.Terms
		for _, word := range strings.Fields(asked[0])[1:] {
			if limit, ok := strings.CutPrefix(word, "grow="); ok {
				most, err := answer.ParseBudget(limit)
				require.NoError(t, err)
				terms.MaxGrowth = &most
			} else {
				terms.Accept = append(terms.Accept, answer.Code(word))
			}
		}
		between := slices.Index(asked, "--")
		old, new := runOf(t, testkit.EventLog(asked[1:between]...)), runOf(t, testkit.EventLog(asked[between+1:]...))
		doc, back := diff.Compare(old, new, terms), diff.Compare(new, old, terms)
		require.Equal(t, doc.Equal, back.Equal)
		for i := range doc.Devices {
			d, b := &doc.Devices[i], &back.Devices[i]
			require.Equal(t, []int{len(d.AtPeak), len(d.Groups), len(d.Laid), len(d.Changes)}, []int{len(b.AtPeak), len(b.Groups), len(b.Laid), len(b.Changes)})
			d.Figures = slices.DeleteFunc(d.Figures, func(f diff.Figure) bool { return f.Old == f.New })
		}
		return testkit.Brief(t, doc, "schema", "file", "chip", "basis", "grid", "saved")
	})
}
