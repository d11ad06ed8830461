package baseline

import (
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The model is one count per byte of a short axis, or for each unit of bytes.
func countModel[C any, P counter[C]](unit uint64) func(*rapid.T) {
	return func(t *rapid.T) {
		const size = 64
		var (
			c     = P(new(C))
			count [size]int
			live  []l1.Range
		)
		shift := func(r l1.Range, d int) (moved uint64) {
			for a := r.Start / unit; a < r.End/unit; a++ {
				if count[a] == 0 || count[a]+d == 0 {
					moved += unit
				}
				count[a] += d
			}
			return moved
		}
		ends := rapid.SampledFrom([]uint64{0, 1, 8, 9, 16, 24, 31, 32, 40, 48, 63, 64})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				x, y := unit*ends.Draw(t, "x"), unit*ends.Draw(t, "y")
				r := l1.Range{Start: min(x, y), End: max(x, y)}
				live = append(live, r)
				require.Equal(t, shift(r, +1), c.Add(r))
			},
			"remove": func(t *rapid.T) {
				if len(live) == 0 {
					require.Zero(t, c.Remove(l1.Range{Start: unit, End: unit}))
					return
				}
				i := rapid.IntRange(0, len(live)-1).Draw(t, "i")
				r := live[i]
				live = append(live[:i], live[i+1:]...)
				require.Equal(t, shift(r, -1), c.Remove(r))
			},
			"load": func(t *rapid.T) { // a loaded counter counts on in its place
				c = P(new(C))
				c.load(loadingOf(live))
			},
			"": func(t *rapid.T) {
				bytes := uint64(0)
				for _, n := range count {
					if n > 0 {
						bytes += unit
					}
				}
				require.Equal(t, bytes, c.Bytes())
			},
		})
	}
}

func TestCountModel(t *testing.T) {
	t.Run("BoundaryCount", rapid.MakeCheck(countModel[BoundaryCount](1)))
	t.Run("SortedCount", rapid.MakeCheck(countModel[SortedCount](1)))
	t.Run("IntervalTree", rapid.MakeCheck(countModel[IntervalTree](1)))
	t.Run("Raster", rapid.MakeCheck(countModel[Raster](Cell)))
}

func FuzzCountModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(countModel[IntervalTree](1))) }

// An IntervalTree keeps its order, and removed nodes are used again.
func TestIntervalTreeIsUsedAgain(t *testing.T) {
	var tree IntervalTree
	for round := range uint64(3) {
		for i := range uint64(1_000) {
			tree.Add(l1.Range{Start: i * 7 % 1_000 * 10, End: i*7%1_000*10 + 5 + round})
		}
		require.EqualValues(t, 1_000*(5+round), tree.Bytes())
		require.Len(t, tree.nodes, 1_001)
		for i := range uint64(1_000) {
			tree.Remove(l1.Range{Start: i * 10, End: i*10 + 5 + round})
		}
		require.Zero(t, tree.Bytes())
	}
}

func TestRasterRefusesParts(t *testing.T) {
	require.Panics(t, func() { new(Raster).Add(l1.Range{Start: Cell, End: Cell + 1}) })
}

func TestBoundaryCountRefusesWhatIsNotCovered(t *testing.T) {
	var b BoundaryCount
	require.Panics(t, func() { b.Remove(l1.Range{Start: 0, End: 8}) })
	b.Add(l1.Range{Start: 0, End: 8})
	require.EqualValues(t, 8, b.Bytes())
	require.Equal(t, 2, b.Boundaries())
	require.Panics(t, func() { b.Remove(l1.Range{Start: 4, End: 9}) })
	require.Panics(t, func() { BoundaryCountOf(l1.Range{Start: 4, End: 8}).Remove(l1.Range{Start: 2, End: 8}) })
}

func edges(b *BoundaryCount) (out []edge) {
	if b.edges != nil {
		b.edges.Ascend(func(e *edge) bool {
			out = append(out, *e)
			return true
		})
	}
	return out
}
