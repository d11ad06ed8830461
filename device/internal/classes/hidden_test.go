package classes

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A board is one content, and the programs on it.
type board struct {
	t       require.TestingT
	roster  Roster
	numbers lookup.Numbers
	held    *Content
	on      map[program.ID]*Holder
}

func newBoard(t require.TestingT) *board {
	b := &board{t: t, on: map[program.ID]*Holder{}}
	b.held = NewContent(&b.roster)
	b.held.Rename(b.numbers.Next())
	return b
}

func (b *board) register(p *program.Program) {
	h := NewHolder(p, b.numbers.Next(), p.Occupied(program.CircularBuffer).Logical())
	b.roster.Enter(&h, &b.numbers.Hashes)
	b.held.Change(nil, &h)
	b.on[p.ID()] = &h
}

func (b *board) unregister(id program.ID) {
	b.held.Change(b.on[id], nil)
	b.roster.Retire(b.on[id])
	delete(b.on, id)
}

// place registers a program that takes one range on a rectangle of cores of an N150.
func (b *board) place(id program.ID, rectangle string, addr, size uint64) {
	p, err := program.NewBuilder(id).Range(l1.MustParseCoreRangeSet(rectangle), l1.Range{Start: addr, End: addr + size}).Build(l1.N150())
	require.NoError(b.t, err)
	b.register(p)
}

// first returns the class of the first core.
func (b *board) first() *Class { return b.held.Occupied.On(l1.Core{}) }

// check compares the board with a count core by core: also while the programs leave, since a range
// that was counted twice, or not at all, may show when others are gone.
func (b *board) check() {
	b.compare()
	for _, id := range slices.Sorted(maps.Keys(b.on)) {
		b.unregister(id)
		if n := len(b.on); n&(n-1) == 0 { // 0, 1, 2, 4, 8 ...
			b.compare()
		}
	}
	require.Empty(b.t, b.held.Occupied.Classes)
}

// compare compares what the board holds now.
func (b *board) compare() {
	want := Figures{Programs: len(b.on)}
	occupied, reserved := map[l1.Core][]l1.Range{}, map[l1.Core][]l1.Range{}
	for _, h := range b.on {
		want.Logical += h.Program.Occupied(program.CircularBuffer).Logical()
		paint(occupied, h.Program.Occupied(program.CircularBuffer))
		paint(reserved, h.Program.Reserved(program.CircularBuffer))
	}
	for core, ranges := range occupied {
		merged := l1.Merge(ranges)
		c := b.held.Occupied.On(core)
		require.NotNil(b.t, c)
		require.Equal(b.t, merged, slices.Collect(c.Covered.Regions()))
		want.Registered += bytesOf(merged)
		want.Core = max(want.Core, bytesOf(merged))
	}
	for _, ranges := range reserved {
		want.Reserved += bytesOf(l1.Merge(ranges))
	}
	require.Equal(b.t, want, b.held.Totals())
}

// paint adds the ranges of a footprint on each of its cores.
func paint(on map[l1.Core][]l1.Range, f program.Footprint) {
	for g := range f.Groups() {
		for core := range g.Cores().All() {
			on[core] = slices.AppendSeq(on[core], g.Ranges())
		}
	}
}

func bytesOf(ranges []l1.Range) (sum uint64) {
	for _, r := range ranges {
		sum += r.Len()
	}
	return sum
}

// A history of changes on some classes, of so many programs each, visits no more programs than
// this: each search has a budget, the order is made now and then, and a class counts all once.
func mostLooked(changes, classes, programs int) int {
	return classes * (mostSearched*changes + 3*programs)
}

// Programs that reach far on one core stand in the way of every search on the others.
func TestSearchesHaveABudget(t *testing.T) {
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
			b := newBoard(t)
			large, err := program.NewBuilder(1000).Range(l1.Rect(0, 0, 7, 7), test.large).Build(l1.N150())
			require.NoError(t, err)
			changes := 0
			for i := range test.live {
				p, err := test.build(i).Build(l1.N150())
				require.NoError(t, err)
				b.register(p)
				changes++
			}
			for range 5000 {
				b.register(large)
				b.unregister(large.ID())
				changes += 2
				require.LessOrEqual(t, b.held.Live.looked, mostLooked(changes, test.classes, test.live+1))
			}
			b.check()
		})
	}
}

// farElsewhere registers n programs that lie in each other on seven columns, and reach far on the
// last one.
func (b *board) farElsewhere(n int) {
	for i := range n {
		p, err := program.NewBuilder(program.ID(i)).
			Range(l1.Rect(0, 0, 6, 7), l1.Range{End: uint64(64 * (n - i))}).
			Range(l1.Rect(7, 0, 7, 7), l1.Range{End: uint64(900_000 + 64*i)}).Build(l1.N150())
		require.NoError(b.t, err)
		b.register(p)
	}
}

// Where no hidden program of the class reaches, none is looked for, however far they reach
// elsewhere. One that reaches farther is found.
func TestNoSearchIsInVain(t *testing.T) {
	const n, here = 100, "{[0-0 - 6-7]}"
	b := newBoard(t)
	b.farElsewhere(n)
	pair := func(inside ...uint64) int {
		b.place(1000, here, 0, 1_000_000)
		for i, end := range inside {
			b.place(program.ID(1001+i), here, 0, end)
		}
		before := b.held.Live.looked
		b.unregister(1000)
		for i := range inside {
			b.unregister(program.ID(1001 + i))
		}
		return b.held.Live.looked - before
	}
	for range 10 * n {
		require.Zero(t, pair())
	}
	require.Zero(t, pair(32*n))
	require.False(t, b.first().plain)
	require.NotZero(t, pair(64*n+32)) // it closes a part of the gap
	b.check()
}

// A search that spends its budget is the last one of its class: a large program leaves a gap that
// no other closes, and programs that reach far on other cores are visited in vain, since a
// hidden one lies beyond the gap.
func TestPlainStaysPlain(t *testing.T) {
	const n, here = 2 * mostSearched, "{[0-0 - 6-7]}"
	b := newBoard(t)
	b.farElsewhere(n)
	for i := range 2 {
		b.place(program.ID(n+i), here, 1_000_000, 64)
	}
	b.place(100_000, here, 0, 1_000_000)
	require.False(t, b.first().plain)
	before := b.held.Live.looked
	b.unregister(100_000)
	require.True(t, b.first().plain)
	require.LessOrEqual(t, b.held.Live.looked-before, mostSearched+2*(n+3))
	before = b.held.Live.looked
	for range 100 {
		b.place(100_000, here, 0, 1_000_000)
		b.unregister(100_000)
	}
	require.Equal(t, before, b.held.Live.looked)
	b.check()
}

// A class that counts all hides again when it is joined with one that hides.
func TestPlainClassIsJoined(t *testing.T) {
	const n = 2 * mostSearched
	b := newBoard(t)
	b.farElsewhere(n)
	for i := range 2 {
		b.place(program.ID(n+i), "{[0-0 - 6-7]}", 1_000_000, 64)
	}
	b.place(100_000, "{[0-0 - 0-7]}", 0, 1_000_000) // divides column 0 from the others
	b.unregister(100_000)
	require.True(t, b.first().plain)
	for i := 0; len(b.held.Occupied.Classes) > 2; i++ { // until classes are joined
		require.Less(t, i, 3)
		b.place(100_001, "{[0-0 - 6-7]}", 0, 64)
		b.unregister(100_001)
	}
	require.False(t, b.first().plain)
	b.check()
}

// A class hides few programs with another range on each core: a call in which many classes give up would be long.
func TestFewOwnAreHidden(t *testing.T) {
	b := newBoard(t)
	own := func(id program.ID, end uint64) {
		p := program.NewBuilder(id)
		for i := range 64 {
			p.Range(l1.Rect(uint8(i/8), uint8(i%8), uint8(i/8), uint8(i%8)), l1.Range{End: end + 32*uint64(i)})
		}
		built, err := p.Build(l1.N150())
		require.NoError(t, err)
		b.register(built)
	}
	for i := range mostOwn + 1 { // the first one is counted
		own(program.ID(i), uint64(64*(mostOwn+1-i)))
	}
	b.unregister(9)
	own(10_000, 64) // in the place of a hidden one
	b.unregister(0)
	own(10_001, 64)                              // in the place of one that is counted now
	b.place(10_002, "{[0-0 - 6-7]}", 0, 64)      // has one group
	b.place(10_003, "{[0-0 - 6-7]}", 800_000, 9) // is not hidden
	require.False(t, b.first().plain)
	own(10_004, 64)
	require.True(t, b.first().plain)
	b.check()
}

// A class with as many gaps as it may name programs counts all of them.
func TestManySideBySideAreCounted(t *testing.T) {
	b := newBoard(t)
	for i := range mostCounted {
		b.place(program.ID(i), "{[0-0 - 7-7]}", uint64(128*i), 64)
	}
	require.False(t, b.first().plain)
	b.place(mostCounted, "{[0-0 - 7-7]}", 128*mostCounted, 64)
	require.True(t, b.first().plain)
	require.EqualValues(t, 64*64*(mostCounted+1), b.held.Totals().Registered)
	b.check()
}

// A search in a class of few programs visits few, however many there are on other cores that
// reach farther.
func TestSearchingStaysOnTheClass(t *testing.T) {
	const others, here, rounds = 600, 40, 100
	b := newBoard(t)
	for i := range others {
		b.place(program.ID(i), "{[1-0 - 7-7]}", 0, uint64(800_000+64*i))
	}
	for i := range here {
		b.place(program.ID(others+i), "{[0-0 - 0-0]}", uint64(128*i), 64)
	}
	for range rounds { // covers those here, as few as they are, and leaves a gap for each
		b.place(9999, "{[0-0 - 0-0]}", 0, 600_000)
		for range 150 {
			b.place(9998, "{[0-0 - 0-0]}", 0, 64)
			b.unregister(9998)
		}
		b.unregister(9999)
	}
	ordered := others + here + 2
	require.LessOrEqual(t, b.held.Live.looked, ordered+here+mostSearched)
	b.check()
}

// As many programs as there may be, each below the one before: what leaves uncovers the
// next, and it is found at once: they are put in order once, one step finds it, and two see that
// there is no other. There is no number of live programs from which on everything is counted.
func TestManyAreHidden(t *testing.T) {
	const n = 4000
	b := newBoard(t)
	for i := range n {
		b.place(program.ID(i), "{[0-0 - 7-7]}", 0, uint64(64*(n-i)))
	}
	c := b.first()
	require.Len(t, c.counted, 1)
	for i := range n / 8 {
		b.unregister(program.ID(i))
		require.Len(t, c.counted, 1)
		require.Equal(t, uint64(64*64*(n-1-i)), b.held.Totals().Registered)
	}
	require.LessOrEqual(t, b.held.Live.looked, n+3*n/8)
	b.check()
}

// Programs on one core and on all, so that the class of the one is rare now and then: it counts
// all then.
func TestRareClassesCountAll(t *testing.T) {
	const cores = 8
	rapid.Check(t, func(t *rapid.T) {
		spec := l1.Spec{Cols: cores, Rows: 1, L1Size: 1 << 20, CBBase: 0, CBAlign: 16, L1Align: 16, CBIndices: 32}
		b := newBoard(t)
		held := map[program.ID]func(x int) (bytes int){}
		turn := func(id program.ID, on, units int) {
			if held[id] != nil {
				b.unregister(id)
				delete(held, id)
				return
			}
			place, from, to := l1.Rect(0, 0, cores-1, 0), 0, cores
			if on < cores {
				place, from, to = l1.Rect(uint8(on), 0, uint8(on), 0), on, on+1
			}
			p, err := program.NewBuilder(id).Range(place, l1.Range{End: uint64(16 * units)}).Build(spec)
			require.NoError(t, err)
			b.register(p)
			held[id] = func(x int) int {
				if x < from || x >= to {
					return 0
				}
				return 16 * units
			}
		}
		for range rapid.IntRange(40, 150).Draw(t, "steps") {
			id := rapid.IntRange(0, 11).Draw(t, "program")
			if rapid.IntRange(0, 19).Draw(t, "others") == 0 {
				for i := range 120 {
					turn(program.ID(1000+i), 1+i%(cores-1), 1+i)
				}
			}
			turn(program.ID(id), []int{0, 0, 0, cores}[id%4], 1+id)
			var sum int
			for x := range cores {
				most := 0
				for _, bytes := range held {
					most = max(most, bytes(x))
				}
				sum += most
			}
			require.EqualValues(t, sum, b.held.Totals().Registered)
		}
		b.check()
	})
}
