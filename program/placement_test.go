package program_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
)

// cb is a local circular buffer without buffer indices.
func cb(cores string, size uint64) program.CB {
	return program.CB{Cores: l1.MustParseCoreRangeSet(cores), Size: size}
}

// times is n CBs like c.
func times(n int, c program.CB) []program.CB { return slices.Repeat([]program.CB{c}, n) }

func as(kind program.Kind, c program.CB) program.CB {
	c.Kind = kind
	return c
}

func global(c program.CB) program.CB {
	c.Global = true
	return c
}

func fixed(address uint64, c program.CB) program.CB {
	c.Address, c.Fixed = address, true
	return c
}

func alias(group int, c program.CB) program.CB {
	c.Alias = group
	return c
}

func builder(cbs ...program.CB) *program.Builder {
	b := program.NewBuilder(1)
	for _, c := range cbs {
		b.CB(c)
	}
	return b
}

func build(t require.TestingT, spec l1.Spec, cbs ...program.CB) *program.Program {
	p, err := builder(cbs...).Build(spec)
	require.NoError(t, err)
	return p
}

// addresses lists the addresses in creation order, "?" where none is known.
func addresses(p *program.Program) string {
	var out []string
	for _, cb := range p.CBs() {
		if !cb.Known {
			out = append(out, "?")
			continue
		}
		out = append(out, fmt.Sprint(cb.Range.Start))
	}
	return strings.Join(out, " ")
}

// groups has one line for each group: its cores, then the ranges on each of them.
func groups(f program.Footprint) []string {
	var out []string
	for g := range f.Groups() {
		line := g.Cores().String()
		for r := range g.Ranges() {
			line += " " + r.String()
		}
		out = append(out, line)
	}
	return out
}

func findings(p *program.Program) []string {
	var out []string
	for f := range p.Findings() {
		out = append(out, f.String())
	}
	return out
}

// The worked examples of tt-metal's placement. Base 103,712 and alignment 32 are
// Wormhole's; base 111,616 and alignment 64 are Blackhole's.
func TestPlacementExamples(t *testing.T) {
	for _, test := range []struct {
		name      string
		spec      l1.Spec
		cbs       []program.CB
		addresses string

		occupied                     []string
		reserved                     []string
		occupiedBytes, reservedBytes uint64
		logical                      uint64

		findings []string
	}{
		{
			name:          "A: one range",
			spec:          l1.N150(),
			cbs:           []program.CB{cb("{[0-0 - 7-7]}", 2048), cb("{[0-0 - 7-7]}", 4096), cb("{[0-0 - 7-7]}", 2080)},
			addresses:     "103712 105760 109856",
			occupied:      []string{"{[0-0 - 7-7]} [103712,111936)"},
			occupiedBytes: 526_336,
			reserved:      []string{"{[0-0 - 7-7]} [103712,111936)"},
			reservedBytes: 526_336,
			logical:       526_336,
		},
		{
			name:          "B: device capture of a p150b",
			spec:          l1.P150b(),
			cbs:           []program.CB{cb("{[0-0 - 1-1]}", 131_072), cb("{[0-0 - 1-1]}", 131_072), cb("{[0-0 - 1-1]}", 524_288)},
			addresses:     "111616 242688 373760",
			occupied:      []string{"{[0-0 - 1-1]} [111616,898048)"},
			occupiedBytes: 3_145_728,
			reserved:      []string{"{[0-0 - 1-1]} [111616,898048)"},
			reservedBytes: 3_145_728,
			logical:       3_145_728,
		},
		{
			name:          "B2: addresses are rounded, sizes are not",
			spec:          l1.P150b(),
			cbs:           []program.CB{cb("{[0-0 - 0-0]}", 2048), cb("{[0-0 - 0-0]}", 2080), cb("{[0-0 - 0-0]}", 1000)},
			addresses:     "111616 113664 115776",
			occupied:      []string{"{[0-0 - 0-0]} [111616,115744) [115776,116776)"},
			occupiedBytes: 5128,
			reserved:      []string{"{[0-0 - 0-0]} [111616,115744) [115776,116776)"},
			reservedBytes: 5128,
			logical:       5128,
		},
		{
			name: "C: sequential across all cores",
			spec: l1.N150(),
			cbs: slices.Concat(times(3, cb("{[0-0 - 0-0]}", 2048)), times(5, cb("{[0-2 - 0-2]}", 2048)),
				[]program.CB{cb("{[0-0 - 0-2]}", 2048)}),
			addresses: "103712 105760 107808 103712 105760 107808 109856 111904 113952",
			occupied: []string{
				"{[0-0 - 0-0]} [103712,109856) [113952,116000)",
				"{[0-1 - 0-1]} [113952,116000)",
				"{[0-2 - 0-2]} [103712,116000)",
			},
			occupiedBytes: 22_528,
			reserved:      []string{"{[0-0 - 0-2]} [103712,116000)"},
			reservedBytes: 36_864,
			logical:       22_528,
		},
		{
			name:      "D: overlapping, unequal ranges",
			spec:      l1.N150(),
			cbs:       []program.CB{cb("{[0-0 - 1-0]}", 4096), cb("{[1-0 - 2-0]}", 6144)},
			addresses: "103712 107808",
			occupied: []string{
				"{[0-0 - 0-0]} [103712,107808)",
				"{[1-0 - 1-0]} [103712,113952)",
				"{[2-0 - 2-0]} [107808,113952)",
			},
			occupiedBytes: 20_480,
			reserved:      []string{"{[0-0 - 2-0]} [103712,113952)"},
			reservedBytes: 30_720,
			logical:       20_480,
		},
		{
			name:      "E: hole",
			spec:      l1.N150(),
			cbs:       []program.CB{cb("{[0-0 - 0-0]}", 4096), cb("{[1-0 - 1-0]}", 2048), cb("{[0-0 - 1-0]}", 1024)},
			addresses: "103712 103712 107808",
			occupied: []string{
				"{[0-0 - 0-0]} [103712,108832)",
				"{[1-0 - 1-0]} [103712,105760) [107808,108832)",
			},
			occupiedBytes: 8192,
			reserved:      []string{"{[0-0 - 1-0]} [103712,108832)"},
			reservedBytes: 10_240,
			logical:       8192,
		},
		{
			name:      "F: aliasing hazard",
			spec:      l1.N150(),
			cbs:       []program.CB{cb("{[0-0 - 0-0]}", 2048), cb("{[1-0 - 1-0]}", 6144), cb("{[0-0 - 1-0]}", 1024)},
			addresses: "103712 103712 105760",
			occupied: []string{
				"{[0-0 - 0-0]} [103712,106784)",
				"{[1-0 - 1-0]} [103712,109856)",
			},
			occupiedBytes: 3072 + 6144,
			reserved: []string{
				"{[0-0 - 0-0]} [103712,106784)",
				"{[1-0 - 1-0]} [103712,109856)",
			},
			reservedBytes: 3072 + 6144,
			logical:       3072 + 7168,
			findings:      []string{"CB 2 overlaps CB 1 at [105760,106784) on {[1-0 - 1-0]}"},
		},
		{
			name:      "G: one CB with two ranges, the other range over both",
			spec:      l1.N150(),
			cbs:       []program.CB{cb("{[0-0 - 3-0]}", 2048), cb("{[0-0 - 1-0], [3-0 - 3-0]}", 4096)},
			addresses: "103712 105760",
			occupied: []string{
				"{[0-0 - 1-0], [3-0 - 3-0]} [103712,109856)",
				"{[2-0 - 2-0]} [103712,105760)",
			},
			occupiedBytes: 20_480,
			reserved:      []string{"{[0-0 - 3-0]} [103712,109856)"},
			reservedBytes: 24_576,
			logical:       20_480,
		},
		{
			name:      "G, created in the other order",
			spec:      l1.N150(),
			cbs:       []program.CB{cb("{[0-0 - 1-0], [3-0 - 3-0]}", 4096), cb("{[0-0 - 3-0]}", 2048)},
			addresses: "103712 107808",
			occupied: []string{
				"{[0-0 - 1-0], [3-0 - 3-0]} [103712,109856)",
				"{[2-0 - 2-0]} [107808,109856)",
			},
			occupiedBytes: 20_480,
			reserved:      []string{"{[0-0 - 3-0]} [103712,109856)"},
			reservedBytes: 24_576,
			logical:       20_480,
		},
		{
			name:          "G2: wide global CB, narrow local CB",
			spec:          l1.N150(),
			cbs:           []program.CB{global(cb("{[0-0 - 7-7]}", 8192)), cb("{[0-0 - 0-0]}", 4096)},
			addresses:     "? 103712",
			occupied:      []string{"{[0-0 - 0-0]} [103712,107808)"},
			occupiedBytes: 4096,
			reserved:      []string{"{[0-0 - 7-7]} [103712,107808)"},
			reservedBytes: 262_144,
			logical:       4096,
		},
		{
			name:          "tt-lang#511: 12 CBs of 128 KiB end at 111,104 + 12 x 131,072",
			spec:          withBase(l1.P150(), 111_104),
			cbs:           times(12, cb("{[0-0 - 12-9]}", 131_072)),
			addresses:     "111104 242176 373248 504320 635392 766464 897536 1028608 1159680 1290752 1421824 1552896",
			occupied:      []string{"{[0-0 - 12-9]} [111104,1683968)"},
			occupiedBytes: 130 * 12 * 131_072,
			reserved:      []string{"{[0-0 - 12-9]} [111104,1683968)"},
			reservedBytes: 130 * 12 * 131_072,
			logical:       130 * 12 * 131_072,
			findings:      []string{"CB 11 grows to 1683968, beyond the L1 of 1572864 bytes"},
		},
		{
			name: "entries are keyed by merged ranges: {[0-0 - 3-3], [4-0 - 7-3]} is [0-0 - 7-3]",
			spec: l1.N150(),
			// Not merged, CB 0 would get an entry of its own that CB 2 does not mark.
			cbs:           []program.CB{cb("{[0-0 - 3-3], [4-0 - 7-3]}", 64), cb("{[0-0 - 7-3]}", 64)},
			addresses:     "103712 103776",
			occupied:      []string{"{[0-0 - 7-3]} [103712,103840)"},
			occupiedBytes: 32 * 128,
			reserved:      []string{"{[0-0 - 7-3]} [103712,103840)"},
			reservedBytes: 32 * 128,
			logical:       32 * 128,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := build(t, test.spec, test.cbs...)
			occupied, reserved := p.Occupied(program.CircularBuffer), p.Reserved(program.CircularBuffer)

			require.Equal(t, test.addresses, addresses(p))
			require.Equal(t, test.occupied, groups(occupied), "occupied")
			require.Equal(t, test.reserved, groups(reserved), "reserved")
			require.Equal(t, test.occupiedBytes, occupied.Bytes(), "occupied bytes")
			require.Equal(t, test.reservedBytes, reserved.Bytes(), "reserved bytes")
			require.Equal(t, test.logical, occupied.Logical(), "logical bytes")
			require.Zero(t, reserved.Logical(), "reserved has no logical bytes")
			require.Equal(t, test.findings, findings(p))
			require.Zero(t, p.Occupied(program.DataflowBuffer))
			require.Zero(t, p.Reserved(program.Scratchpad))
		})
	}
}

func withBase(spec l1.Spec, base uint64) l1.Spec {
	spec.CBBase = base
	return spec
}

// Example F again, as a caller sees it: 6,144 bytes are taken where 7,168 were
// requested, and the finding carries the facts.
func TestOverlapFindingCarriesTheFacts(t *testing.T) {
	p := build(t, l1.N150(), cb("{[0-0 - 0-0]}", 2048), cb("{[1-0 - 1-0]}", 6144), cb("{[0-0 - 1-0]}", 1024))

	hit := l1.Core{X: 1}
	g, ok := p.Occupied(program.CircularBuffer).On(hit)
	require.True(t, ok)
	require.EqualValues(t, 6144, g.Bytes())
	require.EqualValues(t, 7168, g.Logical())

	require.Equal(t, []program.Finding{{
		Code: program.Overlap, CB: 2, Other: 1, Cores: l1.CoreSetOf(hit), Range: l1.Range{Start: 105_760, End: 106_784},
	}}, slices.Collect(p.Findings()))
}

// Two CBs of 2,048; the first grows to 4,096. The second has to move.
func TestResize(t *testing.T) {
	old := build(t, l1.N150(), cb("{[0-0 - 0-0]}", 2048), cb("{[0-0 - 0-0]}", 2048))
	require.Equal(t, "103712 105760", addresses(old))

	resized, err := old.Resize(0, 4096)
	require.NoError(t, err)
	require.Equal(t, "103712 107808", addresses(resized))
	require.Equal(t, old.ID(), resized.ID())
	require.False(t, old.Equal(resized))

	t.Run("leaves the old program alone", func(t *testing.T) {
		require.Equal(t, "103712 105760", addresses(old))
		require.EqualValues(t, 4096, old.Occupied(program.CircularBuffer).Bytes())
	})
	t.Run("back again is equal", func(t *testing.T) {
		back, err := resized.Resize(0, 2048)
		require.NoError(t, err)
		require.True(t, old.Equal(back))
	})
	t.Run("below the page size is a finding, as upstream fails at launch only", func(t *testing.T) {
		c := cb("{[0-0 - 0-0]}", 2048)
		c.Indices = []program.Index{{Number: 0, PageSize: 2048}}
		half, err := build(t, l1.N150(), c).Resize(0, 1024)
		require.NoError(t, err)
		require.Equal(t, []string{"CB 0: 1024 bytes are not a multiple of the page size 2048"}, findings(half))
	})
	t.Run("a given address stays", func(t *testing.T) {
		p := build(t, l1.N150(), fixed(200_000, cb("{[0-0 - 0-0]}", 64)), cb("{[0-0 - 0-0]}", 64))
		require.Equal(t, "200000 200064", addresses(p))
		p, err := p.Resize(0, 128)
		require.NoError(t, err)
		require.Equal(t, "200000 200128", addresses(p))
	})
	t.Run("of a global CB changes no layout", func(t *testing.T) {
		p := build(t, l1.N150(), global(cb("{[0-0 - 0-0]}", 64)), cb("{[0-0 - 0-0]}", 64))
		next, err := p.Resize(0, 1<<20)
		require.NoError(t, err)
		require.True(t, p.Equal(next))
	})
	t.Run("of one alias resizes its group: all sizes must be equal", func(t *testing.T) {
		a := alias(1, as(program.DataflowBuffer, cb("{[0-0 - 0-0]}", 64)))
		p := build(t, l1.N150(), a, a, as(program.DataflowBuffer, cb("{[0-0 - 0-0]}", 64)))
		require.Equal(t, "103712 103712 103776", addresses(p))
		p, err := p.Resize(1, 128)
		require.NoError(t, err)
		require.Equal(t, "103712 103712 103840", addresses(p))
	})
	t.Run("of a CB that is not there is refused", func(t *testing.T) {
		for _, i := range []int{-1, 2} {
			_, err := old.Resize(i, 4096)
			var bad *program.Error
			require.ErrorAs(t, err, &bad)
			require.Equal(t, fmt.Sprintf("program 1: CB %d: Size 4096: the program has 2 CBs", i), bad.Error())
		}
	})
	t.Run("beyond 2^63-1 is refused", func(t *testing.T) {
		_, err := old.Resize(0, 1<<63)
		var bad *program.BuildError
		require.ErrorAs(t, err, &bad)
	})
}

// Section 1.8: what "Metal 2.0" programs use in place of circular buffers.
func TestDataflowBuffersAndScratchpads(t *testing.T) {
	dfb := func(cores string, size uint64) program.CB { return as(program.DataflowBuffer, cb(cores, size)) }
	scratch := func(cores string, size uint64) program.CB { return as(program.Scratchpad, cb(cores, size)) }

	t.Run("dataflow buffers are placed as circular buffers are, and counted apart", func(t *testing.T) {
		p := build(t, l1.N150(), dfb("{[0-0 - 1-0]}", 4096), dfb("{[1-0 - 2-0]}", 6144))
		require.Equal(t, "103712 107808", addresses(p))
		require.EqualValues(t, 20_480, p.Occupied(program.DataflowBuffer).Bytes())
		require.EqualValues(t, 30_720, p.Reserved(program.DataflowBuffer).Bytes())
		require.Zero(t, p.Occupied(program.CircularBuffer))
		require.Zero(t, p.Reserved(program.CircularBuffer))
	})

	t.Run("scratchpads follow the dataflow buffers, in any order of creation", func(t *testing.T) {
		p := build(t, l1.N150(), scratch("{[0-0 - 0-0]}", 64), dfb("{[0-0 - 0-0]}", 128))
		require.Equal(t, "103840 103712", addresses(p))
		require.Equal(t, []string{"{[0-0 - 0-0]} [103712,103840)"}, groups(p.Occupied(program.DataflowBuffer)))
		require.Equal(t, []string{"{[0-0 - 0-0]} [103840,103904)"}, groups(p.Occupied(program.Scratchpad)))
		require.Equal(t, []string{"{[0-0 - 0-0]} [103712,103904)"}, groups(p.Reserved(program.DataflowBuffer)), "one bookkeeping for both")
		require.Equal(t, groups(p.Reserved(program.DataflowBuffer)), groups(p.Reserved(program.Scratchpad)))
	})

	t.Run("scratchpads respect every entry they touch: example F does not overlap", func(t *testing.T) {
		p := build(t, l1.N150(), dfb("{[0-0 - 0-0]}", 2048), dfb("{[1-0 - 1-0]}", 6144), scratch("{[0-0 - 1-0]}", 1024))
		require.Equal(t, "103712 103712 109856", addresses(p))
		require.Empty(t, findings(p))
	})

	t.Run("a scratchpad over two ranges of a wider entry marks it once", func(t *testing.T) {
		p := build(t, l1.N150(), dfb("{[0-0 - 3-0]}", 64), scratch("{[0-0 - 0-0], [2-0 - 2-0]}", 32))
		require.Equal(t, "103712 103776", addresses(p))
		require.Equal(t, []string{"{[0-0 - 3-0]} [103712,103808)"}, groups(p.Reserved(program.Scratchpad)))
	})

	// Upstream: "grow to 2478976 B which is beyond max L1 size of 1572864 B".
	t.Run("24 dataflow buffers of 96 KiB do not fit; as one alias group they do", func(t *testing.T) {
		spec := withBase(l1.P150(), 119_680)
		apart := build(t, spec, times(24, dfb("{[0-0 - 0-0]}", 96<<10))...)
		require.Equal(t, []string{"{[0-0 - 0-0]} [119680,2478976)"}, groups(apart.Occupied(program.DataflowBuffer)))
		require.Contains(t, findings(apart), "CB 23 grows to 2478976, beyond the L1 of 1572864 bytes")

		together := build(t, spec, times(24, alias(1, dfb("{[0-0 - 0-0]}", 96<<10)))...)
		f := together.Occupied(program.DataflowBuffer)
		require.Equal(t, []string{"{[0-0 - 0-0]} [119680,217984)"}, groups(f))
		require.EqualValues(t, 96<<10, f.Bytes())
		require.EqualValues(t, 24*96<<10, f.Logical(), "logical is the plain sum of the sizes")
		require.Equal(t, groups(f), groups(together.Reserved(program.DataflowBuffer)))
		require.Empty(t, findings(together), "members of a group share bytes on purpose")
	})

	t.Run("an alias group is free on the cores of all its members", func(t *testing.T) {
		a, b := alias(7, dfb("{[0-0 - 0-0]}", 64)), alias(7, dfb("{[1-0 - 1-0]}", 64))
		p := build(t, l1.N150(), dfb("{[1-0 - 1-0]}", 256), a, b)
		require.Equal(t, "103712 103968 103968", addresses(p))
	})

	// The address is taken for the whole group where its first member is created. A
	// buffer created between two members must not be placed into the second one.
	t.Run("an alias group is taken on all its cores at once", func(t *testing.T) {
		a, b := alias(7, dfb("{[0-0 - 0-0]}", 64)), alias(7, dfb("{[1-0 - 1-0]}", 64))
		p := build(t, l1.N150(), a, dfb("{[1-0 - 1-0]}", 256), b)
		require.Equal(t, "103712 103776 103712", addresses(p))
		require.Empty(t, findings(p))
	})

	t.Run("two alias groups, and buffers in none, have addresses of their own", func(t *testing.T) {
		one := dfb("{[0-0 - 0-0]}", 64)
		p := build(t, l1.N150(), alias(1, one), alias(-2, one), one, alias(-2, one), one, alias(1, one))
		require.Equal(t, "103712 103776 103840 103776 103904 103712", addresses(p))
		require.Empty(t, findings(p))
	})

	t.Run("circular buffers beside dataflow buffers are refused", func(t *testing.T) {
		_, err := builder(cb("{[0-0 - 0-0]}", 64), dfb("{[1-0 - 1-0]}", 64)).Build(l1.N150())
		require.EqualError(t, err, "program 1: CB 1: Kind 1: a program has circular buffers or dataflow buffers, not both")
	})

	t.Run("a borrowed dataflow buffer takes nothing", func(t *testing.T) {
		p := build(t, l1.N150(), global(dfb("{[0-0 - 0-0]}", 64)))
		require.Zero(t, p.Occupied(program.DataflowBuffer).Bytes())
	})
}

// Addresses taken as given: simulators that place for themselves, captures.
func TestGivenAddresses(t *testing.T) {
	at := func(start, end uint64) l1.Range { return l1.Range{Start: start, End: end} }
	one := l1.MustParseCoreRangeSet("{[0-0 - 0-0]}")
	wide := l1.MustParseCoreRangeSet("{[0-0 - 1-0]}")
	spec := l1.Spec{CBBase: 64, CBAlign: 16}

	t.Run("ranges are merged; empty ones are nothing", func(t *testing.T) {
		p, err := program.NewBuilder(1).Range(one, at(64, 80)).Range(one, at(80, 100)).Range(one, at(112, 112)).Range(one, at(128, 144)).Build(spec)
		require.NoError(t, err)
		require.Equal(t, []string{"{[0-0 - 0-0]} [64,100) [128,144)"}, groups(p.Occupied(program.CircularBuffer)))
		require.Equal(t, groups(p.Occupied(program.CircularBuffer)), groups(p.Reserved(program.CircularBuffer)))
		require.Empty(t, findings(p))
	})

	t.Run("reserved follows the marking rule at the given address", func(t *testing.T) {
		p, err := program.NewBuilder(1).Range(one, at(64, 128)).Range(wide, at(128, 160)).Build(spec)
		require.NoError(t, err)
		require.Equal(t, []string{"{[0-0 - 0-0]} [64,160)", "{[1-0 - 1-0]} [128,160)"}, groups(p.Occupied(program.CircularBuffer)))
		require.Equal(t, []string{"{[0-0 - 1-0]} [64,160)"}, groups(p.Reserved(program.CircularBuffer)))
	})

	t.Run("where the rule would refuse, reserved is the union, and a finding", func(t *testing.T) {
		p, err := program.NewBuilder(1).Range(one, at(128, 160)).Range(one, at(64, 80)).Build(spec)
		require.NoError(t, err)
		require.Equal(t, []string{"{[0-0 - 0-0]} [64,80) [128,160)"}, groups(p.Reserved(program.CircularBuffer)))
		require.Equal(t, []string{"CB 1 at [64,80) lies below a CB created before it"}, findings(p))
	})

	// CB 0 takes nothing but leaves its mark at 160; CB 1 cannot take that back.
	t.Run("a refused mark lowers no mark", func(t *testing.T) {
		p := build(t, spec, fixed(160, cb("{[0-0 - 0-0]}", 0)), fixed(64, cb("{[0-0 - 0-0]}", 16)), cb("{[0-0 - 0-0]}", 16))
		require.Equal(t, "160 64 160", addresses(p))
	})

	t.Run("a placed CB lies above the given ones", func(t *testing.T) {
		p := build(t, spec, fixed(1000, cb("{[0-0 - 0-0]}", 10)), cb("{[0-0 - 0-0]}", 10), cb("{[1-0 - 1-0]}", 10))
		require.Equal(t, "1000 1024 64", addresses(p))
	})

	t.Run("an address below the base is counted like any other", func(t *testing.T) {
		p := build(t, spec, fixed(0, cb("{[0-0 - 0-0]}", 16)), cb("{[0-0 - 0-0]}", 16))
		require.Equal(t, "0 64", addresses(p))
		require.Equal(t, []string{"{[0-0 - 0-0]} [0,16) [64,80)"}, groups(p.Reserved(program.CircularBuffer)))
		require.Empty(t, findings(p))
	})

	t.Run("a global CB at a known address takes no bytes", func(t *testing.T) {
		p := build(t, spec, fixed(4096, global(cb("{[0-0 - 0-0]}", 512))), cb("{[0-0 - 0-0]}", 16))
		require.Equal(t, "4096 64", addresses(p))
		require.Equal(t, []string{"{[0-0 - 0-0]} [64,80)"}, groups(p.Occupied(program.CircularBuffer)))
		for i, cb := range p.CBs() {
			if i == 0 {
				require.Equal(t, at(4096, 4608), cb.Range)
				require.True(t, cb.Known)
			}
		}
	})

	t.Run("an address counts only with Fixed", func(t *testing.T) {
		stray := cb("{[0-0 - 0-0]}", 16)
		stray.Address = 4096
		p := build(t, spec, stray, global(stray))
		require.Equal(t, "64 ?", addresses(p))
		for _, cb := range p.CBs() {
			require.NotEqualValues(t, 4096, cb.Address)
		}
	})
}

// A CB beside others whose ranges it names side by side: tt-metal gives it another
// address in a program made from a descriptor, which keeps core ranges as they are.
func TestAsWritten(t *testing.T) {
	cbs := []program.CB{cb("{[0-0 - 0-0]}", 2048), cb("{[1-0 - 1-0]}", 1_100_000), cb("{[0-0 - 0-0], [1-0 - 1-0]}", 400_000)}
	spec := l1.P150()

	merged := build(t, spec, cbs...)
	require.False(t, merged.AsWritten())
	require.Equal(t, "111616 111616 113664", addresses(merged))
	require.Equal(t, []string{"CB 2 overlaps CB 1 at [113664,513664) on {[1-0 - 1-0]}"}, findings(merged))
	require.Equal(t, []program.Entry{
		{Cores: rect(0, 0, 0, 0), End: 513_664}, {Cores: rect(1, 0, 1, 0), End: 1_211_616}, {Cores: rect(0, 0, 1, 0), End: 513_664},
	}, slices.Collect(merged.Entries(program.CircularBuffer)))

	written, err := builder(cbs...).AsWritten().Build(spec)
	require.NoError(t, err)
	require.True(t, written.AsWritten())
	require.Equal(t, "111616 111616 1211648", addresses(written))
	require.Equal(t, []string{"CB 2 grows to 1611648, beyond the L1 of 1572864 bytes"}, findings(written))
	require.Equal(t, []program.Entry{{Cores: rect(0, 0, 0, 0), End: 1_611_648}, {Cores: rect(1, 0, 1, 0), End: 1_611_648}},
		slices.Collect(written.Entries(program.CircularBuffer)))
	require.EqualValues(t, 2048+400_000+1_100_000+400_000, written.Occupied(program.CircularBuffer).Bytes())
	require.Equal(t, written.Occupied(program.CircularBuffer).Bytes(), written.Reserved(program.CircularBuffer).Bytes())
	require.False(t, merged.Equal(written))

	t.Run("whichever side of the CBs it is said on", func(t *testing.T) {
		b := program.NewBuilder(1).AsWritten()
		for _, c := range cbs {
			b.CB(c)
		}
		p, err := b.Build(spec)
		require.NoError(t, err)
		require.True(t, written.Equal(p))
	})
	t.Run("resized", func(t *testing.T) {
		p, err := written.Resize(1, 300_000)
		require.NoError(t, err)
		require.True(t, p.AsWritten())
		require.Equal(t, "111616 111616 411648", addresses(p))
	})
	t.Run("nothing differs where each CB has one rectangle", func(t *testing.T) {
		merged := build(t, spec, cbs[:2]...)
		p, err := builder(cbs[:2]...).AsWritten().Build(spec)
		require.NoError(t, err)
		require.True(t, merged.Equal(p))
	})
	t.Run("a repeated rectangle counts once, overlapping ones count each", func(t *testing.T) {
		p, err := builder(times(2, cb("{[0-0 - 1-0], [0-0 - 1-0], [1-0 - 2-0]}", 64))...).AsWritten().Build(spec)
		require.NoError(t, err)
		require.Equal(t, "111616 111680", addresses(p))
		require.EqualValues(t, 3*128, p.Reserved(program.CircularBuffer).Bytes())
		require.Equal(t, []program.Entry{{Cores: rect(0, 0, 1, 0), End: 111_744}, {Cores: rect(1, 0, 2, 0), End: 111_744}},
			slices.Collect(p.Entries(program.CircularBuffer)))
		require.Len(t, findings(p), 2, "ranges overlap, once for each CB")
	})
}
