package device

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Sharing is invisible from outside, except by its costs. Here it is counted.

// counts says how much is kept for the sake of sharing.
type counts struct {
	states   int
	contents int // that states have
	numbers  int // of the roster that are taken, one for each program
}

func count(f *Fleet) counts {
	n := counts{states: f.states.Len()}
	for i, r := range f.roster.Of {
		if r != nil && r.Number == i {
			n.numbers++
		}
	}
	for s := range f.states.All() {
		if s.Content != nil {
			n.contents++
		}
	}
	return n
}

// used returns how many states devices are in.
func used(f *Fleet) (n int) {
	for s := range f.states.All() {
		if s.Users > 0 {
			n++
		}
	}
	return n
}

// now returns what the first device holds.
func now(f *Fleet) *classes.Content {
	v := f.at(0).state.contentView()
	return v.open(&f.roster)
}

// fleetOf returns a fleet of one mesh, and the Set of each device.
func fleetOf(t require.TestingT, rows, cols int) (f *Fleet, m Mesh, each []Set) {
	f = NewFleet()
	m, err := f.AddMesh(0, rows, cols, l1.N150())
	require.NoError(t, err)
	for d := range m.All() {
		each = append(each, d.Set())
	}
	return f, m, each
}

// programOn places one range on a rectangle of cores of an N150.
func programOn(t require.TestingT, id program.ID, rectangle string, addr, size uint64) *program.Program {
	p, err := program.NewBuilder(id).Range(l1.MustParseCoreRangeSet(rectangle), l1.Range{Start: addr, End: addr + size}).Build(l1.N150())
	require.NoError(t, err)
	return p
}

func mustRegister(t require.TestingT, f *Fleet, p *program.Program, s Set) {
	_, err := f.Register(p, s)
	require.NoError(t, err)
}

// requireEmpty requires that nothing is left of the programs that were there but
// high-water marks.
func requireEmpty(t require.TestingT, f *Fleet) {
	require.NoError(t, f.CheckInvariants())
	require.Equal(t, classes.Roster{}, f.roster)
	require.Zero(t, f.charge)
	require.Nil(t, f.programs)
	require.Zero(t, f.lastRegistered)
	if f.live.Empty() {
		require.Zero(t, f.states.Len())
		return
	}
	require.Equal(t, counts{states: 1, contents: 1}, count(f))
	l := f.empty().Content
	require.Nil(t, l.Occupied.Classes)
	require.Nil(t, l.Reserved)
}

// A program that reaches 32 devices by 32 calls leaves nothing behind but one state.
func TestProgramByProgramDeviceByDevice(t *testing.T) {
	f, _, each := fleetOf(t, 4, 8)
	var programs []*program.Program
	one := func(n int) counts { return counts{states: 1, contents: 1, numbers: n} }
	for i := range 20 {
		p := programOn(t, program.ID(i), []string{"{[0-0 - 7-7]}", "{[1-0 - 4-3]}", "{[0-5 - 6-6]}"}[i%3], uint64(4096*i), 8192)
		programs = append(programs, p)
		for d, s := range each {
			mustRegister(t, f, p, s)
			if d > 0 && d < 31 { // one is ahead, the others follow or wait
				require.Equal(t, counts{states: 2, contents: 1, numbers: i + 1}, count(f))
			}
		}
		require.Equal(t, one(i+1), count(f))
	}
	for i, p := range programs {
		for _, s := range each {
			require.NoError(t, f.Unregister(p.ID(), s))
		}
		require.Equal(t, one(19-i), count(f))
	}
	requireEmpty(t, f)
}

// The first device does the work for all of its programs. The others follow: no content
// is made, changed or passed on until the last one comes, and on the way few are kept.
func TestDeviceByDeviceProgramByProgram(t *testing.T) {
	const n = 500
	f, _, each := fleetOf(t, 4, 8)
	var programs []*program.Program
	for i := range n {
		programs = append(programs, programOn(t, program.ID(i), []string{"{[0-0 - 7-7]}", "{[1-0 - 4-3]}"}[i%2], uint64(64*i), 8192))
	}
	contents := func() map[*state]*classes.Content {
		out := map[*state]*classes.Content{}
		for s := range f.states.All() {
			if s.Content != nil {
				out[s] = s.Content
			}
		}
		return out
	}
	for round, do := range []func(p *program.Program, s Set){
		func(p *program.Program, s Set) { mustRegister(t, f, p, s) },
		func(p *program.Program, s Set) { require.NoError(t, f.Unregister(p.ID(), s)) },
	} {
		var ahead map[*state]*classes.Content
		for d, s := range each {
			for _, p := range programs {
				do(p, s)
			}
			switch {
			case d == 0: // round 0 keeps copies at 64, 128 and 255 programs, round 1 at 333, 222, 148, 84 and 20
				ahead = contents()
				require.Equal(t, counts{states: n + 1, contents: 4 + 2*round, numbers: n}, count(f))
			case d < 31:
				require.True(t, maps.Equal(ahead, contents()), "round %d, device %d", round, d)
			}
		}
		if round == 0 {
			require.Equal(t, counts{states: 1, contents: 1, numbers: n}, count(f))
		}
	}
	requireEmpty(t, f)
}

// A device behind others is worked out once, at the first query. Its content moves on with it.
func TestBehindIsWorkedOutOnce(t *testing.T) {
	const n = 200
	f, m, each := fleetOf(t, 1, 3)
	var devices []Device
	for d := range m.All() {
		devices = append(devices, d)
	}
	var programs []*program.Program
	for i := range n {
		programs = append(programs, programOn(t, program.ID(i), []string{"{[0-0 - 7-7]}", "{[1-0 - 4-3]}"}[i%2], uint64(64*i), 64))
		mustRegister(t, f, programs[i], each[0])
	}
	for i := range 100 {
		mustRegister(t, f, programs[i], each[1])
	}
	kept := count(f).contents
	core := l1.Core{X: 1, Y: 1}
	for i := 100; i < 120; i++ {
		require.EqualValues(t, 64*i, devices[1].Core(core).Registered)
		require.Equal(t, kept+1, count(f).contents, "%d", i)
		require.Zero(t, testing.AllocsPerRun(5, func() { devices[1].Core(core) }))
		mustRegister(t, f, programs[i], each[1])
	}
	require.EqualValues(t, 0, devices[2].Core(core).Registered)
	require.EqualValues(t, 64*n, devices[0].Core(core).Registered)
	require.NoError(t, f.CheckInvariants())
	mustRegister(t, f, programOn(t, n, "{[0-0 - 7-7]}", 64*n, 64), each[1]) // a way of its own
	require.Equal(t, kept+1, count(f).contents)
	require.EqualValues(t, 64*121, devices[1].Core(core).Registered)
	require.NoError(t, f.CheckInvariants())
	for p := range f.Programs() {
		f.UnregisterAll(p.ID())
	}
	requireEmpty(t, f)
}

// Devices that part in four directions and meet again, program by program, are in one state again.
func TestPartAndMeetAgain(t *testing.T) {
	f, m, each := fleetOf(t, 4, 8)
	common := programOn(t, 1, "{[0-0 - 7-7]}", 0, 4096)
	mustRegister(t, f, common, m.Set())
	for round := range 3 {
		own := func(d int) *program.Program {
			return programOn(t, program.ID(10+d%4), "{[0-0 - 3-3]}", uint64(100_000*(1+d%4)), 4096)
		}
		for d, s := range each {
			mustRegister(t, f, own(d), s)
		}
		now := count(f)
		require.Equal(t, counts{states: 5, contents: 1, numbers: 5}, now, "round %d", round)
		for d, s := range each {
			require.NoError(t, f.Unregister(own(d).ID(), s))
		}
		// The last one left a way, in case that others follow.
		require.Equal(t, counts{states: 2, contents: 2, numbers: 2}, count(f), "round %d", round)
		require.NoError(t, f.CheckInvariants())
	}
	f.UnregisterAll(common.ID())
	requireEmpty(t, f)
}

// Devices that were never equal in their high-water marks may share one state, and keep their
// marks.
func TestMarksOfTheirOwn(t *testing.T) {
	f, m, each := fleetOf(t, 5, 8)
	for d, s := range each {
		own := programOn(t, 1, "{[0-0 - 7-7]}", 0, 64*uint64(1+d))
		mustRegister(t, f, own, s)
		require.NoError(t, f.Unregister(1, s))
	}
	for _, s := range each {
		for i := range program.ID(20) {
			mustRegister(t, f, programOn(t, 2+i, "{[0-0 - 7-7]}", uint64(64*i), 64), s)
		}
	}
	require.NoError(t, f.CheckInvariants())
	require.Equal(t, counts{states: 1, contents: 1, numbers: 20}, count(f))
	for d := range m.All() {
		require.EqualValues(t, 64*64*max(20, 1+uint64(d.ID())), d.Totals().Peak.Registered)
		require.EqualValues(t, 64*max(20, 1+uint64(d.ID())), d.Core(l1.Core{X: 7, Y: 7}).Peak)
		d.ResetPeaks()
		require.EqualValues(t, 64*64*20, d.Totals().Peak.Registered)
		require.EqualValues(t, 64*20, d.Core(l1.Core{X: 7, Y: 7}).Peak)
	}
	require.NoError(t, f.CheckInvariants())
	for p := range f.Programs() {
		f.UnregisterAll(p.ID())
	}
	requireEmpty(t, f)
}

// Each device is served and emptied before the next one: they only have equal high-water marks in
// common.
func TestOneAfterTheOther(t *testing.T) {
	f, _, each := fleetOf(t, 4, 8)
	p := programOn(t, 1, "{[0-0 - 7-7]}", 0, 4096)
	for _, s := range each {
		mustRegister(t, f, p, s)
		require.NoError(t, f.Unregister(p.ID(), s))
		requireEmpty(t, f)
	}
	// They share the high-water marks of their cores.
	require.Len(t, slices.CompactFunc(slices.Clone(f.slots), func(a, b *chip) bool { return f.at(a.slot).cores == f.at(b.slot).cores }), 1)
}

// Cores that programs have divided are one class again when the programs have left.
func TestClassesComeBackToOne(t *testing.T) {
	f, m, _ := fleetOf(t, 1, 1)
	mustRegister(t, f, programOn(t, 1, "{[0-0 - 7-7]}", 0, 4096), m.Set())
	rnd := rand.New(rand.NewPCG(1, 2))
	classes := func() int { return len(now(f).Occupied.Classes) }
	var cutters []*program.Program
	for core := range l1.N150().Grid().Cores().All() {
		p := programOn(t, program.ID(100+len(cutters)), "{["+core.String()+" - "+core.String()+"]}", 8192, 64)
		mustRegister(t, f, p, m.Set())
		cutters = append(cutters, p)
	}
	require.Equal(t, 64, classes())
	rnd.Shuffle(len(cutters), func(i, k int) { cutters[i], cutters[k] = cutters[k], cutters[i] })
	for _, p := range cutters {
		f.UnregisterAll(p.ID())
	}
	// A sweep comes at the latest after as many departures as there are classes.
	for left := classes(); left > 0 && classes() > 1; left-- {
		p := programOn(t, 99, "{[0-0 - 7-7]}", 8192, 64)
		mustRegister(t, f, p, m.Set())
		f.UnregisterAll(p.ID())
	}
	require.Equal(t, 1, classes())
}

// Two devices take turns for ever, others stay behind. Neither steps nor numbers
// nor states pile up, be it one program or new ones all the time.
func TestAlternation(t *testing.T) {
	stay := programOn(t, 1, "{[0-0 - 7-7]}", 0, 4096)
	for _, test := range []struct {
		name string
		id   func(i int) program.ID
		most counts // on the way
	}{
		{"one program", func(int) program.ID { return 2 }, counts{states: 2, contents: 1, numbers: 2}},
		{"ever new programs", func(i int) program.ID { return program.ID(2 + i) }, counts{states: 2, contents: 1, numbers: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, m, each := fleetOf(t, 1, 3)
			mustRegister(t, f, stay, m.Set())
			for i := range 10_000 {
				p := programOn(t, test.id(i), "{[0-0 - 7-7]}", 0, 8192)
				mustRegister(t, f, p, each[i%2])
				within(t, count(f), test.most)
				require.NoError(t, f.Unregister(p.ID(), each[i%2]))
				within(t, count(f), test.most)
			}
			require.NoError(t, f.CheckInvariants())
			f.UnregisterAll(stay.ID())
			requireEmpty(t, f)
		})
	}
	t.Run("overlapping", func(t *testing.T) { // the next one comes before the last one leaves
		f, m, each := fleetOf(t, 1, 3)
		mustRegister(t, f, stay, m.Set())
		most := counts{states: 656, contents: 13, numbers: 512}
		for i := range 10_000 {
			mustRegister(t, f, programOn(t, program.ID(2+i), "{[0-0 - 7-7]}", 0, 2048), each[i%2])
			if i >= 2 {
				require.NoError(t, f.Unregister(programOn(t, program.ID(i), "{[0-0 - 7-7]}", 0, 2048).ID(), each[i%2]))
			}
			within(t, count(f), most)
		}
		require.NoError(t, f.CheckInvariants())
		for p := range f.Programs() {
			f.UnregisterAll(p.ID())
		}
		requireEmpty(t, f)
	})
}

func within(t *testing.T, have, most counts) {
	t.Helper()
	if have.states > most.states || have.contents > most.contents || have.numbers > most.numbers {
		require.Failf(t, "too much is kept", "%+v, at most %+v", have, most)
	}
}

// However devices part, meet, come and go: memory is bounded on the way, and none is left when the
// programs have left.
func TestNothingIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { nothingIsLeft(t, func(*Fleet) {}) })
}

func nothingIsLeft(t *rapid.T, prepare func(*Fleet)) {
	const devices = 6
	f := NewFleet()
	prepare(f)
	spec := l1.N150()
	for id := range ID(devices) {
		_, err := f.AddDevice(id, spec)
		require.NoError(t, err)
	}
	var programs []*program.Program
	for id := range program.ID(8) {
		b := program.NewBuilder(id)
		for range rapid.IntRange(1, 3).Draw(t, "ranges") {
			on := rapid.SampledFrom([]string{"{[0-0 - 7-7]}", "{[0-0 - 3-3]}", "{[2-2 - 7-5]}", "{[5-0 - 5-0]}"}).Draw(t, "on")
			addr := rapid.SampledFrom([]uint64{0, 0, 64, 640}).Draw(t, "addr")
			b.Range(l1.MustParseCoreRangeSet(on), l1.Range{Start: addr, End: addr + uint64(rapid.IntRange(1, 20).Draw(t, "size"))*64})
		}
		if id%4 == 3 { // one that reserves more than it occupies
			b.CB(program.CB{Cores: spec.Grid(), Size: 64, Global: true}).CB(program.CB{Cores: l1.MustParseCoreRangeSet("{[1-1 - 1-1]}"), Size: 64})
		}
		p, err := b.Build(spec)
		require.NoError(t, err)
		programs = append(programs, p)
	}
	some := func(t *rapid.T) Set {
		var on []ID
		for d := range f.Devices() {
			if rapid.IntRange(0, 2).Draw(t, "in") == 0 {
				on = append(on, d.ID())
			}
		}
		s, err := f.Of(on...)
		require.NoError(t, err)
		return s
	}
	one := func(t *rapid.T) *program.Program { return rapid.SampledFrom(programs).Draw(t, "program") }
	t.Repeat(map[string]func(*rapid.T){
		"register": func(t *rapid.T) { mustRegister(t, f, one(t), some(t)) },
		"go ahead": func(t *rapid.T) {
			s := some(t)
			for _, p := range programs {
				mustRegister(t, f, p, s)
			}
		},
		"unregister": func(t *rapid.T) { _ = f.Unregister(one(t).ID(), some(t)) },
		"take off": func(t *rapid.T) {
			p, s := one(t), some(t)
			for id := range s.All() {
				d, err := f.Of(id)
				require.NoError(t, err)
				_ = f.Unregister(p.ID(), d)
			}
		},
		"unregister all": func(t *rapid.T) { f.UnregisterAll(one(t).ID()) },
		"remove": func(t *rapid.T) {
			s := some(t)
			require.NoError(t, f.Remove(s))
			for id := range s.All() {
				_, err := f.AddDevice(id, spec)
				require.NoError(t, err)
			}
		},
		"": func(t *rapid.T) {
			require.NoError(t, f.CheckInvariants())
			now := count(f)
			require.LessOrEqual(t, now.contents, now.states)
			require.LessOrEqual(t, now.numbers, len(f.programs)+2*now.states) // a state leans by one step, which names two programs at most
			if len(f.programs) == 0 {
				requireEmpty(t, f)
			}
		},
	})
	if rapid.Bool().Draw(t, "remove") {
		require.NoError(t, f.Remove(f.Set()))
	} else {
		for _, p := range rapid.Permutation(slices.Clone(programs)).Draw(t, "order") {
			f.UnregisterAll(p.ID())
		}
	}
	requireEmpty(t, f)
}
