package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// looked returns how many programs were looked at in searches of the content of a lone
// device.
func looked(f *Fleet) int { return now(f).live.looked }

// A history of changes on some classes, of so many programs each, looks at no more than
// this, whatever they are: each that comes or leaves hidden pays for some steps, each time that
// a class begins to hide it may owe a step for each of its programs, and then all are counted;
// it begins at most once in 4 changes for each of them.
func mostLooked(hidden, changes, classes, programs int) int {
	return classes * (worthCounting*hidden + changes + 5*programs)
}

// Programs that reach far on one core stand in the way of every search on the others.
func TestSearchingIsPaidFor(t *testing.T) {
	for _, test := range []struct {
		name    string
		live    int
		classes int
		build   func(i int) *program.Builder // the live ones
		large   l1.Range                     // comes and goes on all cores
	}{
		{"far on another core", 500, 2, func(i int) *program.Builder {
			low, far := uint64(64*i), uint64(900_000+64*i)
			return program.NewBuilder(program.ID(i)).
				Range(l1.Rect(0, 0, 6, 7), l1.Range{Start: low, End: low + 32}).
				Range(l1.Rect(7, 0, 7, 7), l1.Range{End: far})
		}, l1.Range{End: 1_000_000}},
		{"far on another core, nested on these", 500, 2, func(i int) *program.Builder {
			return program.NewBuilder(program.ID(i)).
				Range(l1.Rect(0, 0, 6, 7), l1.Range{End: uint64(64 * (i%8 + 1))}).
				Range(l1.Rect(7, 0, 7, 7), l1.Range{End: uint64(900_000 + 64*i)})
		}, l1.Range{End: 1_000_000}},
		{"far on another core, nested on these below a hidden one", 500, 2, func(i int) *program.Builder {
			here := l1.Range{End: uint64(64 * (i%8 + 1))}
			if i < 2 {
				here = l1.Range{Start: 1_000_000, End: 1_010_000}
			}
			return program.NewBuilder(program.ID(i)).
				Range(l1.Rect(0, 0, 6, 7), here).
				Range(l1.Rect(7, 0, 7, 7), l1.Range{End: uint64(900_000 + 64*i)})
		}, l1.Range{End: 1_000_000}},
		{"a gap for each", 500, 1, func(i int) *program.Builder {
			return program.NewBuilder(program.ID(i)).Range(l1.Rect(0, 0, 7, 7), l1.Range{Start: uint64(64 * i), End: uint64(64*i + 32)})
		}, l1.Range{End: 1_000_000}},
		{"all alike", 500, 1, func(i int) *program.Builder {
			return program.NewBuilder(program.ID(i)).Range(l1.Rect(0, 0, 7, 7), l1.Range{End: uint64(64 * (i + 1))})
		}, l1.Range{End: 1_000_000}},
		{"few programs", 3, 2, func(i int) *program.Builder {
			return program.NewBuilder(program.ID(i)).
				Range(l1.Rect(0, 0, 6, 7), l1.Range{Start: uint64(64 * i), End: uint64(64*i + 32)}).
				Range(l1.Rect(7, 0, 7, 7), l1.Range{End: uint64(900_000 + 64*i)})
		}, l1.Range{End: 1_000_000}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, m, _ := fleetOf(t, 1, 1)
			large, err := program.NewBuilder(1000).Range(l1.Rect(0, 0, 7, 7), test.large).Build(l1.N150())
			require.NoError(t, err)
			changes := 0
			for i := range test.live {
				p, err := test.build(i).Build(l1.N150())
				require.NoError(t, err)
				mustRegister(t, f, p, m.Set())
				changes++
			}
			for range 5000 {
				mustRegister(t, f, large, m.Set())
				f.UnregisterAll(large.ID())
				changes += 2
				require.LessOrEqual(t, looked(f), mostLooked(test.live, changes, test.classes, test.live+1))
			}
			require.NoError(t, f.CheckInvariants())
		})
	}
}

// farElsewhere registers n programs that lie in each other on seven columns, and reach far on the
// last one.
func farElsewhere(t *testing.T, f *Fleet, s Set, n int) {
	for i := range n {
		p, err := program.NewBuilder(program.ID(i)).
			Range(l1.Rect(0, 0, 6, 7), l1.Range{End: uint64(64 * (n - i))}).
			Range(l1.Rect(7, 0, 7, 7), l1.Range{End: uint64(900_000 + 64*i)}).Build(l1.N150())
		require.NoError(t, err)
		mustRegister(t, f, p, s)
	}
}

// Where no hidden program of the class reaches, none is looked for, however far they reach
// elsewhere. One that reaches farther is found.
func TestNobodyIsLookedForInVain(t *testing.T) {
	const n, here = 100, "{[0-0 - 6-7]}"
	f, m, _ := fleetOf(t, 1, 1)
	farElsewhere(t, f, m.Set(), n)
	pair := func(inside ...uint64) int {
		mustRegister(t, f, programOn(t, 1000, here, 0, 1_000_000), m.Set())
		for i, end := range inside {
			mustRegister(t, f, programOn(t, program.ID(1001+i), here, 0, end), m.Set())
		}
		before := looked(f)
		f.UnregisterAll(1000)
		for i := range inside {
			f.UnregisterAll(program.ID(1001 + i))
		}
		require.NoError(t, f.CheckInvariants())
		return looked(f) - before
	}
	for range 10 * n {
		require.Zero(t, pair())
	}
	require.Zero(t, pair(32*n))
	require.False(t, now(f).occupied.on(l1.Core{}).plain)
	require.NotZero(t, pair(64*n+32)) // it closes a part of the gap
}

// A class that begins to hide in vain waits twice as long each time, up to a bound: a large
// program that comes and goes above others leaves a gap that none of them closes, and those that
// reach far elsewhere are looked at in vain, since a hidden one lies beyond the gap. Each time all
// programs are looked at three times: to try, until too much is owed, and to count them.
func TestTryingInVainGetsRarer(t *testing.T) {
	const n, rounds, here = 100, 10_000, "{[0-0 - 6-7]}"
	f, m, _ := fleetOf(t, 1, 1)
	farElsewhere(t, f, m.Set(), n)
	for i := range 2 {
		mustRegister(t, f, programOn(t, program.ID(n+i), here, 1_000_000, 64), m.Set())
	}
	pair := func(size uint64) *class {
		mustRegister(t, f, programOn(t, 1000, here, 0, size), m.Set())
		f.UnregisterAll(1000)
		return now(f).occupied.on(l1.Core{})
	}
	before := looked(f)
	for i := range rounds {
		pair(1_000_000)
		tries := 2 + mostVain + 2*(i+1)/(worthTrying<<mostVain*n)
		require.LessOrEqual(t, looked(f)-before, 3*(n+4)*tries)
	}
	require.Greater(t, looked(f)-before, 3*n*mostVain) // it does not stop to try
	// Where hiding pays, the next wait is short again.
	for pair(64).plain {
	}
	for range n {
		require.False(t, pair(64).plain)
	}
	for !pair(1_000_000).plain {
	}
	require.Zero(t, pair(64).vain)
	require.NoError(t, f.CheckInvariants())
}

// A class of few programs looks at few, however many there are on other cores that reach
// farther.
func TestSearchingStaysOnTheClass(t *testing.T) {
	const others, here, rounds = 600, 40, 100
	f, m, _ := fleetOf(t, 1, 1)
	for i := range others {
		mustRegister(t, f, programOn(t, program.ID(i), "{[1-0 - 7-7]}", 0, uint64(800_000+64*i)), m.Set())
	}
	for i := range here {
		mustRegister(t, f, programOn(t, program.ID(others+i), "{[0-0 - 0-0]}", uint64(128*i), 64), m.Set())
	}
	for range rounds { // covers those here, as few as they are, and leaves a gap for each
		mustRegister(t, f, programOn(t, 9999, "{[0-0 - 0-0]}", 0, 600_000), m.Set())
		for range 150 { // hiding pays, so that it is tried soon again
			mustRegister(t, f, programOn(t, 9998, "{[0-0 - 0-0]}", 0, 64), m.Set())
			f.UnregisterAll(9998)
		}
		f.UnregisterAll(9999)
	}
	ordered := others + here + 2
	require.LessOrEqual(t, looked(f), ordered+mostLooked(here, 302*rounds, 1, here+2))
	require.NoError(t, f.CheckInvariants())
}

// As many programs as there may be, each below the one before: what leaves uncovers the
// next, and it is found at once: they are put in order once, one step finds it, and two see that
// there is no other. There is no number of live programs from which on everything is counted.
func TestManyAreHidden(t *testing.T) {
	const n = 4000
	f, m, _ := fleetOf(t, 1, 1)
	for i := range n {
		mustRegister(t, f, programOn(t, program.ID(i), "{[0-0 - 7-7]}", 0, uint64(64*(n-i))), m.Set())
	}
	c := now(f).occupied.classes[0].class
	require.Len(t, c.counted, 1)
	for i := range n / 8 {
		f.UnregisterAll(program.ID(i))
		require.Len(t, c.counted, 1)
		require.Equal(t, uint64(64*64*(n-1-i)), m.Registered())
	}
	require.LessOrEqual(t, looked(f), n+3*n/8)
	require.NoError(t, f.CheckInvariants())
}

// A class that counts all begins to hide again when few cover the others.
func TestPlainClassTriesAnew(t *testing.T) {
	const n = 100
	f, m, _ := fleetOf(t, 1, 1)
	grid := "{[0-0 - 7-7]}"
	for i := range n { // side by side: too many to be named
		mustRegister(t, f, programOn(t, program.ID(i), grid, uint64(128*i), 64), m.Set())
	}
	class := func() *class { return now(f).occupied.classes[0].class }
	require.True(t, class().plain)
	mustRegister(t, f, programOn(t, 1000, grid, 0, 128*n), m.Set()) // covers them
	require.True(t, class().plain)
	for i := 0; class().plain; i++ {
		require.Less(t, i, worthTrying*(n+2))
		mustRegister(t, f, programOn(t, 1001, grid, 0, 64), m.Set())
		f.UnregisterAll(1001)
	}
	require.Len(t, class().counted, 1)
	require.EqualValues(t, 64*128*n, m.Registered())
	require.NoError(t, f.CheckInvariants())
	f.UnregisterAll(1000) // and all are counted again
	require.EqualValues(t, 64*64*n, m.Registered())
	require.True(t, class().plain)
	require.NoError(t, f.CheckInvariants())
}
