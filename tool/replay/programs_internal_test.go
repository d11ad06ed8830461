package replay

import (
	"encoding/json"
	"testing"

	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Rows of programs are a list, and where they start is a map, however they come.
func TestProgramsAreAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, s := &answer.Programs{}, starts{}
		var list []answer.ProgramDetail
		began := map[uint64]int{}
		one := func() answer.ProgramDetail {
			first := uint64(len(list))
			if rapid.IntRange(0, 9).Draw(t, "disorder") == 0 {
				first = rapid.Uint64Range(0, first+1).Draw(t, "first")
			}
			return answer.ProgramDetail{
				First: first, Last: rapid.Uint64().Draw(t, "last"), T: rapid.SampledFrom([]json.Number{"", "3.5"}).Draw(t, "t"),
				Op: rapid.SampledFrom([]answer.Name{"", "add", "mul"}).Draw(t, "op"), Cores: rapid.IntRange(0, 2).Draw(t, "cores"),
				Overlapping: rapid.Bool().Draw(t, "overlapping"),
			}
		}
		for range rapid.IntRange(0, 1100).Draw(t, "rows") {
			d, row := one(), len(list)
			if row > 0 && rapid.IntRange(0, 9).Draw(t, "set") == 0 {
				row = rapid.IntRange(0, row-1).Draw(t, "row")
			}
			s.add(rows, row, d.First)
			began[d.First] = row
			if row < len(list) {
				rows.Set(row, d)
				list[row] = d
			} else {
				rows.Add(d)
				list = append(list, d)
			}
			if rapid.IntRange(0, 99).Draw(t, "clone") == 0 {
				old := rows
				rows, s = rows.Clone(), s.clone()
				old.Add(d)
				old.Set(0, d)
			}
			first := rapid.Uint64Range(0, uint64(len(list))).Draw(t, "asked")
			have, ok := s.of(rows, first)
			want, there := began[first]
			require.Equal(t, there, ok)
			if ok {
				require.Equal(t, want, have)
			}
		}
		require.Equal(t, len(list), rows.Len())
		for i, d := range rows.All() {
			require.Equal(t, list[i], d)
		}
	})
	require.Zero(t, (*answer.Programs)(nil).Len())
}
