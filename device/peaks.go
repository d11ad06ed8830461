package device

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// corePeaks are the high-water marks of the cores of a group of devices, up to the
// last time that anything was taken off: since then bytes have only grown, so that
// the mark of a core is the larger of its peak here and what it holds now. They
// never change; nil is zero everywhere.
type corePeaks struct {
	rows  int
	bytes []uint64   // of core x-y at x*rows+y
	cores l1.CoreSet // with a peak above 0
	least uint64     // smallest peak of these
	hash  hash       // of bytes
}

func (p *corePeaks) at(c l1.Core) uint64 {
	if p == nil || int(c.Y) >= p.rows {
		return 0
	}
	i := int(c.X)*p.rows + int(c.Y)
	if i >= len(p.bytes) {
		return 0
	}
	return p.bytes[i]
}

// equal reports whether two marks are the same: devices that came to them each for
// itself belong to one group.
func (p *corePeaks) equal(o *corePeaks) bool {
	return p == o || p != nil && o != nil && p.rows == o.rows && slices.Equal(p.bytes, o.bytes)
}

// A fold remembers the last result of raise for one state, so that devices that
// leave it one by one end up with the same peaks.
type fold struct {
	done     bool
	from, to *corePeaks
}

// raised returns the peaks of a group that is about to leave state s because
// something is taken off: those it has, raised to what s holds.
func (f *Fleet) raised(s *state, g *group) *corePeaks {
	if s.folded.done && s.folded.from == g.cores {
		return s.folded.to
	}
	p := &f.view(s).occupied
	to := g.cores
	if to.below(p) {
		to = to.raise(p, &f.hashes)
	}
	s.folded = fold{true, g.cores, to}
	return to
}

// below reports whether a core holds more than its peak.
func (p *corePeaks) below(now *partition) bool {
	for _, c := range now.classes {
		bytes := c.covered.Bytes()
		if p != nil && bytes <= p.least && p.cores.Contains(c.cores) {
			continue
		}
		for core := range c.cores.All() {
			if bytes > p.at(core) {
				return true
			}
		}
	}
	return false
}

// raise returns the larger of the peaks and what is held now.
func (p *corePeaks) raise(now *partition, h *hashes) *corePeaks {
	to := &corePeaks{}
	if p != nil {
		to.cores, to.rows = p.cores, p.rows
	}
	for _, c := range now.classes {
		to.cores = to.cores.Union(c.cores)
	}
	cols := 0
	for core := range to.cores.All() {
		to.rows, cols = max(to.rows, int(core.Y)+1), max(cols, int(core.X)+1)
	}
	to.bytes = make([]uint64, cols*to.rows)
	for core := range to.cores.All() {
		to.bytes[int(core.X)*to.rows+int(core.Y)] = p.at(core)
	}
	for _, c := range now.classes {
		for core := range c.cores.All() {
			i := int(core.X)*to.rows + int(core.Y)
			to.bytes[i] = max(to.bytes[i], c.covered.Bytes())
		}
	}
	to.hash = h.of(0)
	for _, n := range to.bytes {
		to.hash = mix(to.hash ^ hash(n))
	}
	to.least = ^uint64(0)
	for core := range to.cores.All() {
		to.least = min(to.least, to.at(core))
	}
	return to
}
