package fit

import (
	"iter"
	"math"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// tt-metal's own checks, to the letter.

// A region is one test of tt-metal: how far the bookkeeping of a program charges a core range.
type region struct {
	program.Entry
	what    program.Kind // by the text of tt-metal: circular or dataflow buffers
	on      l1.CoreSet   // the core range
	far     uint64       // the lowest L1 buffer of all sites that counts there, in HYBRID mode
	service uint64       // the lowest service buffer of all sites there
}

// regions returns the regions that tt-metal tests, with the limits that all sites share.
func (all sites) regions(p *program.Program) (out []region) {
	for what, e := range entriesOf(p) {
		r := region{Entry: e, what: what, on: e.Cores.Cores(), far: math.MaxUint64, service: math.MaxUint64}
		for i := range all {
			r.far = min(r.far, all[i].lowest(r.on, scopeAll))
			r.service = min(r.service, all[i].lowest(r.on, scopeService))
		}
		out = append(out, r)
	}
	return out
}

// entriesOf returns the entries that tt-metal tests, by the kind in its text.
func entriesOf(p *program.Program) iter.Seq2[program.Kind, program.Entry] {
	return func(yield func(program.Kind, program.Entry) bool) {
		for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer} {
			entries := p.Entries(kind)
			if kind == program.DataflowBuffer && p.Occupied(kind).NumGroups() == 0 {
				entries = p.Entries(program.Scratchpad) // which share the bookkeeping
			}
			for e := range entries {
				if !yield(kind, e) {
					return
				}
			}
		}
	}
}

// refusals returns what tt-metal refuses p with on the i-th site, and for each region that it does
// not refuse the buffer for which it may.
func (all sites) refusals(i int, p *program.Program, regions []region, hybrid bool) (out []*Refusal, doubts []Doubt) {
	at := &all[i]
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
		by, limit := at.compared(e, hybrid)
		r := Refusal{Kind: RefusedClash, What: e.what, Cores: e.Cores, End: e.End, Limit: limit}
		switch {
		case spec.L1Size > 0 && e.End > spec.L1Size:
			r.Kind, r.Limit = RefusedGrow, spec.L1Size
		case r.Limit >= e.End:
			if b, why := all.doubtful(i, e, by); b != nil {
				doubts = append(doubts, Doubt{why, at.Device, at.Devices, e.what, e.Cores, e.End, *b})
			}
			continue
		case by == scopeService:
			r.Kind = RefusedService
		}
		refuse(r)
	}
	return out, doubts
}

// A scope says which buffers tt-metal compares a region with.
type scope int

const (
	scopeDevice  scope = iota // L1 buffers of the device that count on the cores of the region
	scopeAll                  // L1 buffers of all devices that do, in HYBRID mode
	scopeAnyCore              // L1 buffers on any core of the device: dataflow buffers have no HYBRID mode
	scopeService              // service buffers on these cores
)

// compared returns which buffers a region is compared with, and the lowest address of them, or
// MaxUint64.
func (at *site) compared(r *region, hybrid bool) (by scope, limit uint64) {
	switch {
	case at.claimed.Has(r.Cores.Start):
		return scopeService, r.service
	case hybrid && r.what == program.CircularBuffer:
		return scopeAll, r.far
	case r.what == program.DataflowBuffer:
		by = scopeAnyCore
	}
	return by, at.lowest(r.on, by)
}

// lowest returns the lowest address of buffers of the site that a region on some cores is
// compared with, or MaxUint64.
func (at *site) lowest(cores l1.CoreSet, by scope) uint64 {
	low := at.lockstep
	if by == scopeService {
		low = math.MaxUint64
	}
	for i := range at.near {
		h := &at.near[i]
		if h.Range.Start >= low || (h.buffer.Kind == KindService) != (by == scopeService) {
			continue
		}
		if by == scopeAnyCore && h.mode == PerCore || h.Cores.Overlaps(cores) {
			low = h.Range.Start
		}
	}
	return low
}

// doubtful returns a buffer that may be in the way of a region: one in range lockstep on other
// cores, or one that may lie anywhere on these.
func (all sites) doubtful(i int, r *region, by scope) (b *Buffer, why DoubtKind) {
	if by != scopeAll {
		all = all[i : i+1]
	}
	for i := range all {
		for _, h := range all[i].near {
			if by != scopeService && h.mode == RangeLockstep && h.Range.Start < r.End {
				return h.buffer, DoubtRange // it is on other cores: tt-metal would refuse what meets it
			}
		}
	}
	for i := range all {
		for _, b := range all[i].hiding {
			if by == scopeAnyCore || b.Hidden.Overlaps(r.on) {
				return b, DoubtHidden
			}
		}
	}
	return nil, ""
}
