package replay

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
)

// A crowd is what a sorted list is, whoever leaves and comes.
func TestCrowdAgreesWithList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := []device.ID{0}
		for next := device.ID(1); next <= device.ID(rapid.IntRange(1, 20).Draw(t, "devices")); next++ {
			want = append(want, next)
		}
		next := device.ID(100)
		c := crowd{ids: slices.Clone(want)}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
				want, next = append(want, next), next+1
				c.add(want[len(want)-1])
			} else if picked := rapid.SliceOfNDistinct(rapid.SampledFrom(want), 0, len(want)-1, rapid.ID).Draw(t, "leave"); len(picked) > 0 {
				slices.Sort(picked)
				stay := slices.DeleteFunc(slices.Clone(want), func(id device.ID) bool { return slices.Contains(picked, id) })
				if rapid.Bool().Draw(t, "ask who stays") {
					require.Equal(t, stay, c.without(picked))
				}
				c.leave(picked)
				want = stay
			}
			require.Equal(t, len(want), c.len())
			require.Equal(t, want[0], c.first())
			require.Equal(t, want[len(want)-1], c.last())
			require.LessOrEqual(t, len(c.left), c.len(), "crossed out")
			if rapid.Bool().Draw(t, "list") {
				require.Equal(t, want, c.list())
			}
		}
		require.Equal(t, want, c.list())
	})
}
