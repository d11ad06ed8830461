package l1_test

import (
	"cmp"
	"math/bits"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A coreModel is a set of cores as anybody would write it.
type coreModel map[l1.Core]bool

func (m coreModel) sorted() []l1.Core {
	var out []l1.Core
	for c := range m {
		out = append(out, c)
	}
	slices.SortFunc(out, l1.Core.Compare)
	return out
}

func (m coreModel) requireEqual(t require.TestingT, s l1.CoreSet) {
	require.Equal(t, m.sorted(), slices.Collect(s.All()))
	require.Equal(t, len(m), s.Len())
	require.Equal(t, len(m) == 0, s.IsEmpty())
	first, ok := s.First()
	require.Equal(t, len(m) > 0, ok)
	require.Equal(t, append(m.sorted(), l1.Core{})[0], first)
	require.True(t, s.Equal(l1.CoreSetOf(m.sorted()...)))
	require.Equal(t, l1.CoreSetOf(m.sorted()...), s, "equal sets have one form")
}

// drawSet draws rectangles and single cores, near and far.
func drawSet(t *rapid.T) (l1.CoreSet, coreModel) {
	ranges := rapid.SliceOfN(rapid.Custom(drawCoreRange), 0, 3).Draw(t, "ranges")
	cores := rapid.SliceOfN(rapid.Custom(drawCore), 0, 3).Draw(t, "cores")
	m := make(coreModel)
	for _, r := range ranges {
		for x := int(r.Start.X); x <= int(r.End.X); x++ {
			for y := int(r.Start.Y); y <= int(r.End.Y); y++ {
				m[l1.Core{X: uint8(x), Y: uint8(y)}] = true
			}
		}
	}
	for _, c := range cores {
		m[c] = true
	}
	return setOf(ranges...).Cores().Union(l1.CoreSetOf(cores...)), m
}

func TestCoreSetAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, inA := drawSet(t)
		b, inB := drawSet(t)
		inA.requireEqual(t, a)
		inB.requireEqual(t, b)

		union, shared, onlyA := coreModel{}, coreModel{}, coreModel{}
		for c := range inA {
			union[c] = true
			if inB[c] {
				shared[c] = true
			} else {
				onlyA[c] = true
			}
		}
		for c := range inB {
			union[c] = true
		}
		union.requireEqual(t, a.Union(b))
		shared.requireEqual(t, a.Intersect(b))
		onlyA.requireEqual(t, a.Minus(b))
		require.Equal(t, len(shared) > 0, a.Overlaps(b))
		require.Equal(t, len(shared) > 0, b.Overlaps(a))
		require.Equal(t, len(onlyA) == 0, b.Contains(a))
		require.Equal(t, len(onlyA) == 0 && len(inA) == len(inB), a.Equal(b))
		require.True(t, a.Union(b).Equal(b.Union(a)))
		require.True(t, a.Minus(a).Equal(l1.CoreSet{}))
		require.True(t, a.Minus(b).Union(a.Intersect(b)).Equal(a))

		c := drawCore(t)
		require.Equal(t, inA[c], a.Has(c))
		inA.requireEqual(t, a.Ranges().Cores())
		require.Equal(t, a.Ranges().String(), a.String())
		words := coreModel{}
		for first, word := range a.Words() {
			require.Zero(t, first.X%4+first.Y%16)
			require.NotZero(t, word)
			for ; word != 0; word &= word - 1 {
				i := bits.TrailingZeros64(word)
				words[l1.Core{X: first.X + uint8(i/16), Y: first.Y + uint8(i%16)}] = true
			}
		}
		require.Equal(t, inA, words)
		// Operands are as they were.
		inA.requireEqual(t, a)
		inB.requireEqual(t, b)
	})
}

func TestCoreSetExtremes(t *testing.T) {
	all := setOf(l1.CoreRange{End: l1.Core{X: 255, Y: 255}}).Cores()
	require.Equal(t, 65_536, all.Len())
	require.Equal(t, "{[0-0 - 255-255]}", all.String())
	corner := l1.CoreSetOf(l1.Core{X: 255, Y: 255})
	require.True(t, all.Contains(corner))
	require.False(t, corner.Contains(all))
	require.Equal(t, 65_535, all.Minus(corner).Len())
	require.Equal(t, "{[0-0 - 255-254], [0-255 - 254-255]}", all.Minus(corner).String())
	last := l1.Core{}
	n := 0
	for c := range all.All() {
		require.True(t, n == 0 || last.Compare(c) < 0)
		last = c
		n++
	}
	require.Equal(t, 65_536, n)
	n = 0
	for range all.All() {
		if n++; n == 300 {
			break
		}
	}
	require.Equal(t, 300, n)
	require.Equal(t, "{}", l1.CoreSet{}.String())
	require.False(t, l1.CoreSet{}.Has(l1.Core{}))
	require.True(t, all.Contains(l1.CoreSet{}))
}

func TestCoreSetOverlapsDoesNotAllocate(t *testing.T) {
	a := l1.MustParseCoreRangeSet("{[0-0 - 12-9]}").Cores()
	b := l1.MustParseCoreRangeSet("{[13-0 - 13-9], [200-0 - 200-200]}").Cores()
	require.Zero(t, testing.AllocsPerRun(100, func() { a.Overlaps(b) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { a.Has(l1.Core{X: 3, Y: 3}) }))
}

// A rectangle is kept as its corners, and existing parts are not copied.
func TestRectanglesTakeNoMemory(t *testing.T) {
	all, left, right := l1.Rect(0, 0, 254, 254), l1.Rect(0, 0, 99, 254), l1.Rect(100, 0, 254, 254)
	ring := all.Cores().Minus(l1.Rect(1, 1, 253, 253).Cores())
	corner, inside := l1.Rect(0, 0, 0, 5).Cores(), l1.Rect(2, 2, 9, 9).Cores()
	var sink [8]l1.CoreSet
	require.Zero(t, testing.AllocsPerRun(100, func() {
		a, l, r := all.Cores(), left.Cores(), right.Cores()
		sink = [8]l1.CoreSet{a.Union(l), l.Union(a), a.Intersect(l), l.Intersect(a), l.Minus(r), l.Minus(a)}
		sink[6], sink[7] = ring.Union(ring).Union(corner), ring.Intersect(a).Minus(inside)
	}))
	require.Equal(t, all.Cores(), sink[0])
	require.Equal(t, left.Cores(), sink[3])
	require.Equal(t, l1.CoreSet{}, sink[5])
	require.Equal(t, ring, sink[7])
	require.Equal(t, all.Cores(), left.Cores().Union(right.Cores()), "together a rectangle again")
	require.Equal(t, right.Cores(), all.Cores().Minus(left.Cores()))
}

func TestFirst(t *testing.T) {
	for _, tc := range []struct {
		cores []l1.Core
		want  l1.Core
		ok    bool
	}{
		{nil, l1.Core{}, false},
		{[]l1.Core{{X: 3, Y: 1}, {X: 2, Y: 9}}, l1.Core{X: 2, Y: 9}, true},
		{[]l1.Core{{X: 5, Y: 0}, {X: 0, Y: 16}}, l1.Core{X: 0, Y: 16}, true}, // of two blocks, the one further down
		{[]l1.Core{{X: 255, Y: 255}}, l1.Core{X: 255, Y: 255}, true},
	} {
		got, ok := l1.CoreSetOf(tc.cores...).First()
		require.Equal(t, tc.ok, ok)
		require.Equal(t, tc.want, got)
	}
	set := l1.P150().Grid().Cores()
	require.Zero(t, testing.AllocsPerRun(100, func() { set.First() }))
}

func TestCompareFirst(t *testing.T) {
	sets := []l1.CoreSet{ // in order
		{}, l1.Rect(0, 0, 9, 9).Cores(), l1.CoreSetOf(l1.Core{X: 0, Y: 16}), l1.CoreSetOf(l1.Core{X: 5, Y: 0}),
		l1.CoreSetOf(l1.Core{X: 5, Y: 1}, l1.Core{X: 6, Y: 0}),
	}
	for i, a := range sets {
		for j, b := range sets {
			require.Equal(t, cmp.Compare(i, j), cmp.Compare(a.CompareFirst(b), 0), "%v, %v", a, b)
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { sets[1].CompareFirst(sets[4]) }))
}

func TestBrief(t *testing.T) {
	for want, ranges := range map[string][]l1.CoreRange{
		"no cores":              nil,
		"[0-0 - 2-0]":           {{End: l1.Core{X: 2}}},
		"[0-0 - 2-0] (+1 more)": {{End: l1.Core{X: 2}}, {Start: l1.Core{X: 0, Y: 2}, End: l1.Core{X: 1, Y: 3}}},
	} {
		all, err := l1.NewCoreRangeSet(ranges...)
		require.NoError(t, err)
		require.Equal(t, want, all.Cores().Brief())
	}
}
