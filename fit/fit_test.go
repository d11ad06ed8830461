package fit_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A clash of our own, for which tt-metal has no words, names the program.
func TestClashNamesProgram(t *testing.T) {
	p, err := program.NewBuilder(134).Name("a \"large\" matmul").Build(l1.Spec{L1Size: 1000})
	require.NoError(t, err)
	v := fit.Verdict{Program: p, Clashes: []fit.Clash{{End: 3, Limit: 2}}}
	require.Equal(t, `program 134 ("a \"large\" matmul") ends at 3 on no cores: that is beyond L1, which ends at 2; 1 B too many`, v.String())
}

// Nothing panics where nothing was said.
func TestZeroValues(t *testing.T) {
	var v fit.Verdict
	require.True(t, v.Fits())
	require.Equal(t, "no program: nothing to fit", v.String())
	require.Empty(t, v.Own(fit.Clash{}))
	require.Empty(t, v.Above(fit.Clash{}))
	require.Empty(t, v.Holes(fit.Clash{}))
	v.Clashes = []fit.Clash{{}}
	require.Equal(t, "no program ends at 0 on no cores: that is beyond L1, which ends at 0; 0 B too many", v.String())
	v.Refusals = []*fit.Refusal{{}}
	require.NotEmpty(t, v.String())
	require.Zero(t, v.Refusals[0].Over())
	require.Zero(t, v.Clashes[0].Over())

	require.Equal(t, fit.Verdict{}, fit.Check(nil, fit.Place{}))
	require.Empty(t, fit.HeadroomOf(nil, fit.Place{}))
	require.Empty(t, fit.HeadroomOver(fit.Place{}))
	require.True(t, fit.CheckBuffer(buffer(fit.KindL1, 0, 8, 16), fit.Place{Programs: []*program.Program{nil}}).Fits())
	n, ok, err := fit.MayGrow(nil, 3)
	require.Zero(t, n)
	require.False(t, ok)
	require.NoError(t, err)

	var b fit.Buffer
	require.Empty(t, slices.Collect(b.All()))
	require.Equal(t, b, b.Plain())
	require.False(t, b.Stands())
	require.Equal(t, "circular buffer 0", b.String())
	require.Equal(t, "Kind(77)", fit.Kind(77).Name())
}

// A buffer may be given in two ways; Plain makes one of them, and shares nothing.
func TestBufferPlain(t *testing.T) {
	p := fit.Part{Cores: l1.Rect(0, 0, 1, 0).Cores(), Range: l1.Range{Start: 8, End: 16}}
	q := fit.Part{Cores: l1.Rect(2, 0, 2, 0).Cores(), Range: l1.Range{Start: 24, End: 32}}
	short := fit.Buffer{ID: 1, Kind: fit.KindL1, Cores: p.Cores, Range: p.Range}
	mixed := fit.Buffer{ID: 1, Kind: fit.KindL1, Cores: p.Cores, Range: p.Range, Parts: []fit.Part{q}}
	require.Equal(t, []fit.Part{p, q}, slices.Collect(mixed.All()))
	require.Equal(t, fit.Buffer{ID: 1, Kind: fit.KindL1, Parts: []fit.Part{p, q}}, mixed.Plain())
	require.Equal(t, short, fit.Buffer{ID: 1, Kind: fit.KindL1, Parts: []fit.Part{{}, p}}.Plain())
	require.Equal(t, short, short.Plain())
	both := fit.Buffer{ID: 1, Kind: fit.KindL1, Parts: []fit.Part{p, q}}
	plain := both.Plain()
	require.Equal(t, both, plain)
	plain.Parts[0] = q
	require.Equal(t, []fit.Part{p, q}, slices.Collect(both.All()))
	for part := range both.All() {
		require.Equal(t, p, part)
		break
	}
}

// tt-metal compares the end of the charged range, not bytes: if the last CB of a range has no bytes
// and an address above a buffer, the program is refused, though no byte clashes.
func TestEmptyBuffersAreCharged(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	left := l1.Rect(0, 0, 0, 0)
	for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer, program.Scratchpad} {
		p, err := program.NewBuilder(1).CB(program.CB{Kind: kind, Cores: left, Size: 8}).CB(program.CB{Kind: kind, Cores: left, Fixed: true, Address: 300}).Build(spec)
		require.NoError(t, err)
		v := fit.Check(p, fit.Place{Spec: spec, Buffers: []fit.Buffer{
			{ID: 1, Kind: fit.KindL1, Cores: l1.Rect(1, 0, 1, 0).Cores(), Range: l1.Range{Start: 250, End: 400}},
		}})
		require.Len(t, v.Refusals, 1, kind)
		require.Equal(t, [2]uint64{300, 250}, [2]uint64{v.Refusals[0].End, v.Refusals[0].Limit}, kind)
		require.Empty(t, v.Clashes, kind)
	}
}

// Room ends below L1_SMALL, and of gaps of one size the lowest is named.
func TestHeadroom(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000, L1Small: 200}
	cores := l1.Rect(0, 0, 0, 0)
	p, err := program.NewBuilder(1).CB(program.CB{Cores: cores, Size: 100}).Build(spec)
	require.NoError(t, err)
	room := func(buffers ...l1.Range) fit.Headroom {
		at := fit.Place{Spec: spec}
		for i, r := range buffers {
			at.Buffers = append(at.Buffers, fit.Buffer{ID: fit.BufferID(i), Kind: fit.KindL1, Cores: cores.Cores(), Range: r})
		}
		all := fit.HeadroomOf(p, at)
		require.Len(t, all, 1)
		return all[0]
	}
	whole := fit.Headroom{Devices: 1, Cores: cores.Cores(), End: 100, Free: 700, Gap: l1.Range{Start: 100, End: 800}}
	require.Equal(t, whole, room())
	twins := fit.Headroom{Devices: 1, Cores: cores.Cores(), End: 100, Free: 300, Gap: l1.Range{Start: 100, End: 400}}
	require.Equal(t, twins, room(l1.Range{Start: 400, End: 500}))
	higher := fit.Headroom{Devices: 1, Cores: cores.Cores(), End: 100, Free: 100, Gap: l1.Range{Start: 300, End: 800}}
	require.Equal(t, higher, room(l1.Range{Start: 200, End: 300}))
}

// Each kind has a name of its own, by which it is read again. Other names are none.
func TestKindNames(t *testing.T) {
	for kind := range fit.KindSystem + 1 {
		text, err := kind.MarshalText()
		require.NoError(t, err)
		read := fit.KindSystem + 1
		require.NoError(t, read.UnmarshalText(text))
		require.Equal(t, kind, read)
	}
	for _, text := range []string{"", "L1", (fit.KindSystem + 1).Name()} {
		var read fit.Kind
		require.Error(t, read.UnmarshalText([]byte(text)), text)
	}
}

// LeastRoom begins above the program, or at the base where it has no bytes, and ends below what lies above, below
// L1_SMALL and at the end of L1. A kernel that may lie above the lowest byte leaves no room.
func TestLeastRoom(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000, L1Small: 200, CBBase: 100}
	left, right := l1.Rect(0, 0, 0, 0), l1.Rect(1, 0, 1, 0)
	build := func(cbs ...program.CB) *program.Program {
		b := program.NewBuilder(1)
		for _, cb := range cbs {
			b.CB(cb)
		}
		p, err := b.Build(spec)
		require.NoError(t, err)
		return p
	}
	bare, flat := build(), build(program.CB{Cores: left, Size: 300}, program.CB{Cores: right, Size: 70})
	pads := build(program.CB{Cores: left, Size: 300}, program.CB{Cores: right, Size: 450, Kind: program.Scratchpad})
	for _, test := range []struct {
		p          *program.Program
		start, end uint64
		want       uint64
	}{
		{bare, 0, 1000, 700},
		{bare, 500, 350, 250},
		{flat, 99, 900, 400},
		{flat, 99, 640, 240},
		{flat, 99, 401, 1},
		{flat, 99, 400, 0},
		{flat, 99, 390, 0},
		{flat, 100, 900, 0},
		{pads, 50, 900, 250},
		{pads, 50, 700, 150},
	} {
		require.Equal(t, test.want, fit.LeastRoom(test.p, spec, l1.Range{Start: test.start, End: test.end}), "%+v", test)
	}
}

// Where the size of L1 is not known, nothing ends beyond it.
func TestClashInL1OfUnknownSize(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1}
	v := fit.Check(one(t, spec, 300), fit.Place{Device: 7, Devices: 3, Spec: spec, Buffers: []fit.Buffer{buffer(fit.KindL1, 0, 250, 280)}})
	require.Equal(t, []fit.Clash{{Device: 7, Devices: 3, Cores: l1.Rect(0, 0, 0, 0).Cores(), End: 300, Limit: 250, Bytes: 30}}, v.Clashes)
	require.Len(t, v.Refusals, 1)
	require.Equal(t, fit.RefusedClash, v.Refusals[0].Kind)
}

// The row of a resident has its range, and gives it back.
func TestResidentRow(t *testing.T) {
	row := fit.NewResidentRow(fit.KindKernel, l1.Range{Start: 16, End: 80})
	require.Equal(t, fit.ResidentRow{Kind: fit.KindKernel, Start: 16, End: 80, Bytes: 64}, row)
	require.Equal(t, l1.Range{Start: 16, End: 80}, row.Range())
}
