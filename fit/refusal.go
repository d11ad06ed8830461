package fit

import (
	"math"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// tt-metal's own checks, to the letter.

// A region is one test of tt-metal: how far the bookkeeping of a program charges a core range.
type region struct {
	program.Entry
	what program.Kind // by the text of tt-metal: circular or dataflow buffers
	on   l1.CoreSet   // the core range
}

// entriesOf returns the regions that tt-metal tests.
func entriesOf(p *program.Program) (out []region) {
	for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer} {
		entries := p.Entries(kind)
		if kind == program.DataflowBuffer && p.Occupied(kind).NumGroups() == 0 {
			entries = p.Entries(program.Scratchpad) // which share the bookkeeping
		}
		for e := range entries {
			out = append(out, region{e, kind, e.Cores.Cores()})
		}
	}
	return out
}

// refusals returns tt-metal's refusals of p on a site, and for each region that it accepts the
// buffer for which it may refuse it.
func (at *site) refusals(p *program.Program, regions []region, hybrid bool) (out []*Refusal, doubts []Doubt) {
	spec := at.Spec
	refuse := func(r Refusal) {
		r.Program, r.Device, r.Devices = p.ID(), at.Device, at.Devices
		out = append(out, &r)
	}
	for _, cb := range p.CBs() {
		for r := range cb.Cores.All() {
			if !spec.Has(r.End) && !at.claimed.Contains(r.Cores()) {
				refuse(Refusal{Kind: RefusedGrid, What: cb.Kind, Cores: r, Cols: spec.Cols, Rows: spec.Rows})
			}
		}
	}
	for k := range regions {
		e := &regions[k]
		near, limits := &at.comparison, at.all
		service := at.claimed.Has(e.Cores.Start)
		if !service {
			if hybrid && e.what == program.CircularBuffer { // dataflow buffers have no HYBRID mode
				near = at.all
			}
			limits = near
		}
		r := Refusal{Kind: RefusedClash, What: e.what, Cores: e.Cores, End: e.End, Limit: limits.lowest(e, service)}
		switch {
		case spec.L1Size > 0 && e.End > spec.L1Size:
			r.Kind, r.Limit = RefusedGrow, spec.L1Size
		case r.Limit >= e.End:
			if b, why := near.doubtful(e, service); b != nil {
				doubts = append(doubts, Doubt{why, at.Device, at.Devices, e.what, e.Cores, e.End, *b})
			}
			continue
		case service:
			r.Kind = RefusedService
		}
		refuse(r)
	}
	return out, doubts
}

// lowest returns the lowest address of the buffers that a region is compared with, or one that is not
// below its end.
func (c *comparison) lowest(r *region, service bool) uint64 {
	for _, h := range c.near {
		switch {
		case h.Range.Start >= r.End:
			return h.Range.Start
		case (h.buffer.Kind == KindService) != service:
		case !service && h.mode == Lockstep: // it counts on all cores
			return h.Range.Start
		case h.Cores.Overlaps(r.on), r.what == program.DataflowBuffer && h.mode == PerCore: // on any core
			return h.Range.Start
		}
	}
	return math.MaxUint64
}

// doubtful returns a buffer that may be in the way of a region: one in range lockstep on other
// cores, or one that may lie anywhere on these.
func (c *comparison) doubtful(r *region, service bool) (b *Buffer, why DoubtKind) {
	for _, h := range c.near {
		if !service && h.mode == RangeLockstep && h.Range.Start < r.End {
			return h.buffer, DoubtRange // it is on other cores: tt-metal would refuse what meets it
		}
	}
	for _, b := range c.hiding {
		if !service && r.what == program.DataflowBuffer || b.Hidden.Overlaps(r.on) {
			return b, DoubtHidden
		}
	}
	return nil, ""
}
