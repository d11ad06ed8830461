package bench

import (
	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Where a device has one core, package cbregion can play for itself.

// Counter is a cbregion.Counter as a contender, for workloads on one core.
type Counter struct {
	counter cbregion.Counter
}

// Coverage is a cbregion.Coverage as a contender, for workloads on one core.
type Coverage struct {
	coverage cbregion.Coverage
}

var (
	_ baseline.Contender = (*Counter)(nil)
	_ baseline.Contender = (*Coverage)(nil)
)

// Register adds the ranges of p.
func (c *Counter) Register(p *program.Program, _ []int) {
	g := p.Occupied(program.CircularBuffer).Group(0)
	for i := range g.NumRanges() {
		must(c.counter.Add(cbregion.Owner(p.ID()), g.Range(i)))
	}
}

// Unregister removes the ranges of p.
func (c *Counter) Unregister(p *program.Program, _ []int) {
	g := p.Occupied(program.CircularBuffer).Group(0)
	for i := range g.NumRanges() {
		must(c.counter.Remove(cbregion.Owner(p.ID()), g.Range(i)))
	}
}

// Total returns the covered bytes.
func (c *Counter) Total(int) uint64 { return c.counter.Bytes() }

// Register adds the ranges of p.
func (c *Coverage) Register(p *program.Program, _ []int) {
	g := p.Occupied(program.CircularBuffer).Group(0)
	for i := range g.NumRanges() {
		c.coverage.Add(g.Range(i))
	}
}

// Unregister removes the ranges of p.
func (c *Coverage) Unregister(p *program.Program, _ []int) {
	g := p.Occupied(program.CircularBuffer).Group(0)
	for i := range g.NumRanges() {
		c.coverage.Remove(g.Range(i))
	}
}

// Total returns the covered bytes.
func (c *Coverage) Total(int) uint64 { return c.coverage.Bytes() }

// oneCore is a device with a single core.
func oneCore() l1.Spec {
	s := l1.N150()
	s.Name, s.Cols, s.Rows = "one core", 1, 1
	return s
}
