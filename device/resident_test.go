package device_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

const page = 2048 // bytes: a tile of 32x32 numbers of 16 bits

func dispatch(t require.TestingT, f *device.Fleet, p *program.Program, s device.Set) {
	require.NoError(t, f.Dispatch(p.ID(), s))
}

// traced captures a trace of some programs.
func traced(t require.TestingT, f *device.Fleet, s device.Set, programs ...*program.Program) device.TraceID {
	id, err := f.BeginTrace(s)
	require.NoError(t, err)
	for _, p := range programs {
		require.NoError(t, f.Record(id, p.ID()))
	}
	require.NoError(t, f.EndTrace(id))
	return id
}

// ran registers and dispatches programs, the last of them last.
func ran(t require.TestingT, f *device.Fleet, s device.Set, programs ...*program.Program) {
	for _, p := range programs {
		register(t, f, p, s)
		dispatch(t, f, p, s)
	}
}

// residents says who is resident on each core of the grid, with its bytes.
func residents(d device.Device) map[l1.Core]string {
	out := map[l1.Core]string{}
	for c := range d.Spec().Grid().Cores().All() {
		if p, ranges, ok := d.ResidentOn(c); ok {
			n := uint64(0)
			for r := range ranges {
				n += r.Len()
			}
			out[c] = fmt.Sprintf("%d: %d", p.ID(), n)
		}
	}
	return out
}

// still runs something that must leave no trace of residency either.
func still(t require.TestingT, f *device.Fleet, do func()) {
	see := func() (out []map[l1.Core]string) {
		for d := range f.Devices() {
			out = append(out, residents(d))
		}
		return out
	}
	before := see()
	unchanged(t, f, do)
	require.Equal(t, before, see())
}

// The scenarios of tt-metal's own tests (pull request 53721), with their figures.
func TestResidencyScenarios(t *testing.T) {
	for _, board := range []struct {
		spec  l1.Spec
		cores uint64
		// bytes on the whole grid, by pages on each core
		two, eight, nine, ten, sixteen uint64
	}{
		{l1.N300(), 56, 229_376, 917_504, 1_032_192, 1_146_880, 1_835_008},
		{l1.N150(), 64, 262_144, 1_048_576, 1_179_648, 1_310_720, 2_097_152},
		{l1.P100(), 110, 450_560, 1_802_240, 2_027_520, 2_252_800, 3_604_480},
		{l1.P150(), 130, 532_480, 2_129_920, 2_396_160, 2_662_400, 4_259_840},
	} {
		t.Run(board.spec.Name, func(t *testing.T) {
			require.EqualValues(t, board.cores, board.spec.NumCores())
			var f *device.Fleet
			var d device.Device
			start := func() {
				f = device.NewFleet()
				d = addDevice(t, f, 0, board.spec)
			}
			whole := func(id program.ID, pages ...uint64) *program.Program {
				var cbs []program.CB
				for _, n := range pages {
					cbs = append(cbs, program.CB{Cores: board.spec.Grid(), Size: n * page})
				}
				return build(t, board.spec, id, cbs...)
			}
			is := func(want uint64) {
				t.Helper()
				require.Equal(t, want, d.Resident())
				require.Equal(t, want, d.Totals().Resident)
				sum := uint64(0)
				for c := range board.spec.Grid().Cores().All() {
					sum += d.Core(c).Resident
				}
				require.Equal(t, want, sum)
				intact(t, f)
			}

			start() // 1: dispatched once
			ran(t, f, d.Set(), whole(1, 1, 2, 3, 4))
			is(board.ten)
			require.EqualValues(t, 20_480, d.Core(core(7, 6)).Resident)

			start() // 2: laid out and kept, never dispatched
			ran(t, f, d.Set(), whole(1, 1, 1))
			register(t, f, whole(2, 8, 8), d.Set())
			is(board.two)
			require.Equal(t, board.sixteen, d.Registered())

			start() // 3: capture changes nothing, replay does
			big, small := whole(1, 4, 4), whole(2, 1, 1)
			ran(t, f, d.Set(), big)
			is(board.eight)
			trace := traced(t, f, d.Set(), big)
			is(board.eight)
			ran(t, f, d.Set(), small)
			is(board.two)
			require.NoError(t, f.Replay(trace))
			is(board.eight)

			start() // 4: the peak of a trace, not its last program
			big, small = whole(1, 8, 8), whole(2, 1, 1)
			ran(t, f, d.Set(), big, small)
			trace = traced(t, f, d.Set(), big, small)
			is(board.two)
			require.NoError(t, f.Replay(trace))
			is(board.sixteen)

			start() // 5a: back again
			a, b := whole(1, 1, 1), whole(2, 4, 4)
			ran(t, f, d.Set(), a)
			is(board.two)
			ran(t, f, d.Set(), b)
			is(board.eight)
			ran(t, f, d.Set(), a)
			is(board.two)
			// 5b: a resize shows at the next dispatch
			larger := resize(t, a, 0, 8*page)
			replace(t, f, a, larger)
			is(board.two)
			dispatch(t, f, larger, d.Set())
			is(board.nine)

			// 6: on one core, beside the leftovers of 5b
			one := build(t, board.spec, 3, cb("{[0-0 - 0-0]}", page), cb("{[0-0 - 0-0]}", page))
			tensor := build(t, board.spec, 4, global(cb("{[0-0 - 0-0]}", 2*page)))
			ran(t, f, d.Set(), one)
			after := d.Resident()
			require.Equal(t, board.nine-18_432+4096, after)
			ran(t, f, d.Set(), tensor)
			is(after - 4096)
			ran(t, f, d.Set(), one)
			is(after)
		})
	}
}

// Registered and resident bytes, side by side.
func TestRegisteredAndResident(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	p := build(t, d.Spec(), 1, cb("{[0-0 - 0-0]}", 4096))
	q := build(t, d.Spec(), 2, cb("{[0-0 - 0-0]}", 16_384))
	for _, step := range []struct {
		what                 string
		do                   func()
		registered, resident uint64
	}{
		{"lay out P, Q", func() { register(t, f, p, d.Set()); register(t, f, q, d.Set()) }, 16_384, 0},
		{"dispatch Q", func() { dispatch(t, f, q, d.Set()) }, 16_384, 16_384},
		{"dispatch P", func() { dispatch(t, f, p, d.Set()) }, 16_384, 4096},
		{"destroy Q", func() { f.UnregisterAll(q.ID()) }, 4096, 4096},
		{"destroy P", func() { f.UnregisterAll(p.ID()) }, 0, 4096},
		{"evict P", func() {
			on, err := f.Evict(p.ID(), d.Set())
			require.NoError(t, err)
			require.Equal(t, []device.ID{0}, ids(on))
		}, 0, 0},
	} {
		step.do()
		require.Equal(t, step.registered, d.Registered(), step.what)
		require.Equal(t, step.resident, d.Resident(), step.what)
		intact(t, f)
	}
	require.EqualValues(t, 16_384, d.Totals().Peak.Resident)
}

// Per core the last writer wins; other cores keep theirs.
//
//	     0-0  1-0  2-0  3-0
//	A     A    A    A
//	B     A    A    B    B
//	C     A    C0   B    B      C has only a global CB
//	A     A    A    A    B
func TestLastWriterWinsOnEachCore(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	a := build(t, d.Spec(), 1, cb("{[0-0 - 2-0]}", 100))
	b := build(t, d.Spec(), 2, cb("{[2-0 - 3-0]}", 10))
	c := build(t, d.Spec(), 3, global(cb("{[1-0 - 1-0]}", 1000)))
	for _, step := range []struct {
		p    *program.Program
		want []string // on 0-0, 1-0, ...
		sum  uint64
	}{
		{a, []string{"1: 100", "1: 100", "1: 100"}, 300},
		{b, []string{"1: 100", "1: 100", "2: 10", "2: 10"}, 220},
		{c, []string{"1: 100", "3: 0", "2: 10", "2: 10"}, 120},
		{a, []string{"1: 100", "1: 100", "1: 100", "2: 10"}, 310},
	} {
		ran(t, f, d.Set(), step.p)
		want := map[l1.Core]string{}
		for x, who := range step.want {
			want[core(uint8(x), 0)] = who
		}
		require.Equal(t, want, residents(d))
		require.Equal(t, step.sum, d.Resident())
		intact(t, f)
	}
	require.Zero(t, d.Core(core(200, 200)).Resident)
	_, _, ok := d.ResidentOn(core(200, 200))
	require.False(t, ok)
}

// A CB without bytes still names its cores.
func TestDispatchOfEmptyCBs(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	ran(t, f, d.Set(), build(t, d.Spec(), 1, cb("{[0-0 - 1-0]}", 8)), build(t, d.Spec(), 2, cb("{[0-0 - 0-0]}", 0)))
	require.EqualValues(t, 8, d.Resident())
	require.Equal(t, map[l1.Core]string{core(0, 0): "2: 0", core(1, 0): "1: 8"}, residents(d))
}

// Dataflow buffers and scratchpads do not replace resident circular buffers; they show in the
// tracked bytes alone.
func TestDispatchWithoutCircularBuffers(t *testing.T) {
	for i, kind := range []program.Kind{program.DataflowBuffer, program.Scratchpad} {
		f := device.NewFleet()
		d := addDevice(t, f, 0, l1.N150())
		a := build(t, d.Spec(), 1, cb("{[0-0 - 1-0]}", 8))
		c := cb("{[0-0 - 7-7]}", 64)
		c.Kind = kind
		p := build(t, d.Spec(), program.ID(2+i), c)
		ran(t, f, d.Set(), p) // on an empty device
		require.Empty(t, residents(d))
		require.Zero(t, d.Resident())
		require.EqualValues(t, 64*64, d.Totals().Tracked)
		evicted, err := f.Evict(p.ID(), d.Set())
		require.NoError(t, err)
		require.Equal(t, []device.ID{0}, ids(evicted), "it held something of another kind")
		require.Zero(t, d.Totals().Tracked)
		f.UnregisterAll(p.ID())

		ran(t, f, d.Set(), a)
		register(t, f, p, d.Set())
		before := residents(d)
		dispatch(t, f, p, d.Set())
		require.Equal(t, before, residents(d))
		require.EqualValues(t, 2*8, d.Resident())
		require.EqualValues(t, 64*64, d.Totals().Tracked, "they start at the same address")
		intact(t, f)
		set := d.Set()
		require.Zero(t, testing.AllocsPerRun(100, func() { dispatch(t, f, p, set) }))
		trace := traced(t, f, d.Set(), p)
		still(t, f, func() { require.NoError(t, f.Replay(trace)) })
		f.UnregisterAll(p.ID())
		still(t, f, func() { require.ErrorIs(t, f.Replay(trace), device.ErrNotRegistered) })
		// Beside a circular buffer they are not counted.
		mixed := build(t, d.Spec(), 9, cb("{[0-0 - 0-0]}", 16), program.CB{Kind: program.Scratchpad, Cores: cores("{[0-0 - 5-0]}"), Size: 512})
		ran(t, f, d.Set(), mixed)
		require.Equal(t, map[l1.Core]string{core(0, 0): "9: 16", core(1, 0): "1: 8"}, residents(d))
		f.UnregisterAll(mixed.ID())
		f.UnregisterAll(a.ID())
		_, err = f.Evict(a.ID(), d.Set())
		require.NoError(t, err)
		_, err = f.Evict(mixed.ID(), d.Set())
		require.NoError(t, err)
		require.Empty(t, residents(d))
	}
}

func TestDispatchRefusals(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 3, l1.N150())
	lone := addDevice(t, f, 9, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 8))
	register(t, f, p, sub(t, m, 0, 0, 1, 1))
	other := addDevice(t, device.NewFleet(), 0, l1.N150())
	gone := addDevice(t, f, 10, l1.N150())
	require.NoError(t, f.Remove(gone.Set()))
	still(t, f, func() {
		require.ErrorIs(t, f.Dispatch(p.ID(), other.Set()), device.ErrForeignSet)
		require.ErrorIs(t, f.Dispatch(p.ID(), gone.Set()), device.ErrNoDevice)
		err := f.Dispatch(p.ID(), m.Set()) // all or nothing
		var bad *device.Error
		require.ErrorAs(t, err, &bad)
		want := ofProgram("Dispatch", 1, 1, device.ErrNotRegistered)
		want.More = 1
		require.Equal(t, want, bad)
		require.ErrorIs(t, f.Dispatch(p.ID(), lone.Set()), device.ErrNotRegistered)
		require.ErrorIs(t, f.Dispatch(build(t, m.Spec(), 77, cb("{[0-0 - 0-0]}", 8)).ID(), lone.Set()), device.ErrNotRegistered)
		require.NoError(t, f.Dispatch(p.ID(), device.Set{}))

		_, err = f.Evict(p.ID(), other.Set())
		require.ErrorIs(t, err, device.ErrForeignSet)
		_, err = f.Evict(p.ID(), gone.Set())
		require.ErrorIs(t, err, device.ErrNoDevice)
		for _, s := range []device.Set{{}, m.Set()} {
			on, err := f.Evict(p.ID(), s)
			require.NoError(t, err)
			require.Zero(t, on.Len())
		}
	})
}

// A dispatch without change allocates nothing, and neither does a change that was made before.
func TestDispatchAllocatesNothing(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {1, 8}, {4, 8}} {
		f := device.NewFleet()
		m := addMesh(t, f, 0, shape[0], shape[1], l1.N150())
		for name, cores := range map[string][2]string{
			"same cores":       {"{[0-0 - 7-7]}", "{[0-0 - 7-7]}"},
			"cores that cross": {"{[0-0 - 4-7]}", "{[3-0 - 7-7]}"},
			"other cores":      {"{[0-0 - 3-7]}", "{[4-0 - 7-7]}"},
			"some of them":     {"{[0-0 - 7-7]}", "{[2-2 - 3-3]}"},
		} {
			a := build(t, m.Spec(), 1, cb(cores[0], 4096))
			b := build(t, m.Spec(), 2, cb(cores[1], 8192))
			all := m.Set()
			ran(t, f, all, a, b, a, b)
			trace := traced(t, f, all, a, b)
			require.NoError(t, f.Replay(trace))
			dispatch(t, f, a, all)
			sum := uint64(0)
			for what, do := range map[string]func() error{
				"again":       func() error { return f.Dispatch(b.ID(), all) },
				"alternating": func() error { return errors.Join(f.Dispatch(a.ID(), all), f.Dispatch(b.ID(), all)) },
				"replay":      func() error { return errors.Join(f.Replay(trace), f.Dispatch(a.ID(), all)) },
				"read":        func() error { sum += m.Resident() + m.Totals().Resident; return nil },
			} {
				require.NoError(t, do())
				require.Zero(t, testing.AllocsPerRun(100, func() { _ = do() }), "%v, %s, %s", shape, name, what)
			}
			require.NotZero(t, sum)
			intact(t, f)
			f.UnregisterAll(a.ID())
			f.UnregisterAll(b.ID())
		}
	}
}

// The registered layout counts, whichever program is named.
func TestResizeShowsAtTheNextDispatch(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", page))
	ran(t, f, m.Set(), p)
	larger := resize(t, p, 0, 2*page)
	replace(t, f, p, larger)
	require.EqualValues(t, 2*64*page, m.Resident())
	still(t, f, func() {
		was, _, ok := slices.Collect(m.All())[0].ResidentOn(core(0, 0))
		require.True(t, ok)
		require.Same(t, p, was)
	})
	dispatch(t, f, p, sub(t, m, 0, 0, 1, 1)) // by the old name of the new layout
	require.EqualValues(t, 64*(page+2*page), m.Resident())
	// Both layouts are of the same program.
	on, err := f.Evict(larger.ID(), m.Set())
	require.NoError(t, err)
	require.Equal(t, []device.ID{0, 1}, ids(on))
	require.Zero(t, m.Resident())
	intact(t, f)
}

func TestEvictTakesOnlyItsOwn(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 3, l1.N150())
	a := build(t, m.Spec(), 1, cb("{[0-0 - 1-0]}", 8))
	b := build(t, m.Spec(), 2, cb("{[1-0 - 1-0]}", 16))
	ran(t, f, m.Set(), a)
	ran(t, f, sub(t, m, 0, 0, 1, 2), b)
	on, err := f.Evict(b.ID(), sub(t, m, 0, 1, 1, 2))
	require.NoError(t, err)
	require.Equal(t, []device.ID{1}, ids(on))
	var sums []uint64
	for d := range m.All() {
		sums = append(sums, d.Resident())
	}
	require.Equal(t, []uint64{24, 8, 16}, sums)
	require.EqualValues(t, 48, m.Resident())
	intact(t, f)
	first, _ := f.Device(1)
	_, _, ok := first.ResidentOn(core(1, 0))
	require.False(t, ok, "what was there before is not there again")
}

func TestTraces(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	// bytes on  0-0  1-0  2-0
	// a         32   32
	// b              32   8
	// c              0    0
	a := build(t, m.Spec(), 1, cb("{[0-0 - 1-0]}", 32))
	b := build(t, m.Spec(), 2, cb("{[1-0 - 1-0]}", 32), cb("{[2-0 - 2-0]}", 8))
	c := build(t, m.Spec(), 3, global(cb("{[1-0 - 2-0]}", 64)))
	ran(t, f, m.Set(), a, b, c)
	d := slices.Collect(m.All())[1]
	for _, test := range []struct {
		recorded []*program.Program
		want     []string
	}{
		{[]*program.Program{a, b}, []string{"1: 32", "2: 32", "2: 8"}}, // of equals the last
		{[]*program.Program{b, a}, []string{"1: 32", "1: 32", "2: 8"}},
		{[]*program.Program{a, b, a}, []string{"1: 32", "1: 32", "2: 8"}}, // recorded again
		{[]*program.Program{b, c}, []string{"3: 0 ", "2: 32", "2: 8"}},
		{[]*program.Program{c}, []string{"", "3: 0", "3: 0"}},
		{[]*program.Program{a, c}, []string{"1: 32", "1: 32", "3: 0"}},
		{nil, nil},
	} {
		for _, p := range []*program.Program{a, b, c} {
			_, err := f.Evict(p.ID(), m.Set())
			require.NoError(t, err)
		}
		var trace device.TraceID
		still(t, f, func() { trace = traced(t, f, m.Set(), test.recorded...) })
		require.NoError(t, f.Replay(trace))
		want := map[l1.Core]string{}
		for x, who := range test.want {
			if who != "" && who != "3: 0 " { // not written
				want[core(uint8(x), 0)] = who
			}
		}
		require.Equal(t, want, residents(d), "%v", test.recorded)
		intact(t, f)
		still(t, f, func() {
			require.NoError(t, f.Replay(trace)) // again
			require.NoError(t, f.ReleaseTrace(trace))
			require.ErrorIs(t, f.Replay(trace), device.ErrNoTrace)
		})
	}
}

func TestReplayKeepsOtherCores(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	a := build(t, d.Spec(), 1, cb("{[0-0 - 0-0]}", 32))
	b := build(t, d.Spec(), 2, cb("{[0-0 - 2-0]}", 8))
	ran(t, f, d.Set(), a, b)
	trace := traced(t, f, d.Set(), a)
	require.NoError(t, f.Replay(trace))
	require.Equal(t, map[l1.Core]string{core(0, 0): "1: 32", core(1, 0): "2: 8", core(2, 0): "2: 8"}, residents(d))
}

func TestTraceErrors(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	lone := addDevice(t, f, 7, l1.N150())
	a := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 8))
	b := build(t, m.Spec(), 2, cb("{[0-0 - 0-0]}", 16))
	ran(t, f, f.Set(), a, b)
	is := func(err error, trace device.TraceID, want error) {
		t.Helper()
		require.ErrorIs(t, err, want)
		var bad *device.Error
		require.ErrorAs(t, err, &bad)
		require.Equal(t, trace, bad.Trace)
		require.LessOrEqual(t, len(err.Error()), 300)
	}
	other := addDevice(t, device.NewFleet(), 0, l1.N150())
	still(t, f, func() {
		_, err := f.BeginTrace(other.Set())
		require.ErrorIs(t, err, device.ErrForeignSet)
		for _, unknown := range []device.TraceID{0, 77, ^device.TraceID(0)} {
			is(f.Record(unknown, a.ID()), unknown, device.ErrNoTrace)
			is(f.EndTrace(unknown), unknown, device.ErrNoTrace)
			is(f.Replay(unknown), unknown, device.ErrNoTrace)
			is(f.ReleaseTrace(unknown), unknown, device.ErrNoTrace)
		}
		open, err := f.BeginTrace(m.Set())
		require.NoError(t, err)
		is(f.Replay(open), open, device.ErrTraceOpen)
		require.NoError(t, f.Record(open, a.ID()))
		require.ErrorIs(t, f.Record(open, build(t, m.Spec(), 9, cb("{[0-0 - 0-0]}", 8)).ID()), device.ErrNotRegistered)
		require.NoError(t, f.ReleaseTrace(open)) // while it is open
		is(f.EndTrace(open), open, device.ErrNoTrace)

		ended := traced(t, f, m.Set(), a)
		require.NotEqual(t, open, ended)
		is(f.Record(ended, a.ID()), ended, device.ErrTraceEnded)
		is(f.EndTrace(ended), ended, device.ErrTraceEnded)

		none := traced(t, f, device.Set{}, build(t, m.Spec(), 9, cb("{[0-0 - 0-0]}", 8))) // on no devices
		require.NoError(t, f.Replay(none))
	})

	// A recorded program goes away, on one of the devices.
	trace := traced(t, f, m.Set(), a, b)
	kept := traced(t, f, sub(t, m, 0, 0, 1, 1), b)
	dispatch(t, f, a, m.Set())
	require.NoError(t, f.Unregister(b.ID(), sub(t, m, 0, 1, 1, 1)))
	still(t, f, func() {
		err := f.Replay(trace)
		is(err, trace, device.ErrNotRegistered)
		var bad *device.Error
		require.ErrorAs(t, err, &bad)
		want := ofProgram("Replay", 2, 1, device.ErrNotRegistered)
		want.About, want.Trace = want.About|device.AboutTrace, bad.Trace
		require.Equal(t, want, bad)
	})
	// Registered anew it is another one, also while another device has kept it.
	register(t, f, b, m.Set())
	still(t, f, func() {
		err := f.Replay(trace)
		is(err, trace, device.ErrNotRegistered)
		var bad *device.Error
		require.ErrorAs(t, err, &bad)
		want := ofProgram("Replay", 2, 1, device.ErrNotRegistered)
		want.About, want.Trace = want.About|device.AboutTrace, bad.Trace
		require.Equal(t, want, bad)
	})
	require.NoError(t, f.Replay(kept), "the other device kept the program")
	require.NoError(t, f.Replay(traced(t, f, m.Set(), a, b)), "recorded after the return")
	f.UnregisterAll(b.ID())
	register(t, f, b, m.Set())
	still(t, f, func() { is(f.Replay(trace), trace, device.ErrNotRegistered) })

	// The trace has the recorded layout of a program that was resized or replaced.
	trace = traced(t, f, m.Set(), a, b)
	require.NoError(t, f.Replay(trace))
	recorded := residents(slices.Collect(m.All())[0])
	larger := resize(t, b, 0, 32)
	replace(t, f, b, larger)
	dispatch(t, f, larger, m.Set())
	require.NotEqual(t, recorded, residents(slices.Collect(m.All())[0]))
	require.NoError(t, f.Replay(trace))
	require.Equal(t, recorded, residents(slices.Collect(m.All())[0]))
	third := build(t, m.Spec(), 12, cb("{[0-0 - 0-0]}", 8))
	replace(t, f, larger, third)
	require.NoError(t, f.Replay(trace))
	f.UnregisterAll(third.ID())
	still(t, f, func() { is(f.Replay(trace), trace, device.ErrNotRegistered) })
	register(t, f, larger, m.Set())

	// Devices go away.
	trace = traced(t, f, f.Set(), a)
	open, err := f.BeginTrace(lone.Set())
	require.NoError(t, err)
	require.NoError(t, f.Remove(lone.Set()))
	still(t, f, func() {
		require.ErrorIs(t, f.Replay(trace), device.ErrNoDevice)
		require.ErrorIs(t, f.Record(open, a.ID()), device.ErrNoDevice)
		require.NoError(t, f.EndTrace(open))
		require.ErrorIs(t, f.Replay(open), device.ErrNoDevice)
		_, err := f.BeginTrace(lone.Set())
		require.ErrorIs(t, err, device.ErrNoDevice)
		require.NoError(t, f.ReleaseTrace(trace))
	})
}

func TestResidencySurvivesUnregister(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	a := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 8))
	ran(t, f, m.Set(), a)
	f.UnregisterAll(a.ID()) // nothing is registered anywhere
	require.EqualValues(t, 16, m.Resident())
	intact(t, f)
	require.ErrorIs(t, f.Dispatch(a.ID(), m.Set()), device.ErrNotRegistered)
	ran(t, f, sub(t, m, 0, 0, 1, 1), build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 32))) // another one of its id
	require.EqualValues(t, 40, m.Resident())
	intact(t, f)
}

func TestResidencyOfRemovedDevices(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 3, l1.N150())
	lone := addDevice(t, f, 9, l1.N150())
	a := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 8))
	ran(t, f, f.Set(), a)
	first := slices.Collect(m.All())[0]
	require.NoError(t, f.Remove(of(t, f, 0, 9)))
	require.EqualValues(t, 16, m.Resident())
	require.EqualValues(t, 16, m.Totals().Resident)
	require.EqualValues(t, 24, m.Totals().Peak.Resident)
	for _, d := range []device.Device{first, lone, {}} {
		require.Zero(t, d.Resident())
		require.Zero(t, d.Totals())
		require.Zero(t, d.Core(core(0, 0)))
		_, _, ok := d.ResidentOn(core(0, 0))
		require.False(t, ok)
	}
	require.Zero(t, device.Mesh{}.Resident())
	again := addDevice(t, f, 0, l1.N150())
	require.Zero(t, again.Totals(), "a new device of an old id")
	intact(t, f)
}

func TestPeaksOfResident(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	a := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 8))
	b := build(t, m.Spec(), 2, cb("{[0-0 - 0-0]}", 32))
	one, two := sub(t, m, 0, 0, 1, 1), sub(t, m, 0, 1, 1, 1)
	ran(t, f, m.Set(), a)
	register(t, f, b, m.Set())
	dispatch(t, f, b, one)
	dispatch(t, f, a, one)
	dispatch(t, f, b, two)
	d := slices.Collect(m.All())[0]
	require.EqualValues(t, 8, d.Totals().Resident)
	require.EqualValues(t, 32, d.Totals().Peak.Resident)
	require.EqualValues(t, 40, m.Totals().Peak.Resident, "of the sums, not the sum")
	snapshot := f.Snapshot()
	d.ResetPeaks()
	require.EqualValues(t, 8, d.Totals().Peak.Resident)
	require.EqualValues(t, 40, m.Totals().Peak.Resident)
	f.UnregisterAll(b.ID()) // moves the registered peaks
	require.EqualValues(t, 8, d.Totals().Peak.Resident)
	intact(t, f)

	was, ok := snapshot.Device(0)
	require.True(t, ok)
	require.EqualValues(t, 8, was.Totals().Resident)
	require.EqualValues(t, 32, was.Totals().Peak.Resident)
	was, _ = snapshot.Device(1)
	require.EqualValues(t, 32, was.Totals().Resident)
}

// Sums of resident bytes stay below 2^63, even if their programs are unregistered.
func TestResidentOverflow(t *testing.T) {
	spec := l1.Spec{Name: "huge", Cols: 2, Rows: 1}
	huge := func(id program.ID, on string, bytes uint64) *program.Program {
		return build(t, spec, id, at(0, cb(on, bytes)))
	}
	run := func(f *device.Fleet, p *program.Program, s device.Set) error {
		register(t, f, p, s)
		err := f.Dispatch(p.ID(), s)
		f.UnregisterAll(p.ID())
		return err
	}
	t.Run("device", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		require.NoError(t, run(f, huge(1, "{[0-0 - 0-0]}", l1.MaxAddr), d.Set()))
		still(t, f, func() { // but for the registered peak, which is no higher
			var over *device.Error
			require.ErrorAs(t, run(f, huge(2, "{[1-0 - 1-0]}", 1), d.Set()), &over)
			require.Equal(t, ofProgram(over.Op, 2, 0, device.ErrOverflow), over)
		})
		require.NoError(t, run(f, huge(2, "{[0-0 - 0-0]}", 1), d.Set()))
	})
	t.Run("mesh", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 2, spec)
		require.NoError(t, run(f, huge(1, "{[0-0 - 0-0]}", l1.MaxAddr), sub(t, m, 0, 0, 1, 1)))
		p := huge(2, "{[1-0 - 1-0]}", 1)
		register(t, f, p, m.Set())
		still(t, f, func() {
			var over *device.Error
			require.ErrorAs(t, f.Dispatch(p.ID(), sub(t, m, 0, 1, 1, 1)), &over)
			require.Equal(t, ofProgram(over.Op, 2, 0, device.ErrOverflow), over)
			require.ErrorAs(t, f.Dispatch(p.ID(), m.Set()), &over)
		})
	})
	// What counts is the sum after the call, not after some of its devices.
	t.Run("mesh in between", func(t *testing.T) {
		for last := range 2 {
			f := device.NewFleet()
			m := addMesh(t, f, 0, 1, 2, spec)
			require.NoError(t, run(f, huge(1, "{[0-0 - 0-0]}", l1.MaxAddr), sub(t, m, 0, last, 1, 1)))
			require.NoError(t, run(f, huge(2, "{[0-0 - 0-0]}", 1<<61), m.Set()))
			require.EqualValues(t, uint64(1)<<62, m.Resident())
			intact(t, f)
		}
	})
	t.Run("replay", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		half := huge(1, "{[0-0 - 0-0]}", 1<<62)
		register(t, f, half, d.Set())
		trace := traced(t, f, d.Set(), half)
		require.NoError(t, run(f, huge(2, "{[1-0 - 1-0]}", 1<<62-1), d.Set()))
		require.NoError(t, f.Replay(trace))
		f = device.NewFleet()
		d = addDevice(t, f, 0, spec)
		register(t, f, half, d.Set())
		trace = traced(t, f, d.Set(), half)
		other := huge(2, "{[1-0 - 1-0]}", 1<<62)
		trace2, err := f.BeginTrace(d.Set()) // each of the two fits, both do not
		require.NoError(t, err)
		require.NoError(t, f.Record(trace2, half.ID()))
		f.UnregisterAll(half.ID())
		require.NoError(t, run(f, other, d.Set()))
		register(t, f, half, d.Set())
		require.ErrorIs(t, f.Replay(trace), device.ErrNotRegistered)
		still(t, f, func() { require.ErrorIs(t, f.Replay(traced(t, f, d.Set(), half)), device.ErrOverflow) })
	})
}

// More ways to be resident than are remembered.
func TestManyResidues(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	var sum uint64
	for id := range program.ID(3000) {
		p := build(t, m.Spec(), id, cb("{[0-0 - 0-0]}", uint64(id+1)), cb("{[1-1 - 1-1]}", 8))
		register(t, f, p, m.Set())
		dispatch(t, f, p, m.Set())
		sum = uint64(id+1) + 8
		require.Equal(t, 2*sum, m.Resident())
		if id%3 > 0 {
			f.UnregisterAll(p.ID())
		}
	}
	intact(t, f)
}

// A naive is who left how much on each core of one device, by kind.
type naive map[spot]left

type spot struct {
	kind program.Kind
	core l1.Core
}

type left struct {
	program program.ID
	bytes   uint64
}

// sum counts the resident bytes: circular buffers.
func (n naive) sum() (sum uint64) {
	for at, l := range n {
		if at.kind == program.CircularBuffer {
			sum += l.bytes
		}
	}
	return sum
}

// written returns the bytes that a program writes to each core that its CBs name, painted byte by
// byte; each kind has its own last writer.
func written(p *program.Program) naive {
	painted := map[spot]map[uint64]bool{}
	for _, c := range p.CBs() {
		for core := range c.Cores.Cores().All() {
			on := spot{c.Kind, core}
			if painted[on] == nil {
				painted[on] = map[uint64]bool{}
			}
			for a := c.Range.Start; !c.Global && a < c.Range.End; a++ {
				painted[on][a] = true
			}
		}
	}
	out := naive{}
	for on, bytes := range painted {
		out[on] = left{p.ID(), uint64(len(bytes))}
	}
	return out
}

// residentLife leads a random life of dispatches beside a map from device and core to program
// and bytes.
func residentLife(t *rapid.T) {
	spec := l1.Spec{Cols: toySide, Rows: toySide}
	f := device.NewFleet()
	mesh := addMesh(t, f, 0, 1, 2, spec)
	devices := slices.Collect(mesh.All())
	devices = append(devices, addDevice(t, f, 2, spec), addDevice(t, f, 3, spec))
	var model [toyFleet]naive
	var peak [toyFleet]uint64
	var meshPeak uint64
	for i := range model {
		model[i] = naive{}
	}
	commit := func() {
		for i := range model {
			peak[i] = max(peak[i], model[i].sum())
		}
		meshPeak = max(meshPeak, model[0].sum()+model[1].sum())
	}
	write := func(on []device.ID, what naive) {
		for _, id := range on {
			maps.Copy(model[id], what)
		}
		commit()
	}
	// Registrations are numbered, so that a trace can name its own.
	type registered struct {
		serial int
		p      *program.Program
		on     map[device.ID]bool
		heir   *registered // what replaced it
	}
	serial := 0
	live := map[program.ID]*registered{}
	type trace struct {
		on       []device.ID
		recorded []*registered
		ended    bool
		broken   bool // a recorded program left one of the devices
	}
	traces := map[device.TraceID]*trace{}
	known := []*program.Program{}

	drawProgram := func(t *rapid.T) *program.Program {
		if len(known) > 0 && rapid.IntRange(0, 4).Draw(t, "known") > 0 {
			return rapid.SampledFrom(known).Draw(t, "program")
		}
		b := program.NewBuilder(program.ID(rapid.IntRange(0, 5).Draw(t, "id")))
		kind := rapid.SampledFrom([]program.Kind{0, 0, 0, 0, program.DataflowBuffer, program.Scratchpad}).Draw(t, "kind")
		for range rapid.IntRange(1, 3).Draw(t, "CBs") {
			x0, y0 := rapid.Uint8Range(0, toySide-1).Draw(t, "x0"), rapid.Uint8Range(0, toySide-1).Draw(t, "y0")
			x1, y1 := rapid.Uint8Range(x0, toySide-1).Draw(t, "x1"), rapid.Uint8Range(y0, toySide-1).Draw(t, "y1")
			set, err := l1.NewCoreRangeSet(l1.CoreRange{Start: core(x0, y0), End: core(x1, y1)})
			require.NoError(t, err)
			c := program.CB{Kind: kind, Cores: set, Size: rapid.SampledFrom([]uint64{0, 1, 4, 8, 8}).Draw(t, "size")}
			c.Global = rapid.IntRange(0, 4).Draw(t, "global") == 4
			if rapid.Bool().Draw(t, "fixed") {
				c = at(rapid.SampledFrom([]uint64{0, 4, 8}).Draw(t, "address"), c)
			}
			b.CB(c)
		}
		p, err := b.Build(spec)
		require.NoError(t, err)
		known = append(known, p)
		return p
	}
	drawSet := func(t *rapid.T) ([]device.ID, device.Set) {
		on := rapid.SliceOfNDistinct(rapid.SampledFrom([]device.ID{0, 1, 2, 3}), 0, toyFleet, rapid.ID).Draw(t, "devices")
		return on, of(t, f, on...)
	}
	has := func(id program.ID, on []device.ID) bool {
		return !slices.ContainsFunc(on, func(d device.ID) bool { return live[id] == nil || !live[id].on[d] })
	}
	drop := func(id program.ID) {
		if live[id] != nil && len(live[id].on) == 0 {
			delete(live, id)
		}
	}
	latest := func(r *registered) *registered {
		for r.heir != nil {
			r = r.heir
		}
		return r
	}
	drawTrace := func(t *rapid.T) (device.TraceID, *trace) {
		all := append(slices.Sorted(maps.Keys(traces)), 0, 12345)
		id := rapid.SampledFrom(all).Draw(t, "trace")
		return id, traces[id]
	}

	t.Repeat(map[string]func(*rapid.T){
		"register": func(t *rapid.T) {
			p := drawProgram(t)
			on, s := drawSet(t)
			_, err := f.Register(p, s)
			if r := live[p.ID()]; len(on) > 0 && r != nil && !r.p.Equal(p) {
				require.ErrorIs(t, err, device.ErrConflict)
				return
			}
			require.NoError(t, err)
			for _, d := range on {
				if live[p.ID()] == nil {
					serial++
					live[p.ID()] = &registered{serial, p, map[device.ID]bool{}, nil}
				}
				live[p.ID()].on[d] = true
			}
		},
		"unregister": func(t *rapid.T) {
			p := drawProgram(t)
			on, s := drawSet(t)
			if err := f.Unregister(p.ID(), s); !has(p.ID(), on) {
				require.ErrorIs(t, err, device.ErrNotRegistered)
				return
			}
			for _, d := range on {
				delete(live[p.ID()].on, d)
				for _, tr := range traces {
					names := slices.ContainsFunc(tr.recorded, func(r *registered) bool { return latest(r) == live[p.ID()] })
					tr.broken = tr.broken || names && slices.Contains(tr.on, d)
				}
			}
			drop(p.ID())
		},
		"replace": func(t *rapid.T) {
			old, new := drawProgram(t), drawProgram(t)
			_, err := f.Replace(old.ID(), new)
			if live[old.ID()] == nil || old.ID() != new.ID() && live[new.ID()] != nil {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			r := live[old.ID()]
			delete(live, old.ID())
			serial++
			r.heir = &registered{serial, new, r.on, nil}
			live[new.ID()], r.on = r.heir, nil
		},
		"dispatch": func(t *rapid.T) {
			p := drawProgram(t)
			on, s := drawSet(t)
			if err := f.Dispatch(p.ID(), s); !has(p.ID(), on) {
				require.ErrorIs(t, err, device.ErrNotRegistered)
				return
			} else if require.NoError(t, err); len(on) > 0 {
				write(on, written(live[p.ID()].p))
			}
		},
		"evict": func(t *rapid.T) {
			p := drawProgram(t)
			on, s := drawSet(t)
			evicted, err := f.Evict(p.ID(), s)
			require.NoError(t, err)
			var want []device.ID
			for _, d := range on {
				n := len(model[d])
				maps.DeleteFunc(model[d], func(_ spot, l left) bool { return l.program == p.ID() })
				if len(model[d]) < n {
					want = append(want, d)
				}
			}
			slices.Sort(want)
			require.Equal(t, want, ids(evicted))
		},
		"begin": func(t *rapid.T) {
			on, s := drawSet(t)
			id, err := f.BeginTrace(s)
			require.NoError(t, err)
			require.NotContains(t, traces, id)
			traces[id] = &trace{on: on}
		},
		"record": func(t *rapid.T) {
			id, tr := drawTrace(t)
			p := drawProgram(t)
			err := f.Record(id, p.ID())
			switch {
			case tr == nil:
				require.ErrorIs(t, err, device.ErrNoTrace)
			case tr.ended:
				require.ErrorIs(t, err, device.ErrTraceEnded)
			case !has(p.ID(), tr.on):
				require.ErrorIs(t, err, device.ErrNotRegistered)
			default:
				require.NoError(t, err)
				if len(tr.on) > 0 {
					tr.recorded = append(tr.recorded, live[p.ID()])
				}
			}
		},
		"end": func(t *rapid.T) {
			id, tr := drawTrace(t)
			err := f.EndTrace(id)
			switch {
			case tr == nil:
				require.ErrorIs(t, err, device.ErrNoTrace)
			case tr.ended:
				require.ErrorIs(t, err, device.ErrTraceEnded)
			default:
				require.NoError(t, err)
				tr.ended = true
			}
		},
		"replay": func(t *rapid.T) {
			id, tr := drawTrace(t)
			err := f.Replay(id)
			if tr == nil {
				require.ErrorIs(t, err, device.ErrNoTrace)
				return
			}
			if !tr.ended {
				require.ErrorIs(t, err, device.ErrTraceOpen)
				return
			}
			peak := naive{}
			for _, r := range tr.recorded {
				for _, d := range tr.on {
					if tr.broken || !latest(r).on[d] {
						require.ErrorIs(t, err, device.ErrNotRegistered)
						return
					}
				}
				for on, l := range written(r.p) {
					if before, ok := peak[on]; !ok || before.bytes <= l.bytes {
						peak[on] = l
					}
				}
			}
			require.NoError(t, err)
			write(tr.on, peak)
		},
		"release": func(t *rapid.T) {
			id, tr := drawTrace(t)
			if err := f.ReleaseTrace(id); tr == nil {
				require.ErrorIs(t, err, device.ErrNoTrace)
				return
			} else {
				require.NoError(t, err)
			}
			delete(traces, id)
		},
		"reset peaks": func(t *rapid.T) {
			i := rapid.IntRange(0, 3).Draw(t, "device")
			devices[i].ResetPeaks()
			peak[i] = model[i].sum()
		},
		"": func(t *rapid.T) {
			for i, d := range devices {
				sum := model[i].sum()
				require.Equal(t, sum, d.Resident(), "device %d", i)
				require.Equal(t, sum, d.Totals().Resident)
				require.Equal(t, peak[i], d.Totals().Peak.Resident)
				for c := range toyCores {
					l, want := model[i][spot{program.CircularBuffer, c}]
					p, ranges, ok := d.ResidentOn(c)
					require.Equal(t, want, ok, "device %d, core %v", i, c)
					require.Equal(t, l.bytes, d.Core(c).Resident)
					if ok {
						n := uint64(0)
						for r := range ranges {
							n += r.Len()
						}
						require.Equal(t, l, left{p.ID(), n})
					}
				}
			}
			require.Equal(t, model[0].sum()+model[1].sum(), mesh.Resident())
			require.Equal(t, mesh.Resident(), mesh.Totals().Resident)
			require.Equal(t, meshPeak, mesh.Totals().Peak.Resident)
			intact(t, f)
		},
	})
}

func TestResidentLife(t *testing.T) { rapid.Check(t, residentLife) }
