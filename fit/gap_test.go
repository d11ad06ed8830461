package fit_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// TestHighest looks for the highest gap among ranges that are taken.
func TestHighest(t *testing.T) {
	free := l1.Range{Start: 100, End: 900}
	taken := []l1.Range{{Start: 850, End: 1000}, {Start: 700, End: 800}, {Start: 720, End: 760}, {Start: 300, End: 720}, {Start: 0, End: 110}}
	for _, test := range []struct {
		name        string
		size, align uint64
		start       uint64
		ok          bool
	}{
		{"the highest gap, at its top", 50, 1, 800, true},
		{"aligned", 30, 32, 800, true},
		{"in whole steps it does not fit at the top", 40, 32, 224, true},
		{"not the smallest gap that holds it", 20, 0, 830, true},
		{"the gap below", 51, 1, 249, true},
		{"the gap below, down to its bottom", 190, 1, 110, true},
		{"aligned, a byte too many", 177, 16, 0, false},
		{"aligned, down to its bottom", 176, 16, 112, true},
		{"one step", 1, 64, 192, true},
		{"too large", 191, 1, 0, false},
		{"larger than every address", 1 << 63, 1, 0, false},
		{"no bytes", 0, 16, 848, true},
	} {
		at, ok := fit.Highest(test.size, test.align, free, slices.Values(taken))
		require.Equal(t, test.ok, ok, test.name)
		if ok {
			require.Equal(t, l1.Range{Start: test.start, End: test.start + test.size}, at, test.name)
		} else {
			require.Zero(t, at, test.name)
		}
	}
	_, ok := fit.Highest(1, 1, l1.Range{Start: 5, End: 5}, slices.Values(taken))
	require.False(t, ok, "nothing is free")
	_, ok = fit.Highest(1, 1, l1.Range{Start: 6, End: 5}, slices.Values(taken[:0]))
	require.False(t, ok, "less than nothing is free")
}

// TestPlaceBufferMindsCores has a buffer that would get the same two addresses on other cores, if a buffer whose end is
// not known took more than a byte.
func TestPlaceBufferMindsCores(t *testing.T) {
	spec := l1.Spec{Cols: 3, Rows: 1, L1Size: 1024, CBAlign: 16, L1Align: 16}
	taken := func(cores l1.CoreSet, start, end uint64) fit.Buffer {
		return fit.Buffer{Kind: fit.KindL1, Mode: fit.PerCore, Cores: cores, Range: l1.Range{Start: start, End: end}}
	}
	unsized := taken(on(1, 1), 1008, 1008)
	unsized.Unsized = true
	one := fit.Buffer{Kind: fit.KindL1, Mode: fit.PerCore, Cores: on(0, 2)}
	_, err := fit.PlaceBuffer(one, 16, fit.Place{Spec: spec, Hybrid: true, Buffers: []fit.Buffer{taken(on(2, 2), 1008, 1024), unsized}})
	require.NoError(t, err, "on core 1-0 it lies below 1008, whatever lies above")
	unsized = taken(on(1, 1), 992, 992)
	unsized.Unsized = true
	_, err = fit.PlaceBuffer(one, 16, fit.Place{Spec: spec, Hybrid: true, Buffers: []fit.Buffer{taken(on(2, 2), 992, 1024), unsized}})
	require.ErrorIs(t, err, fit.ErrHidden, "on core 1-0 it lies at 1008, or below 992")
}

// TestPlaceBuffer gives buffers their addresses beside others, on one device or two.
func TestPlaceBuffer(t *testing.T) {
	spec := l1.Spec{Cols: 4, Rows: 1, L1Size: 1008, L1Small: 112, CBBase: 96, CBAlign: 16, L1Align: 8} // buffers: 96 to 896
	at := func(buffers ...fit.Buffer) fit.Place { return fit.Place{Spec: spec, Buffers: buffers} }
	old := func(kind fit.Kind, mode fit.Mode, cores l1.CoreSet, start, end uint64) fit.Buffer {
		return fit.Buffer{Kind: kind, Mode: mode, Cores: cores, Range: l1.Range{Start: start, End: end}}
	}
	tensor := old(fit.KindL1, fit.Lockstep, on(0, 0), 800, 896)
	alone := old(fit.KindL1, fit.PerCore, on(1, 1), 704, 800)
	hidden := fit.Buffer{Kind: fit.KindL1, Mode: fit.PerCore, Hidden: on(3, 3)}
	coarse, unknown, gridless, low := at(tensor), at(), at(tensor), at()
	coarse.Spec.CBAlign, unknown.Spec.L1Size, gridless.Spec.Cols, gridless.Spec.Rows, low.Spec.L1Size = 64, 0, 0, 0, 608
	low.Spec.L1Align = 48
	scattered := fit.Buffer{Kind: fit.KindL1, Parts: []fit.Part{
		{Cores: on(0, 0), Range: l1.Range{Start: 800, End: 896}}, {Cores: on(2, 2), Range: l1.Range{Start: 700, End: 896}},
	}}
	small := scattered
	small.Kind = fit.KindL1Small
	unsized := fit.Buffer{Kind: fit.KindL1, Cores: on(0, 0), Range: l1.Range{Start: 512, End: 512}, Unsized: true}
	unsizedAlone, unsizedDRAM := unsized, unsized
	unsizedAlone.Mode, unsizedDRAM.Kind = fit.PerCore, fit.KindDRAM
	backing := tensor
	backing.Backing = true
	service := old(fit.KindService, fit.Lockstep, on(3, 4), 800, 896)
	type places = []fit.Place
	for _, test := range []struct {
		name   string
		kind   fit.Kind
		mode   fit.Mode
		cores  l1.CoreSet
		size   uint64
		places places
		starts []uint64 // on the cores, in their order; nil: err
		err    error
	}{
		{"at the top", fit.KindL1, fit.Lockstep, on(2, 3), 100, places{at()}, []uint64{784, 784}, nil},
		{"in steps of the alignment of DRAM", fit.KindL1, fit.Lockstep, on(2, 3), 100, places{coarse}, []uint64{640, 640}, nil},
		{"in lockstep a buffer on other cores counts", fit.KindL1, fit.Lockstep, on(2, 3), 100, places{at(tensor)}, []uint64{688, 688}, nil},
		{"whatever the mode", fit.KindL1, fit.PerCore, on(2, 3), 100, places{at(tensor)}, []uint64{688, 688}, nil},
		{"one that was allocated per core too", fit.KindGlobalCB, fit.Lockstep, on(2, 2), 100, places{at(tensor, alone)}, []uint64{592}, nil},
		{"in range lockstep not on other cores", fit.KindL1, fit.RangeLockstep, on(2, 2), 100, places{at(tensor, alone)}, []uint64{688}, nil},
		{"in range lockstep one address", fit.KindL1, fit.RangeLockstep, on(1, 2), 100, places{at(tensor, alone)}, []uint64{592, 592}, nil},
		{"per core an address on each", fit.KindL1, fit.PerCore, on(0, 2), 100, places{at(tensor, alone)}, []uint64{688, 592, 688}, nil},
		{"one with several addresses was allocated per core", fit.KindL1, fit.PerCore, on(1, 2), 100, places{at(scattered)}, []uint64{784, 576}, nil},
		{"and so was one of L1_SMALL", fit.KindL1, fit.PerCore, on(1, 2), 100, places{at(small)}, []uint64{784, 576}, nil},
		{"kernels and service buffers count on their cores", fit.KindL1, fit.PerCore, on(0, 1), 700,
			places{at(old(fit.KindKernel, fit.Lockstep, on(0, 0), 0, 150), old(fit.KindService, fit.Lockstep, on(1, 1), 890, 900))}, []uint64{192, 176}, nil},
		{"a service core elsewhere", fit.KindL1, fit.Lockstep, on(0, 0), 96, places{at(service)}, []uint64{800}, nil},
		{"an unknown grid", fit.KindL1, fit.Lockstep, on(1, 1), 96, places{gridless}, []uint64{704}, nil},
		{"a buffer without a known end", fit.KindL1, fit.Lockstep, on(2, 2), 16, places{at(unsized)}, nil, fit.ErrHidden},
		{"behind which there cannot be room enough", fit.KindL1, fit.Lockstep, on(2, 2), 384, places{at(unsized)}, []uint64{128}, nil},
		{"behind which another begins", fit.KindL1, fit.Lockstep, on(2, 2), 16, places{at(unsized, old(fit.KindL1, fit.Lockstep, on(0, 0), 520, 896))}, []uint64{496}, nil},
		{"without a known end on another core", fit.KindL1, fit.PerCore, on(2, 2), 16, places{at(unsizedAlone)}, []uint64{880}, nil},
		{"and on this one", fit.KindL1, fit.PerCore, on(0, 2), 16, places{at(unsizedAlone)}, nil, fit.ErrHidden},
		{"without a known end in DRAM", fit.KindL1, fit.Lockstep, on(2, 2), 16, places{at(unsizedDRAM)}, []uint64{880}, nil},
		{"one that backs another takes nothing", fit.KindL1, fit.Lockstep, on(2, 2), 96, places{at(backing)}, []uint64{800}, nil},
		{"L1_SMALL", fit.KindL1Small, fit.Lockstep, on(0, 0), 100, places{at(tensor)}, []uint64{896}, nil},
		{"L1_SMALL is full", fit.KindL1Small, fit.Lockstep, on(0, 0), 100, places{at(old(fit.KindL1Small, fit.Lockstep, on(3, 3), 992, 1008))}, nil, fit.ErrNoSpace},
		{"all of L1, down to the base", fit.KindL1, fit.Lockstep, on(0, 0), 800, places{at()}, []uint64{96}, nil},
		{"more than that", fit.KindL1, fit.Lockstep, on(0, 0), 801, places{at()}, nil, fit.ErrNoSpace},
		{"the devices together", fit.KindL1, fit.Lockstep, on(2, 2), 16, places{at(old(fit.KindL1, fit.Lockstep, on(0, 0), 480, 1000)), low}, []uint64{432}, nil},
		{"the other way round", fit.KindL1, fit.Lockstep, on(2, 2), 16, places{low, at(tensor)}, []uint64{432}, nil},
		{"the size of L1 is not known", fit.KindL1, fit.Lockstep, on(0, 0), 16, places{at(), unknown}, nil, fit.ErrNoSpace},
		{"no places", fit.KindL1, fit.PerCore, on(0, 0), 16, nil, nil, fit.ErrNoSpace},
		{"no bytes", fit.KindL1, fit.Lockstep, on(0, 0), 0, places{at()}, nil, fit.ErrNoSpace},
		{"a hidden address", fit.KindL1, fit.Lockstep, on(0, 0), 16, places{at(hidden)}, nil, fit.ErrHidden},
		{"a hidden address elsewhere", fit.KindL1, fit.PerCore, on(0, 2), 16, places{at(hidden)}, []uint64{880, 880, 880}, nil},
		{"too large, whatever is hidden", fit.KindL1, fit.Lockstep, on(0, 0), 801, places{at(hidden)}, nil, fit.ErrNoSpace},
	} {
		given := fit.Buffer{ID: 7, Kind: test.kind, Mode: test.mode, Cores: test.cores, Name: "weights"}
		got, err := fit.PlaceBuffer(given, test.size, test.places...)
		require.ErrorIs(t, err, test.err, test.name)
		if test.err != nil {
			require.Zero(t, got, test.name)
			continue
		}
		require.Equal(t, []any{given.ID, given.Kind, given.Mode, given.Name}, []any{got.ID, got.Kind, got.Mode, got.Name}, test.name)
		want, n := map[l1.Core]l1.Range{}, 0
		for c := range test.cores.All() {
			want[c] = l1.Range{Start: test.starts[n], End: test.starts[n] + test.size}
			n++
		}
		have := map[l1.Core]l1.Range{}
		for p := range got.All() {
			for c := range p.Cores.All() {
				have[c] = p.Range
			}
		}
		require.Equal(t, want, have, test.name)
	}
}
