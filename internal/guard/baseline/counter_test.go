package baseline

import (
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The model is one count per byte of a short axis.
func countModel[C any, P counter[C]](t *rapid.T) {
	const size = 64
	var (
		c     = P(new(C))
		count [size]int
		live  []l1.Range
	)
	shift := func(r l1.Range, d int) (moved uint64) {
		for a := r.Start; a < r.End; a++ {
			if count[a] == 0 || count[a]+d == 0 {
				moved++
			}
			count[a] += d
		}
		return moved
	}
	ends := rapid.SampledFrom([]uint64{0, 1, 8, 9, 16, 24, 31, 32, 40, 48, 63, 64})
	t.Repeat(map[string]func(*rapid.T){
		"add": func(t *rapid.T) {
			x, y := ends.Draw(t, "x"), ends.Draw(t, "y")
			if x == y {
				return
			}
			r := l1.Range{Start: min(x, y), End: max(x, y)}
			live = append(live, r)
			require.Equal(t, shift(r, +1), c.Shift(r, +1))
		},
		"remove": func(t *rapid.T) {
			if len(live) == 0 {
				return
			}
			i := rapid.IntRange(0, len(live)-1).Draw(t, "i")
			r := live[i]
			live = append(live[:i], live[i+1:]...)
			require.Equal(t, shift(r, -1), c.Shift(r, -1))
		},
	})
}

func TestCountModel(t *testing.T) {
	t.Run("BoundaryCount", rapid.MakeCheck(countModel[BoundaryCount]))
	t.Run("SortedCount", rapid.MakeCheck(countModel[SortedCount]))
}

func TestTakingBackARangeThatIsNotCoveredPanics(t *testing.T) {
	removePanics[BoundaryCount](t)
	removePanics[SortedCount](t)
}

func removePanics[C any, P counter[C]](t *testing.T) {
	c := P(new(C))
	require.Panics(t, func() { c.Shift(l1.Range{Start: 0, End: 8}, -1) })
	c = P(new(C))
	c.Shift(l1.Range{Start: 0, End: 8}, +1)
	require.Panics(t, func() { c.Shift(l1.Range{Start: 4, End: 9}, -1) })
}
