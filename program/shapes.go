package program

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/cbl1/cbl1/l1"
)

// Shapes remember what was worked out of the core range sets that programs name: those of
// one run name the same few, in the same order. A program that is built with them is the
// same, and built faster: what costs time for each core is done once, in memory that is used
// again. The zero Shapes are empty and ready. They belong to one goroutine, and hold some
// hundred sets at most.
type Shapes struct {
	known     map[string]shape // by grid and ranges; without their CBs
	cut       map[string]area
	divisions map[string]division
	forget    bool     // those of one Builder, which builds once
	spec      *l1.Spec // of the last program
	workspace
}

// A workspace is where Build works. Nothing of it is in a program.
type workspace struct {
	roll
	numbering
	key     []byte
	shapes  []shape
	of      []int    // CB -> its shape
	lows    []uint64 // shape -> the lowest address of its CBs
	cbs     []int    // of the shapes
	counts  []int32
	ledgers [2]ledger
	areas   []area
	layers  []layer
	ranges  []l1.Range // of the groups of a footprint
	held    []l1.Range // of the CBs
	groupOf []int32    // cell -> 1 + its group
	taken   []int32    // layer -> the cell that has it already
	sets    []l1.CoreSet
}

// A desk is a workspace for a program of usual size, in one piece: a Builder that builds
// once has no use for one that grows.
type desk struct {
	Shapes
	key     [64]byte
	keys    [64]byte
	ends    [8]int
	table   [16]int32
	shapes  [3]shape
	of, cbs [16]int
	counts  [4]int32
	lows    [3]uint64
	entries [4]entry
	own     [4]int32
	byShape [4]span
	areas   [4]area
	layers  [4]layer
	ranges  [16]l1.Range
	held    [16]l1.Range
	groupOf [4]int32
	taken   [4]int32
	sets    [4]l1.CoreSet
}

// newDesk returns Shapes that remember nothing.
func newDesk() *Shapes {
	d := new(desk)
	d.Shapes = Shapes{forget: true, workspace: workspace{
		roll:   roll{seed: maphash.MakeSeed(), keys: d.keys[:0], ends: d.ends[:0], table: d.table[:]},
		key:    d.key[:0],
		shapes: d.shapes[:0], of: d.of[:0], lows: d.lows[:0], cbs: d.cbs[:0], counts: d.counts[:0],
		ledgers: [2]ledger{{entries: d.entries[:0], own: d.own[:0], byShape: d.byShape[:0]}},
		areas:   d.areas[:0], layers: d.layers[:0], ranges: d.ranges[:0], held: d.held[:0],
		groupOf: d.groupOf[:0], sets: d.sets[:0], taken: d.taken[:0],
	}}
	return &d.Shapes
}

// A division is areas cut into cells, and their union.
type division struct {
	cells []cell
	union l1.CoreSet
}

// What Shapes remember: of so many sets each, until all are forgotten, with keys of at most so
// many bytes, and divided into at most so many cells.
const (
	maxShapes   = 256
	maxShapeKey = 512
	maxCells    = 64
)

// Shapes makes Build look into s first, and returns b.
func (b *Builder) Shapes(s *Shapes) *Builder {
	b.shapes = s
	return b
}

// remembered returns what a map has for a key, or finds and keeps it.
func remembered[V any](s *Shapes, in *map[string]V, key []byte, find func() V, keep func(V) bool) V {
	if v, ok := (*in)[string(key)]; ok {
		return v
	}
	v := find()
	if s.forget || len(key) > maxShapeKey || !keep(v) {
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

// shape is newShape.
func (s *Shapes) shape(set l1.CoreRangeSet, spec l1.Spec) shape {
	s.key = binary.LittleEndian.AppendUint64(s.key[:0], uint64(spec.Cols))
	s.key = binary.LittleEndian.AppendUint64(s.key, uint64(spec.Rows))
	s.key = appendSet(s.key, set)
	return remembered(s, &s.known, s.key, func() shape { return newShape(set, spec) }, always)
}

// area is newArea.
func (s *Shapes) area(ranges []l1.CoreRange) area {
	s.key = s.key[:0]
	for _, r := range ranges {
		s.key = appendCores(s.key, r)
	}
	return remembered(s, &s.cut, s.key, func() area { return newArea(ranges) }, always)
}

// divide cuts areas into cells.
func (s *Shapes) divide(areas []area) division {
	s.key = s.key[:0]
	for _, a := range areas {
		s.key = binary.LittleEndian.AppendUint32(s.key, uint32(a.ranges.Len()))
		s.key = appendSet(s.key, a.ranges)
	}
	return remembered(s, &s.divisions, s.key, func() division { return newDivision(s.cells(areas)) },
		func(d division) bool { return len(d.cells) <= maxCells })
}

func newDivision(cells []cell) division {
	if len(cells) == 1 {
		return division{cells, cells[0].cores}
	}
	sets := make([]l1.CoreSet, len(cells))
	for k := range cells {
		sets[k] = cells[k].cores
	}
	return division{cells, unite(sets)}
}

func appendSet(to []byte, set l1.CoreRangeSet) []byte {
	for r := range set.All() {
		to = appendCores(to, r)
	}
	return to
}

func appendCores(to []byte, r l1.CoreRange) []byte {
	return append(to, r.Start.X, r.Start.Y, r.End.X, r.End.Y)
}
