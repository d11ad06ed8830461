package device

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/corepeaks"
)

// Totals is one consistent row of figures, in bytes summed over the cores of a
// device, or over all devices of a mesh.
type Totals struct {
	Registered  uint64 // physical: union of the registered programs' CBs per core ("occupied")
	Reserved    uint64 // union of the bytes that tt-metal's bookkeeping charges
	Logical     uint64 // plain sum of CB size times cores
	Core        uint64 // Registered on the fullest core
	Resident    uint64 // physical: the last dispatches, whatever is registered
	Tracked     uint64 // physical: residents and buffers in L1, each byte once; without kernels and the reserved area
	TrackedCore uint64 // Tracked on the fullest core
	Programs    int    // live programs; on a mesh, the sum over its devices
	Buffers     fit.BufferTotals
	Peak        Peaks
}

// Totals returns the figures of the devices of s, all of one moment, in the order of s.All.
// Errors: ErrForeignSet; ErrNoDevice for a removed device.
func (f *Fleet) Totals(s Set) (_ iter.Seq2[ID, Totals], err error) {
	defer named("Totals", &err)
	f.mu.RLock()
	defer f.mu.RUnlock()
	if err := f.check(s); err != nil {
		return nil, err
	}
	// Devices of one share have one row, which is copied when it is yielded. 32 devices of a mesh with equal contents
	// cost 0.4 to 1.3 times a loop of Device.Totals, and 32 whose contents all differ 4 times: nothing keeps the figures
	// of one moment but a copy of 32 rows. With a map of rows by id equal ones cost 5 times the loop.
	type row struct {
		id ID
		of int // in totals
	}
	var totals []Totals
	var rows []row
	if s.s != nil {
		n := 0
		for range f.shares(s.s.slots) {
			n++
		}
		totals, rows = make([]Totals, 0, n), make([]row, 0, s.Len())
		for c := range f.shares(s.s.slots) {
			for _, id := range f.ids[c.slot : c.slot+c.n] {
				rows = append(rows, row{id, len(totals)})
			}
			totals = append(totals, c.totals())
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	return func(yield func(ID, Totals) bool) {
		for _, r := range rows {
			if !yield(r.id, totals[r.of]) {
				return
			}
		}
	}, nil
}

// Peaks are high-water marks: the largest value that any completed operation left,
// since the device was added or its peaks were reset.
type Peaks struct {
	Registered, Reserved, Logical, Core, Resident uint64

	Tracked, TrackedCore uint64
	L1, L1Small, DRAM    uint64 // of BufferTotals
}

func (p *Peaks) raise(t *Totals) {
	p.Registered = max(p.Registered, t.Registered)
	p.Reserved = max(p.Reserved, t.Reserved)
	p.Logical = max(p.Logical, t.Logical)
	p.Core = max(p.Core, t.Core)
	p.Resident = max(p.Resident, t.Resident)
	p.Tracked = max(p.Tracked, t.Tracked)
	p.TrackedCore = max(p.TrackedCore, t.TrackedCore)
	p.L1 = max(p.L1, t.Buffers.L1)
	p.L1Small = max(p.L1Small, t.Buffers.L1Small)
	p.DRAM = max(p.DRAM, t.Buffers.DRAM)
}

// totalsOf returns the registered figures of a device.
func totalsOf(s *classes.Figures) Totals {
	return Totals{Registered: s.Registered, Reserved: s.Reserved, Logical: s.Logical, Core: s.Core, Programs: s.Programs}
}

// CoreTotals are the figures of one core, in bytes.
type CoreTotals struct {
	Registered uint64
	Reserved   uint64
	Logical    uint64
	Programs   int    // live programs with a local CB on the core
	Resident   uint64 // bytes of the last dispatch to the core
	Tracked    uint64 // as Totals.Tracked counts
	Peak       uint64 // high-water mark of Registered
}

// reached returns the larger of the peaks and the present bytes, for each core.
func reached(p *corepeaks.Marks, now *classes.Partition) *corepeaks.Marks {
	for _, c := range now.Classes {
		p = p.RaiseOn(c.Cores, c.Covered.Bytes())
	}
	return p
}

// peakGroups returns peaks by bytes.
func peakGroups(p *corepeaks.Marks) (out []PeakGroup) {
	for bytes, cores := range p.ByBytes() {
		out = append(out, PeakGroup{cores, bytes})
	}
	return out
}

// A fold remembers the last result of raised for one state, so that devices that
// leave it one by one end up with the same peaks.
type fold struct {
	off      uint64 // serial number of the program taken off; 0 = nothing is remembered
	from, to *corepeaks.Marks
}

// raised returns the peaks of a device that is about to leave state s because a
// program is taken off. It raises the given peaks to the bytes of s on the cores of
// the program.
func (f *Fleet) raised(s *state, from *corepeaks.Marks, off *registration) *corepeaks.Marks {
	if s.folded.off == off.Serial && s.folded.from.Equal(from) {
		return s.folded.to
	}
	f.fill(s)
	s.Content = f.own(s.Content)
	p, to := &s.Content.Occupied, from
	footprint := p.Footprint(&off.Holder)
	for i := range footprint.NumGroups() {
		p.Meet(footprint.Group(i).Cores(), func(at int) uint64 {
			c := &p.Classes[at]
			if bytes := c.Covered.Bytes(); c.Peaks != to.ID() || c.Held < bytes {
				if raised := to.RaiseOn(c.Cores, bytes); raised != to {
					raised.Name, to = f.newSerial(), raised
				}
				c.Peaks, c.Held = to.ID(), bytes
			}
			return c.N
		})
	}
	s.folded = fold{off.Serial, from, to}
	return to
}
