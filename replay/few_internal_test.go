package replay

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A few is a map, with few entries and with many, and a copy is its own.
func TestFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f few[int, int]
		want := map[int]int{}
		var old few[int, int]
		before := map[int]int{}
		for i := range rapid.IntRange(0, 120).Draw(t, "steps") {
			key := rapid.IntRange(0, 4*mostFew).Draw(t, "key")
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
