package bitset

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Bits answer as a map does, wherever their numbers begin and end. An operation changes no
// others.
func TestBitset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.SampledFrom([]int{0, 1, 63, 64, 65, 200, 320, 1000})
		draw := func(name string) (b Bits, model map[int]bool) {
			model = map[int]bool{}
			for _, n := range rapid.SliceOfN(number, 0, 6).Draw(t, name) {
				b, model[n] = b.With(n), true
			}
			if n := number.Draw(t, name+" without"); has(b, n) { // words without numbers at an end
				b.Drop(Bits{}.With(n))
				delete(model, n)
			}
			return b, model
		}
		sorted := func(model map[int]bool) []int { return slices.Sorted(maps.Keys(model)) }
		list := func(b Bits) []int { return slices.Collect(b.All()) }
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
		require.Equal(t, len(inB), b.Count())
		require.Equal(t, len(inB) == 0, b.Empty())
		require.Equal(t, maps.Equal(inB, inO), b.Equal(o))
		require.Equal(t, len(both) == len(inB), b.Subset(o))
		minus, n := b.Minus(o)
		require.Equal(t, sorted(only), list(minus))
		require.Equal(t, len(only), n)
		for _, n := range []int{0, 1, 63, 64, 65, 200, 320, 1000, 5000} {
			require.Equal(t, inB[n], has(b, n))
		}

		sum, rest := b.Clone().Add(o), b.Clone()
		rest.Drop(o)
		require.Equal(t, sorted(either), list(sum))
		require.Equal(t, sorted(only), list(rest))
		require.Equal(t, sorted(inB), list(b), "the others are copies")
		require.Equal(t, sorted(inO), list(o))
	})
}

// One device of many takes one word.
func TestBitsetOfOneIsShort(t *testing.T) {
	require.Len(t, Bits{}.With(1_000_000).words, 1)
}

// Spans of numbers, with and without holes, end where a walk from number to number ends.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.SampledFrom([]int{0, 1, 2, 62, 63, 64, 65, 127, 128, 129, 191, 192, 193})
		first, n := number.Draw(t, "first"), number.Draw(t, "n")
		b, model := Span(first, n), map[int]bool{}
		for i := range n {
			model[first+i] = true
		}
		require.Equal(t, slices.Sorted(maps.Keys(model)), slices.Collect(b.All()))
		for _, hole := range rapid.SliceOfN(number, 0, 4).Draw(t, "holes") {
			if model[hole] {
				b.Drop(Bits{}.With(hole))
				delete(model, hole)
			}
		}
		i := number.Draw(t, "i")
		want := i
		for want < 1000 && !model[want] {
			want++
		}
		next, ok := b.Next(i)
		require.Equal(t, want < 1000, ok)
		if !ok {
			return
		}
		require.Equal(t, want, next)
		end := next + 1 + number.Draw(t, "more")
		for want++; want < end && model[want]; want++ {
		}
		require.Equal(t, want, b.End(next, end))
	})
}

// has reports whether i is in b.
func has(b Bits, i int) bool {
	_, without := Span(i, 1).Minus(b)
	return without == 0
}
