package same

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Keys are a sorted list, whichever keys leave and come.
func TestKeysAgreeWithList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := []int{0}
		for next := 1; next <= rapid.IntRange(1, 20).Draw(t, "keys"); next++ {
			want = append(want, next)
		}
		next := 100
		c := Keys[int]{list: slices.Clone(want)}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
				want, next = append(want, next), next+1
				c.add(want[len(want)-1])
			} else if picked := rapid.SliceOfNDistinct(rapid.SampledFrom(want), 0, len(want)-1, rapid.ID).Draw(t, "leave"); len(picked) > 0 {
				slices.Sort(picked)
				stay := slices.DeleteFunc(slices.Clone(want), func(key int) bool { return slices.Contains(picked, key) })
				if rapid.Bool().Draw(t, "ask who stays") {
					require.Equal(t, stay, c.without(picked))
				}
				c.leave(picked)
				want = stay
			}
			require.Equal(t, len(want), c.Len())
			require.Equal(t, want[0], c.First())
			require.Equal(t, want[len(want)-1], c.Last())
			require.LessOrEqual(t, len(c.left), c.Len(), "crossed out")
			if rapid.Bool().Draw(t, "list") {
				require.Equal(t, want, c.List())
			}
		}
		require.Equal(t, want, c.List())
	})
}
