package fit

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// tt-metal's own checks, to the letter.

// refusals returns what tt-metal refuses p with on a site. The addresses that it
// compares with come from all devices for service cores, and in HYBRID mode.
func (at *site) refusals(p *program.Program, all []site, hybrid bool) (out []*Refusal) {
	spec := at.Spec
	refuse := func(r Refusal) {
		r.Program, r.Device, r.Devices = p.ID(), at.Device, at.devices()
		out = append(out, &r)
	}
	if spec.Cols > 0 {
		for _, cb := range p.CBs() {
			for r := range cb.Cores.All() {
				inside := int(r.End.X) < spec.Cols && int(r.End.Y) < spec.Rows
				if !inside && !at.claimed.Contains(r.Cores()) {
					refuse(Refusal{Kind: RefusedGrid, What: cb.Kind, Cores: r, Cols: spec.Cols, Rows: spec.Rows})
				}
			}
		}
	}
	for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer} {
		entries := p.Entries(kind)
		if kind == program.DataflowBuffer && p.Occupied(kind).NumGroups() == 0 {
			entries = p.Entries(program.Scratchpad) // which share the bookkeeping
		}
		for e := range entries {
			r := Refusal{Kind: RefusedClash, What: kind, Cores: e.Cores, End: e.End}
			if spec.L1Size > 0 && e.End > spec.L1Size {
				r.Kind, r.Limit = RefusedGrow, spec.L1Size
				refuse(r)
				continue
			}
			switch r.Limit = at.lowest; {
			case at.claimed.Has(e.Cores.Start):
				r.Kind, r.Limit = RefusedService, lowest(all, e.Cores.Cores(), KindService)
			case hybrid:
				r.Limit = lowest(all, e.Cores.Cores(), KindL1, KindGlobalCB)
			}
			if r.Limit < e.End {
				refuse(r)
			}
		}
	}
	return out
}

// lowest returns the lowest address of buffers of the given kinds, on some cores of any
// of the sites, or MaxUint64.
func lowest(all []site, cores l1.CoreSet, kinds ...Kind) uint64 {
	low := uint64(math.MaxUint64)
	for i := range all {
		for _, y := range all[i].layers {
			if slices.Contains(kinds, y.buffer.Kind) && y.cores.Overlaps(cores) {
				low = min(low, y.ranges[0].Start)
			}
		}
	}
	return low
}
