package l1_test

import (
	"math"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
)

// A program is placed alike on devices that differ in L1_SMALL alone.
func TestPlaces(t *testing.T) {
	spec, other := l1.N150(), l1.N150()
	require.True(t, spec.Places(other))
	other.L1Small = 4096
	require.True(t, spec.Places(other))
	require.True(t, other.Places(spec))
	other.CBBase += 32
	require.False(t, spec.Places(other))
	require.False(t, l1.N300().Places(spec))
}

// A Wormhole that was opened with l1_small_size=32768 reports a bank of 1,362,656 bytes.
func TestSmallBytes(t *testing.T) {
	for _, c := range []struct {
		size, base, bank, want uint64
		ok                     bool
	}{
		{1499136, 103712, 1362656, 32768, true},
		{1572864, 111616, 1461248, 0, true},
		{64, 16, 48, 0, true},
		{64, 16, 49, 0, false}, // a byte too many
		{64, 65, 1, 0, false},
		{64, 64, 1, 0, false},
		{64, 1, 1, 62, true},
		{64, 0, 48, 0, false},
		{64, 16, 0, 0, false},
		{0, 16, 48, 0, false},
		{l1.MaxAddr, 1, 1<<64 - 1, 0, false},
	} {
		small, ok := l1.SmallBytes(c.size, c.base, c.bank)
		require.Equal(t, c.ok, ok, "%+v", c)
		require.Equal(t, c.want, small, "%+v", c)
	}
}

func TestSpecCheck(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spec  l1.Spec
		field string // "" = legal
		value string
	}{
		{"zero: nothing is known", l1.Spec{}, "", ""},
		{"tiny", l1.Spec{Cols: 2, Rows: 2, L1Size: 64}, "", ""},
		{"largest", l1.Spec{Cols: 256, Rows: 256, L1Size: l1.MaxAddr, CBBase: l1.MaxAddr, CBAlign: l1.MaxAddr, L1Align: l1.MaxAddr, L1Small: l1.MaxAddr}, "", ""},
		{"base without a size", l1.Spec{CBBase: 1 << 40}, "", ""},
		{"base at the end", l1.Spec{L1Size: 64, CBBase: 64}, "", ""},
		{"negative columns", l1.Spec{Cols: -1, Rows: 1}, "Cols", "-1"},
		{"too many columns", l1.Spec{Cols: 257, Rows: 1}, "Cols", "257"},
		{"negative rows", l1.Spec{Cols: 1, Rows: -1}, "Rows", "-1"},
		{"too many rows", l1.Spec{Cols: 1, Rows: 257}, "Rows", "257"},
		{"columns alone", l1.Spec{Cols: 8}, "grid", "8x0"},
		{"rows alone", l1.Spec{Rows: 8}, "grid", "0x8"},
		{"size", l1.Spec{L1Size: 1 << 63}, "L1Size", "9223372036854775808"},
		{"base", l1.Spec{CBBase: 1 << 63}, "CBBase", "9223372036854775808"},
		{"alignment", l1.Spec{CBAlign: 1 << 63}, "CBAlign", "9223372036854775808"},
		{"buffer alignment", l1.Spec{L1Align: 1 << 63}, "L1Align", "9223372036854775808"},
		{"small area", l1.Spec{L1Small: 1 << 63}, "L1Small", "9223372036854775808"},
		{"base beyond L1", l1.Spec{L1Size: 64, CBBase: 65}, "CBBase", "65"},
		{"small area beyond L1", l1.Spec{L1Size: 64, L1Small: 65}, "L1Small", "65"},
		{"indices", l1.Spec{CBIndices: -1}, "CBIndices", "-1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.spec.Name = "mine"
			err := tc.spec.Check()
			if tc.field == "" {
				require.NoError(t, err)
				return
			}
			var bad *l1.SpecError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, "mine", bad.Spec)
			require.Equal(t, tc.field, bad.Field)
			require.Equal(t, tc.value, bad.Value)
			require.NotEmpty(t, bad.Reason)
			requireOneLine(t, err)
		})
	}
	require.EqualError(t, l1.Spec{Name: "mine", L1Size: 64, CBBase: 65}.Check(),
		`spec "mine": CBBase "65": lies beyond the L1 of 64 bytes`)
}

// A grid of 2x2 with 64 bytes is as good as any.
func TestTinySpec(t *testing.T) {
	s := l1.Spec{Name: "tiny", Cols: 2, Rows: 2, L1Size: 64, CBBase: 16, CBAlign: 16}
	require.NoError(t, s.Check())
	require.Equal(t, 4, s.NumCores())
	require.Equal(t, "{[0-0 - 1-1]}", s.Grid().String())
	require.True(t, s.Has(l1.Core{X: 1, Y: 1}))
	require.False(t, s.Has(l1.Core{X: 2, Y: 0}))
	require.False(t, s.Has(l1.Core{X: 0, Y: 2}))
	require.Equal(t, "tiny ( 2x2, L1 64, CB base 16, align 16)", s.String())
}

func TestSpecWithoutGrid(t *testing.T) {
	var s l1.Spec
	require.Zero(t, s.NumCores())
	require.Equal(t, "{}", s.Grid().String())
	require.True(t, s.Has(l1.Core{X: 255, Y: 255}))
	require.Equal(t, "{}", l1.Spec{Cols: 300, Rows: 300}.Grid().String())
	require.Equal(t, "spec ( 0x0, L1 0, CB base 0, align 1)", s.String())
	require.Equal(t, 65_536, l1.Spec{Cols: 256, Rows: 256}.Grid().Cores().Len())
}

func TestAlignCB(t *testing.T) {
	for _, tc := range []struct {
		align, addr, want uint64
		ok                bool
	}{
		{0, 13, 13, true},
		{1, 13, 13, true},
		{32, 0, 0, true},
		{32, 1, 32, true},
		{32, 32, 32, true},
		{48, 49, 96, true}, // not only powers of two
		{0, l1.MaxAddr, l1.MaxAddr, true},
		{0, l1.MaxAddr + 1, l1.MaxAddr + 1, false},
		{64, l1.MaxAddr, 0, false},
		{64, l1.MaxAddr - 63, l1.MaxAddr - 63, true},
		{64, l1.MaxAddr - 62, 0, false},
		{64, 1 << 63, 1 << 63, false},
		{l1.MaxAddr, 1, l1.MaxAddr, true},
		{64, 1<<64 - 1, 0, false},
	} {
		got, ok := l1.Spec{CBAlign: tc.align}.AlignCB(tc.addr)
		require.Equal(t, tc.ok, ok, "%+v", tc)
		if ok {
			require.Equal(t, tc.want, got, "%+v", tc)
		}
	}
}

// The facts of the boards, as tt-metal's core descriptors and memory maps have them.
func TestBoards(t *testing.T) {
	want := []struct {
		spec       l1.Spec
		name       string
		arch       l1.Arch
		cols, rows int
		cores      int
		l1         uint64
		base       uint64
		align      uint64
		indices    int
	}{
		{l1.N150(), "n150", l1.Wormhole, 8, 8, 64, 1_499_136, 103_712, 32, 32},
		{l1.N300(), "n300", l1.Wormhole, 8, 7, 56, 1_499_136, 103_712, 32, 32},
		{l1.Galaxy(), "galaxy", l1.Wormhole, 8, 10, 80, 1_499_136, 103_712, 32, 32},
		{l1.P100(), "p100", l1.Blackhole, 11, 10, 110, 1_572_864, 111_616, 64, 64},
		{l1.P150(), "p150", l1.Blackhole, 13, 10, 130, 1_572_864, 111_616, 64, 64},
		{l1.P150b(), "p150b", l1.Blackhole, 11, 10, 110, 1_572_864, 111_616, 64, 64},
		{l1.E150(), "e150", l1.Grayskull, 12, 9, 108, 1_048_576, 103_712, 32, 32},
		{l1.E75(), "e75", l1.Grayskull, 11, 8, 88, 1_048_576, 103_712, 32, 32},
		{l1.QuasarBoard(), "quasar", l1.Quasar, 8, 4, 32, 4_194_304, 0, 64, 0},
		{l1.QSR3A2(), "qsr3a2", l1.Quasar, 8, 12, 96, 4_194_304, 0, 64, 0},
	}
	boards := l1.Boards()
	require.Len(t, boards, len(want))
	for i, w := range want {
		s := w.spec
		require.Equal(t, s, boards[i])
		require.NoError(t, s.Check())
		require.Equal(t, w.name, s.Name)
		require.Equal(t, w.arch, s.Arch)
		require.Equal(t, w.cols, s.Cols)
		require.Equal(t, w.rows, s.Rows)
		require.Equal(t, w.cores, s.NumCores())
		require.Equal(t, w.cores, s.Grid().Cores().Len())
		require.Equal(t, w.l1, s.L1Size)
		require.Equal(t, w.base, s.CBBase)
		require.Equal(t, w.align, s.CBAlign)
		require.EqualValues(t, 16, s.L1Align)
		require.Equal(t, w.indices, s.CBIndices)
		aligned, ok := s.AlignCB(s.CBBase)
		require.True(t, ok)
		require.Equal(t, s.CBBase, aligned, "the base is aligned")
		require.Equal(t, w.base > 0, s.Based() == s, "a base that is not known leaves no size of L1")
	}
	require.Equal(t, "p150 (blackhole 13x10, L1 1572864, CB base 111616, align 64)", l1.P150().String())
	require.Equal(t, l1.Spec{}, l1.ArchSpec("other"))
	// Room for circular buffers.
	require.EqualValues(t, 1_395_424, l1.N150().L1Size-l1.N150().CBBase)
	require.EqualValues(t, 1_461_248, l1.P150().L1Size-l1.P150().CBBase)
}

func TestParseArch(t *testing.T) {
	for _, arch := range []l1.Arch{l1.Grayskull, l1.Wormhole, l1.Blackhole, l1.Quasar} {
		got, err := l1.ParseArch(string(arch))
		require.NoError(t, err)
		require.Equal(t, arch, got)
		require.Equal(t, arch, l1.ArchSpec(arch).Arch)
		require.NoError(t, l1.ArchSpec(arch).Check())
	}
	for _, text := range []string{"", "Wormhole", "wormhole ", "other"} {
		_, err := l1.ParseArch(text)
		requireParseError(t, err, "architecture", text, 0, "known are")
	}
}

func TestUsable(t *testing.T) {
	for _, tc := range []struct {
		name string
		spec l1.Spec
		want l1.Range
	}{
		{"nothing is known", l1.Spec{}, l1.Range{End: l1.MaxAddr}},
		{"no size", l1.Spec{CBBase: 16, L1Small: 8}, l1.Range{Start: 16, End: l1.MaxAddr}},
		{"no L1_SMALL", l1.Spec{L1Size: 64, CBBase: 16}, l1.Range{Start: 16, End: 64}},
		{"with L1_SMALL", l1.Spec{L1Size: 64, CBBase: 16, L1Small: 8}, l1.Range{Start: 16, End: 56}},
		{"base at the end", l1.Spec{L1Size: 64, CBBase: 56, L1Small: 8}, l1.Range{Start: 56, End: 56}},
		{"base within L1_SMALL", l1.Spec{L1Size: 64, CBBase: 60, L1Small: 8}, l1.Range{Start: 56, End: 56}},
		{"base beyond L1", l1.Spec{L1Size: 64, CBBase: 100}, l1.Range{Start: 64, End: 64}},
		{"L1_SMALL larger than L1", l1.Spec{L1Size: 64, CBBase: 16, L1Small: 65}, l1.Range{}},
		{"beyond every address", l1.Spec{L1Size: 1 << 63, CBBase: 1 << 63}, l1.Range{Start: l1.MaxAddr, End: l1.MaxAddr}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, tc.spec.Usable())
			require.NoError(t, tc.spec.Usable().Check())
			bytes := tc.want.Len()
			if tc.spec.L1Size == 0 {
				bytes = 0
			}
			require.Equal(t, bytes, tc.spec.UsableBytes())
		})
	}
}

// What Check refuses has no cores either: no product wraps.
func TestNumCores(t *testing.T) {
	require.Equal(t, 130, l1.P150().NumCores())
	require.Equal(t, 65_536, l1.Spec{Cols: 256, Rows: 256}.NumCores())
	for _, s := range []l1.Spec{{}, {Cols: -2, Rows: -3}, {Cols: 8}, {Cols: 257, Rows: 1}, {Cols: math.MaxInt, Rows: math.MaxInt}} {
		require.Zero(t, s.NumCores(), "%v", s)
	}
}

// A grid has all cores of a set if each of them lies on it.
func TestHasAll(t *testing.T) {
	sets := []l1.CoreSet{{}, l1.CoreSetOf(l1.Core{}, l1.Core{X: 9, Y: 20}), l1.CoreSetOf(l1.Core{X: 255, Y: 255})}
	for _, x := range []uint8{0, 7, 8, 15, 16, 200} {
		for _, y := range []uint8{0, 7, 8, 31} {
			sets = append(sets, l1.Rect(0, 0, x, y).Cores(), l1.Rect(x, y, x, y).Cores())
		}
	}
	for _, s := range []l1.Spec{{}, {Cols: 8, Rows: 8}, {Cols: 1, Rows: 1}, {Cols: 20, Rows: 33}, {Cols: 256, Rows: 256}, {Cols: 300, Rows: 1}, {Cols: -1, Rows: 1}} {
		for _, cores := range sets {
			want := s.Cols == 0 || s.Grid().Cores().Contains(cores)
			require.Equal(t, want, s.HasAll(cores), "%d columns, %d rows, %v", s.Cols, s.Rows, cores)
		}
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { l1.N150().HasAll(sets[len(sets)-1]) }))
}
