package model

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Painting holds the bytes of one program at the addresses of its CBs, painted core by core.
type Painting struct {
	spec  l1.Spec
	empty bool             // no CB at all
	named map[l1.Core]bool // by any CB
	kinds map[program.Kind]*paper

	circularEntries, dataflowEntries []*entry // in the order in which ranges were named
	outOfOrder                       []int
}

// Occupied returns the bytes of the local CBs of a kind on a core.
func (p *Painting) Occupied(kind program.Kind, core l1.Core) []l1.Range {
	return p.kind(kind).occupied[core].regions()
}

// Reserved returns the bytes on a core in tt-metal's bookkeeping of a kind. Dataflow buffers and scratchpads share one.
func (p *Painting) Reserved(kind program.Kind, core l1.Core) []l1.Range {
	return p.kind(kind).reserved[core].regions()
}

// Logical returns the sum of the sizes of the local CBs of a kind on a core.
func (p *Painting) Logical(kind program.Kind, core l1.Core) uint64 { return p.kind(kind).logical[core] }

// Entries returns the entries of tt-metal's bookkeeping for a kind that have bytes, in the order in which core
// ranges are named.
func (p *Painting) Entries(kind program.Kind) []program.Entry {
	if kind == program.CircularBuffer {
		return withBytes(p.circularEntries)
	}
	return withBytes(p.dataflowEntries)
}

// OutOfOrder returns the CBs whose given address is below the end of an entry of one of their core ranges.
func (p *Painting) OutOfOrder() []int { return p.outOfOrder }

// A paper has the bytes of one kind of CBs. Cores without any are not in the maps.
type paper struct {
	occupied canvas
	reserved canvas
	logical  map[l1.Core]uint64
}

// Paint paints the CBs of a program.
func Paint(p *program.Program) *Painting {
	pic := &Painting{spec: p.Spec(), empty: p.Len() == 0, named: map[l1.Core]bool{}, kinds: map[program.Kind]*paper{}}
	var cbs []program.CB
	for _, placed := range p.CBs() {
		cbs = append(cbs, placed.CB)
		for c := range covered(placed.Cores) {
			pic.named[c] = true
		}
	}
	cut := recut
	if p.AsWritten() {
		cut = written
	}
	circular, low := charged(cut, cbs, ledgers()[0])
	dataflow, more := charged(cut, cbs, ledgers()[1])
	pic.circularEntries, pic.dataflowEntries, pic.outOfOrder = circular, dataflow, append(low, more...)
	for _, placed := range p.CBs() {
		if pic.kinds[placed.Kind] == nil {
			entries := circular
			if placed.Kind != program.CircularBuffer {
				entries = dataflow
			}
			pic.kinds[placed.Kind] = &paper{occupied: canvas{}, reserved: spread(entries), logical: map[l1.Core]uint64{}}
		}
		if placed.Global || placed.Size == 0 {
			continue
		}
		on := pic.kinds[placed.Kind]
		for c := range covered(placed.Cores) {
			on.occupied.paint(c, placed.Range)
			on.logical[c] += placed.Size
		}
	}
	return pic
}

// spread gives every core the bytes of every entry that it lies in.
func spread(entries []*entry) canvas {
	out := canvas{}
	for _, e := range entries {
		if e.bytes.empty() {
			continue
		}
		for _, c := range coresOf(e.cores) {
			out.unite(c, e.bytes)
		}
	}
	return out
}

// same reports whether two pictures count the same.
func (p *Painting) same(o *Painting) bool {
	for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer, program.Scratchpad} {
		if !p.kind(kind).same(o.kind(kind)) {
			return false
		}
	}
	return p.spec.Places(o.spec) && p.empty == o.empty && maps.Equal(p.named, o.named)
}

func (p *paper) same(o *paper) bool {
	equal := func(a, b byteSet) bool { return a.first == b.first && slices.Equal(a.words, b.words) }
	return maps.EqualFunc(p.occupied, o.occupied, equal) &&
		maps.EqualFunc(p.reserved, o.reserved, equal) && maps.Equal(p.logical, o.logical)
}

// kind returns the bytes of one kind, which may be none.
func (p *Painting) kind(kind program.Kind) *paper {
	if paper := p.kinds[kind]; paper != nil {
		return paper
	}
	return &paper{}
}

// all returns the bytes of all kinds on a core.
func (p *Painting) all(core l1.Core) (out byteSet) {
	for _, paper := range p.kinds {
		out.unite(paper.occupied[core])
	}
	return out
}

// circular returns the bytes that count in the totals.
func (p *Painting) circular() *paper { return p.kind(program.CircularBuffer) }
