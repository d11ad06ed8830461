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
//
//	bands   columns 0..3   rows 0..4: 2 KiB, rows 5..7: 1 KiB
//	        column  4      rows 0..7: 2 KiB
//
// Peaks that follow each other share the rows of bands in which they are equal.
type Peaks struct {
	Name  uint64 // given to no others
	bands []band // by column, disjoint; neighbours differ
}

// A band is columns that have the same peaks in all rows.
type band struct {
	from, to int // columns, both included
	rows     []stretch
}

// A stretch is rows with the same peak, up to end, from where the one before ends. The last
// one is not 0, and neighbours differ.
type stretch struct {
	end   int
	bytes uint64
}

// ID returns the name, 0 for nil.
func (p *Peaks) ID() uint64 {
	if p == nil {
		return 0
	}
	return p.Name
}

// At returns the peak of a core. Cost: O(bands + stretches), at most columns and rows.
func (p *Peaks) At(c l1.Core) uint64 { return p.least(l1.CoreRange{Start: c, End: c}) }

// least returns the smallest peak in a rectangle.
func (p *Peaks) least(r l1.CoreRange) uint64 {
	if p == nil {
		return 0
	}
	least, next := ^uint64(0), int(r.Start.X)
	for i := range p.bands {
		b := &p.bands[i]
		if b.to < next {
			continue
		}
		if b.from > next {
			return 0
		}
		least = min(least, b.least(int(r.Start.Y), int(r.End.Y)+1))
		if next = b.to + 1; next > int(r.End.X) {
			return least
		}
	}
	return 0
}

// least returns the smallest peak of the rows from start to end.
func (b *band) least(start, end int) uint64 {
	least := ^uint64(0)
	for _, s := range b.rows {
		if s.end > start {
			least = min(least, s.bytes)
			if s.end >= end {
				return least
			}
		}
	}
	return 0
}

// Equal reports whether two marks are the same: devices that came to them each for
// itself share one.
func (p *Peaks) Equal(o *Peaks) bool {
	return p == o || p != nil && o != nil && slices.EqualFunc(p.bands, o.bands, func(a, b band) bool {
		return a.from == b.from && a.to == b.to && slices.Equal(a.rows, b.rows)
	})
}

// raise returns peaks of at least so many bytes in a rectangle.
func (p *Peaks) raise(r l1.CoreRange, bytes uint64) *Peaks {
	if p.least(r) >= bytes {
		return p
	}
	var bands []band
	if p != nil {
		bands = p.bands
	}
	next, last := int(r.Start.X), int(r.End.X) // columns of r that are to come
	before := 0
	for before < len(bands) && bands[before].to < next {
		before++
	}
	to := Peaks{bands: append(make([]band, 0, max(1, len(bands))), bands[:before]...)} // most often each column has a band
	part := func(b band, from, to int) band { return band{max(b.from, from), min(b.to, to), b.rows} }
	hole := func(end int) {
		if end = min(end, last+1); next < end {
			to.put(band{next, end - 1, nil}.raise(r, bytes))
			next = end
		}
	}
	for i, b := range bands[before:] {
		hole(b.from)
		if b.from > last {
			to.put(b)
			to.bands = append(to.bands, bands[before+i+1:]...)
			break
		}
		to.put(part(b, 0, int(r.Start.X)-1))
		if inside := part(b, int(r.Start.X), last); inside.from <= inside.to {
			to.put(inside.raise(r, bytes))
			next = inside.to + 1
		}
		to.put(part(b, last+1, b.to))
	}
	hole(last + 1)
	return &to
}

// put appends a band, which may have no columns.
func (p *Peaks) put(b band) {
	if b.from > b.to {
		return
	}
	if i := len(p.bands) - 1; i >= 0 && p.bands[i].to+1 == b.from && slices.Equal(p.bands[i].rows, b.rows) {
		p.bands[i].to = b.to
		return
	}
	p.bands = append(p.bands, b)
}

// raise returns the band with at least so many bytes in the rows of r.
func (b band) raise(r l1.CoreRange, bytes uint64) band {
	start, end := int(r.Start.Y), int(r.End.Y)+1
	if b.least(start, end) >= bytes {
		return b
	}
	rows := make([]stretch, 0, len(b.rows)+2)
	at := 0
	put := func(end int, bytes uint64) {
		switch last := len(rows) - 1; {
		case end <= at:
			return
		case last >= 0 && rows[last].bytes == bytes:
			rows[last].end = end
		default:
			rows = append(rows, stretch{end, bytes})
		}
		at = end
	}
	for _, s := range b.rows {
		put(min(s.end, start), s.bytes)
		put(min(s.end, end), max(s.bytes, bytes))
		if s.end > end {
			put(s.end, s.bytes)
		}
	}
	put(start, 0)
	put(end, bytes)
	b.rows = rows
	return b
}

// RaiseOn returns peaks of at least so many bytes on some cores. It goes from one rectangle to
// the next, which are parts of columns where no core is beyond a grid.
func (p *Peaks) RaiseOn(cores l1.CoreSet, bytes uint64) *Peaks {
	start, ok := cores.First()
	if !ok || bytes == 0 {
		return p
	}
	part := l1.CoreRange{Start: start, End: start}
	if cores.Len() == 1 {
		return p.raise(part, bytes)
	}
	for core := range cores.All() {
		switch {
		case classes.Beyond(core):
			for r := range cores.Ranges().All() {
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
	for _, b := range p.bands {
		start := 0
		for _, s := range b.rows {
			if s.bytes > 0 {
				r := l1.CoreRange{Start: l1.Core{X: uint8(b.from), Y: uint8(start)}, End: l1.Core{X: uint8(b.to), Y: uint8(s.end - 1)}}
				by[s.bytes] = append(by[s.bytes], r)
			}
			start = s.end
		}
	}
	return by
}
