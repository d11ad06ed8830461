package program_test

import (
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
)

func indexed(c program.CB, indices ...program.Index) program.CB {
	c.Indices = indices
	return c
}

// Every Code once, and next to it what must not be found.
func TestFindings(t *testing.T) {
	one := cb("{[0-0 - 0-0]}", 2048)
	on00 := l1.CoreSetOf(l1.Core{})
	n150 := l1.N150()
	for _, test := range []struct {
		name string
		spec l1.Spec
		cbs  []program.CB
		want []program.Finding
		text []string
	}{
		{
			name: "none",
			spec: n150,
			cbs:  []program.CB{indexed(one, program.Index{Number: 0, PageSize: 2048}), indexed(one, program.Index{Number: 31, PageSize: 1})},
		},
		{
			name: "overlap",
			spec: n150,
			cbs:  []program.CB{fixed(200_000, one), fixed(201_024, cb("{[0-0 - 1-0]}", 512))},
			want: []program.Finding{
				{Code: program.OutOfOrder, CB: 1, Other: -1, Cores: l1.CoreSetOf(l1.Core{}, l1.Core{X: 1}), Range: l1.Range{Start: 201_024, End: 201_536}},
				{Code: program.Overlap, CB: 1, Other: 0, Cores: on00, Range: l1.Range{Start: 201_024, End: 201_536}},
			},
			text: []string{
				"CB 1 at [201024,201536) lies below a CB created before it",
				"CB 1 overlaps CB 0 at [201024,201536) on {[0-0 - 0-0]}",
			},
		},
		{
			name: "overlap: touching is none, neither is sharing bytes on other cores, nor with a tensor",
			spec: n150,
			cbs: []program.CB{
				fixed(200_000, one), fixed(202_048, one), fixed(200_000, cb("{[1-0 - 1-0]}", 2048)),
				fixed(200_000, global(one)), fixed(204_096, cb("{[0-0 - 0-0]}", 0)),
			},
		},
		{
			name: "index reuse: on the cores that both have, first user named",
			spec: n150,
			cbs: []program.CB{
				indexed(cb("{[0-0 - 1-0]}", 64), program.Index{Number: 3}, program.Index{Number: 4}),
				indexed(cb("{[1-0 - 2-0]}", 64), program.Index{Number: 3}),
				indexed(cb("{[3-0 - 3-0]}", 64), program.Index{Number: 3}),
			},
			want: []program.Finding{{Code: program.IndexReuse, CB: 1, Other: 0, Cores: l1.CoreSetOf(l1.Core{X: 1}), Value: 3}},
			text: []string{"CB 1 uses buffer index 3, which CB 0 has on {[1-0 - 1-0]}"},
		},
		{
			name: "index reuse: a global CB occupies its index too",
			spec: n150,
			cbs:  []program.CB{indexed(global(one), program.Index{Number: 0}), indexed(one, program.Index{Number: 0})},
			want: []program.Finding{{Code: program.IndexReuse, CB: 1, Other: 0, Cores: on00, Value: 0}},
			text: []string{"CB 1 uses buffer index 0, which CB 0 has on {[0-0 - 0-0]}"},
		},
		{
			name: "index reuse: one finding, although the cores hold different other CBs",
			spec: n150,
			cbs: []program.CB{
				indexed(cb("{[0-0 - 3-0]}", 64), program.Index{Number: 0}),
				indexed(cb("{[0-0 - 3-0]}", 64), program.Index{Number: 0}),
				cb("{[1-0 - 1-0]}", 64), cb("{[2-0 - 2-0]}", 64),
			},
			want: []program.Finding{{Code: program.IndexReuse, CB: 1, Other: 0, Cores: l1.MustParseCoreRangeSet("{[0-0 - 3-0]}").Cores()}},
			text: []string{"CB 1 uses buffer index 0, which CB 0 has on {[0-0 - 3-0]}"},
		},
		{
			name: "index reuse: also of an index that no device has",
			cbs:  []program.CB{indexed(one, program.Index{Number: 64}), indexed(one, program.Index{Number: 64})},
			want: []program.Finding{{Code: program.IndexReuse, CB: 1, Other: 0, Cores: on00, Value: 64}},
			text: []string{"CB 1 uses buffer index 64, which CB 0 has on {[0-0 - 0-0]}"},
		},
		{
			name: "index limit: 32 on Wormhole",
			spec: n150,
			cbs:  []program.CB{indexed(one, program.Index{Number: 31}, program.Index{Number: 32})},
			want: []program.Finding{{Code: program.IndexLimit, CB: 0, Other: -1, Cores: on00, Value: 32, Limit: 32}},
			text: []string{"CB 0 uses buffer index 32; the device has 32"},
		},
		{
			name: "index limit: 64 on Blackhole",
			spec: l1.P150(),
			cbs:  []program.CB{indexed(one, program.Index{Number: 63}), indexed(one, program.Index{Number: 1 << 30})},
			want: []program.Finding{{Code: program.IndexLimit, CB: 1, Other: -1, Cores: on00, Value: 1 << 30, Limit: 64}},
			text: []string{"CB 1 uses buffer index 1073741824; the device has 64"},
		},
		{
			name: "page size",
			spec: n150,
			cbs:  []program.CB{indexed(cb("{[0-0 - 0-0]}", 2048), program.Index{Number: 0, PageSize: 1024}, program.Index{Number: 1, PageSize: 1088})},
			want: []program.Finding{{Code: program.PageSize, CB: 0, Other: -1, Cores: on00, Value: 1088, Limit: 2048}},
			text: []string{"CB 0: 2048 bytes are not a multiple of the page size 1088"},
		},
		{
			name: "page count: 65,535 pages are fine, 65,536 are not",
			spec: n150,
			cbs: []program.CB{
				indexed(cb("{[0-0 - 0-0]}", 65_535), program.Index{Number: 0, PageSize: 1}),
				indexed(cb("{[0-0 - 0-0]}", 65_536), program.Index{Number: 1, PageSize: 1}),
			},
			want: []program.Finding{{Code: program.PageCount, CB: 1, Other: -1, Cores: on00, Value: 65_536, Limit: 65_535}},
			text: []string{"CB 1 has 65536 pages; the device counts to 65535"},
		},
		{
			name: "outside the grid: global CBs too, and only the cores that are",
			spec: n150,
			cbs:  []program.CB{cb("{[7-7 - 7-7]}", 64), global(cb("{[7-7 - 8-7]}", 64))},
			want: []program.Finding{{Code: program.OutsideGrid, CB: 1, Other: -1, Cores: l1.CoreSetOf(l1.Core{X: 8, Y: 7})}},
			text: []string{"CB 1: cores outside the grid: {[8-7 - 8-7]}"},
		},
		{
			name: "beyond L1: the last byte may be the last of L1; nothing ends nowhere",
			spec: n150,
			cbs: []program.CB{
				cb("{[0-0 - 0-0]}", 1_499_136-103_712), cb("{[1-0 - 1-0]}", 1_499_136-103_712+1),
				fixed(1<<40, cb("{[2-0 - 2-0]}", 0)), fixed(1<<40, global(one)),
			},
			want: []program.Finding{{
				Code: program.BeyondL1, CB: 1, Other: -1, Cores: l1.CoreSetOf(l1.Core{X: 1}),
				Range: l1.Range{Start: 103_712, End: 1_499_137}, Limit: 1_499_136,
			}},
			text: []string{"CB 1 grows to 1499137, beyond the L1 of 1499136 bytes"},
		},
		{
			name: "unaligned",
			spec: n150,
			cbs:  []program.CB{fixed(103_712+32, one), fixed(200_016, one)},
			want: []program.Finding{{
				Code: program.Unaligned, CB: 1, Other: -1, Cores: on00, Range: l1.Range{Start: 200_016, End: 202_064}, Value: 32,
			}},
			text: []string{"CB 1 starts at 200016, not a multiple of 32"},
		},
		{
			name: "two CBs may share bytes and indices",
			spec: l1.Spec{},
			cbs: []program.CB{
				indexed(fixed(0, cb("{[0-0 - 0-0]}", 8)), program.Index{Number: 0}, program.Index{Number: 1}),
				indexed(fixed(0, cb("{[0-0 - 0-0]}", 8)), program.Index{Number: 0}, program.Index{Number: 1}),
			},
			want: []program.Finding{
				{Code: program.OutOfOrder, CB: 1, Other: -1, Cores: on00, Range: l1.Range{Start: 0, End: 8}},
				{Code: program.IndexReuse, CB: 1, Other: 0, Cores: on00, Value: 0},
				{Code: program.IndexReuse, CB: 1, Other: 0, Cores: on00, Value: 1},
				{Code: program.Overlap, CB: 1, Other: 0, Cores: on00, Range: l1.Range{Start: 0, End: 8}},
			},
			text: []string{
				"CB 1 at [0,8) lies below a CB created before it",
				"CB 1 uses buffer index 0, which CB 0 has on {[0-0 - 0-0]}",
				"CB 1 uses buffer index 1, which CB 0 has on {[0-0 - 0-0]}",
				"CB 1 overlaps CB 0 at [0,8) on {[0-0 - 0-0]}",
			},
		},
		{
			name: "out of order",
			spec: n150,
			cbs:  []program.CB{fixed(300_000, one), fixed(200_000, one)},
			want: []program.Finding{{
				Code: program.OutOfOrder, CB: 1, Other: -1, Cores: on00, Range: l1.Range{Start: 200_000, End: 202_048},
			}},
			text: []string{"CB 1 at [200000,202048) lies below a CB created before it"},
		},
		{
			name: "rectangles that overlap",
			spec: n150,
			cbs:  []program.CB{cb("{[0-0 - 1-1], [2-0 - 2-0], [1-1 - 3-1]}", 64)},
			want: []program.Finding{{Code: program.RangesOverlap, CB: 0, Other: -1, Cores: l1.CoreSetOf(l1.Core{X: 1, Y: 1})}},
			text: []string{"CB 0: rectangles of its core range set share {[1-1 - 1-1]}"},
		},
		{
			name: "several: by CB",
			spec: n150,
			cbs: []program.CB{
				indexed(cb("{[8-0 - 8-0]}", 2048), program.Index{Number: 40, PageSize: 1000}),
				indexed(cb("{[8-0 - 8-0]}", 64), program.Index{Number: 99}),
				indexed(cb("{[0-0 - 0-0]}", 64), program.Index{Number: 32}),
			},
			want: []program.Finding{
				{Code: program.OutsideGrid, CB: 0, Other: -1, Cores: l1.CoreSetOf(l1.Core{X: 8})},
				{Code: program.IndexLimit, CB: 0, Other: -1, Cores: l1.CoreSetOf(l1.Core{X: 8}), Value: 40, Limit: 32},
				{Code: program.PageSize, CB: 0, Other: -1, Cores: l1.CoreSetOf(l1.Core{X: 8}), Value: 1000, Limit: 2048},
				{Code: program.OutsideGrid, CB: 1, Other: -1, Cores: l1.CoreSetOf(l1.Core{X: 8})},
				{Code: program.IndexLimit, CB: 1, Other: -1, Cores: l1.CoreSetOf(l1.Core{X: 8}), Value: 99, Limit: 32},
				{Code: program.IndexLimit, CB: 2, Other: -1, Cores: on00, Value: 32, Limit: 32},
			},
			text: []string{
				"CB 0: cores outside the grid: {[8-0 - 8-0]}",
				"CB 0 uses buffer index 40; the device has 32",
				"CB 0: 2048 bytes are not a multiple of the page size 1000",
				"CB 1: cores outside the grid: {[8-0 - 8-0]}",
				"CB 1 uses buffer index 99; the device has 32",
				"CB 2 uses buffer index 32; the device has 32",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := build(t, test.spec, test.cbs...)
			require.Equal(t, test.text, findings(p))
			require.Equal(t, test.want, slices.Collect(p.Findings()))
		})
	}

	t.Run("a Spec that knows nothing finds nothing", func(t *testing.T) {
		p := build(t, l1.Spec{}, indexed(cb("{[0-0 - 255-255]}", 1<<40), program.Index{Number: 1 << 30}))
		require.Empty(t, findings(p))
	})
	t.Run("a code of somebody else", func(t *testing.T) {
		require.Equal(t, "CB 3: strange", program.Finding{Code: "strange", CB: 3}.String())
	})
}

// Three CBs on one another: the one in between is not lost, whatever the order.
func TestEveryOverlappingCBIsNamed(t *testing.T) {
	big, low, high := fixed(200_000, cb("{[0-0 - 0-0]}", 1024)), fixed(200_000, cb("{[0-0 - 0-0]}", 32)), fixed(200_992, cb("{[0-0 - 0-0]}", 32))
	for _, test := range []struct {
		cbs  []program.CB
		want [][2]int
	}{
		{[]program.CB{big, low, high}, [][2]int{{1, 0}, {2, 0}}},
		{[]program.CB{low, big, high}, [][2]int{{1, 0}, {2, 1}}},
		{[]program.CB{low, high, big}, [][2]int{{2, 0}, {2, 1}}},
		{[]program.CB{big, big, big}, [][2]int{{1, 0}, {2, 0}}},
	} {
		var got [][2]int
		for f := range build(t, l1.N150(), test.cbs...).Findings() {
			if f.Code == program.Overlap {
				got = append(got, [2]int{f.CB, f.Other})
			}
		}
		slices.SortFunc(got, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		require.Equal(t, test.want, got)
	}
}

// A circular buffer and a scratchpad at given addresses may share bytes.
func TestKindsOnTheSameBytes(t *testing.T) {
	core := cb("{[0-0 - 0-0]}", 64)
	p := build(t, l1.N150(), fixed(200_000, core), fixed(200_032, as(program.Scratchpad, core)))
	require.Contains(t, findings(p), "CB 1 overlaps CB 0 at [200032,200064) on {[0-0 - 0-0]}")
}
