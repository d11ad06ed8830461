package corepeaks

import (
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/l1"
)

// Peaks are the high-water marks of the cores of devices. The mark of a core
// is the larger of its peak here and what it holds now: before anything is taken off, the
// peaks are raised on the cores that it is taken off, and elsewhere bytes only grow.
// They never change; nil is zero everywhere.
type Peaks struct {
	Name    uint64   // given to no others
	columns []column // by x
}

// A column has the peaks of its rows, the last one not 0. Peaks that follow each other share columns, and so do
// neighbours that rose together.
type column []uint64

// ID returns the name, 0 for nil.
func (p *Peaks) ID() uint64 {
	if p == nil {
		return 0
	}
	return p.Name
}

// At returns the peak of a core.
func (p *Peaks) At(c l1.Core) uint64 {
	if of := p.column(int(c.X)); int(c.Y) < len(of) {
		return of[c.Y]
	}
	return 0
}

func (p *Peaks) column(x int) column {
	if p == nil || x >= len(p.columns) {
		return nil
	}
	return p.columns[x]
}

// Equal reports whether two marks are the same: devices that came to them each for
// itself share one.
func (p *Peaks) Equal(o *Peaks) bool {
	return p == o || p != nil && o != nil && slices.EqualFunc(p.columns, o.columns, slices.Equal)
}

// raise returns a column with at least so many bytes in the rows from start to end.
func (c column) raise(start, end int, bytes uint64) column {
	if end <= len(c) && slices.Min(c[start:end]) >= bytes {
		return c
	}
	out := make(column, max(end, len(c)))
	copy(out, c)
	for y := start; y < end; y++ {
		out[y] = max(out[y], bytes)
	}
	return out
}

// is reports whether two columns are one.
func (c column) is(o column) bool { return len(c) == len(o) && (len(c) == 0 || &c[0] == &o[0]) }

// RaiseOn returns peaks of at least so many bytes on some cores. It is p if none rises. Cost: O(cores).
func (p *Peaks) RaiseOn(cores l1.CoreSet, bytes uint64) *Peaks {
	to := p
	if bytes == 0 {
		return p
	}
	type rise struct {
		start, end int
		from, to   column
	}
	var last rise
	put := func(x, start, end int) {
		from := to.column(x)
		if !last.from.is(from) || last.start != start || last.end != end {
			last = rise{start, end, from, from.raise(start, end, bytes)}
		}
		if last.to.is(from) {
			return
		}
		if to == p {
			to = new(Peaks)
			if p != nil {
				to.columns = slices.Clone(p.columns)
			}
		}
		if missing := x + 1 - len(to.columns); missing > 0 {
			to.columns = append(to.columns, make([]column, missing)...)
		}
		to.columns[x] = last.to
	}
	x, start, end := -1, 0, 0 // rows in a row
	for core := range cores.All() {
		if int(core.X) != x || int(core.Y) != end {
			if x >= 0 {
				put(x, start, end)
			}
			x, start = int(core.X), int(core.Y)
		}
		end = int(core.Y) + 1
	}
	if x >= 0 {
		put(x, start, end)
	}
	return to
}

// With returns the larger of the peaks and what is held now, for each core.
func (p *Peaks) With(now *classes.Partition) *Peaks {
	for _, c := range now.Classes {
		p = p.RaiseOn(c.Cores, c.Covered.Bytes())
	}
	return p
}

// ByBytes returns the cores that have a peak, by how large it is. It writes nothing.
func (p *Peaks) ByBytes() iter.Seq2[uint64, l1.CoreSet] {
	return func(yield func(uint64, l1.CoreSet) bool) {
		by := p.rectangles()
		for _, bytes := range slices.Sorted(maps.Keys(by)) {
			cores, err := l1.NewCoreRangeSet(by[bytes]...)
			if err == nil && !yield(bytes, cores.Cores()) { // as it is: they are rectangles
				return
			}
		}
	}
}

// rectangles returns those that have the same peak, by that.
func (p *Peaks) rectangles() map[uint64][]l1.CoreRange {
	if p == nil {
		return nil
	}
	by := map[uint64][]l1.CoreRange{}
	for x, next := 0, 0; x < len(p.columns); x = next {
		for next = x + 1; next < len(p.columns) && p.columns[next].is(p.columns[x]); next++ {
		}
		rows := p.columns[x]
		for y, end := 0, 0; y < len(rows); y = end {
			for end = y + 1; end < len(rows) && rows[end] == rows[y]; end++ {
			}
			if rows[y] > 0 {
				r := l1.CoreRange{Start: l1.Core{X: uint8(x), Y: uint8(y)}, End: l1.Core{X: uint8(next - 1), Y: uint8(end - 1)}}
				by[rows[y]] = append(by[rows[y]], r)
			}
		}
	}
	return by
}
