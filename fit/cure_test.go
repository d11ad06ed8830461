package fit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// What an advice names is enough by itself.
func TestCuresAreEnough(t *testing.T) {
	left, right := l1.Rect(0, 0, 0, 0), l1.Rect(2, 0, 2, 0)
	both := left.Cores().Union(right.Cores()).Ranges()
	cb := func(cores l1.CoreRangeSet, size, page uint64) program.CB {
		return program.CB{Cores: cores, Size: size, Indices: []program.Index{{PageSize: page}}}
	}
	at := func(cb program.CB, addr uint64) program.CB {
		cb.Address, cb.Fixed = addr, true
		return cb
	}
	global := func(cb program.CB, addr uint64) program.CB {
		cb.Address, cb.Fixed, cb.Global = addr, true, true
		return cb
	}
	tensor := func(id fit.BufferID, cores l1.CoreRangeSet, start uint64) fit.Buffer {
		return fit.Buffer{ID: id, Kind: fit.KindL1, Mode: fit.PerCore, Cores: cores.Cores(), Range: l1.Range{Start: start, End: start + 16}}
	}
	for _, test := range []struct {
		name    string
		cbs     []program.CB
		buffers []fit.Buffer
		advice  string
	}{
		{
			"the largest has one page alone", []program.CB{cb(left, 512, 512), cb(left, 64, 16)},
			[]fit.Buffer{tensor(1, left, 566)},
			"free or move L1 buffer 1, or take 16 bytes off CB 1, which has 64",
		},
		{
			"the second region has more too many", []program.CB{cb(both, 200, 0), cb(right, 100, 0)},
			[]fit.Buffer{tensor(1, left, 190), tensor(2, right, 240)},
			"free or move L1 buffer 1 and L1 buffer 2, or take 60 bytes off CB 0, which has 200",
		},
		{
			"a buffer of other cores that moves the one in trouble", []program.CB{cb(left, 400, 0), cb(both, 8, 8), cb(right, 16, 16)},
			[]fit.Buffer{tensor(1, right, 420)},
			"free or move L1 buffer 1, or take 4 bytes off CB 0, which has 400",
		},
		{
			"its own output", []program.CB{cb(left, 512, 512), global(cb(left, 16, 16), 566), cb(left, 64, 16)},
			[]fit.Buffer{tensor(1, left, 566)},
			"L1 buffer 1 is its own input or output: smaller blocks, output to DRAM, or ttnn.reallocate (418 bytes are free elsewhere), or take 16 bytes off CB 2, which has 64",
		},
		{
			"its own output on other cores", []program.CB{cb(left, 512, 512), global(cb(right, 16, 16), 566), cb(left, 64, 16)},
			[]fit.Buffer{tensor(1, left, 566)},
			"free or move L1 buffer 1, or take 16 bytes off CB 2, which has 64",
		},
		{
			"recorded, as placement has it", []program.CB{at(cb(left, 200, 50), 0), at(cb(left, 100, 100), 200)},
			[]fit.Buffer{tensor(1, left, 290)},
			"free or move L1 buffer 1, or take 50 bytes off CB 0, which has 200",
		},
		{
			"recorded, as no placement has it", []program.CB{at(cb(left, 200, 50), 0), at(cb(left, 100, 10), 300)},
			[]fit.Buffer{tensor(1, left, 390)},
			"free or move L1 buffer 1, or take 10 bytes off CB 1, which has 100, while all others stay in their places",
		},
		{
			"each core has too much of its own", []program.CB{cb(left, 1100, 100), cb(right, 1200, 100)}, nil,
			"100 bytes are too many, and no single buffer of the program was found to be enough: with 1,000 bytes off CB 0, which has 1,100, 200 are too many",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := l1.Spec{Cols: 3, Rows: 1, L1Size: 1000}
			b := program.NewBuilder(1)
			for _, cb := range test.cbs {
				b.CB(cb)
			}
			p, err := b.Build(spec)
			require.NoError(t, err)
			v := fit.Check(p, fit.Place{Spec: spec, Hybrid: true, Buffers: test.buffers})
			require.Equal(t, test.advice, v.Advice())
		})
	}
}

// An advice concerns the judged state, even if the caller changes its slices later.
func TestAdviceFollowsTheVerdict(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	part := func(x uint8, start uint64) fit.Part {
		return fit.Part{Cores: l1.Rect(x, 0, x, 0).Cores(), Range: l1.Range{Start: start, End: start + 16}}
	}
	const advice = "free or move L1 buffer 1, or take 100 bytes off CB 0, which has 300"
	given := func() []fit.Place {
		return []fit.Place{{Spec: spec, Buffers: []fit.Buffer{{ID: 1, Kind: fit.KindL1, Parts: []fit.Part{part(0, 200), part(1, 600)}}}}}
	}
	for name, change := range map[string]func([]fit.Place){
		"place":  func(at []fit.Place) { at[0] = fit.Place{} },
		"buffer": func(at []fit.Place) { at[0].Buffers[0] = buffer(fit.KindL1, 0, 100, 116) },
		"part":   func(at []fit.Place) { at[0].Buffers[0].Parts[0] = part(0, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			places := given()
			v := fit.Check(one(t, spec, 300), places...)
			change(places)
			require.Equal(t, advice, v.Advice())
			require.Equal(t, advice, v.Advice(), "asked again")
			fresh := fit.Check(v.Program, given()...)
			require.Equal(t, fresh.Above(fresh.Clashes[0]), v.Above(v.Clashes[0]))

			places = given()
			refused := fit.CheckBuffer(places[0].Buffers[0], fit.Place{Spec: spec, Programs: []*program.Program{one(t, spec, 300)}}).Refused
			require.Len(t, refused, 1)
			change(places)
			require.Equal(t, advice, refused[0].Advice())
		})
	}
}

// L1_SMALL is lowered only as far as what lives there allows, and only where the L1 buffers
// that move meet nothing.
func TestCureOfL1Small(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000, L1Small: 200, L1Align: 16}
	lower := func(others ...fit.Buffer) string {
		tensor := buffer(fit.KindL1, 1, 280, 800)
		return fit.Check(one(t, spec, 300), fit.Place{Spec: spec, Buffers: append(others, tensor)}).Advice()
	}
	const less = ", or take 20 bytes off CB 0, which has 300"
	require.Equal(t, "lower L1_SMALL from 200 to at most 168, which moves every L1 buffer up"+less, lower(), "32 is a multiple of 16")
	require.Equal(t, "lower L1_SMALL from 200 to 168, which moves every L1 buffer up"+less, lower(buffer(fit.KindL1Small, 2, 832, 1000)))
	require.Equal(t, "free or move L1 buffer 1"+less, lower(buffer(fit.KindL1Small, 2, 831, 1000)), "it has no room")
	require.Equal(t, "free or move L1 buffer 1"+less, lower(buffer(fit.KindReserved, 1, 820, 830)), "it is in the way of what moves")
}

// Cores of the grid are not enough for a program that is too large on them.
func TestCureOfTheGrid(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	free := spec
	free.Cols, free.Rows = 0, 0
	advice := func(size uint64) string {
		p, err := program.NewBuilder(1).CB(program.CB{Cores: l1.Rect(0, 0, 4, 0), Size: size}).Build(free)
		require.NoError(t, err)
		return fit.Check(p, fit.Place{Spec: spec}).Advice()
	}
	require.Equal(t, "name cores inside the 2x1 grid only", advice(1000))
	require.Equal(t, "name cores inside the 2x1 grid only, which is not enough", advice(1001))
}
