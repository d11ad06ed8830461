package program_test

import (
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
)

// These programs are far from any that runs. They must neither hang nor use up memory: a capture
// from anywhere may state them. There are no clocks here; a quadratic step takes minutes and will
// be noticed.

func rect(x0, y0, x1, y1 int) l1.CoreRange {
	return l1.CoreRange{Start: l1.Core{X: uint8(x0), Y: uint8(y0)}, End: l1.Core{X: uint8(x1), Y: uint8(y1)}}
}

func setOf(t require.TestingT, ranges ...l1.CoreRange) l1.CoreRangeSet {
	set, err := l1.NewCoreRangeSet(ranges...)
	require.NoError(t, err)
	return set
}

// checkerboard is every second core of the largest possible grid: 32,768 rectangles that cannot be
// merged.
func checkerboard(t require.TestingT, odd int) l1.CoreRangeSet {
	var ranges []l1.CoreRange
	for x := range 256 {
		for y := (x + odd) % 2; y < 256; y += 2 {
			ranges = append(ranges, rect(x, y, x, y))
		}
	}
	return setOf(t, ranges...)
}

func TestCheckerboards(t *testing.T) {
	white, black := checkerboard(t, 0), checkerboard(t, 1)
	all := setOf(t, rect(0, 0, 255, 255))
	p := build(t, l1.Spec{CBBase: 64, CBAlign: 64},
		program.CB{Cores: white, Size: 100}, program.CB{Cores: black, Size: 10},
		program.CB{Cores: white, Size: 1}, program.CB{Cores: all, Size: 1000})
	require.Equal(t, "64 64 192 256", addresses(p))
	f := p.Occupied(program.CircularBuffer)
	require.Equal(t, 2, f.NumGroups())
	require.EqualValues(t, 32_768*(101+1000)+32_768*(10+1000), f.Bytes())
	require.EqualValues(t, f.Bytes(), f.Logical())
	require.Empty(t, findings(p))
}

func TestManyCBsOnOneCoreSet(t *testing.T) {
	const n = 20_000
	for name, cores := range map[string]l1.CoreRangeSet{
		"one board":                   setOf(t, rect(0, 0, 12, 9)),
		"two rectangles":              setOf(t, rect(0, 0, 3, 9), rect(5, 0, 12, 9)),
		"two rectangles that overlap": setOf(t, rect(0, 0, 7, 9), rect(5, 0, 12, 9)),
		"the largest grid":            setOf(t, rect(0, 0, 255, 255)),
		"the largest grid in two":     setOf(t, rect(0, 0, 255, 99), rect(0, 100, 255, 255)),
	} {
		t.Run(name, func(t *testing.T) {
			p := build(t, l1.Spec{}, times(n, program.CB{Cores: cores, Size: 3})...)
			f := p.Occupied(program.CircularBuffer)
			require.Equal(t, 1, f.NumGroups())
			require.Equal(t, 1, f.Group(0).NumRanges())
			require.Equal(t, 3*n*uint64(cores.Cores().Len()), f.Bytes())
			require.True(t, f.Equal(p.Occupied(program.CircularBuffer)))
			require.Equal(t, f.Bytes(), p.Reserved(program.CircularBuffer).Bytes())
		})
	}
	t.Run("all at one address, with one index", func(t *testing.T) {
		c := fixed(64, cb("{[0-0 - 12-9]}", 3))
		c.Indices = []program.Index{{Number: 5, PageSize: 3}}
		p := build(t, l1.Spec{}, times(n, c)...)
		require.EqualValues(t, 3*130, p.Occupied(program.CircularBuffer).Bytes())
		require.Len(t, slices.Collect(p.Findings()), 3*(n-1), "overlap, index reuse, out of order")
	})
	t.Run("one alias group", func(t *testing.T) {
		p := build(t, l1.Spec{}, times(n, alias(1, as(program.DataflowBuffer, cb("{[0-0 - 12-9]}", 3))))...)
		require.EqualValues(t, 3*130, p.Occupied(program.DataflowBuffer).Bytes())
	})
}

func TestRectanglesRepeatedOften(t *testing.T) {
	p := build(t, l1.N150(), program.CB{Cores: setOf(t, slices.Repeat([]l1.CoreRange{rect(0, 0, 255, 255)}, 10_000)...), Size: 8})
	require.EqualValues(t, 8*256*256, p.Occupied(program.CircularBuffer).Bytes())
	require.Len(t, slices.Collect(p.Findings()), 2, "ranges overlap, outside the grid")
}

// As written every rectangle is an entry, however many overlap.
func TestManyRectanglesAsWritten(t *testing.T) {
	var ranges []l1.CoreRange
	for i := range 40_000 {
		ranges = append(ranges, rect(i%200, i/200, 200+i%50, 200+i%55))
	}
	c := program.CB{Cores: setOf(t, ranges...), Size: 3}
	p, err := builder(slices.Repeat([]program.CB{c, as(program.Scratchpad, c)}, 3)...).AsWritten().Build(l1.Spec{})
	require.NoError(t, err)
	require.Equal(t, "0 0 3 3 6 6", addresses(p))
	require.Len(t, slices.Collect(p.Entries(program.CircularBuffer)), 40_000)
	for _, kind := range []program.Kind{program.CircularBuffer, program.Scratchpad} {
		require.EqualValues(t, 9*c.Cores.Cores().Len(), p.Reserved(kind).Bytes())
		require.True(t, p.Occupied(kind).Cores().Equal(c.Cores.Cores()))
	}

	squares := program.CB{Cores: checkerboard(t, 0), Size: 3}
	p, err = builder(squares, squares).AsWritten().Build(l1.Spec{})
	require.NoError(t, err)
	require.Equal(t, "0 3", addresses(p))
	require.EqualValues(t, 6*32_768, p.Reserved(program.CircularBuffer).Bytes())
}

// Rectangles that differ and overlap: each CB marks the entries of all the others.
func TestManyCoreSets(t *testing.T) {
	t.Run("a thousand rectangles around the middle of the largest grid", func(t *testing.T) {
		var cbs []program.CB
		for i := range 1000 {
			cbs = append(cbs, program.CB{Cores: setOf(t, rect(i%32, i/32, 255-i%32, 255-i/32)), Size: 3})
		}
		p := build(t, l1.Spec{CBAlign: 16}, cbs...)
		g, ok := p.Occupied(program.CircularBuffer).On(l1.Core{X: 128, Y: 128})
		require.True(t, ok)
		require.Equal(t, 1000, g.NumRanges())
		require.EqualValues(t, 3000, g.Bytes())
	})
	t.Run("rows and columns: every core its own cell", func(t *testing.T) {
		var cbs []program.CB
		for i := range 256 {
			cbs = append(cbs,
				fixed(0, program.CB{Cores: setOf(t, rect(i, 0, i, 255)), Size: uint64(1 + i)}),
				fixed(1000, program.CB{Cores: setOf(t, rect(0, i, 255, i)), Size: uint64(1 + i)}))
		}
		p := build(t, l1.Spec{}, cbs...)
		f := p.Occupied(program.CircularBuffer)
		require.Equal(t, 256*256, f.NumGroups())
		require.EqualValues(t, 2*256*(256*257/2), f.Bytes())
		require.Equal(t, 256*256, f.Cores().Len())
		require.Equal(t, 256*256, p.Cores().Len())
	})
	t.Run("one finding over every cell", func(t *testing.T) {
		all := program.CB{Cores: setOf(t, rect(0, 0, 255, 255)), Size: 8}
		cbs := times(8, fixed(0, all))
		for i := range 256 {
			cbs = append(cbs,
				fixed(1000, program.CB{Cores: setOf(t, rect(i, 0, i, 255)), Size: 0}),
				fixed(1000, program.CB{Cores: setOf(t, rect(0, i, 255, i)), Size: 0}))
		}
		p := build(t, l1.Spec{}, cbs...)
		require.Equal(t, 1, p.Occupied(program.CircularBuffer).NumGroups())
		overlaps := 0
		for f := range p.Findings() {
			if f.Code == program.Overlap {
				overlaps++
				require.Equal(t, 256*256, f.Cores.Len())
			}
		}
		require.Equal(t, 7, overlaps)
	})
}
