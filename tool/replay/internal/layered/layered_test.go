package layered_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/tool/replay/internal/layered"
)

// A Map is a map, and a copy is its own.
func TestMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f layered.Map[int, int]
		want := map[int]int{}
		var old layered.Map[int, int]
		before := map[int]int{}
		for i := range rapid.IntRange(0, 120).Draw(t, "steps") {
			key := rapid.IntRange(0, 32).Draw(t, "key")
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1, 2:
				f.Set(key, i)
				want[key] = i
			case 3, 4:
				f.Delete(key)
				delete(want, key)
			case 5:
				old, before = f.Clone(), maps.Clone(want)
			case 6, 7: // the other one is written to
				f, old, want, before = old, f, before, want
			}
			require.Equal(t, want, maps.Collect(f.All()))
			require.Equal(t, before, maps.Collect(old.All()))
			require.Equal(t, len(want), f.Len())
			v, ok := f.Get(key)
			w, known := want[key]
			require.Equal(t, w, v)
			require.Equal(t, known, ok)
			require.Equal(t, w, f.Of(key))
		}
	})
}

// Copies show all their entries among them, and what they share once.
func TestUnseen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		copies := make([]layered.Map[int, int], 2)
		for i := range rapid.SampledFrom([]int{0, 32}).Draw(t, "filled") {
			copies[0].Set(i, -1)
		}
		copies[1] = copies[0].Clone()
		for i := range rapid.IntRange(0, 40).Draw(t, "steps") {
			f := &copies[rapid.IntRange(0, len(copies)-1).Draw(t, "copy")]
			key := rapid.IntRange(0, 32).Draw(t, "key")
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0, 1, 2, 3:
				f.Set(key, i)
			case 4, 5:
				f.Delete(key)
			case 6:
				copies = append(copies, f.Clone())
			}
		}
		seen, got, want := layered.Visited[int]{}, map[[2]int]bool{}, map[[2]int]bool{}
		for _, f := range copies {
			for key, v := range f.All() {
				want[[2]int{key, v}] = true
			}
			for key, v := range f.Unseen(seen) {
				got[[2]int{key, v}] = true
			}
		}
		require.Equal(t, want, got)
	})
	var f layered.Map[int, int]
	for i := range 80 {
		f.Set(i, i)
	}
	first, second := f.Clone(), f.Clone()
	first.Delete(0)
	known, left := layered.Visited[int]{}, []int{}
	for range first.Unseen(known) {
	}
	for key := range second.Unseen(known) {
		left = append(left, key)
	}
	require.Equal(t, []int{0}, left, "what the first copy has lost")
	seen, n := layered.Visited[int]{}, 0
	for range 1_000 {
		other := f.Clone()
		for range other.Unseen(seen) {
			n++
		}
	}
	require.Equal(t, 80, n)
}
