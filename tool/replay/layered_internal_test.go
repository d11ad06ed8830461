package replay

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A layered is a map, and a copy is its own.
func TestLayered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f layered[int, int]
		want := map[int]int{}
		var old layered[int, int]
		before := map[int]int{}
		for i := range rapid.IntRange(0, 120).Draw(t, "steps") {
			key := rapid.IntRange(0, 32).Draw(t, "key")
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1, 2:
				f.set(key, i)
				want[key] = i
			case 3, 4:
				f.delete(key)
				delete(want, key)
			case 5:
				old, before = f.clone(), maps.Clone(want)
			case 6, 7: // the other one is written to
				f, old, want, before = old, f, before, want
			}
			require.Equal(t, want, maps.Collect(f.all()))
			require.Equal(t, before, maps.Collect(old.all()))
			require.Equal(t, len(want), f.len())
			v, ok := f.get(key)
			w, known := want[key]
			require.Equal(t, w, v)
			require.Equal(t, known, ok)
			require.Equal(t, w, f.of(key))
		}
	})
}

// Copies show all their entries among them, and what they share once.
func TestUnseen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		copies := make([]layered[int, int], 2)
		for i := range rapid.SampledFrom([]int{0, 32}).Draw(t, "filled") {
			copies[0].set(i, -1)
		}
		copies[1] = copies[0].clone()
		for i := range rapid.IntRange(0, 40).Draw(t, "steps") {
			f := &copies[rapid.IntRange(0, len(copies)-1).Draw(t, "copy")]
			key := rapid.IntRange(0, 32).Draw(t, "key")
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0, 1, 2, 3:
				f.set(key, i)
			case 4, 5:
				f.delete(key)
			case 6:
				copies = append(copies, f.clone())
			}
		}
		seen, got, want := sight[int]{}, map[[2]int]bool{}, map[[2]int]bool{}
		for _, f := range copies {
			for key, v := range f.all() {
				want[[2]int{key, v}] = true
			}
			for key, v := range f.unseen(seen) {
				got[[2]int{key, v}] = true
			}
		}
		require.Equal(t, want, got)
	})
	var f layered[int, int]
	for i := range 80 {
		f.set(i, i)
	}
	first, second := f.clone(), f.clone()
	first.delete(0)
	known, left := sight[int]{}, []int{}
	for range first.unseen(known) {
	}
	for key := range second.unseen(known) {
		left = append(left, key)
	}
	require.Equal(t, []int{0}, left, "what the first copy has lost")
	seen, n := sight[int]{}, 0
	for range 1_000 {
		other := f.clone()
		for range other.unseen(seen) {
			n++
		}
	}
	require.Equal(t, 80, n)
}
