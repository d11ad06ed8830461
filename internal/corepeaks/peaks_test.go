package corepeaks

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
)

// Marks equal a map of cores, have one form whichever way they were raised, and do not change when
// others are made of them.
func TestMarksMatchAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type step struct {
			peaks *Marks
			model map[l1.Core]uint64
		}
		steps := []step{{nil, map[l1.Core]uint64{}}}
		for range rapid.IntRange(1, 12).Draw(t, "raises") {
			last := steps[len(steps)-1]
			next := step{last.peaks, maps.Clone(last.model)}
			cores, bytes := someCores(t), uint64(rapid.IntRange(1, 4).Draw(t, "bytes"))
			for core := range cores.All() {
				next.model[core] = max(next.model[core], bytes)
			}
			next.peaks = next.peaks.RaiseOn(cores, bytes)
			require.Same(t, next.peaks, next.peaks.RaiseOn(cores, bytes), "what is known already changes nothing")
			steps = append(steps, next)
		}
		for _, s := range steps {
			var columns [41][10]uint64
			ends := 0
			for x := range 40 {
				for y := range 10 {
					core := l1.Core{X: uint8(x), Y: uint8(y)}
					columns[x][y] = s.model[core]
					require.Equal(t, s.model[core], s.peaks.At(core), "%v", core)
				}
			}
			for x := range 40 {
				if columns[x] != columns[x+1] {
					ends++
				}
			}
			require.Len(t, s.peaks.all(), ends, "neighbours that are alike share rows")
			again := (*Marks)(nil)
			cores := slices.SortedFunc(maps.Keys(s.model), l1.Core.Compare)
			for _, core := range slices.Backward(cores) {
				again = again.RaiseOn(l1.CoreSetOf(core), s.model[core])
			}
			require.True(t, s.peaks.Equal(again))
		}
	})
}

// someCores draws cores of a real board or of one with columns beyond a grid.
func someCores(t *rapid.T) (cores l1.CoreSet) {
	wide := rapid.Bool().Draw(t, "wide")
	for range rapid.IntRange(1, 3).Draw(t, "rectangles") {
		x := rapid.IntRange(0, 6).Draw(t, "x")
		if wide {
			x += 30
		}
		y := rapid.IntRange(0, 8).Draw(t, "y")
		w, h := rapid.IntRange(0, 2).Draw(t, "columns"), rapid.IntRange(0, 8-y).Draw(t, "rows")
		cores = cores.Union(l1.Rect(uint8(x), uint8(y), uint8(x+w), uint8(y+h)).Cores())
	}
	return cores
}
