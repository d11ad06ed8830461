package fit_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

func on(x0, x1 uint8) l1.CoreSet { return l1.Rect(x0, 0, x1, 0).Cores() }

func placed(t require.TestingT, spec l1.Spec, id program.ID, cores l1.CoreSet, size uint64) *program.Program {
	p, err := program.Place(id, "", spec, program.CB{Cores: cores.Ranges(), Size: size})
	require.NoError(t, err)
	return p
}

// TestOccupancy adds programs and buffers one by one, and queries the room for one more buffer.
func TestOccupancy(t *testing.T) {
	spec := l1.Spec{Cols: 4, Rows: 1, L1Size: 1000, L1Small: 100, CBBase: 100, L1Align: 16}
	grid := on(0, 3)
	taken := fit.NewOccupancy(spec)
	room := func(cores l1.CoreSet) fit.Room[int] {
		r := fit.RoomThroughout(fit.RangeLockstep, cores, 0, taken)
		r.Cores = l1.CoreSet{}
		return r
	}
	is := func(start, end uint64, below, above int) fit.Room[int] {
		return fit.Room[int]{Range: l1.Range{Start: start, End: end}, Below: below, Above: above}
	}
	require.Equal(t, is(112, 896, fit.NoOwner, fit.NoOwner), room(grid), "whole steps of 16 from the base to L1_SMALL")

	// In lockstep tt-metal compares with any buffer of the device, whatever its cores.
	taken.Program(placed(t, spec, 1, on(0, 0), 100), l1.CoreSet{}, 1)
	require.Equal(t, is(208, 896, 1, fit.NoOwner), room(on(3, 3)))
	taken.Program(placed(t, spec, 2, on(1, 1), 80), l1.CoreSet{}, 2)
	// On a service core it compares with service buffers alone: bytes still count.
	taken.Program(placed(t, spec, 3, on(2, 2), 400), on(2, 2), 3)
	require.Equal(t, is(208, 896, 1, fit.NoOwner), room(on(3, 3)))
	require.Equal(t, is(512, 896, 3, fit.NoOwner), room(grid), "500 rounded up")

	at := func(id fit.BufferID, cores l1.CoreSet, start, end uint64) fit.Buffer {
		return fit.Buffer{ID: id, Kind: fit.KindL1, Mode: fit.PerCore, Cores: cores, Range: l1.Range{Start: start, End: end}}
	}
	taken.Buffer(at(4, on(3, 3), 800, 850), 4)
	require.Equal(t, is(512, 800, 3, 4), room(grid))
	require.Equal(t, is(512, 896, 3, fit.NoOwner), room(on(2, 2)), "it lies elsewhere")
	taken.Buffer(at(5, on(3, 3), 800, 900), 5)
	require.Equal(t, is(512, 800, 3, 4), room(grid), "who came first is named")
	taken.Buffer(fit.Buffer{ID: 6, Kind: fit.KindL1, Cores: grid, Range: l1.Range{Start: 600, End: 900}, Backing: true}, 6)
	require.Equal(t, is(512, 800, 3, 4), room(grid), "one that backs another takes nothing")
	before := taken.Clone()
	taken.Buffer(fit.Buffer{ID: 7, Kind: fit.KindL1, Mode: fit.PerCore, Cores: on(0, 0), Range: l1.Range{Start: 704, End: 704}, Unsized: true}, 7)
	require.Equal(t, is(512, 704, 3, 7), room(grid), "nobody knows where it ends")
	taken.Buffer(at(8, grid, 0, 900), 8)
	require.Equal(t, is(0, 0, 1, 5), room(grid), "no room: who took the first byte, and who the last")

	require.Equal(t, l1.Range{Start: 512, End: 800}, fit.RoomThroughout(fit.RangeLockstep, grid, 0, before).Range, "a clone goes its own way")
	for _, size := range []struct{ bytes, start uint64 }{{1, 784}, {17, 768}, {288, 512}} {
		require.Equal(t, l1.Range{Start: size.start, End: size.start + size.bytes}, fit.RoomThroughout(fit.RangeLockstep, grid, size.bytes, before).Place, "as high as it can be")
	}
	require.Empty(t, fit.RoomThroughout(fit.RangeLockstep, grid, 289, before).Place)
	require.Empty(t, fit.RoomThroughout(fit.RangeLockstep, grid, 1<<63, before).Place)
	require.Empty(t, fit.RoomThroughout(fit.RangeLockstep, grid, 1001, fit.NewOccupancy(l1.Spec{L1Size: 1000})).Place, "a byte more than all of L1")

	require.Equal(t, []fit.Room[int]{
		{Cores: on(0, 1), Range: l1.Range{Start: 208, End: 896}, Below: 1, Above: fit.NoOwner},
		{Cores: on(2, 2), Range: l1.Range{Start: 512, End: 896}, Below: 3, Above: fit.NoOwner},
		{Cores: on(3, 3), Range: l1.Range{Start: 208, End: 800}, Below: 1, Above: 4},
	}, fit.RoomsThroughout(fit.RangeLockstep, grid, 0, before))
	require.Len(t, fit.RoomsThroughout(fit.RangeLockstep, grid, 0, fit.NewOccupancy(spec)), 1)
	require.Empty(t, fit.RoomsThroughout(fit.RangeLockstep, l1.CoreSet{}, 0, fit.NewOccupancy(spec)))

	// Cores with the same room part where a small buffer goes to another place.
	apart := fit.NewOccupancy(spec)
	apart.Buffer(at(1, on(0, 1), 800, 816), 1)
	apart.Buffer(at(2, on(1, 1), 816, 900), 2)
	require.Equal(t, []l1.Range{{Start: 880, End: 896}, {Start: 784, End: 800}}, []l1.Range{
		fit.RoomsThroughout(fit.RangeLockstep, on(0, 1), 16, apart)[0].Place, fit.RoomsThroughout(fit.RangeLockstep, on(0, 1), 16, apart)[1].Place,
	})
	require.Len(t, fit.RoomsThroughout(fit.RangeLockstep, on(0, 1), 0, apart), 1)

	// Devices together: one address on all of them, within what each can use.
	low := spec
	low.L1Size, low.CBBase, low.L1Align = 730, 550, 24
	require.Equal(t, l1.Range{Start: 576, End: 624}, fit.RoomThroughout(fit.RangeLockstep, grid, 0, before, fit.NewOccupancy(low)).Range, "48 divides both ends")
	require.Equal(t, l1.Range{End: l1.MaxAddr}, fit.RoomThroughout(fit.RangeLockstep, grid, 0, fit.NewOccupancy(l1.Spec{})).Range, "nothing is known")
	require.Equal(t, fit.NoOwner, fit.RoomThroughout(fit.RangeLockstep, grid, 0, fit.NewOccupancy(low), before).Above, "the end of the other one")
}

// TestRoomOn queries the room beside the buffers of places and above their programs.
func TestRoomOn(t *testing.T) {
	spec := l1.Spec{Cols: 4, Rows: 1, L1Size: 1000, L1Small: 100, CBBase: 100, CBAlign: 64, L1Align: 16}
	p := placed(t, spec, 1, on(0, 0), 110)
	tensor := fit.Buffer{ID: 3, Kind: fit.KindL1, Cores: on(1, 2), Range: l1.Range{Start: 800, End: 900}}
	at := fit.Place{Spec: spec, Buffers: []fit.Buffer{tensor}, Programs: []*program.Program{p}}
	pages, bare, empty := at, at, fit.Place{Spec: spec}
	pages.Spec.L1Align, pages.Spec.CBAlign, bare.Spec.Cols, bare.Spec.Rows = 64, 32, 0, 0
	above := &fit.Resident{Kind: fit.KindL1, CB: -1, Buffer: tensor}
	below := &fit.Resident{Kind: fit.KindCB, CB: -1, Program: p}
	for _, test := range []struct {
		name   string
		cores  l1.CoreSet
		places []fit.Place
		want   fit.Room[*fit.Resident]
	}{
		{"no cores: the grid", l1.CoreSet{}, []fit.Place{at}, fit.Room[*fit.Resident]{on(0, 3), l1.Range{Start: 256, End: 768}, below, above, l1.Range{Start: 704, End: 720}}},
		{"no grid: the cores that hold anything", l1.CoreSet{}, []fit.Place{bare}, fit.Room[*fit.Resident]{on(0, 2), l1.Range{Start: 256, End: 768}, below, above, l1.Range{Start: 704, End: 720}}},
		{"beside the buffer: its addresses are taken on all cores", on(3, 3), []fit.Place{at}, fit.Room[*fit.Resident]{on(3, 3), l1.Range{Start: 256, End: 768}, below, above, l1.Range{Start: 704, End: 720}}},
		{"pages of 64", on(1, 1), []fit.Place{pages}, fit.Room[*fit.Resident]{on(1, 1), l1.Range{Start: 256, End: 768}, below, above, l1.Range{Start: 704, End: 720}}},
		{"of the second place", on(1, 1), []fit.Place{empty, at}, fit.Room[*fit.Resident]{on(1, 1), l1.Range{Start: 256, End: 768}, below, above, l1.Range{Start: 704, End: 720}}},
		{"nothing there", on(1, 1), []fit.Place{empty}, fit.Room[*fit.Resident]{on(1, 1), l1.Range{Start: 128, End: 896}, nil, nil, l1.Range{Start: 832, End: 848}}},
		{"no places", on(1, 1), nil, fit.Room[*fit.Resident]{Cores: on(1, 1)}},
	} {
		require.Equal(t, test.want, fit.RoomOn(fit.Lockstep, test.cores, 16, test.places...), test.name)
	}
}

// TestRoomByMode queries the room on core 1-0 in each mode beside one buffer, or above one program. A program on core
// 0-0 ends at 200, another one, with dataflow buffers, at 300.
func TestRoomByMode(t *testing.T) {
	spec := l1.Spec{Cols: 3, Rows: 1, L1Size: 1000, CBBase: 100}
	other := func(kind fit.Kind, mode fit.Mode, cores l1.CoreSet) []fit.Buffer {
		return []fit.Buffer{{ID: 1, Kind: kind, Mode: mode, Cores: cores, Range: l1.Range{Start: 800, End: 900}}}
	}
	hidden := []fit.Buffer{{ID: 1, Kind: fit.KindL1, Mode: fit.PerCore, Hidden: on(0, 0)}}
	dataflow, err := program.NewBuilder(2).CB(program.CB{Kind: program.DataflowBuffer, Cores: on(0, 0).Ranges(), Size: 200}).Build(spec)
	require.NoError(t, err)
	claim := append(other(fit.KindService, fit.Lockstep, on(0, 0)), other(fit.KindService, fit.Lockstep, on(2, 2))...)
	for _, test := range []struct {
		name     string
		buffers  []fit.Buffer
		programs []*program.Program
		want     [3]l1.Range // in lockstep, per core, in range lockstep
	}{
		{"a buffer in lockstep, elsewhere", other(fit.KindL1, fit.Lockstep, on(0, 0)), nil, [3]l1.Range{{Start: 100, End: 800}, {Start: 100, End: 800}, {Start: 100, End: 800}}},
		{"one in range lockstep", other(fit.KindL1, fit.RangeLockstep, on(0, 0)), nil, [3]l1.Range{{Start: 100, End: 800}, {Start: 100, End: 800}, {Start: 100, End: 800}}},
		{"one per core", other(fit.KindL1, fit.PerCore, on(0, 0)), nil, [3]l1.Range{{Start: 100, End: 800}, {Start: 100, End: 1000}, {Start: 100, End: 1000}}},
		{"a kernel", other(fit.KindKernel, fit.Lockstep, on(0, 0)), nil, [3]l1.Range{{Start: 100, End: 800}, {Start: 100, End: 1000}, {Start: 100, End: 1000}}},
		{"a service", other(fit.KindService, fit.Lockstep, on(0, 0)), nil, [3]l1.Range{{Start: 100, End: 1000}, {Start: 100, End: 1000}, {Start: 100, End: 1000}}},
		{"an address that is not known", hidden, nil, [3]l1.Range{{}, {Start: 100, End: 1000}, {Start: 100, End: 1000}}},
		{"a program", nil, []*program.Program{placed(t, spec, 1, on(0, 0), 100)}, [3]l1.Range{{Start: 200, End: 1000}, {Start: 100, End: 1000}, {Start: 200, End: 1000}}},
		{"dataflow buffers", nil, []*program.Program{dataflow}, [3]l1.Range{{Start: 300, End: 1000}, {Start: 300, End: 1000}, {Start: 300, End: 1000}}},
		{"a program on a service core", claim, []*program.Program{placed(t, spec, 1, on(0, 0), 100)}, [3]l1.Range{{Start: 100, End: 1000}, {Start: 100, End: 1000}, {Start: 100, End: 1000}}},
	} {
		at := fit.Place{Spec: spec, Buffers: test.buffers, Programs: test.programs}
		for i, mode := range []fit.Mode{fit.Lockstep, fit.PerCore, fit.RangeLockstep} {
			require.Equal(t, test.want[i], fit.RoomOn(mode, on(1, 1), 0, at).Range, "%s, %v", test.name, mode)
		}
	}

	// Per core each core has an address of its own: the least room counts, and each has to have a place.
	low, high := other(fit.KindL1, fit.PerCore, on(0, 0)), other(fit.KindL1, fit.PerCore, on(1, 1))
	low[0].Range = l1.Range{Start: 300, End: 500}
	at := fit.Place{Spec: spec, Buffers: append(low, high...)}
	room := fit.RoomOn(fit.PerCore, on(0, 2), 500, at)
	require.Equal(t, []l1.Range{{Start: 500, End: 1000}, {Start: 500, End: 1000}}, []l1.Range{room.Range, room.Place})
	require.Equal(t, on(0, 2), room.Cores)
	require.Empty(t, fit.RoomOn(fit.PerCore, on(0, 2), 501, at).Place)
	require.Empty(t, fit.RoomOn(fit.RangeLockstep, on(0, 2), 500, at).Place, "at one address")
	second := fit.Place{Device: 1, Spec: spec, Buffers: []fit.Buffer{low[0]}}
	require.Equal(t, l1.Range{Start: 100, End: 800}, fit.RoomOn(fit.PerCore, on(1, 1), 0, second, at).Range, "device by device")
}

// TestRoomFitsCheck puts a buffer where there is room: nothing overlaps it, and every program
// that fitted fits beside it. The judge is Check.
func TestRoomFitsCheck(t *testing.T) {
	tight := 0
	property := func(t *rapid.T) {
		spec := gen.ToySpec().Draw(t, "spec")
		at := fit.Place{Spec: spec, Hybrid: rapid.Bool().Draw(t, "hybrid")}
		for i := range rapid.IntRange(0, 4).Draw(t, "buffers") {
			b := gen.Buffer(spec, uint64(i)).Draw(t, "buffer")
			if !b.Kind.InL1() {
				continue
			}
			kind := fit.KindL1 + fit.Kind(slices.Index(model.Kinds()[3:], b.Kind))
			for _, p := range b.Parts {
				mode := rapid.SampledFrom([]fit.Mode{fit.Lockstep, fit.PerCore, fit.RangeLockstep}).Draw(t, "mode")
				at.Buffers = append(at.Buffers, fit.Buffer{
					ID: fit.BufferID(i), Kind: kind, Mode: mode, Cores: p.Cores.Cores(), Range: p.Range, Backing: b.Backing,
				})
			}
		}
		taken := fit.NewOccupancy(at.Spec)
		for i := range rapid.IntRange(0, 3).Draw(t, "programs") {
			p := gen.Program(spec, program.ID(i)).Draw(t, "program")
			at.Programs = append(at.Programs, p)
			taken.Program(p, at.Claimed(), i)
		}
		for i, b := range at.Buffers {
			taken.Buffer(b, len(at.Programs)+i)
		}
		cores := gen.CoreRangeSet(spec.Cols, spec.Rows).Draw(t, "cores").Cores()
		next := rapid.SampledFrom([]fit.Mode{fit.Lockstep, fit.PerCore, fit.RangeLockstep}).Draw(t, "next")
		room := fit.RoomThroughout(next, cores, 0, taken)
		if !cores.IsEmpty() {
			require.Equal(t, room.Range, fit.RoomOn(next, cores, 0, at).Range)
		}
		if room.Range.IsEmpty() {
			tight++
			return
		}
		size := rapid.Uint64Range(1, min(room.Range.Len(), 512)).Draw(t, "size")
		place := fit.RoomThroughout(next, cores, size, taken).Place
		require.Equal(t, size, place.Len())
		require.Empty(t, fit.RoomThroughout(next, cores, room.Range.Len()+1, taken).Place)
		if next == fit.PerCore { // each core has an address of its own
			cores = l1.CoreSet{}
			for _, g := range fit.RoomsThroughout(next, spec.Grid().Cores(), size, taken) {
				if g.Range == room.Range {
					cores, place = g.Cores, g.Place
				}
			}
		}
		for _, r := range []l1.Range{room.Range, place} {
			v := fit.CheckBuffer(fit.Buffer{ID: 99, Kind: fit.KindL1, Mode: next, Cores: cores, Range: r}, at)
			require.True(t, v.Fits(), "%v %+v", next, v)
		}
		for _, g := range fit.RoomsThroughout(next, spec.Grid().Cores(), size, taken) {
			for core := range g.Cores.All() {
				alone := fit.RoomThroughout(next, l1.CoreSetOf(core), size, taken)
				require.Equal(t, []l1.Range{alone.Range, alone.Place}, []l1.Range{g.Range, g.Place})
			}
		}
	}
	rapid.Check(t, property)
	tight = 0 // luck had a part in them
	defer testkit.SameDraws(1, 100)()
	rapid.Check(t, property)
	require.Positive(t, tight, "places without any room")
}

func TestCheckBuffer(t *testing.T) {
	spec := l1.Spec{Cols: 4, Rows: 1, L1Size: 1000, L1Small: 100, CBBase: 100}
	p := placed(t, spec, 1, on(0, 1), 200) // to 300
	tensor := fit.Buffer{ID: 1, Kind: fit.KindL1, Cores: on(1, 2), Range: l1.Range{Start: 500, End: 600}}
	place := fit.Place{Device: 3, Spec: spec, Buffers: []fit.Buffer{tensor}, Programs: []*program.Program{p}}
	check := func(kind fit.Kind, cores l1.CoreSet, start, end uint64) fit.BufferVerdict {
		b := fit.Buffer{ID: 2, Kind: kind, Cores: cores, Range: l1.Range{Start: start, End: end}}
		v := fit.CheckBuffer(b, place)
		require.Equal(t, b, v.Buffer)
		return v
	}
	require.True(t, check(fit.KindL1, on(0, 3), 300, 500).Fits())
	require.True(t, check(fit.KindL1Small, on(0, 3), 900, 1000).Fits())
	require.EqualValues(t, 30, check(fit.KindL1, on(0, 3), 880, 930).Outside)
	require.EqualValues(t, 20, check(fit.KindL1Small, on(0, 3), 880, 930).Outside)
	require.EqualValues(t, 50, check(fit.KindL1, on(3, 3), 50, 350).Outside, "below the base")
	require.Zero(t, check(fit.KindKernel, on(3, 3), 0, 100).Outside)

	v := check(fit.KindL1, on(2, 3), 299, 510)
	require.False(t, v.Fits())
	require.Equal(t, []fit.Overlap{{Device: 3, Devices: 1, Cores: on(2, 2), Bytes: 10, With: fit.Resident{Kind: fit.KindL1, Range: tensor.Range, CB: -1, Buffer: tensor}}}, v.Overlaps)
	require.Len(t, v.Refused, 1, "in lockstep its address counts on all cores")
	require.EqualValues(t, 299, v.Refused[0].Refusals[0].Limit)
	place.Hybrid = true
	require.Len(t, check(fit.KindL1, on(2, 3), 299, 510).Refused, 1, "in HYBRID mode too")
	alone := fit.Buffer{ID: 2, Kind: fit.KindL1, Mode: fit.PerCore, Cores: on(2, 3), Range: l1.Range{Start: 299, End: 310}}
	require.Empty(t, fit.CheckBuffer(alone, place).Refused)

	// A program that does not fit as it is, is not this buffer's.
	place.Buffers = append(place.Buffers, fit.Buffer{ID: 9, Kind: fit.KindL1, Cores: on(0, 0), Range: l1.Range{Start: 250, End: 260}})
	require.Empty(t, check(fit.KindL1, on(1, 1), 200, 210).Refused)
	require.True(t, fit.CheckBuffer(fit.Buffer{Kind: fit.KindDRAM, Size: 5}, place).Fits())
}

// A buffer whose place on core 0-0 is hidden leaves open whether a program fits there. One more
// buffer is refused for the program if it makes the answer worse.
func TestCheckBufferInDoubt(t *testing.T) {
	spec := l1.Spec{Cols: 4, Rows: 1, L1Size: 1000}
	programs := []*program.Program{placed(t, spec, 1, on(0, 1), 300)}
	tensor := func(id fit.BufferID, start uint64) fit.Buffer {
		return fit.Buffer{ID: id, Kind: fit.KindL1, Cores: on(3, 3), Range: l1.Range{Start: start, End: start + 10}}
	}
	hidden := tensor(1, 900)
	hidden.Mode, hidden.Hidden = fit.PerCore, on(0, 0)
	clear, open := fit.Place{Spec: spec}, fit.Place{Spec: spec, Buffers: []fit.Buffer{hidden}}
	closed := fit.Place{Spec: spec, Buffers: []fit.Buffer{hidden, tensor(2, 299)}}
	for _, test := range []struct {
		name             string
		buffer           fit.Buffer
		at               fit.Place
		refused, unknown bool
	}{
		{"it fits, and then it is not known", hidden, clear, true, true},
		{"it is not known, and then it does not fit", tensor(3, 299), open, true, false},
		{"it is not known before and after", tensor(3, 300), open, false, false},
		{"it does not fit before and after", tensor(3, 250), closed, false, false},
	} {
		test.at.Programs = programs
		v := fit.CheckBuffer(test.buffer, test.at)
		require.Equal(t, test.refused, len(v.Refused) == 1, test.name)
		require.Equal(t, test.refused, !v.Fits(), test.name)
		require.Equal(t, test.unknown, test.refused && v.Refused[0].CannotTell(), test.name)
	}
}

// TestRoomAndBufferVerdictAsText: a room and a verdict about a buffer say in one line what is there.
func TestRoomAndBufferVerdictAsText(t *testing.T) {
	spec := l1.Spec{Cols: 4, Rows: 1, L1Size: 2000, L1Small: 100, CBBase: 100}
	place := fit.Place{Spec: spec, Buffers: []fit.Buffer{
		{ID: 1, Kind: fit.KindL1, Cores: on(1, 2), Range: l1.Range{Start: 500, End: 600}},
		{ID: 2, Kind: fit.KindL1, Cores: on(1, 1), Range: l1.Range{Start: 600, End: 700}},
		{ID: 3, Kind: fit.KindL1, Cores: on(1, 1), Range: l1.Range{Start: 700, End: 800}},
	}, Programs: []*program.Program{placed(t, spec, 1, on(0, 1), 200)}}
	require.Equal(t, "1,100 bytes at [800,1900) on [0-0 - 3-0]", fit.RoomOn(fit.Lockstep, l1.CoreSet{}, 0, place).String())
	require.Equal(t, "1,100 bytes at [800,1900), place [1700,1900) on [1-0 - 1-0]", fit.RoomOn(fit.Lockstep, on(1, 1), 200, place).String())
	require.Equal(t, "no byte on no cores", fit.RoomOn(fit.Lockstep, l1.CoreSet{}, 0).String())
	for want, r := range map[string]l1.Range{
		"fits":                          {Start: 800, End: 1900},
		"100 bytes outside of its area": {Start: 1900, End: 2000},
		"50 bytes shared with L1 buffer 1 on [1-0 - 1-0]":                                                                                                                              {Start: 550, End: 600},
		"100 bytes shared with L1 buffer 1 on [1-0 - 1-0]; 100 bytes shared with L1 buffer 2 on [1-0 - 1-0] (+1 more)":                                                                 {Start: 500, End: 800},
		"Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 1-0]. L1 buffer allocated at 299 and static circular buffer region ends at 300": {Start: 299, End: 310},
	} {
		v := fit.CheckBuffer(fit.Buffer{ID: 9, Kind: fit.KindL1, Cores: on(1, 1), Range: r}, place)
		require.Equal(t, want, v.String())
		require.Equal(t, want == "fits", v.Fits())
	}
}
