package l1_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
)

func TestTiles(t *testing.T) {
	a, b := l1.Rect(0, 0, 1, 0).Cores(), l1.Rect(1, 0, 2, 0).Cores()
	text := map[string][]int{}
	for _, tile := range l1.Tiles([]l1.CoreSet{a, b, {}}) {
		text[tile.Cores.String()] = tile.In
	}
	require.Equal(t, map[string][]int{"{[0-0 - 0-0]}": {0}, "{[1-0 - 1-0]}": {0, 1}, "{[2-0 - 2-0]}": {1}}, text)
	require.Empty(t, l1.Tiles(nil))
}

// Each core is in one tile, which says in which sets it is.
func TestTilesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.Uint8Range(0, 3)
		var sets []l1.CoreSet
		for range rapid.IntRange(0, 5).Draw(t, "sets") {
			sets = append(sets, l1.Rect(side.Draw(t, "x0"), side.Draw(t, "y0"), side.Draw(t, "x1"), side.Draw(t, "y1")).Cores())
		}
		tiles := l1.Tiles(sets)
		for c := range l1.Rect(0, 0, 3, 3).Cores().All() {
			var want []int
			for i, s := range sets {
				if s.Has(c) {
					want = append(want, i)
				}
			}
			on := slices.Collect(func(yield func([]int) bool) {
				for _, tile := range tiles {
					if tile.Cores.Has(c) {
						yield(tile.In)
					}
				}
			})
			if want == nil {
				require.Empty(t, on)
			} else {
				require.Equal(t, [][]int{want}, on)
			}
		}
	})
}
