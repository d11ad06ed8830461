package device

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// corePeaks are the high-water marks of the cores of a group of devices, up to the
// last time that anything was taken off: since then bytes have only grown, so that
// the mark of a core is the larger of its peak here and what it holds now. They
// never change; nil is zero everywhere.
type corePeaks struct {
	parts []peakPart // by bytes; no two with the same
	cores l1.CoreSet // of all parts
	least uint64     // smallest peak of these
	hash  hash       // of the bytes of the parts
}

// A peakPart is the cores that held as much at most: more than 0 bytes.
type peakPart struct {
	bytes uint64
	cores l1.CoreSet
}

// Cost: O(distinct peaks), which are far fewer than cores.
func (p *corePeaks) at(c l1.Core) uint64 {
	if p == nil {
		return 0
	}
	for _, part := range p.parts {
		if part.cores.Has(c) {
			return part.bytes
		}
	}
	return 0
}

// equal reports whether two marks are the same: devices that came to them each for
// itself belong to one group.
func (p *corePeaks) equal(o *corePeaks) bool {
	return p == o || p != nil && o != nil && slices.EqualFunc(p.parts, o.parts, func(a, b peakPart) bool {
		return a.bytes == b.bytes && a.cores.Equal(b.cores)
	})
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
	if p.above(to) {
		to = to.raise(p)
		to.hash = f.hashes.of(0)
		for _, part := range to.parts { // not of the cores: few marks differ in them alone
			to.hash = mix(to.hash ^ hash(part.bytes))
		}
	}
	s.folded = fold{true, g.cores, to}
	clear(p.growth.classes)
	p.growth = growth{since: to, classes: p.growth.classes[:0], age: p.growth.age + 1}
	return to
}

// A growth is the classes of a partition that may hold more than some peaks: no other one
// does. So whoever raises peaks again looks at what was touched.
type growth struct {
	since   *corePeaks // nil = not known
	classes []*class   // some may have ended
	age     uint64     // of the list; the classes in it have the same
}

// grew notes that a class holds more than before.
func (g *growth) grew(c *class) {
	if g.since != nil && c.grown != g.age {
		c.grown = g.age
		g.classes = append(g.classes, c)
	}
}

// above reports whether a core holds more than its peak.
func (p *partition) above(peaks *corePeaks) bool {
	if peaks == nil || peaks != p.growth.since {
		return peaks.below(p.classes)
	}
	return peaks.below(p.growth.classes)
}

// below reports whether a core of the classes holds more than its peak.
func (p *corePeaks) below(now []*class) bool {
	for _, c := range now {
		bytes := c.covered.Bytes()
		switch {
		case bytes == 0:
			continue
		case p == nil || !p.cores.Contains(c.cores):
			return true
		case bytes <= p.least:
			continue
		}
		for _, part := range p.parts {
			if part.bytes < bytes && part.cores.Overlaps(c.cores) {
				return true
			}
		}
	}
	return false
}

// raise returns the larger of the peaks and what is held now.
func (p *corePeaks) raise(now *partition) *corePeaks {
	by := map[uint64]l1.CoreSet{}
	var had l1.CoreSet // cores with a peak
	if p != nil {
		had = p.cores
		for _, part := range p.parts {
			left := part.cores
			for _, c := range now.classes {
				if bytes := c.covered.Bytes(); bytes > part.bytes && left.Overlaps(c.cores) {
					by[bytes] = by[bytes].Union(left.Intersect(c.cores))
					left = left.Minus(c.cores)
				}
			}
			by[part.bytes] = by[part.bytes].Union(left)
		}
	}
	to := &corePeaks{cores: had}
	for _, c := range now.classes {
		if bytes := c.covered.Bytes(); bytes > 0 {
			by[bytes] = by[bytes].Union(c.cores.Minus(had))
			to.cores = to.cores.Union(c.cores)
		}
	}
	for _, bytes := range slices.Sorted(maps.Keys(by)) {
		if cores := by[bytes]; !cores.IsEmpty() {
			to.parts = append(to.parts, peakPart{bytes, cores})
		}
	}
	to.least = ^uint64(0)
	if len(to.parts) > 0 {
		to.least = to.parts[0].bytes
	}
	return to
}
