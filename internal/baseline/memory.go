package baseline

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Memory is a Contender that also follows dispatches and buffers. Its Total is the *tracked*
// bytes, summed over the cores: the bytes of the last dispatch of each core and of the buffers,
// each byte once.
//
// Histories are legal: only registered programs are dispatched, no buffer is allocated twice or
// freed without an allocation, and no dispatched program is unregistered.
type Memory interface {
	Contender
	Dispatch(p *program.Program, devices []int)
	// Enqueue registers p where it is new and dispatches it. Where it does not fit
	// below the buffers it does nothing, on any device.
	Enqueue(p *program.Program, devices []int)
	Allocate(b *fit.Buffer, devices []int)
	Free(b *fit.Buffer, devices []int)
}

var (
	_ Memory = (*DenseMemory)(nil)
	_ Memory = (*PerCoreMemory)(nil)
)

// An image is a program as it is dispatched.
type image struct {
	id      program.ID
	writes  []int32  // the cores whose configuration it writes
	buffers []buffer // its circular buffers
	spots   []spot   // the same, merged; every core it writes is in one
	end     uint64   // of its highest region, as tt-metal checks it
}

// A spot holds the ranges of a program on some cores.
type spot struct {
	cores  []int32
	ranges []l1.Range // merged
	bytes  uint64
}

// images are programs as they are dispatched, each worked out once.
type images struct {
	rows  int
	known map[*program.Program]*image
}

func newImages(spec l1.Spec) images {
	return images{rows: spec.Rows, known: map[*program.Program]*image{}}
}

func (m *images) of(p *program.Program) *image {
	if known := m.known[p]; known != nil {
		return known
	}
	out := &image{id: p.ID(), buffers: (&Dense{rows: m.rows}).plan(p).buffers}
	var all l1.CoreSet
	for _, cb := range p.CBs() {
		all = all.Union(cb.Cores.Cores())
	}
	out.writes = m.numbers(all)
	for g := range p.Occupied(program.CircularBuffer).Groups() {
		s := spot{cores: m.numbers(g.Cores()), bytes: g.Bytes()}
		for r := range g.Ranges() {
			s.ranges = append(s.ranges, r)
		}
		out.spots = append(out.spots, s)
		all = all.Minus(g.Cores())
	}
	if !all.IsEmpty() {
		out.spots = append(out.spots, spot{cores: m.numbers(all)})
	}
	for e := range p.Entries(program.CircularBuffer) {
		out.end = max(out.end, e.End)
	}
	m.known[p] = out
	return out
}

// numbers returns the numbers of cores.
func (m *images) numbers(cores l1.CoreSet) (out []int32) {
	for c := range cores.All() {
		out = append(out, int32(coreNumber(c, m.rows)))
	}
	return out
}

// A block is a live buffer.
type block struct {
	id    fit.BufferID
	parts []buffer
	low   uint64
}

func (m *images) block(b *fit.Buffer) block {
	out := block{id: b.ID, low: l1.MaxAddr}
	for p := range b.All() {
		out.parts = append(out.parts, buffer{p.Range, m.numbers(p.Cores)})
		out.low = min(out.low, p.Range.Start)
	}
	return out
}
