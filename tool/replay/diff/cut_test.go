package diff_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay/diff"
)

// A saved report that does not list all residents of a peak is compared up to its last one. Above it, nothing is new
// or gone: 200 lies above the last one that is listed.
func TestSavedReportWithoutAllResidents(t *testing.T) {
	const listed = `"residents":[{"kind":"cb","start":96,"end":396,"cb":0,"program":{"op":"max"}}]`
	all := strings.ReplaceAll(byHand, listed, strings.TrimSuffix(listed, "]")+`,{"kind":"l1","start":200,"end":232,"buffer":{"op":"ones"}}]`)
	cut := strings.ReplaceAll(byHand, listed, `"residents_more":1,`+listed)
	lists := strings.ReplaceAll(byHand, listed, strings.ReplaceAll(listed, "396", "397"))

	for name, c := range map[string]struct {
		old, new string
		states   []diff.State
	}{
		"not listed is no difference": {cut, all, nil},
		"nor is it the other way":     {all, cut, nil},
		"listed on both is":           {cut, lists, []diff.State{diff.Grown}},
		"nothing left out":            {byHand, all, []diff.State{diff.New}},
	} {
		doc := diff.Compare(handed(t, c.old), handed(t, c.new), diff.Terms{})
		var states []diff.State
		for _, r := range doc.Devices[0].AtPeak {
			states = append(states, r.State)
		}
		require.Equal(t, c.states, states, name)
		require.Equal(t, strings.Contains(c.old+c.new, "residents_more"), doc.Basis.LeftMore, name)
	}
}
