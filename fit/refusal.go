package fit

import (
	"iter"
	"math"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// tt-metal's own checks, to the letter.

// refusals returns what tt-metal refuses p with on a site. The addresses that it
// compares with come from all devices for service cores, and in HYBRID mode.
func (at *site) refusals(p *program.Program, low *lows, hybrid bool) (out []*Refusal) {
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
			r.Limit = low.on(e.Cores, scopeCores)
		case scopeService:
			r.Kind, r.Limit = RefusedService, low.on(e.Cores, scopeService)
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

// lows are the lowest addresses of buffers on some cores of any of the sites, each looked for
// once: every site has the same regions compared.
type lows struct {
	sites []site
	known map[compared]uint64
}

// A compared is the cores of a region, and which buffers it is compared with.
type compared struct {
	cores l1.CoreRange
	scope scope
}

// on returns the lowest address that a region of scopeCores or scopeService is compared with,
// or MaxUint64.
func (l *lows) on(cores l1.CoreRange, by scope) uint64 {
	at := compared{cores, by}
	if low, ok := l.known[at]; ok {
		return low
	}
	low, set := uint64(math.MaxUint64), cores.Cores()
	for i := range l.sites {
		for _, y := range l.sites[i].layers {
			if start := y.ranges[0].Start; start < low && by.has(y.buffer) && y.cores.Overlaps(set) {
				low = start
			}
		}
	}
	if l.known == nil {
		l.known = map[compared]uint64{}
	}
	l.known[at] = low
	return low
}

// has reports whether a region of this scope is compared with a buffer.
func (s scope) has(b *Buffer) bool {
	if s == scopeService {
		return b.Kind == KindService
	}
	return b.Kind == KindL1 || b.Kind == KindGlobalCB
}
