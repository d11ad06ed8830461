package fit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Three buffers at 250, beside a program that ends at 300 on core 0-0: where they count
// depends on how they were allocated, and not on the mode of the device.
func TestModesOfBuffers(t *testing.T) {
	spec := l1.Spec{Cols: 3, Rows: 1, L1Size: 1000}
	type answer int
	const fits, refused, unknown = answer(0), answer(1), answer(2)
	global := func(b fit.Buffer) fit.Buffer {
		b.Kind = fit.KindGlobalCB
		return b
	}
	tensor := func(mode fit.Mode, x uint8) fit.Buffer {
		return fit.Buffer{ID: 1, Kind: fit.KindL1, Mode: mode, Cores: on(x, x), Range: l1.Range{Start: 250, End: 260}}
	}
	scattered := func(far uint64) fit.Buffer {
		part := func(x uint8, start uint64) fit.Part {
			return fit.Part{Cores: on(x, x), Range: l1.Range{Start: start, End: start + 10}}
		}
		return fit.Buffer{ID: 1, Kind: fit.KindL1, Parts: []fit.Part{part(1, 250), part(2, far)}}
	}
	hidden := func(x uint8) fit.Buffer {
		b := tensor(fit.PerCore, 2)
		b.Cores, b.Range, b.Hidden = on(2, 2), l1.Range{Start: 900, End: 910}, on(x, x)
		return b
	}
	for _, test := range []struct {
		name               string
		buffer             fit.Buffer
		circular, dataflow answer
	}{
		{"lockstep, elsewhere", tensor(fit.Lockstep, 1), refused, refused},
		{"per core, elsewhere", tensor(fit.PerCore, 1), fits, refused},
		{"per core, here", tensor(fit.PerCore, 0), refused, refused},
		{"a global CB per core, elsewhere", global(tensor(fit.PerCore, 1)), fits, refused},
		{"a global CB per core, here", global(tensor(fit.PerCore, 0)), refused, refused},
		{"range lockstep, elsewhere", tensor(fit.RangeLockstep, 1), unknown, unknown},
		{"range lockstep, here", tensor(fit.RangeLockstep, 0), refused, refused},
		{"two addresses: per core", scattered(260), fits, refused},
		{"one address in two parts: lockstep", scattered(250), refused, refused},
		{"hidden here", hidden(0), unknown, unknown},
		{"hidden elsewhere", hidden(1), fits, unknown},
	} {
		for _, hybrid := range []bool{false, true} {
			place := fit.Place{Spec: spec, Hybrid: hybrid, Buffers: []fit.Buffer{test.buffer}}
			for kind, want := range map[program.Kind]answer{program.CircularBuffer: test.circular, program.DataflowBuffer: test.dataflow} {
				p, err := program.NewBuilder(1).CB(program.CB{Kind: kind, Cores: l1.Rect(0, 0, 0, 0), Size: 300}).Build(spec)
				require.NoError(t, err)
				v := fit.Check(p, place)
				require.Equal(t, want == fits, v.Fits(), "%s, %v: %v", test.name, kind, v)
				require.Equal(t, want == unknown, v.CannotTell(), "%s, %v: %v", test.name, kind, v)
				_, grows, err := fit.MayGrow(p, 0, place)
				require.NoError(t, err)
				require.Equal(t, want == fits, grows, test.name)
				require.Equal(t, want == refused, len(v.Refusals) > 0, test.name)
			}
		}
	}
}

// A program is held against the buffers of its device or, in HYBRID mode, of all places; each place
// counts in its own mode.
func TestHybridPlaces(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	p := one(t, spec, 300)
	place := func(id fit.DeviceID, hybrid bool, buffers ...fit.Buffer) fit.Place {
		return fit.Place{Device: id, Spec: spec, Hybrid: hybrid, Buffers: buffers}
	}
	here, beside := buffer(fit.KindL1, 0, 250, 400), buffer(fit.KindL1, 1, 250, 400)
	alone := beside
	alone.Mode = fit.PerCore
	refusing := func(places ...fit.Place) (on []fit.DeviceID) {
		for _, r := range fit.Check(p, places...).Refusals {
			on = append(on, r.Device)
		}
		return on
	}
	require.Equal(t, []fit.DeviceID{0, 1}, refusing(place(0, true), place(1, true, here)))
	require.Equal(t, []fit.DeviceID{0, 1}, refusing(place(0, true), place(1, true, beside)), "in lockstep")
	require.Empty(t, refusing(place(0, true), place(1, true, alone)))
	require.Equal(t, []fit.DeviceID{1}, refusing(place(0, false), place(1, true, beside)))
	require.Equal(t, []fit.DeviceID{1, 2}, refusing(place(0, false), place(1, true), place(2, false, beside)))
	require.Equal(t, []fit.DeviceID{0, 2}, refusing(place(0, true), place(1, false), place(2, false, beside)))
	v := fit.Check(p, place(0, true), place(1, true, here))
	require.Equal(t, v.Refusals, v.Hybrid)
	require.Len(t, v.Clashes, 1)
	v = fit.Check(p, place(0, true), place(1, true, beside))
	require.Contains(t, v.Difference(), "lies on another device, and in HYBRID mode tt-metal compares with the buffers of all devices")
}

// That a program would run in HYBRID mode is said only if it would.
func TestWouldRunInHybridMode(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	first, second := buffer(fit.KindL1, 1, 250, 260), buffer(fit.KindL1, 1, 270, 280)
	difference := func(p *program.Program, buffers ...fit.Buffer) string {
		v := fit.Check(p, fit.Place{Spec: spec, Buffers: buffers})
		require.Len(t, v.Refusals, 1)
		require.Empty(t, v.Clashes)
		return v.Difference()
	}
	const would = "in HYBRID mode it would run if that buffer were allocated per core"
	p := one(t, spec, 265)
	require.Contains(t, difference(p, first, second), would, "the other one is above it")
	require.NotContains(t, difference(one(t, spec, 275), first, second), would, "the other one is in the way too")
	dataflow, err := program.NewBuilder(1).CB(program.CB{Kind: program.DataflowBuffer, Cores: l1.Rect(0, 0, 0, 0), Size: 265}).Build(spec)
	require.NoError(t, err)
	require.NotContains(t, difference(dataflow, first), "HYBRID")
}

// An undecided verdict names its doubt, and a remedy.
func TestDoubts(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	ranged := buffer(fit.KindL1, 1, 250, 260)
	ranged.Mode = fit.RangeLockstep
	hidden := fit.Buffer{ID: 2, Kind: fit.KindL1, Mode: fit.PerCore, Hidden: on(0, 0)}
	require.True(t, hidden.Stands())
	p := one(t, spec, 300)
	v := fit.Check(p, fit.Place{Device: 3, Devices: 2, Spec: spec, Buffers: []fit.Buffer{ranged}})
	require.Equal(t, []fit.Doubt{{
		Kind: fit.DoubtRange, Device: 3, Devices: 2, Cores: l1.CoreRange{}, End: 300, Buffer: ranged,
	}}, v.Doubts)
	require.Equal(t, "cannot tell whether program 1 fits: L1 buffer 1 has one address on a range of cores: "+
		"whether tt-metal compares it with core range [0-0 - 0-0] is not known", v.String())
	require.Equal(t, "end the region at 250 at most, or allocate L1 buffer 1 per core or in lockstep", v.Advice())
	require.True(t, fit.Check(one(t, spec, 250), fit.Place{Spec: spec, Buffers: []fit.Buffer{ranged}}).Fits(), "it ends below")

	v = fit.Check(p, fit.Place{Spec: spec, Buffers: []fit.Buffer{hidden}})
	require.Equal(t, fit.DoubtHidden, v.Doubts[0].Kind)
	require.Equal(t, "cannot tell whether program 1 fits: L1 buffer 2 was allocated per core, and its address is not known on "+
		"cores of [0-0 - 0-0]", v.String())
	require.Equal(t, "say where L1 buffer 2 lies on each of its cores", v.Advice())
	hidden.Backing = true
	require.True(t, fit.Check(p, fit.Place{Spec: spec, Buffers: []fit.Buffer{hidden}}).Fits(), "another one says it")

	// A refused program is not in doubt.
	lockstep := buffer(fit.KindL1, 1, 290, 300)
	v = fit.Check(p, fit.Place{Spec: spec, Buffers: []fit.Buffer{ranged, lockstep}})
	require.False(t, v.CannotTell())
	require.Len(t, v.Refusals, 1)

	// On another place in HYBRID mode.
	v = fit.Check(p, fit.Place{Spec: spec, Hybrid: true}, fit.Place{Device: 1, Spec: spec, Buffers: []fit.Buffer{ranged}})
	require.Len(t, v.Doubts, 2)

	// A buffer to come takes all of its hidden cores.
	taken := fit.NewOccupancy(spec)
	taken.Buffer(fit.Buffer{ID: 2, Kind: fit.KindL1, Mode: fit.PerCore, Hidden: on(0, 0)}, 0)
	require.True(t, fit.RoomThroughout(fit.PerCore, on(0, 0), 0, taken).Range.IsEmpty())
	require.False(t, fit.RoomThroughout(fit.PerCore, on(1, 1), 0, taken).Range.IsEmpty())
}

func TestCheckMode(t *testing.T) {
	one := l1.Range{Start: 8, End: 16}
	two := []fit.Part{{Cores: on(0, 0), Range: one}, {Cores: on(1, 1), Range: l1.Range{Start: 16, End: 24}}}
	for _, test := range []struct {
		name  string
		b     fit.Buffer
		field string
		text  string
	}{
		{"lockstep", fit.Buffer{Kind: fit.KindL1, Cores: on(0, 0), Range: one}, "", ""},
		{"range lockstep of one address", fit.Buffer{Kind: fit.KindGlobalCB, Mode: fit.RangeLockstep, Cores: on(0, 0), Range: one}, "", ""},
		{"range lockstep of two", fit.Buffer{Kind: fit.KindL1, Mode: fit.RangeLockstep, Parts: two}, "Mode", "a buffer in range_lockstep has one address"},
		{"no mode", fit.Buffer{Kind: fit.KindL1, Mode: 3}, "Mode", "there is no mode 3"},
		{"a mode of DRAM", fit.Buffer{Kind: fit.KindDRAM, Mode: fit.PerCore}, "Mode", "a DRAM buffer has no mode"},
		{"hidden", fit.Buffer{Kind: fit.KindL1, Mode: fit.PerCore, Hidden: on(2, 2), Parts: two}, "", ""},
		{"hidden and known", fit.Buffer{Kind: fit.KindL1, Mode: fit.PerCore, Hidden: on(1, 2), Parts: two}, "Hidden", "the address on [1-0 - 1-0] is known"},
		{"hidden in lockstep", fit.Buffer{Kind: fit.KindL1, Hidden: on(2, 2)}, "Hidden", "a buffer in lockstep has no hidden cores"},
	} {
		field, err := test.b.CheckMode()
		require.Equal(t, test.field, field, test.name)
		if test.text == "" {
			require.NoError(t, err, test.name)
			continue
		}
		require.EqualError(t, err, test.text, test.name)
	}
	require.Equal(t, "Mode(7)", fit.Mode(7).String())
}
