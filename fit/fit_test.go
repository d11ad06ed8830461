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
	p, err := program.NewBuilder(1).CB(program.CB{Cores: left, Size: 8}).CB(program.CB{Cores: left, Fixed: true, Address: 300}).Build(spec)
	require.NoError(t, err)
	v := fit.Check(p, fit.Place{Spec: spec, Buffers: []fit.Buffer{
		{ID: 1, Kind: fit.KindL1, Cores: l1.Rect(1, 0, 1, 0).Cores(), Range: l1.Range{Start: 250, End: 400}},
	}})
	require.Len(t, v.Refusals, 1)
	require.Equal(t, [2]uint64{300, 250}, [2]uint64{v.Refusals[0].End, v.Refusals[0].Limit})
	require.Empty(t, v.Clashes)
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
