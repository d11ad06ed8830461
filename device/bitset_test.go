package device

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A bitset answers as a map does, wherever its numbers begin and end, and changes no other
// one.
func TestBitset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.SampledFrom([]int{0, 1, 63, 64, 65, 200, 320, 1000})
		draw := func(name string) (b bitset, model map[int]bool) {
			model = map[int]bool{}
			for _, n := range rapid.SliceOfN(number, 0, 6).Draw(t, name) {
				b, model[n] = b.with(n), true
			}
			if n := number.Draw(t, name+" without"); b.has(n) { // words without numbers at an end
				b = b.flip(n)
				delete(model, n)
			}
			return b, model
		}
		sorted := func(model map[int]bool) []int { return slices.Sorted(maps.Keys(model)) }
		list := func(b bitset) []int { return slices.Collect(b.all()) }
		b, inB := draw("b")
		o, inO := draw("o")
		both, only, either := map[int]bool{}, map[int]bool{}, maps.Clone(inO)
		for n := range inB {
			if either[n] = true; inO[n] {
				both[n] = true
			} else {
				only[n] = true
			}
		}
		require.Equal(t, sorted(inB), list(b))
		require.Equal(t, len(inB), b.count())
		require.Equal(t, len(inB) == 0, b.empty())
		require.Equal(t, maps.Equal(inB, inO), b.equal(o))
		require.Equal(t, len(both) > 0, b.meets(o))
		require.Equal(t, len(both) == len(inB), b.subset(o))
		and, n := b.and(o)
		require.Equal(t, sorted(both), list(and))
		require.Equal(t, len(both), n)
		minus, n := b.minus(o)
		require.Equal(t, sorted(only), list(minus))
		require.Equal(t, len(only), n)
		for _, n := range []int{0, 1, 63, 64, 65, 200, 320, 1000, 5000} {
			require.Equal(t, inB[n], b.has(n))
		}

		sum, rest := b.clone().add(o), b.clone()
		rest.drop(o)
		require.Equal(t, sorted(either), list(sum))
		require.Equal(t, sorted(only), list(rest))
		require.True(t, o.equal(sum.copyOf(o)))
		flipped := number.Draw(t, "flip")
		require.Equal(t, !b.has(flipped), b.clone().flip(flipped).has(flipped))
		require.Equal(t, sorted(inB), list(b), "the others are copies")
		require.Equal(t, sorted(inO), list(o))
	})
}

// One device of many takes one word.
func TestBitsetOfOneIsShort(t *testing.T) {
	require.Len(t, bitset{}.with(1_000_000).words, 1)
}
