package replay

import (
	"testing"

	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Rows are found by their first node, the last one of those that begin alike, whether they
// come in order or not.
func TestStartsFindTheLastRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows answer.Programs
		var s starts
		want := map[uint64]int{}
		at := uint64(0)
		for range rapid.IntRange(0, 12).Draw(t, "rows") {
			if at += rapid.Uint64Range(0, 2).Draw(t, "step"); rapid.IntRange(0, 9).Draw(t, "back") == 0 {
				at /= 2
			}
			s.add(&rows, rows.Len(), at)
			want[at] = rows.Len()
			rows.Add(answer.ProgramDetail{First: at})
			for first := range at + 3 {
				row, known := want[first]
				got, ok := s.of(&rows, first)
				require.Equal(t, known, ok)
				if ok {
					require.Equal(t, row, got)
				}
			}
		}
	})
}
