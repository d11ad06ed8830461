package device

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device/internal/corepeaks"
	"github.com/cbl1/cbl1/l1"
)

// CorePeaks are high-water marks of cores: the most bytes that each of them held. They never
// change, and copies share what they have. Those that are == are equal, but not the other way
// round. The zero CorePeaks are zero everywhere.
type CorePeaks struct {
	p *corepeaks.Peaks
}

// Raise returns peaks of at least so many bytes on some cores. Nothing is allocated where none rises.
// Cost: O(cores), and O(columns + rows) for each column of theirs.
func (p CorePeaks) Raise(cores l1.CoreSet, bytes uint64) CorePeaks {
	return CorePeaks{p.p.RaiseOn(cores, bytes)}
}

// All returns the cores that have a peak, by bytes: equal CorePeaks return the same.
func (p CorePeaks) All() iter.Seq[PeakGroup] { return slices.Values(peakGroups(p.p)) }

// peakGroups returns peaks by bytes.
func peakGroups(p *corepeaks.Peaks) (out []PeakGroup) {
	for bytes, cores := range p.ByBytes() {
		out = append(out, PeakGroup{cores, bytes})
	}
	return out
}

// A fold remembers the last result of raised for one state, so that devices that
// leave it one by one end up with the same peaks.
type fold struct {
	off      uint64 // serial number of what was taken off; 0 = nothing is remembered
	from, to *corepeaks.Peaks
}

// raised returns the peaks of a device, which has these and is about to leave state s because a
// program is taken off: raised to what s holds where the program lies.
func (f *Fleet) raised(s *state, from *corepeaks.Peaks, off *registration) *corepeaks.Peaks {
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
