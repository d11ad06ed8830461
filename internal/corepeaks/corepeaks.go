package corepeaks

import (
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// Marks are the high-water marks of the cores of devices. The mark of a core is the larger of its
// peak here and its present bytes: before anything is taken off some cores, their peaks are raised,
// and elsewhere bytes only grow. They never change; nil is zero everywhere.
//
//	columns 0..3   rows 0..4: 2 KiB, rows 5..7: 1 KiB
//	column  4      rows 0..7: 2 KiB
//
// Marks that follow each other share the rows of columns in which they are equal.
type Marks struct {
	Name    uint64 // given to no others
	columns runs[rows]
}

// rows are the marks of the rows of some columns.
type rows = runs[uint64]

// ID returns the name, 0 for nil.
func (p *Marks) ID() uint64 {
	if p == nil {
		return 0
	}
	return p.Name
}

// At returns the mark of a core. Cost: O(columns + rows that differ).
func (p *Marks) At(c l1.Core) uint64 { return p.all().at(int(c.X)).at(int(c.Y)) }

// all returns the marks of all columns.
func (p *Marks) all() runs[rows] {
	if p == nil {
		return nil
	}
	return p.columns
}

// Equal reports whether two marks are the same: devices that came to them each for
// itself share one.
func (p *Marks) Equal(o *Marks) bool {
	return p == o || slices.EqualFunc(p.all(), o.all(), func(a, b run[rows]) bool {
		return a.end == b.end && equalRows(a.value, b.value)
	})
}

// raise returns Marks of at least so many bytes in a rectangle.
func (p *Marks) raise(r l1.CoreRange, bytes uint64) *Marks {
	top, end := int(r.Start.Y), int(r.End.Y)+1
	low := func(b uint64) bool { return b < bytes }
	rises := func(column rows) bool { return column.any(top, end, low) }
	left, right := int(r.Start.X), int(r.End.X)+1
	if !p.all().any(left, right, rises) {
		return p
	}
	raised := func(b uint64) uint64 { return max(b, bytes) }
	return &Marks{columns: p.all().with(left, right, equalRows, func(column rows) rows {
		if !rises(column) {
			return column
		}
		return column.with(top, end, equalBytes, raised)
	})}
}

// RaiseOn returns Marks of at least so many bytes on some cores. One core needs no list of rectangles.
func (p *Marks) RaiseOn(cores l1.CoreSet, bytes uint64) *Marks {
	if c, ok := cores.First(); ok && cores.Len() == 1 {
		return p.raise(l1.CoreRange{Start: c, End: c}, bytes)
	}
	for r := range cores.Ranges().All() {
		p = p.raise(r, bytes)
	}
	return p
}

// ByBytes returns the cores that have a mark, by its size. It writes nothing.
func (p *Marks) ByBytes() iter.Seq2[uint64, l1.CoreSet] {
	by := map[uint64][]l1.CoreRange{}
	left := 0
	for _, columns := range p.all() {
		top := 0
		for _, rows := range columns.value {
			r := l1.CoreRange{
				Start: l1.Core{X: uint8(left), Y: uint8(top)},
				End:   l1.Core{X: uint8(columns.end - 1), Y: uint8(rows.end - 1)},
			}
			by[rows.value] = append(by[rows.value], r)
			top = rows.end
		}
		left = columns.end
	}
	delete(by, 0)
	return func(yield func(uint64, l1.CoreSet) bool) {
		for _, bytes := range slices.Sorted(maps.Keys(by)) {
			cores, err := l1.NewCoreRangeSet(by[bytes]...)
			if err == nil && !yield(bytes, cores.Cores()) { // as it is: they are rectangles
				return
			}
		}
	}
}
