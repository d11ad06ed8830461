package cbregion

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
)

// A Coverage made at once equals one made range by range, also after further changes.
func TestCoverageOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 2, 30, 31, 32, 47, 200, 3000}).Draw(t, "ranges")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		room, size := rapid.SampledFrom([]uint64{10, 1000, 1 << 40}).Draw(t, "room"), rapid.Uint64Range(1, 100).Draw(t, "size")
		ranges := make([]l1.Range, n)
		want := new(Coverage)
		for i := range ranges {
			start := rnd.Uint64N(room)
			ranges[i] = l1.Range{Start: start, End: start + rnd.Uint64N(size)}
			want.Add(ranges[i])
		}
		got := CoverageOf(ranges)
		same := func() {
			require.NoError(t, got.CheckInvariants())
			require.Equal(t, want.Bytes(), got.Bytes())
			require.Equal(t, want.Boundaries(), got.Boundaries())
			require.Equal(t, slices.Collect(want.Regions()), slices.Collect(got.Regions()))
		}
		same()
		rnd.Shuffle(n, func(i, k int) { ranges[i], ranges[k] = ranges[k], ranges[i] })
		for _, r := range ranges[:n/2] {
			require.Equal(t, want.Remove(r), got.Remove(r))
		}
		same()
		for _, r := range ranges[n/2:] {
			got.Remove(r)
		}
		require.NoError(t, got.CheckInvariants())
		require.True(t, got.IsEmpty())
	})
}

func TestCoverageOfNothing(t *testing.T) {
	for _, ranges := range [][]l1.Range{nil, {{Start: 5, End: 5}}, {{Start: 7, End: 3}}} {
		v := CoverageOf(ranges)
		require.True(t, v.IsEmpty())
		require.NoError(t, v.CheckInvariants())
		require.EqualValues(t, 1, v.Add(l1.Range{Start: 1, End: 2}))
	}
}
