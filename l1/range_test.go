package l1_test

import (
	"math"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRangeOf(t *testing.T) {
	for _, tc := range []struct {
		addr, size uint64
		want       l1.Range
		end        uint64 // named by the error; 0 = no error, or no number can name it
	}{
		{0, 0, l1.Range{}, 0},
		{111_616, 8_192, l1.Range{Start: 111_616, End: 119_808}, 0},
		{l1.MaxAddr, 0, l1.Range{Start: l1.MaxAddr, End: l1.MaxAddr}, 0},
		{0, l1.MaxAddr, l1.Range{Start: 0, End: l1.MaxAddr}, 0},
		{l1.MaxAddr - 1, 1, l1.Range{Start: l1.MaxAddr - 1, End: l1.MaxAddr}, 0},
		{l1.MaxAddr, 1, l1.Range{}, 1 << 63},
		{1, l1.MaxAddr, l1.Range{}, 1 << 63},
		{1 << 63, 0, l1.Range{}, 1 << 63},
		{0, math.MaxUint64, l1.Range{}, math.MaxUint64},
		{math.MaxUint64, math.MaxUint64, l1.Range{}, 0}, // the sum wraps
		{1 << 63, 1 << 63, l1.Range{}, 0},               // the sum wraps to 0
	} {
		got, err := l1.RangeOf(tc.addr, tc.size)
		require.Equal(t, tc.want, got)
		if tc.addr <= l1.MaxAddr && tc.size <= l1.MaxAddr-tc.addr {
			require.NoError(t, err)
			require.NoError(t, got.Check())
			continue
		}
		var bad *l1.RangeError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, tc.addr, bad.Start)
		require.Equal(t, tc.size, bad.Size)
		require.Equal(t, tc.end, bad.End)
	}
	_, err := l1.RangeOf(1<<63, 1<<63)
	require.EqualError(t, err, "range of 9223372036854775808 bytes at 9223372036854775808: ends beyond 2^63-1")
	_, err = l1.RangeOf(8, 1<<63)
	require.EqualError(t, err, "range [8, 9223372036854775816): ends beyond 2^63-1")
}

func TestRangeCheck(t *testing.T) {
	require.NoError(t, l1.Range{}.Check())
	require.NoError(t, l1.Range{Start: 8, End: 8}.Check())
	require.NoError(t, l1.Range{Start: 0, End: l1.MaxAddr}.Check())
	require.EqualError(t, l1.Range{Start: 8, End: 7}.Check(), "range [8, 7): start lies above end")
	require.EqualError(t, l1.Range{Start: 8, End: 1 << 63}.Check(), "range [8, 9223372036854775808): ends beyond 2^63-1")
	require.EqualError(t, l1.Range{Start: math.MaxUint64, End: 1 << 63}.Check(),
		"range [18446744073709551615, 9223372036854775808): start lies above end")
}

// Every pair of ranges in 6 bytes against the definition byte by byte.
func TestRangeRelations(t *testing.T) {
	const size = 6
	var all []l1.Range
	for s := range uint64(size + 1) {
		for e := s; e <= size; e++ {
			all = append(all, l1.Range{Start: s, End: e})
		}
	}
	for _, a := range all {
		n := uint64(0)
		for b := range uint64(size + 1) {
			if b >= a.Start && b < a.End {
				n++
				require.True(t, a.Has(b))
			} else {
				require.False(t, a.Has(b))
			}
		}
		require.Equal(t, n, a.Len())
		require.Equal(t, n == 0, a.IsEmpty())
		for _, b := range all {
			shared := uint64(0)
			for x := range uint64(size) {
				if a.Has(x) && b.Has(x) {
					shared++
				}
			}
			require.Equal(t, shared > 0, a.Overlaps(b), "%v %v", a, b)
			require.Equal(t, shared == b.Len(), a.Contains(b), "%v %v", a, b)
			require.Equal(t, shared, a.Intersect(b).Len(), "%v %v", a, b)
			if shared == 0 {
				require.Equal(t, l1.Range{}, a.Intersect(b))
			}
			require.Equal(t, -b.Compare(a), a.Compare(b))
			require.Equal(t, a == b, a.Compare(b) == 0)
			if a.Start != b.Start {
				require.Equal(t, a.Start < b.Start, a.Compare(b) < 0)
			} else if a.End != b.End {
				require.Equal(t, a.End < b.End, a.Compare(b) < 0)
			}
		}
	}
	require.Equal(t, "[111616,119808)", l1.Range{Start: 111_616, End: 119_808}.String())
	require.True(t, l1.Range{Start: 8, End: 4}.IsEmpty())
	require.Zero(t, l1.Range{Start: 8, End: 4}.Len())
	require.False(t, l1.Range{Start: 8, End: 4}.Overlaps(l1.Range{Start: 0, End: 16}))
}

func TestMergeRanges(t *testing.T) {
	type ranges = []l1.Range
	for _, tc := range []struct {
		name     string
		in, want ranges
	}{
		{"none", nil, nil},
		{"one", ranges{{2, 4}}, ranges{{2, 4}}},
		{"apart, out of order", ranges{{6, 8}, {2, 4}}, ranges{{2, 4}, {6, 8}}},
		{"touching", ranges{{2, 4}, {4, 8}}, ranges{{2, 8}}},
		{"overlapping", ranges{{2, 6}, {4, 8}}, ranges{{2, 8}}},
		{"equal", ranges{{2, 4}, {2, 4}}, ranges{{2, 4}}},
		{"one within another", ranges{{0, 8}, {2, 4}, {6, 10}}, ranges{{0, 10}}},
		{"empty ones join nothing", ranges{{2, 4}, {5, 5}, {6, 8}}, ranges{{2, 4}, {6, 8}}},
		{"only empty ones", ranges{{3, 3}, {0, 0}}, nil},
		{"inverted ones have no bytes", ranges{{2, 4}, {8, 3}, {6, 8}}, ranges{{2, 4}, {6, 8}}},
		{"to the last address", ranges{{l1.MaxAddr - 1, l1.MaxAddr}, {0, l1.MaxAddr - 1}}, ranges{{0, l1.MaxAddr}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := l1.Merge(tc.in)
			require.True(t, slices.Equal(tc.want, got), "%v", got)
		})
	}
}

// Random ranges against the bytes that they cover, one by one.
func TestMergeRangesByBytes(t *testing.T) {
	const size = 24
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.Uint64Range(0, size)
		var ranges []l1.Range
		var want [size]bool
		for range rapid.IntRange(0, 8).Draw(t, "ranges") {
			r := l1.Range{Start: end.Draw(t, "start"), End: end.Draw(t, "end")}
			ranges = append(ranges, r)
			for b := r.Start; b < r.End; b++ {
				want[b] = true
			}
		}
		var got [size]bool
		merged := l1.Merge(ranges)
		for i, r := range merged {
			require.False(t, r.IsEmpty())
			if i > 0 {
				require.Less(t, merged[i-1].End, r.Start, "sorted, neither overlapping nor touching")
			}
			for b := r.Start; b < r.End; b++ {
				got[b] = true
			}
		}
		require.Equal(t, want, got)
	})
}
