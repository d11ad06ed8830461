package bench

import (
	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Where a device has one core, package cbregion can play for itself.

// Counter is a cbregion.Counter, for workloads on one core.
func Counter() Design {
	return Design{"Counter", func(Workload) baseline.Contender {
		c := new(cbregion.Counter)
		return &core{
			add:    func(id program.ID, r l1.Range) { must(c.Add(cbregion.Owner(id), r)) },
			remove: func(id program.ID, r l1.Range) { must(c.Remove(cbregion.Owner(id), r)) },
			bytes:  c.Bytes,
		}
	}}
}

// Coverage is a cbregion.Coverage, for workloads on one core.
func Coverage() Design {
	return Design{"Coverage", func(Workload) baseline.Contender {
		c := new(cbregion.Coverage)
		return &core{
			add:    func(_ program.ID, r l1.Range) { c.Add(r) },
			remove: func(_ program.ID, r l1.Range) { c.Remove(r) },
			bytes:  c.Bytes,
		}
	}}
}

// A core counts the ranges of one core.
type core struct {
	add, remove func(program.ID, l1.Range)
	bytes       func() uint64
}

var _ baseline.Contender = (*core)(nil)

// Register adds the ranges of p.
func (c *core) Register(p *program.Program, _ []int) { each(p, c.add) }

// Unregister removes the ranges of p.
func (c *core) Unregister(p *program.Program, _ []int) { each(p, c.remove) }

// Total returns the covered bytes.
func (c *core) Total(int) uint64 { return c.bytes() }

func each(p *program.Program, do func(program.ID, l1.Range)) {
	g := p.Occupied(program.CircularBuffer).Group(0)
	for i := range g.NumRanges() {
		do(p.ID(), g.Range(i))
	}
}

// oneCore is a device with a single core.
func oneCore() l1.Spec {
	s := l1.N150()
	s.Name, s.Cols, s.Rows = "one core", 1, 1
	return s
}
