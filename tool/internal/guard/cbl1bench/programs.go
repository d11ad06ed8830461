package main

import (
	"math/rand/v2"

	"github.com/cbl1/cbl1/internal/guard/baseline"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A maker makes a history, and programs for its Spec with ids from 0.
type maker struct {
	history
	all  []int // the devices
	rnd  *rand.Rand
	next program.ID
}

func newMaker(seed uint64, devices int) *maker {
	return &maker{history: history{spec: l1.N150(), devices: devices}, all: numbers(devices), rnd: random(seed)}
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// call returns the step that does something with p on all devices.
func (m *maker) call(do action, p *program.Program) step {
	return step{do: do, program: p, devices: m.all}
}

// renewed appends live programs, and then pairs of calls: the oldest leaves and a new one comes. Each
// program stays on its devices.
func (m *maker) renewed(live, pairs int, on func() []int, next func() *program.Program) history {
	var came []step
	for i := range live + pairs {
		s := step{program: next(), devices: on()}
		came = append(came, s)
		if i < live {
			m.before = append(m.before, s)
			continue
		}
		out := came[i-live]
		out.do = unregister
		m.steps = append(m.steps, out, s)
	}
	return m.history
}

// dispatched appends programs that are registered and dispatched. Dispatches are measured.
func (m *maker) dispatched(programs []*program.Program) []*program.Program {
	m.measure = baseline.Tracked
	for _, p := range programs {
		m.before = append(m.before, m.call(register, p), m.call(dispatch, p))
	}
	return programs
}

// placed makes a program with n circular buffers. Each lies on one of the given sets of
// cores, in turn; its size is a random multiple of the alignment, at most the given
// number of bytes. All are placed from the base as tt-metal does it.
func (m *maker) placed(n int, largest uint64, on ...l1.CoreRangeSet) *program.Program {
	return m.sized(n, func() uint64 { return m.spec.CBAlign * (1 + m.rnd.Uint64N(largest/m.spec.CBAlign)) }, on...)
}

// sized is placed with other sizes.
func (m *maker) sized(n int, size func() uint64, on ...l1.CoreRangeSet) *program.Program {
	b := m.builder()
	for i := range n {
		b.CB(program.CB{Cores: on[i%len(on)], Size: size()})
	}
	return must(b.Build(m.spec))
}

// builder is for the program with the next id.
func (m *maker) builder() *program.Builder {
	m.next++
	return program.NewBuilder(m.next - 1)
}

// lying makes a program with a range of its own on each of the given sets of cores.
func (m *maker) lying(on []l1.CoreRangeSet, at func() l1.Range) *program.Program {
	b := m.builder()
	for _, cores := range on {
		b.Range(cores, at())
	}
	return must(b.Build(m.spec))
}

// anywhere returns a random range of whole units of 32 bytes in L1.
func (m *maker) anywhere() l1.Range {
	const unit, longest = 32, 64 << 10
	size := unit * (1 + m.rnd.Uint64N(longest/unit))
	start := m.spec.CBBase + unit*m.rnd.Uint64N((m.spec.L1Size-m.spec.CBBase-size)/unit+1)
	return l1.Range{Start: start, End: start + size}
}

// scattered makes a program with another range at a random address on every core.
func (m *maker) scattered() *program.Program { return m.lying(m.single(), m.anywhere) }

// single returns each core of the grid as a set of its own.
func (m *maker) single() (out []l1.CoreRangeSet) {
	for c := range m.spec.Grid().Cores().All() {
		out = append(out, l1.Rect(c.X, c.Y, c.X, c.Y))
	}
	return out
}

// at makes a program with one range on all cores.
func (m *maker) at(r l1.Range) *program.Program {
	return m.lying([]l1.CoreRangeSet{m.spec.Grid()}, func() l1.Range { return r })
}

// rectangle returns a random rectangle of at least least cores a side.
func (m *maker) rectangle(least int) l1.CoreRange {
	side := func(n int) (lo, hi uint8) {
		long := least + m.rnd.IntN(n-least+1)
		from := m.rnd.IntN(n - long + 1)
		return uint8(from), uint8(from + long - 1)
	}
	var r l1.CoreRange
	r.Start.X, r.End.X = side(m.spec.Cols)
	r.Start.Y, r.End.Y = side(m.spec.Rows)
	return r
}

// rectangles returns 1 to 3 random rectangles, each a set of its own.
func (m *maker) rectangles(least int) []l1.CoreRangeSet {
	out := make([]l1.CoreRangeSet, 1+m.rnd.IntN(3))
	for i := range out {
		out[i] = must(l1.NewCoreRangeSet(m.rectangle(least)))
	}
	return out
}

// onGrid makes a program of 4 circular buffers of up to 64 KiB on the whole grid.
func (m *maker) onGrid() *program.Program { return m.placed(4, 64<<10, m.spec.Grid()) }

// many makes n programs.
func many(n int, make func() *program.Program) (out []*program.Program) {
	for range n {
		out = append(out, make())
	}
	return out
}
