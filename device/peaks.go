package device

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// corePeaks are the high-water marks of the cores of a group of devices. The mark of a core
// is the larger of its peak here and what it holds now: before anything is taken off, the
// peaks are raised on the cores that it is taken off, and elsewhere bytes only grow.
// They never change; nil is zero everywhere.
//
//	columns 0..3   rows 0..4: 2 KiB, rows 5..7: 1 KiB     one list, four times
//	column  4      rows 0..7: 2 KiB
//
// Peaks that follow each other share the columns in which they are equal, and so do
// neighbours that were raised together.
type corePeaks struct {
	columns [][]uint64 // by column, the bytes of each row; no list ends with nothing
}

// column returns the peaks of a column, up to the last one.
func (p *corePeaks) column(x int) []uint64 {
	if p == nil || x >= len(p.columns) {
		return nil
	}
	return p.columns[x]
}

// at returns the peak of a core.
func (p *corePeaks) at(c l1.Core) uint64 {
	if column := p.column(int(c.X)); int(c.Y) < len(column) {
		return column[c.Y]
	}
	return 0
}

// below reports whether a core of a rectangle has a peak of fewer bytes, at least 1.
func (p *corePeaks) below(r l1.CoreRange, bytes uint64) bool {
	start, end := int(r.Start.Y), int(r.End.Y)+1
	var last []uint64
	for x := int(r.Start.X); x <= int(r.End.X); x++ {
		column := p.column(x)
		switch {
		case shared(column, last):
			continue
		case len(column) < end:
			return true
		}
		for _, have := range column[start:end] {
			if have < bytes {
				return true
			}
		}
		last = column
	}
	return false
}

// equal reports whether two marks are the same: devices that came to them each for
// itself belong to one group.
func (p *corePeaks) equal(o *corePeaks) bool {
	return p == o || p != nil && o != nil && slices.EqualFunc(p.columns, o.columns, func(a, b []uint64) bool {
		return shared(a, b) || slices.Equal(a, b)
	})
}

// shared reports whether two columns are one list.
func shared(a, b []uint64) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }

// raise returns peaks of at least so many bytes in a rectangle.
func (p *corePeaks) raise(r l1.CoreRange, bytes uint64) *corePeaks {
	if !p.below(r, bytes) {
		return p
	}
	var before [][]uint64
	if p != nil {
		before = p.columns
	}
	to := make([][]uint64, max(len(before), int(r.End.X)+1))
	copy(to, before)
	var last []uint64 // what the column before was
	for x := int(r.Start.X); x <= int(r.End.X); x++ {
		was := to[x]
		if x > int(r.Start.X) && (shared(was, last) || len(was)+len(last) == 0) {
			to[x] = to[x-1]
		} else {
			to[x] = raisedRows(was, int(r.Start.Y), int(r.End.Y)+1, bytes)
		}
		last = was
	}
	return &corePeaks{to}
}

// raisedRows returns a copy of a column with at least so many bytes in the rows from start to end.
func raisedRows(column []uint64, start, end int, bytes uint64) []uint64 {
	to := make([]uint64, max(len(column), end))
	copy(to, column)
	for y := start; y < end; y++ {
		to[y] = max(to[y], bytes)
	}
	return to
}

// raiseOn returns peaks that are not below what a class holds. It goes from one rectangle to
// the next, which are parts of columns where no core is beyond a grid.
func (p *corePeaks) raiseOn(c *class) *corePeaks {
	bytes := c.covered.Bytes()
	if bytes == 0 {
		return p
	}
	part := l1.CoreRange{Start: c.first, End: c.first}
	for core := range c.cores.All() {
		switch {
		case beyond(core):
			for r := range c.cores.Ranges().All() {
				p = p.raise(r, bytes)
			}
			return p
		case core.X == part.End.X && core.Y <= part.End.Y+1:
			part.End = core
		default:
			p = p.raise(part, bytes)
			part = l1.CoreRange{Start: core, End: core}
		}
	}
	return p.raise(part, bytes)
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
	for group := range p.footprint(off).Groups() {
		p.meet(group.Cores(), func(at int) uint64 {
			c := &p.classes[at]
			if c.peaks == nil || c.peaks != to {
				to = to.raiseOn(c.class)
				c.peaks = to
			}
			return c.n
		})
	}
	s.folded = fold{off.serial, g.cores, to}
	return to
}

// groups returns the larger of the peaks and what is held now, for each core, by bytes.
func (p *corePeaks) groups(now *partition) (out []PeakGroup) {
	for _, c := range now.classes {
		p = p.raiseOn(c.class)
	}
	if p == nil {
		return nil
	}
	by := map[uint64][]l1.CoreRange{}
	for x, column := range p.columns {
		for start, y := 0, 0; y < len(column); start = y {
			for y < len(column) && column[y] == column[start] {
				y++
			}
			if bytes := column[start]; bytes > 0 {
				by[bytes] = append(by[bytes], l1.CoreRange{Start: l1.Core{X: uint8(x), Y: uint8(start)}, End: l1.Core{X: uint8(x), Y: uint8(y - 1)}})
			}
		}
	}
	for _, bytes := range slices.Sorted(maps.Keys(by)) {
		if cores, err := l1.NewCoreRangeSet(by[bytes]...); err == nil { // as it is: they are rectangles
			out = append(out, PeakGroup{cores.Cores(), bytes})
		}
	}
	return out
}
