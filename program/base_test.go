package program_test

import (
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
)

func baseSpec() l1.Spec {
	return l1.Spec{Name: "toy", Cols: 4, Rows: 2, L1Size: 4096, CBBase: 64, CBAlign: 16}
}

func base(cores string, address uint64) program.Base {
	return program.Base{Cores: l1.MustParseCoreRangeSet(cores), Address: address}
}

// above is builder with bases, which come after the CBs.
func above(bases []program.Base, cbs ...program.CB) *program.Builder {
	b := builder(cbs...)
	for _, one := range bases {
		b.Base(one.Cores, one.Address)
	}
	return b
}

// Addresses above bases, on a device with base 64 and alignment 16.
func TestBases(t *testing.T) {
	dfb := func(c program.CB) program.CB { return as(program.DataflowBuffer, c) }
	two := []program.Base{base("{[0-0 - 0-0]}", 128), base("{[1-0 - 1-0]}", 256)}
	for _, test := range []struct {
		name  string
		bases []program.Base
		cbs   []program.CB
		want  string
	}{
		{"none", nil, []program.CB{cb("{[0-0 - 0-0]}", 16)}, "64"},
		{"the base of the device", []program.Base{base("{[0-0 - 0-0]}", 64)}, []program.CB{cb("{[0-0 - 0-0]}", 16)}, "64"},
		{"the highest of its cores", two,
			[]program.CB{cb("{[0-0 - 0-0]}", 16), cb("{[0-0 - 1-0]}", 16), cb("{[2-0 - 2-0]}", 16)}, "128 256 64"},
		{"the highest of one core, in any order", []program.Base{base("{[0-0 - 0-0]}", 256), base("{[0-0 - 3-1]}", 128)},
			[]program.CB{cb("{[0-0 - 0-0]}", 16), cb("{[1-0 - 1-0]}", 16)}, "256 128"},
		{"one core of several rectangles", two[1:], []program.CB{cb("{[3-0 - 3-0], [1-0 - 1-0]}", 16)}, "256"},
		{"rounded up", []program.Base{base("{[0-0 - 0-0]}", 129)}, []program.CB{cb("{[0-0 - 0-0]}", 16)}, "144"},
		{"the end of L1", []program.Base{base("{[0-0 - 0-0]}", 4096)}, []program.CB{cb("{[0-0 - 0-0]}", 16)}, "4096"},
		{"no core", []program.Base{base("{}", 256)}, []program.CB{cb("{[0-0 - 0-0]}", 16), cb("{}", 16)}, "64 64"},
		{"above earlier CBs", two, []program.CB{cb("{[0-0 - 0-0]}", 200), cb("{[0-0 - 0-0]}", 16)}, "128 336"},
		{"given addresses stay", two, []program.CB{fixed(70, cb("{[0-0 - 0-0]}", 16)), cb("{[0-0 - 0-0]}", 16)}, "70 128"},
		{"global CBs stay", two, []program.CB{global(cb("{[0-0 - 0-0]}", 16)), global(fixed(96, cb("{[0-0 - 0-0]}", 16)))}, "? 96"},
		{"dataflow buffers and scratchpads", two,
			[]program.CB{dfb(cb("{[0-0 - 0-0]}", 16)), as(program.Scratchpad, cb("{[0-0 - 0-0]}", 8)), as(program.Scratchpad, cb("{[1-0 - 1-0]}", 8))},
			"128 144 256"},
		{"all cores of an alias group", two,
			[]program.CB{alias(1, dfb(cb("{[2-0 - 2-0]}", 16))), alias(1, dfb(cb("{[1-0 - 1-0]}", 16)))}, "256 256"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := above(test.bases, test.cbs...).Build(baseSpec())
			require.NoError(t, err)
			require.Equal(t, test.want, addresses(p))
			require.Equal(t, test.bases, slices.Collect(p.Bases()))
		})
	}
}

func TestBaseErrors(t *testing.T) {
	for _, test := range []struct {
		base program.Base
		want string
	}{
		{base("{[0-0 - 0-0]}", 63), "program 1: base 1: Address 63: below the base of the device, 64"},
		{base("{[0-0 - 0-0]}", 4097), "program 1: base 1: Address 4097: beyond L1, which ends at 4096"},
		{base("{[0-0 - 0-0]}", 1<<63), "program 1: base 1: Address 9223372036854775808: beyond 2^63-1"},
		{base("{[0-0 - 4-1]}", 64), "program 1: base 1: Cores [0-0 - 4-1]: outside the 4x2 grid"},
		{base("{[3-1 - 3-1], [0-0 - 0-2]}", 64), "program 1: base 1: Cores [0-0 - 0-2]: outside the 4x2 grid"},
		{base("{[0-2 - 0-2]}", 0), "program 1: base 1: Address 0: below the base of the device, 64 (+1 more)"},
	} {
		_, err := above([]program.Base{base("{[0-0 - 0-0]}", 64), test.base}).Build(baseSpec())
		require.EqualError(t, err, test.want)
		var bad *program.Error
		require.ErrorAs(t, err, &bad)
		require.Equal(t, 1, bad.At)
	}

	_, err := above([]program.Base{base("{}", 0)}, cb("{[0-0 - 0-0]}", 1<<63)).Build(baseSpec())
	require.EqualError(t, err, "program 1: CB 0: Size 9223372036854775808: beyond 2^63-1 (+1 more)", "CBs come first")

	many := slices.Repeat([]program.Base{base("{[0-0 - 0-0]}", 64)}, 256)
	_, err = above(many).Build(baseSpec())
	require.NoError(t, err)
	_, err = above(append(many, many[0])).Name("x").Build(baseSpec())
	require.EqualError(t, err, `program 1 "x": 257 bases: more than 256`)

	wide := baseSpec()
	wide.Cols, wide.Rows, wide.L1Size = 0, 0, 0
	_, err = above([]program.Base{base("{[9-9 - 9-9]}", 1<<63-1)}).Build(wide)
	require.NoError(t, err, "neither the grid nor L1 is known")
	_, err = above([]program.Base{base("{[9-9 - 9-9]}", 1<<63-1)}, cb("{[9-9 - 9-9]}", 16)).Build(wide)
	require.EqualError(t, err, "program 1: CB 0: Size 16: placed so that it ends beyond 2^63-1")
}

// A resized program stays above its bases, and so does one that is built like it.
func TestBasesStay(t *testing.T) {
	b := above([]program.Base{base("{[0-0 - 0-0]}", 128)}, cb("{[0-0 - 0-0]}", 16), cb("{[0-0 - 0-0]}", 16)).AsWritten()
	p, err := b.Build(baseSpec())
	require.NoError(t, err)
	larger, err := p.Resize(0, 32)
	require.NoError(t, err)
	require.Equal(t, "128 160", addresses(larger))
	again, err := larger.Resize(0, 16)
	require.NoError(t, err)
	require.True(t, p.Equal(again))

	like, err := builder(cb("{[0-0 - 1-0]}", 16)).Base(l1.Rect(1, 0, 1, 0), 1024).Like(p).Base(l1.Rect(1, 0, 1, 0), 512).Build(baseSpec())
	require.NoError(t, err)
	require.Equal(t, "512", addresses(like), "the bases of p replace those before")
	require.True(t, like.AsWritten())
	require.Len(t, slices.Collect(p.Bases()), 1, "p has its own")
}
