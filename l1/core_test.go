package l1_test

import (
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCoreOrderIsByXThenY(t *testing.T) {
	cores := []l1.Core{{X: 1, Y: 0}, {X: 0, Y: 255}, {X: 0, Y: 1}, {X: 255, Y: 0}, {X: 0, Y: 0}, {X: 1, Y: 1}}
	slices.SortFunc(cores, l1.Core.Compare)
	require.Equal(t, []l1.Core{{X: 0, Y: 0}, {X: 0, Y: 1}, {X: 0, Y: 255}, {X: 1, Y: 0}, {X: 1, Y: 1}, {X: 255, Y: 0}}, cores)
}

func TestCoreRange(t *testing.T) {
	r := l1.CoreRange{Start: l1.Core{X: 1, Y: 2}, End: l1.Core{X: 3, Y: 2}}
	require.NoError(t, r.Check())
	require.Equal(t, 3, r.Len())
	require.True(t, r.Has(l1.Core{X: 3, Y: 2}))
	require.False(t, r.Has(l1.Core{X: 3, Y: 3}))
	require.False(t, r.Has(l1.Core{X: 0, Y: 2}))
	require.Equal(t, 65_536, l1.CoreRange{End: l1.Core{X: 255, Y: 255}}.Len())
	for _, bad := range []l1.CoreRange{
		{Start: l1.Core{X: 1}, End: l1.Core{Y: 5}},
		{Start: l1.Core{Y: 1}, End: l1.Core{X: 5}},
	} {
		var e *l1.CoreRangeError
		require.ErrorAs(t, bad.Check(), &e)
		require.Equal(t, bad, e.Range)
		_, err := l1.NewCoreRangeSet(r, bad)
		require.ErrorAs(t, err, &e)
	}
	require.EqualError(t, l1.CoreRange{Start: l1.Core{X: 1}}.Check(), "core range [1-0 - 0-0]: start lies beyond end")
	require.Negative(t, r.Compare(l1.CoreRange{Start: l1.Core{X: 2}}))
	require.Negative(t, r.Compare(l1.CoreRange{Start: r.Start, End: l1.Core{X: 3, Y: 3}}))
	require.Zero(t, r.Compare(r))
}

func TestCoreRangesOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawCoreRange(t), drawCoreRange(t)
		shared := false
		for c := range setOf(a).Cores().All() {
			require.True(t, a.Has(c))
			shared = shared || b.Has(c)
		}
		require.Equal(t, shared, a.Overlaps(b))
		require.Equal(t, shared, b.Overlaps(a))
	})
}

// The table of tt-metal's merge.
func TestMerge(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"{[0-0 - 1-1], [2-0 - 2-0]}", "{[0-0 - 2-0], [0-1 - 1-1]}"},
		{"{[0-0 - 0-0], [1-0 - 1-0], [0-1 - 0-1], [1-1 - 1-1]}", "{[0-0 - 1-1]}"},
		{"{[0-0 - 3-3], [4-0 - 7-3]}", "{[0-0 - 7-3]}"},
		{"{[0-0 - 3-0], [0-2 - 3-2]}", "{[0-0 - 3-0], [0-2 - 3-2]}"},
		{"{[0-0 - 0-3], [1-0 - 1-1]}", "{[0-0 - 1-1], [0-2 - 0-3]}"},
		{"{[3-0 - 3-0], [0-0 - 1-0]}", "{[0-0 - 1-0], [3-0 - 3-0]}"},
		{"{[0-0 - 2-0], [1-1 - 1-1], [0-2 - 2-2]}", "{[0-0 - 2-0], [0-2 - 2-2], [1-1 - 1-1]}"},
		// Beyond the table: none, one, and the same twice.
		{"{}", "{}"},
		{"{[2-1 - 5-3]}", "{[2-1 - 5-3]}"},
		{"{[2-1 - 5-3], [2-1 - 5-3]}", "{[2-1 - 5-3]}"},
		{"{[0-0 - 1-1], [1-1 - 2-2]}", "{[0-0 - 1-0], [0-1 - 2-1], [1-2 - 2-2]}"},
		{"{[250-250 - 255-255], [250-249 - 255-249]}", "{[250-249 - 255-255]}"},
		{"{[0-0 - 0-0], [255-255 - 255-255]}", "{[0-0 - 0-0], [255-255 - 255-255]}"},
	} {
		require.Equal(t, tc.want, l1.MustParseCoreRangeSet(tc.in).Merge().String(), tc.in)
	}
}

func TestMergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranges := rapid.SliceOfN(rapid.Custom(drawCoreRange), 0, 6).Draw(t, "ranges")
		s, err := l1.NewCoreRangeSet(ranges...)
		require.NoError(t, err)
		m := s.Merge()
		require.True(t, s.Cores().Equal(m.Cores()), "%v merged to %v", s, m)
		if s.Len() < 2 {
			require.True(t, s.Equal(m))
			return
		}
		_, _, overlap := m.Overlap()
		require.False(t, overlap, "%v", m)
		area := 0
		for r := range m.All() {
			area += r.Len()
		}
		require.Equal(t, s.Cores().Len(), area)
		require.True(t, slices.IsSortedFunc(slices.Collect(m.All()), l1.CoreRange.Compare))
		require.True(t, m.Equal(m.Merge()), "merge of %v is %v", m, m.Merge())
		// The covered cores alone decide: other rectangles over the same cores merge to the same.
		other, err := l1.NewCoreRangeSet(rapid.Permutation(append(ranges, ranges[0])).Draw(t, "other")...)
		require.NoError(t, err)
		require.True(t, m.Equal(other.Merge()))
		require.True(t, m.Equal(s.Cores().Ranges()))
	})
}

func TestOverlap(t *testing.T) {
	for _, tc := range []struct {
		in, a, b string
	}{
		{"{}", "", ""},
		{"{[0-0 - 7-7]}", "", ""},
		{"{[0-0 - 3-3], [4-0 - 7-3], [0-4 - 7-7]}", "", ""},
		{"{[0-0 - 3-3], [3-3 - 4-4]}", "[0-0 - 3-3]", "[3-3 - 4-4]"},
		{"{[0-0 - 0-0], [5-5 - 6-6], [1-1 - 2-2], [6-6 - 6-6], [0-0 - 9-9]}", "[5-5 - 6-6]", "[6-6 - 6-6]"},
		{"{[0-0 - 255-255], [255-255 - 255-255]}", "[0-0 - 255-255]", "[255-255 - 255-255]"},
	} {
		a, b, found := l1.MustParseCoreRangeSet(tc.in).Overlap()
		require.Equal(t, tc.a != "", found)
		if found {
			require.Equal(t, tc.a, a.String())
			require.Equal(t, tc.b, b.String())
		}
	}
}

// No set keeps the slice of its caller.
func TestCoreRangeSetIsImmutable(t *testing.T) {
	ranges := []l1.CoreRange{{End: l1.Core{X: 7, Y: 7}}}
	s, err := l1.NewCoreRangeSet(ranges...)
	require.NoError(t, err)
	ranges[0].End.X = 1
	require.Equal(t, "{[0-0 - 7-7]}", s.String())
	require.Equal(t, 1, s.Len())
	for range s.All() {
		break
	}
	require.Equal(t, "{}", l1.CoreRangeSet{}.String())
	require.True(t, l1.CoreRangeSet{}.Cores().IsEmpty())
}

// coordinates are drawn unfairly: at the seams of the blocks of 16 and at both ends.
func coordinates() *rapid.Generator[uint8] {
	return rapid.SampledFrom([]uint8{0, 1, 2, 3, 14, 15, 16, 17, 31, 32, 239, 240, 254, 255})
}

func drawCore(t *rapid.T) l1.Core {
	return l1.Core{X: coordinates().Draw(t, "x"), Y: coordinates().Draw(t, "y")}
}

// drawCoreRange draws a rectangle with sides of at most 20 cores.
func drawCoreRange(t *rapid.T) l1.CoreRange {
	start := drawCore(t)
	side := rapid.SampledFrom([]int{0, 0, 1, 2, 13, 15, 16, 19})
	return l1.CoreRange{Start: start, End: l1.Core{
		X: uint8(min(255, int(start.X)+side.Draw(t, "width"))),
		Y: uint8(min(255, int(start.Y)+side.Draw(t, "height"))),
	}}
}

func setOf(ranges ...l1.CoreRange) l1.CoreRangeSet {
	s, err := l1.NewCoreRangeSet(ranges...)
	if err != nil {
		panic(err)
	}
	return s
}

func TestRect(t *testing.T) {
	for _, tc := range []struct {
		x0, y0, x1, y1 uint8
		want           string
		cores          int
	}{
		{0, 0, 7, 7, "{[0-0 - 7-7]}", 64},
		{7, 7, 0, 0, "{[0-0 - 7-7]}", 64},
		{7, 0, 0, 3, "{[0-0 - 7-3]}", 32},
		{0, 3, 7, 0, "{[0-0 - 7-3]}", 32},
		{5, 6, 5, 6, "{[5-6 - 5-6]}", 1},
		{255, 0, 0, 255, "{[0-0 - 255-255]}", 65_536},
	} {
		got := l1.Rect(tc.x0, tc.y0, tc.x1, tc.y1)
		require.Equal(t, tc.want, got.String())
		require.Equal(t, tc.cores, got.Cores().Len())
		require.True(t, got.Equal(l1.MustParseCoreRangeSet(tc.want)))
		for r := range got.All() {
			require.NoError(t, r.Check())
		}
	}
}

func TestCoreRangeCores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawCoreRange(t)
		require.True(t, setOf(r).Cores().Equal(r.Cores()))
		require.Equal(t, r.Len(), r.Cores().Len())
	})
	for _, r := range []l1.CoreRange{
		{Start: l1.Core{X: 1}},
		{Start: l1.Core{Y: 1}},
		{Start: l1.Core{X: 255, Y: 255}},
		{Start: l1.Core{X: 20, Y: 3}, End: l1.Core{X: 40, Y: 2}},
	} {
		require.Error(t, r.Check())
		require.True(t, r.Cores().IsEmpty(), "%v", r)
		require.Zero(t, r.Len())
	}
}
