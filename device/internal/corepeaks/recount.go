package corepeaks

import (
	"slices"

	"github.com/cbl1/cbl1/device/internal/audit"
	"github.com/cbl1/cbl1/device/internal/classes"
)

// Check verifies that peaks have one form: no two bands for a column, no two neighbours that
// are alike, and no rows without bytes behind the others.
func (p *Peaks) Check(t *audit.Audit) {
	if p == nil {
		return
	}
	next, last := 0, band{}
	for _, b := range p.bands {
		switch {
		case b.from < next, b.to < b.from:
			t.Differs("first column with peaks, after others", uint64(b.from), uint64(next))
		case b.from == next && slices.Equal(b.rows, last.rows):
			t.Differs("columns with equal peaks that stand apart", uint64(b.from), uint64(last.from))
		}
		end, bytes := 0, ^uint64(0)
		for _, s := range b.rows {
			if s.end <= end || s.bytes == bytes {
				t.Differs("end of rows with a peak, after others", uint64(s.end), uint64(end))
			}
			end, bytes = s.end, s.bytes
		}
		t.Once("peak of the last rows, at least 1", len(b.rows) > 0 && bytes > 0)
		next, last = b.to+1, b
	}
}

// CheckKnown verifies what classes know of these peaks. What they know of others is not believed.
func (p *Peaks) CheckKnown(t *audit.Audit, now *classes.Partition) {
	for _, c := range now.Classes {
		if c.Peaks != p.ID() {
			continue
		}
		for core := range c.Cores.All() {
			if peak := p.At(core); peak < c.Held {
				t.Differs("bytes that a peak has at least, on "+audit.CoresText(c.Cores), c.Held, peak)
			}
		}
	}
}
