package bitset

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A Sparse answers as a map does, and equal sets are equal however they were made.
func TestSparse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (s Sparse, model map[int]bool) {
			model = map[int]bool{}
			for _, n := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 63, 64, 127, 128, 1_000_000}), 0, 8).Draw(t, name) {
				before, copied := slices.Collect(s.All()), s.Clone()
				if s = s.Flip(n); model[n] {
					delete(model, n)
				} else {
					model[n] = true
				}
				require.Equal(t, before, slices.Collect(copied.All()), "a copy stays")
				require.Equal(t, slices.Sorted(maps.Keys(model)), slices.Collect(s.All()))
			}
			return s, model
		}
		a, inA := draw("a")
		b, inB := draw("b")
		require.Equal(t, maps.Equal(inA, inB), a.Equal(b))
		require.True(t, b.Clone().CopyOf(a).Equal(a))
		require.LessOrEqual(t, len(a.words), len(inA))
		for n := range a.All() {
			require.True(t, inA[n])
			break
		}
	})
}
