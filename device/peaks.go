package device

import (
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/internal/corepeaks"
)

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
