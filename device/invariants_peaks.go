package device

import "slices"

// check verifies that peaks have one form: no two bands for a column, no two neighbours that
// are alike, and no rows without bytes behind the others.
func (p *corePeaks) check(t *audit) {
	if p == nil {
		return
	}
	next, last := 0, band{}
	for _, b := range p.bands {
		switch {
		case b.from < next, b.to < b.from:
			t.differs("first column with peaks, after others", uint64(b.from), uint64(next))
		case b.from == next && slices.Equal(b.rows, last.rows):
			t.differs("columns with equal peaks that stand apart", uint64(b.from), uint64(last.from))
		}
		end, bytes := 0, ^uint64(0)
		for _, s := range b.rows {
			if s.end <= end || s.bytes == bytes {
				t.differs("end of rows with a peak, after others", uint64(s.end), uint64(end))
			}
			end, bytes = s.end, s.bytes
		}
		t.once("peak of the last rows, at least 1", len(b.rows) > 0 && bytes > 0)
		next, last = b.to+1, b
	}
}

// checkKnown verifies what classes know of these peaks. What they know of others is not believed.
func (p *corePeaks) checkKnown(t *audit, now *partition) {
	for _, c := range now.classes {
		if c.peaks != p.id() {
			continue
		}
		for core := range c.cores.All() {
			if peak := p.at(core); peak < c.held {
				t.differs("bytes that a peak has at least, on "+coresText(c.cores), c.held, peak)
			}
		}
	}
}
