package device

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// CorePeaks are high-water marks of cores: the most bytes that each of them held. They never
// change, and copies share what they have. Those that are == are equal, but not the other way
// round. The zero CorePeaks are zero everywhere.
type CorePeaks struct {
	p *corePeaks
}

// Raise returns peaks of at least so many bytes on some cores. Nothing is allocated where none rises.
// Cost: O(cores), and O(columns + rows) for each column of theirs.
func (p CorePeaks) Raise(cores l1.CoreSet, bytes uint64) CorePeaks {
	return CorePeaks{p.p.raiseOn(cores, bytes)}
}

// All returns the cores that have a peak, by bytes: equal CorePeaks return the same.
func (p CorePeaks) All() iter.Seq[PeakGroup] { return slices.Values(peakGroups(p.p)) }

// peakGroups returns peaks by bytes.
func peakGroups(p *corePeaks) (out []PeakGroup) {
	for bytes, cores := range p.byBytes() {
		out = append(out, PeakGroup{cores, bytes})
	}
	return out
}

// A fold remembers the last result of raised for one state, so that devices that
// leave it one by one end up with the same peaks.
type fold struct {
	off      uint64 // serial number of what was taken off; 0 = nothing is remembered
	from, to *corePeaks
}

// raised returns the peaks of a group that is about to leave state s because a program is
// taken off: those it has, raised to what s holds where the program lies.
func (f *Fleet) raised(s *state, g *group, off *registration) *corePeaks {
	if s.folded.off == off.serial && s.folded.from == g.cores {
		return s.folded.to
	}
	f.fill(s)
	f.own(s)
	p, to := &s.content.occupied, g.cores
	footprint := p.footprint(&off.holder)
	for i := range footprint.NumGroups() {
		p.meet(footprint.Group(i).Cores(), func(at int) uint64 {
			c := &p.classes[at]
			if bytes := c.covered.Bytes(); c.peaks != to.id() || c.held < bytes {
				if raised := to.raiseOn(c.cores, bytes); raised != to {
					raised.name, to = f.newSerial(), raised
				}
				c.peaks, c.held = to.id(), bytes
			}
			return c.n
		})
	}
	s.folded = fold{off.serial, g.cores, to}
	return to
}
