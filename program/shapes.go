package program

import (
	"encoding/binary"

	"github.com/cbl1/cbl1/l1"
)

// Shapes remember what was worked out of the core range sets that programs name: those of
// one run name the same few, in the same order. A program that is built with them is the
// same, and built faster: what costs time for each core is done once. The zero Shapes are
// empty and ready. They belong to one goroutine, and hold some hundred sets at most.
type Shapes struct {
	shapes map[string]shape // by grid and ranges; without their CBs
	areas  map[string]area
	cells  map[string][]cell
	key    []byte
}

// What Shapes remember: of so many sets each, until all are forgotten, with keys of at most so
// many bytes, and divided into at most so many cells.
const (
	maxShapes   = 256
	maxShapeKey = 512
	maxCells    = 16
)

// Shapes makes Build look into s first, and returns b.
func (b *Builder) Shapes(s *Shapes) *Builder {
	b.shapes = s
	return b
}

// remembered returns what a map has for a key, or finds and keeps it.
func remembered[V any](in *map[string]V, key []byte, find func() V, keep func(V) bool) V {
	if v, ok := (*in)[string(key)]; ok {
		return v
	}
	v := find()
	if len(key) > maxShapeKey || !keep(v) {
		return v
	}
	if *in == nil {
		*in = map[string]V{}
	}
	if len(*in) == maxShapes {
		clear(*in)
	}
	(*in)[string(key)] = v
	return v
}

func always[V any](V) bool { return true }

// shape is newShape. The key says the ranges of the set.
func (s *Shapes) shape(key []byte, set l1.CoreRangeSet, spec l1.Spec) shape {
	if s == nil {
		return newShape(set, spec)
	}
	s.key = binary.LittleEndian.AppendUint64(s.key[:0], uint64(spec.Cols))
	s.key = binary.LittleEndian.AppendUint64(s.key, uint64(spec.Rows))
	s.key = append(s.key, key...)
	return remembered(&s.shapes, s.key, func() shape { return newShape(set, spec) }, always)
}

// area is newArea.
func (s *Shapes) area(ranges []l1.CoreRange) area {
	if s == nil {
		return newArea(ranges)
	}
	s.key = s.key[:0]
	for _, r := range ranges {
		s.key = appendCores(s.key, r)
	}
	return remembered(&s.areas, s.key, func() area { return newArea(ranges) }, always)
}

// divide is cells.
func (s *Shapes) divide(areas []area) []cell {
	if s == nil {
		return cells(areas)
	}
	s.key = s.key[:0]
	for _, a := range areas {
		s.key = binary.LittleEndian.AppendUint32(s.key, uint32(a.ranges.Len()))
		for r := range a.ranges.All() {
			s.key = appendCores(s.key, r)
		}
	}
	return remembered(&s.cells, s.key, func() []cell { return cells(areas) }, func(all []cell) bool { return len(all) <= maxCells })
}

func appendCores(to []byte, r l1.CoreRange) []byte {
	return append(to, r.Start.X, r.Start.Y, r.End.X, r.End.Y)
}
