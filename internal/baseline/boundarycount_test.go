package baseline

import (
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The model is one count per byte of a short axis.
func boundaryCountModel(t *rapid.T) {
	const size = 64
	var (
		b     BoundaryCount
		count [size + 1]int // the last one is always 0
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
	draw := func(t *rapid.T) l1.Range {
		ends := rapid.SampledFrom([]uint64{0, 1, 8, 9, 16, 24, 31, 32, 40, 48, 63, 64})
		x, y := ends.Draw(t, "x"), ends.Draw(t, "y")
		return l1.Range{Start: min(x, y), End: max(x, y)}
	}
	t.Repeat(map[string]func(*rapid.T){
		"add": func(t *rapid.T) {
			r := draw(t)
			live = append(live, r)
			require.Equal(t, shift(r, +1), b.Add(r))
		},
		"remove": func(t *rapid.T) {
			if len(live) == 0 {
				require.Zero(t, b.Remove(l1.Range{Start: 5, End: 5}))
				return
			}
			i := rapid.IntRange(0, len(live)-1).Draw(t, "i")
			r := live[i]
			live = append(live[:i], live[i+1:]...)
			require.Equal(t, shift(r, -1), b.Remove(r))
		},
		"load": func(t *rapid.T) {
			// A copy made at once counts the same, edge by edge.
			loaded := BoundaryCountOf(live...)
			require.Equal(t, b.Bytes(), loaded.Bytes())
			require.Equal(t, edges(&b), edges(loaded))
		},
		"": func(t *rapid.T) {
			bytes, boundaries, before := uint64(0), 0, 0
			for _, n := range count {
				if n > 0 {
					bytes++
				}
				if n != before {
					boundaries++
				}
				before = n
			}
			require.Equal(t, bytes, b.Bytes())
			require.Equal(t, boundaries, b.Boundaries())
		},
	})
}

func TestBoundaryCountModel(t *testing.T) { rapid.Check(t, boundaryCountModel) }

func FuzzBoundaryCountModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(boundaryCountModel)) }

func TestBoundaryCountRefusesWhatIsNotCovered(t *testing.T) {
	var b BoundaryCount
	require.Panics(t, func() { b.Remove(l1.Range{Start: 0, End: 8}) })
	b.Add(l1.Range{Start: 0, End: 8})
	require.Panics(t, func() { b.Remove(l1.Range{Start: 4, End: 9}) })
	require.EqualValues(t, 8, b.Bytes())
	require.Equal(t, 2, b.Boundaries())
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
