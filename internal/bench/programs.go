package bench

import (
	"math/rand/v2"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A maker makes programs for one Spec, with ids from 0.
type maker struct {
	rnd  *rand.Rand
	spec l1.Spec
	next program.ID
}

func newMaker(seed uint64, spec l1.Spec) *maker {
	return &maker{rnd: rand.New(rand.NewPCG(seed, 0)), spec: spec}
}

// placed makes a program with n circular buffers. Each lies on one of the given sets of
// cores, in turn; its size is a random multiple of the alignment, at most the given
// number of bytes. All are placed from the base as tt-metal does it.
func (m *maker) placed(n int, largest uint64, on ...l1.CoreRangeSet) *program.Program {
	b := program.NewBuilder(m.next)
	m.next++
	for i := range n {
		size := m.spec.CBAlign * (1 + m.rnd.Uint64N(largest/m.spec.CBAlign))
		b.CB(program.CB{Cores: on[i%len(on)], Size: size})
	}
	return must(b.Build(m.spec))
}

// at makes a program with one range on all cores.
func (m *maker) at(r l1.Range) *program.Program {
	b := program.NewBuilder(m.next).Range(m.spec.Grid(), r)
	m.next++
	return must(b.Build(m.spec))
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
