package program

import (
	"hash/maphash"

	"github.com/cbl1/cbl1/l1"
)

// A workspace is where Build works. Nothing of it is in a program.
type workspace struct {
	spec *l1.Spec // of the program
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

// A desk is a workspace for a program of usual size, in one piece. Without it a program on one core
// range set is built in 1.2 times the time, with 39 allocations and not 13.
type desk struct {
	workspace
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

// newDesk returns an empty workspace.
func newDesk() *workspace {
	d := new(desk)
	d.workspace = workspace{
		roll:   roll{seed: maphash.MakeSeed(), keys: d.keys[:0], ends: d.ends[:0], table: d.table[:]},
		key:    d.key[:0],
		shapes: d.shapes[:0], of: d.of[:0], lows: d.lows[:0], cbs: d.cbs[:0], counts: d.counts[:0],
		ledgers: [2]ledger{{entries: d.entries[:0], own: d.own[:0], byShape: d.byShape[:0]}},
		areas:   d.areas[:0], layers: d.layers[:0], ranges: d.ranges[:0], held: d.held[:0],
		groupOf: d.groupOf[:0], sets: d.sets[:0], taken: d.taken[:0],
	}
	return &d.workspace
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
