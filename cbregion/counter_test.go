package cbregion

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
)

func mustAdd(t testing.TB, c *Counter, o Owner, start, end uint64) uint64 {
	t.Helper()
	grew, err := c.Add(o, l1.Range{Start: start, End: end})
	require.NoError(t, err)
	return grew
}

func TestZeroCounterIsEmpty(t *testing.T) {
	var c Counter
	all := l1.Range{Start: 0, End: l1.MaxAddr}
	require.Zero(t, c.Bytes())
	require.Zero(t, c.Len())
	require.Zero(t, c.BytesIn(all))
	require.Empty(t, slices.Collect(c.Regions()))
	require.Empty(t, collect(c.Ranges()))
	require.Empty(t, collect(c.Overlapping(all)))
	require.Empty(t, slices.Collect(c.Owners(0)))
	require.NoError(t, c.CheckInvariants())
	_, err := c.Remove(1, all)
	require.ErrorIs(t, err, ErrNotFound)
	require.NoError(t, c.Clone().CheckInvariants())

	var v Coverage
	require.True(t, v.IsEmpty())
	require.Zero(t, v.Boundaries())
	require.Zero(t, v.BytesIn(all))
	require.NoError(t, v.CheckInvariants())
	require.True(t, v.Clone().IsEmpty())
}

func TestEmptyRangesAreIgnored(t *testing.T) {
	var c Counter
	for _, at := range []uint64{0, 64, l1.MaxAddr} {
		require.Zero(t, mustAdd(t, &c, 1, at, at))
		freed, err := c.Remove(1, l1.Range{Start: at, End: at})
		require.NoError(t, err)
		require.Zero(t, freed)
	}
	require.Zero(t, c.Len())
	var v Coverage
	require.Zero(t, v.Add(l1.Range{Start: 8, End: 8}))
	require.Zero(t, v.Remove(l1.Range{Start: 8, End: 4}))
	require.True(t, v.IsEmpty())
}

func TestIllegalRangesChangeNothing(t *testing.T) {
	var c Counter
	mustAdd(t, &c, 1, 0, 8)
	for _, r := range []l1.Range{
		{Start: 8, End: 0},
		{Start: 0, End: l1.MaxAddr + 1},
		{Start: math.MaxUint64, End: math.MaxUint64},
		{Start: math.MaxUint64, End: 0},
	} {
		grew, err := c.Add(1, r)
		var bad *l1.RangeError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, r.Start, bad.Start)
		require.Equal(t, r.End, bad.End)
		require.Zero(t, grew)
		_, err = c.Remove(1, r)
		require.ErrorAs(t, err, &bad)
		require.Equal(t, 1, c.Len())
		require.EqualValues(t, 8, c.Bytes())
		require.NoError(t, c.CheckInvariants())
	}
}

func TestRemoveOfAbsentRangeChangesNothing(t *testing.T) {
	var c Counter
	mustAdd(t, &c, 1, 0, 8)
	mustAdd(t, &c, 2, 8, 16)
	for _, try := range []held{
		{2, l1.Range{Start: 0, End: 8}},  // another owner's
		{1, l1.Range{Start: 0, End: 4}},  // a part
		{1, l1.Range{Start: 0, End: 16}}, // the region
		{1, l1.Range{Start: 32, End: 40}},
	} {
		freed, err := c.Remove(try.owner, try.r)
		require.ErrorIs(t, err, ErrNotFound)
		var notFound *NotFoundError
		require.ErrorAs(t, err, &notFound)
		require.Equal(t, &NotFoundError{try.owner, try.r}, notFound)
		require.Zero(t, freed)
		require.Equal(t, 2, c.Len())
		require.NoError(t, c.CheckInvariants())
	}
	_, err := c.Remove(2, l1.Range{Start: 0, End: 8})
	require.EqualError(t, err, "owner 2 does not hold [0,8)")
}

func TestSameRangeTwiceCountsTwice(t *testing.T) {
	var c Counter
	r := l1.Range{Start: 64, End: 96}
	require.EqualValues(t, 32, mustAdd(t, &c, 1, 64, 96))
	require.Zero(t, mustAdd(t, &c, 1, 64, 96))
	require.Zero(t, mustAdd(t, &c, 2, 64, 96))
	require.Equal(t, 3, c.Len())
	require.Equal(t, []held{{1, r}, {1, r}, {2, r}}, collect(c.Ranges()))
	require.Equal(t, []held{{1, r}, {1, r}, {2, r}}, collect(c.Overlapping(r)))
	require.Equal(t, []Owner{1, 2}, slices.Collect(c.Owners(64)))
	for i, o := range []Owner{1, 2, 1} {
		freed, err := c.Remove(o, r)
		require.NoError(t, err)
		require.Equal(t, i == 2, freed == 32)
	}
	_, err := c.Remove(1, r)
	require.ErrorIs(t, err, ErrNotFound)
	require.Zero(t, c.Len())
}

func TestOrderIsByStartThenEndThenOwner(t *testing.T) {
	var c Counter
	want := []held{
		{5, l1.Range{Start: 0, End: 4}},
		{0, l1.Range{Start: 0, End: 9}},
		{7, l1.Range{Start: 0, End: 9}},
		{1, l1.Range{Start: 2, End: 3}},
		{1, l1.Range{Start: 3, End: 9}},
	}
	for _, i := range []int{3, 1, 4, 0, 2} {
		_, err := c.Add(want[i].owner, want[i].r)
		require.NoError(t, err)
	}
	require.Equal(t, want, collect(c.Ranges()))
	require.Equal(t, want, collect(c.Overlapping(l1.Range{Start: 0, End: 9})))
	require.Equal(t, want[1:4], collect(c.Overlapping(l1.Range{Start: 2, End: 3}))[1:])
	require.Equal(t, []Owner{0, 5, 7}, slices.Collect(c.Owners(0)))
	require.Equal(t, []Owner{0, 1, 7}, slices.Collect(c.Owners(8)))
	require.Empty(t, slices.Collect(c.Owners(9)))
}

func TestIteratorsStopEarlyAndStartAnew(t *testing.T) {
	for _, l := range limits {
		c := Counter{cover: Coverage{leafLimit: l[0], innerLimit: l[1]}}
		for i := range uint64(100) {
			mustAdd(t, &c, Owner(i), i*16, i*16+8)
			mustAdd(t, &c, Owner(i), 0, 8)
		}
		all := l1.Range{Start: 0, End: 1 << 20}
		regions, ranges, overlapping := c.Regions(), c.Ranges(), c.Overlapping(all)
		owners := c.Owners(0)
		for stop := range 100 {
			n := 0
			for range regions {
				if n++; n > stop {
					break
				}
			}
			for range ranges {
				if n++; n > 2*stop {
					break
				}
			}
			for range overlapping {
				if n++; n > 3*stop {
					break
				}
			}
			for range owners {
				if n++; n > 4*stop {
					break
				}
			}
		}
		require.Len(t, slices.Collect(regions), 100)
		require.Len(t, collect(ranges), 200)
		require.Len(t, collect(overlapping), 200)
		require.Len(t, slices.Collect(owners), 100)
	}
}

func TestHugeAddresses(t *testing.T) {
	const top = l1.MaxAddr
	var c Counter
	require.EqualValues(t, uint64(top), mustAdd(t, &c, 1, 0, top))
	require.Zero(t, mustAdd(t, &c, 2, top-1, top))
	require.EqualValues(t, uint64(top), c.Bytes())
	require.Equal(t, []Owner{1, 2}, slices.Collect(c.Owners(top-1)))
	require.Empty(t, slices.Collect(c.Owners(top)))
	require.Empty(t, slices.Collect(c.Owners(math.MaxUint64)))
	require.EqualValues(t, uint64(top), c.BytesIn(l1.Range{Start: 0, End: math.MaxUint64}))
	require.Len(t, collect(c.Overlapping(l1.Range{Start: math.MaxUint64 - 1, End: math.MaxUint64})), 0)
	freed, err := c.Remove(1, l1.Range{Start: 0, End: top})
	require.NoError(t, err)
	require.EqualValues(t, uint64(top)-1, freed)
	require.Equal(t, []l1.Range{{Start: top - 1, End: top}}, slices.Collect(c.Regions()))
}

func TestCloneIsIndependent(t *testing.T) {
	for _, n := range []uint64{0, 1, 3, 1000} {
		var c Counter
		for i := range n {
			mustAdd(t, &c, Owner(i), i*16, i*16+24)
		}
		before := collect(c.Ranges())
		d := c.Clone()
		require.Equal(t, before, collect(d.Ranges()))
		require.Equal(t, c.Bytes(), d.Bytes())
		for i := range n {
			mustAdd(t, d, 1<<40, i*16+1, i*16+2)
			_, err := d.Remove(Owner(i), l1.Range{Start: i * 16, End: i*16 + 24})
			require.NoError(t, err)
		}
		require.NoError(t, d.CheckInvariants())
		require.NoError(t, c.CheckInvariants())
		require.Equal(t, before, collect(c.Ranges()))
		require.Equal(t, n, d.Bytes())
		for i := range n {
			_, err := c.Remove(Owner(i), l1.Range{Start: i * 16, End: i*16 + 24})
			require.NoError(t, err)
		}
		require.Equal(t, n, d.Bytes())
		require.NoError(t, d.CheckInvariants())
	}
}

func TestQuestionsThatMustNotAllocate(t *testing.T) {
	var c Counter
	for i := range uint64(1000) {
		mustAdd(t, &c, 1, i*16, i*16+8)
	}
	r := l1.Range{Start: 100, End: 9_000}
	require.Zero(t, testing.AllocsPerRun(100, func() { c.Bytes() }))
	require.Zero(t, testing.AllocsPerRun(100, func() { c.Len() }))
	require.Zero(t, testing.AllocsPerRun(100, func() { c.BytesIn(r) }))
	// A program that comes and goes where others live costs no memory.
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, err := c.Add(2, r)
		if err == nil {
			_, err = c.Remove(2, r)
		}
		if err != nil {
			panic(err)
		}
	}))
}

func TestErrorTexts(t *testing.T) {
	require.False(t, errors.Is(&NotFoundError{}, errors.ErrUnsupported))
}
