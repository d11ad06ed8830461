package fit

import (
	"iter"
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
	for kind, e := range regionsOf(p) {
		r := Refusal{Kind: RefusedClash, What: kind, Cores: e.Cores, End: e.End}
		if spec.L1Size > 0 && e.End > spec.L1Size {
			r.Kind, r.Limit = RefusedGrow, spec.L1Size
			refuse(r)
			continue
		}
		switch scopeOf(e.Cores, hybrid, at.claimed) {
		case scopeDevice:
			r.Limit = at.lowest
		case scopeCores:
			r.Limit = lowest(all, e.Cores.Cores(), KindL1, KindGlobalCB)
		case scopeService:
			r.Kind, r.Limit = RefusedService, lowest(all, e.Cores.Cores(), KindService)
		}
		if r.Limit < e.End {
			refuse(r)
		}
	}
	return out
}

// regionsOf returns the regions that tt-metal tests, by what it calls their buffers.
func regionsOf(p *program.Program) iter.Seq2[program.Kind, program.Entry] {
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

// A scope says which buffers tt-metal compares a region with.
type scope int

const (
	scopeDevice  scope = iota // L1 buffers on any core of the device
	scopeCores                // L1 buffers on the cores of the region, in HYBRID mode
	scopeService              // service buffers on these cores
)

// scopeOf returns the scope of a region, while service buffers claim some cores.
func scopeOf(on l1.CoreRange, hybrid bool, claimed l1.CoreSet) scope {
	switch {
	case claimed.Has(on.Start):
		return scopeService
	case hybrid:
		return scopeCores
	}
	return scopeDevice
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
