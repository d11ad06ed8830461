package fit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// one is a program with a CB of some bytes on core 0-0, from byte 0 on.
func one(t *testing.T, spec l1.Spec, size uint64) *program.Program {
	t.Helper()
	p, err := program.NewBuilder(1).CB(program.CB{Cores: l1.Rect(0, 0, 0, 0), Size: size}).Build(spec)
	require.NoError(t, err)
	return p
}

func buffer(kind fit.Kind, x uint8, start, end uint64) fit.Buffer {
	return fit.Buffer{ID: 1, Kind: kind, Cores: l1.Rect(x, 0, x, 0).Cores(), Range: l1.Range{Start: start, End: end}}
}

// A global circular buffer is held against programs as a tensor is, in both modes.
func TestGlobalCBsAreInTheWay(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	for _, hybrid := range []bool{false, true} {
		v := fit.Check(one(t, spec, 300), fit.Place{Spec: spec, Hybrid: hybrid, Buffers: []fit.Buffer{buffer(fit.KindGlobalCB, 0, 250, 400)}})
		require.Len(t, v.Refusals, 1)
		require.Equal(t, v.Refusals, v.Hybrid)
		require.EqualValues(t, 250, v.Refusals[0].Limit)
	}
}

// A byte that is both beyond L1 and held by a buffer counts once.
//
//	0        900       1000      1100    1200
//	| program ------------------------------|
//	         | buffer -----------|
//	                   | beyond L1
func TestClashCountsEachByteOnce(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	v := fit.Check(one(t, spec, 1200), fit.Place{Spec: spec, Buffers: []fit.Buffer{buffer(fit.KindL1, 0, 900, 1100)}})
	require.Len(t, v.Clashes, 1)
	c := v.Clashes[0]
	require.Equal(t, [3]uint64{300, 1200, 900}, [3]uint64{c.Bytes, c.End, c.Limit})
	require.False(t, c.Grows)
}

// Every place is judged, those before and after the first in trouble too.
func TestEveryPlaceIsJudged(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	in := []fit.Buffer{buffer(fit.KindL1, 0, 250, 400)}
	v := fit.Check(one(t, spec, 300),
		fit.Place{Device: 4, Spec: spec}, fit.Place{Device: 5, Spec: spec, Buffers: in},
		fit.Place{Device: 6, Spec: spec}, fit.Place{Device: 7, Spec: spec, Buffers: in})
	var refused, clashed []fit.DeviceID
	for _, r := range v.Refusals {
		refused = append(refused, r.Device)
	}
	for _, c := range v.Clashes {
		clashed = append(clashed, c.Device)
	}
	require.Equal(t, []fit.DeviceID{5, 7}, refused)
	require.Equal(t, []fit.DeviceID{5, 7}, clashed)
}

// A service buffer claims the cores of all its parts: on each of them programs are held
// against service buffers, and may lie outside the grid.
func TestServiceBufferOfParts(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	service := fit.Buffer{ID: 2, Kind: fit.KindService}
	for _, x := range []uint8{0, 5, 1} {
		service.Parts = append(service.Parts, fit.Part{Cores: l1.Rect(x, 0, x, 0).Cores(), Range: l1.Range{Start: 500, End: 600}})
	}
	at := fit.Place{Spec: spec, Buffers: []fit.Buffer{buffer(fit.KindL1, 1, 250, 400), service}}
	require.True(t, fit.Check(one(t, spec, 300), at).Fits())
	v := fit.Check(one(t, spec, 501), at)
	require.Len(t, v.Refusals, 1)
	require.Equal(t, fit.RefusedService, v.Refusals[0].Kind)
	require.EqualValues(t, 500, v.Refusals[0].Limit)

	free := spec
	free.Cols, free.Rows = 0, 0
	outside, err := program.NewBuilder(1).CB(program.CB{Cores: l1.Rect(5, 0, 5, 0), Size: 300}).Build(free)
	require.NoError(t, err)
	require.True(t, fit.Check(outside, at).Fits())
}

// The size of L1_SMALL that is advised is one that tt-metal does not round up: of the 50
// bytes too many 200-50 would be enough, and become 160.
func TestAdviceOfL1SmallIsAligned(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000, L1Small: 200, CBAlign: 32}
	v := fit.Check(one(t, spec, 300), fit.Place{Spec: spec, Buffers: []fit.Buffer{buffer(fit.KindL1, 0, 250, 800)}})
	require.Equal(t, "lower L1_SMALL from 200 to at most 128, which moves every L1 buffer up, or take 50 bytes off CB 0, which has 300", v.Advice())
}
