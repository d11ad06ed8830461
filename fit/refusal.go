package fit

import (
	"iter"
	"math"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// tt-metal's own checks, to the letter.

// refusals returns what tt-metal refuses p with on a site, and for each region that it does
// not refuse the buffer for which it may.
func (at *site) refusals(p *program.Program, low *lows, hybrid bool) (out []*Refusal, doubts []Doubt) {
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
		by := scopeOf(kind, e.Cores, hybrid, at.claimed)
		switch r.Limit = low.on(at, e.Cores, by); {
		case r.Limit >= e.End:
			if b, why := at.doubtful(e, low, by); b != nil {
				doubts = append(doubts, Doubt{why, at.Device, at.devices(), kind, e.Cores, e.End, b.Plain()})
			}
		case by == scopeService:
			r.Kind = RefusedService
			refuse(r)
		default:
			refuse(r)
		}
	}
	return out, doubts
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
	scopeDevice  scope = iota // L1 buffers of the device that count on the cores of the region
	scopeAll                  // L1 buffers of all devices that do, in HYBRID mode
	scopeAnyCore              // L1 buffers on any core of the device: dataflow buffers have no HYBRID mode
	scopeService              // service buffers on these cores
)

// scopeOf returns the scope of a region, while service buffers claim some cores.
func scopeOf(what program.Kind, on l1.CoreRange, hybrid bool, claimed l1.CoreSet) scope {
	switch {
	case claimed.Has(on.Start):
		return scopeService
	case what == program.DataflowBuffer:
		return scopeAnyCore
	case hybrid:
		return scopeAll
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

// on returns the lowest address that a region of a site is compared with, or MaxUint64.
func (l *lows) on(at *site, cores l1.CoreRange, by scope) uint64 {
	if by == scopeDevice || by == scopeAnyCore {
		return at.lowestOn(cores.Cores(), by)
	}
	key := compared{cores, by}
	if low, ok := l.known[key]; ok {
		return low
	}
	low, set := uint64(math.MaxUint64), cores.Cores()
	for i := range l.sites {
		low = min(low, l.sites[i].lowestOn(set, by))
	}
	if l.known == nil {
		l.known = map[compared]uint64{}
	}
	l.known[key] = low
	return low
}

// lowestOn returns the lowest address of buffers of the site that a region on some cores is
// compared with, or MaxUint64.
func (at *site) lowestOn(cores l1.CoreSet, by scope) uint64 {
	low := uint64(math.MaxUint64)
	if by == scopeService {
		for _, y := range at.layers {
			if start := y.ranges[0].Start; start < low && y.buffer.Kind == KindService && y.cores.Overlaps(cores) {
				low = start
			}
		}
		return low
	}
	low = at.lowest
	for _, y := range at.perCore {
		if start := y.ranges[0].Start; start < low && (by == scopeAnyCore || y.cores.Overlaps(cores)) {
			low = start
		}
	}
	for _, y := range at.ranged {
		if start := y.ranges[0].Start; start < low && y.cores.Overlaps(cores) {
			low = start
		}
	}
	return low
}

// doubtful returns a buffer that may be in the way of a region: one in range lockstep on other
// cores, or one that may lie anywhere on these.
func (at *site) doubtful(e program.Entry, low *lows, by scope) (b *Buffer, why DoubtKind) {
	sites := low.sites
	if by != scopeAll {
		sites = []site{*at}
	}
	for _, s := range sites {
		for _, y := range s.ranged {
			if by != scopeService && y.ranges[0].Start < e.End {
				return y.buffer, DoubtRange // it is on other cores: tt-metal would refuse what meets it
			}
		}
	}
	for _, s := range sites {
		for _, b := range s.hiding {
			if by == scopeAnyCore || b.Hidden.Overlaps(e.Cores.Cores()) {
				return b, DoubtHidden
			}
		}
	}
	return nil, ""
}
