package program

import (
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A cover answers as a look at every pair does.
func TestCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.SampledFrom([]uint8{0, 1, 2, 3, 5, 8, 254, 255})
		rect := rapid.Custom(func(t *rapid.T) l1.CoreRange {
			for r := range l1.Rect(side.Draw(t, "x0"), side.Draw(t, "y0"), side.Draw(t, "x1"), side.Draw(t, "y1")).All() {
				return r
			}
			return l1.CoreRange{}
		})
		ranges := rapid.SliceOfN(rect, 0, 5).Draw(t, "ranges")
		cover := newCover(ranges)
		for _, r := range rapid.SliceOfN(rect, 1, 8).Draw(t, "asked") {
			want := false
			for _, o := range ranges {
				want = want || o.Overlaps(r)
			}
			require.Equal(t, want, cover.meets(r), "%v", r)
		}
	})
}
