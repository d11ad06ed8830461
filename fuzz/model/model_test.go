package model_test

import (
	"fmt"
	"testing"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
)

// The oracle against figures worked out by hand, or seen on a device, for tt-metal.

const base = 103_712

func cb(cores string, size uint64) program.CB {
	return program.CB{Cores: l1.MustParseCoreRangeSet(cores), Size: size}
}

func build(t *testing.T, id program.ID, cbs ...program.CB) *program.Program {
	b := program.NewBuilder(id)
	for _, cb := range cbs {
		b.CB(cb)
	}
	p, err := b.Build(l1.N150())
	require.NoError(t, err)
	return p
}

func times(n int, cb program.CB) (out []program.CB) {
	for range n {
		out = append(out, cb)
	}
	return out
}

func TestWorkedExamples(t *testing.T) {
	global := cb("{[0-0 - 7-7]}", 64)
	global.Global = true
	for _, example := range []struct {
		name               string
		cbs                []program.CB
		at                 []uint64 // above the base
		occupied, reserved uint64
	}{
		{"A one range", []program.CB{cb("{[0-0 - 1-0]}", 2048), cb("{[0-0 - 1-0]}", 4096), cb("{[0-0 - 1-0]}", 2080)},
			[]uint64{0, 2048, 6144}, 8224 * 2, 8224 * 2},
		{"C sequential across all cores",
			append(append(times(3, cb("{[0-0 - 0-0]}", 2048)), times(5, cb("{[0-2 - 0-2]}", 2048))...), cb("{[0-0 - 0-2]}", 2048)),
			[]uint64{0, 2048, 4096, 0, 2048, 4096, 6144, 8192, 10_240}, 22_528, 36_864},
		{"D overlapping ranges", []program.CB{cb("{[0-0 - 1-0]}", 4096), cb("{[1-0 - 2-0]}", 6144)},
			[]uint64{0, 4096}, 20_480, 30_720},
		{"E hole", []program.CB{cb("{[0-0 - 0-0]}", 4096), cb("{[1-0 - 1-0]}", 2048), cb("{[0-0 - 1-0]}", 1024)},
			[]uint64{0, 0, 4096}, 8192, 10_240},
		{"F aliasing", []program.CB{cb("{[0-0 - 0-0]}", 2048), cb("{[1-0 - 1-0]}", 6144), cb("{[0-0 - 1-0]}", 1024)},
			[]uint64{0, 0, 2048}, 3072 + 6144, 3072 + 6144},
		{"G two ranges and one over both", []program.CB{cb("{[0-0 - 3-0]}", 2048), cb("{[0-0 - 1-0], [3-0 - 3-0]}", 4096)},
			[]uint64{0, 2048}, 20_480, 24_576},
		{"G2 wide global, narrow local", []program.CB{global, cb("{[0-0 - 0-0]}", 4096)},
			[]uint64{0, 0}, 4096, 262_144},
	} {
		t.Run(example.name, func(t *testing.T) {
			for i, at := range model.Place(l1.N150(), example.cbs) {
				if !example.cbs[i].Global {
					require.Equal(t, base+example.at[i], at, "CB %d", i)
				}
			}
			f := model.NewFleet()
			require.NoError(t, f.AddDevice(0, l1.N150()))
			_, err := f.Register(build(t, 1, example.cbs...), []uint64{0})
			require.NoError(t, err)
			got, err := f.Totals(0)
			require.NoError(t, err)
			require.Equal(t, example.occupied, got.Registered)
			require.Equal(t, example.reserved, got.Reserved)
			require.Equal(t, example.occupied, got.Peak.Registered)
		})
	}
}

// TestUnion compares whole words with a count of booleans, on all ranges of a short axis.
func TestUnion(t *testing.T) {
	const n = 200
	for start := range uint64(n) {
		for end := start; end <= n; end += 7 {
			want := uint64(0)
			for b := range uint64(n) {
				if 10 <= b && b < 70 || start <= b && b < end {
					want++
				}
			}
			require.Equal(t, want, model.Union(l1.Range{Start: 10, End: 70}, l1.Range{Start: start, End: end}))
		}
	}
	require.Zero(t, model.Union())
}

func TestUnionAcrossPrograms(t *testing.T) {
	f := model.NewFleet()
	require.NoError(t, f.AddDevice(0, l1.N150()))
	on := []uint64{0}
	p1, p2, p3 := build(t, 1, cb("{[0-0 - 1-0]}", 4096)), build(t, 2, cb("{[0-0 - 1-0]}", 4096)), build(t, 3, cb("{[1-0 - 2-0]}", 6144))
	for i, step := range []struct {
		do   func() (any, error)
		want uint64
	}{
		{func() (any, error) { return f.Register(p1, on) }, 8192},
		{func() (any, error) { return f.Register(p2, on) }, 8192},
		{func() (any, error) { return f.Register(p2, on) }, 8192},
		{func() (any, error) { return f.Register(p3, on) }, 16_384},
		{func() (any, error) { return f.UnregisterAll(p1.ID()), nil }, 16_384},
		{func() (any, error) { return nil, f.Unregister(p2.ID(), on) }, 12_288},
		{func() (any, error) { return nil, f.Unregister(p3.ID(), on) }, 0},
	} {
		_, err := step.do()
		require.NoError(t, err)
		got, err := f.Totals(0)
		require.NoError(t, err)
		require.Equal(t, step.want, got.Registered, "step %d", i)
	}
	got, _ := f.Totals(0)
	require.Equal(t, model.Peaks{Registered: 16_384, Reserved: 16_384, Logical: 28_672, Core: 6144}, got.Peak)
}

func TestSameErrorTakesAnyComplaint(t *testing.T) {
	two := fmt.Errorf("%w, %w", model.ErrNoDevice, model.ErrNoProgram)
	require.True(t, model.SameError(two, model.ErrNoProgram))
	require.True(t, model.SameError(two, fmt.Errorf("device 3: %w", model.ErrNoDevice)))
	require.False(t, model.SameError(two, model.ErrConflict))
	require.False(t, model.SameError(two, nil))
	require.False(t, model.SameError(nil, model.ErrConflict))
	require.True(t, model.SameError(nil, nil))
}

// Peaks see completed operations only: a program that takes the place of another is
// never there beside it.
func TestReplaceShowsOneLayout(t *testing.T) {
	f := model.NewFleet()
	require.NoError(t, f.AddMesh(0, 1, 2, l1.N150()))
	p := build(t, 1, cb("{[0-0 - 0-0]}", 64))
	_, err := f.Register(p, []uint64{0, 1})
	require.NoError(t, err)
	b := program.NewBuilder(1).Range(l1.MustParseCoreRangeSet("{[0-0 - 0-0]}"), l1.Range{Start: 4096, End: 4128})
	next, err := b.Build(l1.N150())
	require.NoError(t, err)
	changed, err := f.Replace(p.ID(), next)
	require.NoError(t, err)
	require.Equal(t, []uint64{0, 1}, changed)
	got, _ := f.MeshTotals(0)
	require.EqualValues(t, 64, got.Registered)
	require.EqualValues(t, 128, got.Peak.Registered)
	require.EqualValues(t, 64, got.Peak.Core)
}
