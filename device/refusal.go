package device

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// tt-metal's own checks, to the letter.

// refusals returns what tt-metal refuses p with on a place. The addresses that it
// compares with come from all devices for service cores, and in HYBRID mode.
func refusals(p *program.Program, at *place, places []place, hybrid bool) (out []*Refusal) {
	claimed := at.heap.serviceCores()
	refuse := func(r Refusal) {
		r.Program, r.Device, r.Devices = p.ID(), at.first, at.devices
		out = append(out, &r)
	}
	if at.spec.Cols > 0 {
		for _, cb := range p.CBs() {
			for r := range cb.Cores.All() {
				inside := int(r.End.X) < at.spec.Cols && int(r.End.Y) < at.spec.Rows
				if !inside && !claimed.Contains(r.Cores()) {
					refuse(Refusal{Kind: RefusedGrid, What: cb.Kind, Cores: r, Cols: at.spec.Cols, Rows: at.spec.Rows})
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
			if at.spec.L1Size > 0 && e.End > at.spec.L1Size {
				r.Kind, r.Limit = RefusedGrow, at.spec.L1Size
				refuse(r)
				continue
			}
			low, ok := uint64(0), false
			switch {
			case claimed.Has(e.Cores.Start):
				r.Kind = RefusedService
				low, ok = lowest(places, e.Cores.Cores(), Service)
			case hybrid:
				low, ok = lowest(places, e.Cores.Cores(), L1, GlobalCB)
			default:
				low, ok = at.heap.lowestL1()
			}
			if ok && low < e.End {
				r.Limit = low
				refuse(r)
			}
		}
	}
	return out
}

// lowest returns the lowest address on some cores of any place of buffers of the
// given kinds.
func lowest(places []place, cores l1.CoreSet, kinds ...Kind) (addr uint64, ok bool) {
	addr = math.MaxUint64
	for _, at := range places {
		for _, a := range at.heap.sorted() {
			if a.placed == nil || !slices.Contains(kinds, a.Kind) {
				continue
			}
			for _, p := range a.Parts {
				if !p.Range.IsEmpty() && p.Cores.Overlaps(cores) {
					addr, ok = min(addr, p.Range.Start), true
				}
			}
		}
	}
	return addr, ok
}

// serviceCores returns the cores that have a service buffer.
func (h *heap) serviceCores() (out l1.CoreSet) {
	if h == nil {
		return out
	}
	for _, a := range h.live {
		if a.Kind == Service && !a.Backing {
			for _, p := range a.Parts {
				out = out.Union(p.Cores)
			}
		}
	}
	return out
}
