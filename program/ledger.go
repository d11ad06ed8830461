package program

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A ledger is tt-metal's placement bookkeeping for the CBs of one program: an entry
// per distinct core range, merged or as written, each with the regions charged to all
// its cores.
//
//	entries of    X {[0-0 - 1-0]}  Y {[1-0 - 2-0]}
//
//	[0-0 - 1-0]   [base, base+4096)   X marks every entry that it touches
//	[1-0 - 2-0]   [base, base+4096)   the core range 1-0 is in both
//
// The entries of all CBs exist before the first address is computed. A CB goes
// above what is marked on its own entries, those with exactly its ranges; other
// entries that it touches are skipped if they are "already marked higher". So two
// CBs can share bytes of a core, which tt-metal does not notice (finding Overlap).
type ledger struct {
	spec    l1.Spec
	known   *Shapes
	entries []entry
	byShape [][]int32 // shape -> its own entries; nil if no CB of the ledger has the shape

	rows   int       // rows of tiles
	byTile [][]int32 // entries by the blocks of 16x16 cores that they touch, x*rows+y
}

type entry struct {
	cores   l1.CoreRange
	shape   int        // the last one that named it
	end     uint64     // where the next CB may start: the highest end marked, 0 if there is none
	regions []l1.Range // not empty; sorted and disjoint but for CBs that the rule would refuse
}

// newLedger returns the ledger for the CBs of which use says that they are in it.
// Entries go by core ranges as stated if written is set, else by merged ones.
func newLedger(spec l1.Spec, known *Shapes, shapes []shape, written bool, use func(cb int) bool) *ledger {
	l := &ledger{spec: spec, known: known, byShape: make([][]int32, len(shapes))}
	index := map[l1.CoreRange]int32{}
	cols := 0
	for _, k := range namedBy(shapes, use) {
		ranges := shapes[k].ranges
		if written {
			ranges = shapes[k].stated
		}
		for r := range ranges.All() {
			i, found := index[r]
			switch {
			case !found:
				i = int32(len(l.entries))
				index[r] = i
				l.entries = append(l.entries, entry{cores: r})
				cols, l.rows = max(cols, int(r.End.X>>4)+1), max(l.rows, int(r.End.Y>>4)+1)
			case l.entries[i].shape == k: // repeated
				continue
			}
			l.entries[i].shape = k
			l.byShape[k] = append(l.byShape[k], i)
		}
	}
	l.byTile = make([][]int32, cols*l.rows)
	for i := range l.entries {
		l.tiles(l.entries[i].cores, func(tile int) {
			l.byTile[tile] = append(l.byTile[tile], int32(i))
		})
	}
	return l
}

// namedBy returns the shapes that CBs of the ledger name, by the first of these: other
// CBs may have named them in another order.
func namedBy(shapes []shape, use func(cb int) bool) (out []int) {
	first := make([]int, len(shapes))
	for k := range shapes {
		if i := slices.IndexFunc(shapes[k].cbs, use); i >= 0 {
			first[k] = shapes[k].cbs[i]
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b int) int { return first[a] - first[b] })
	return out
}

// tiles calls do for every tile that r touches.
func (l *ledger) tiles(r l1.CoreRange, do func(tile int)) {
	for x := int(r.Start.X >> 4); x <= int(r.End.X>>4); x++ {
		for y := int(r.Start.Y >> 4); y <= int(r.End.Y>>4); y++ {
			do(x*l.rows + y)
		}
	}
}

// touching calls do for every entry that shares a core with r, for large ones
// perhaps more than once.
func (l *ledger) touching(r l1.CoreRange, do func(*entry)) {
	candidates := 0
	l.tiles(r, func(tile int) { candidates += len(l.byTile[tile]) })
	if candidates >= len(l.entries) { // on real boards, which are one tile
		for i := range l.entries {
			if e := &l.entries[i]; e.cores.Overlaps(r) {
				do(e)
			}
		}
		return
	}
	l.tiles(r, func(tile int) {
		for _, i := range l.byTile[tile] {
			if e := &l.entries[i]; e.cores.Overlaps(r) {
				do(e)
			}
		}
	})
}

// meeting calls do for every entry that shares a core with one of own, own ones
// included, perhaps more than once.
func (l *ledger) meeting(own []int32, do func(*entry)) {
	if !l.crowded(own) {
		for _, i := range own {
			l.touching(l.entries[i].cores, do)
		}
		return
	}
	ranges := make([]l1.CoreRange, len(own))
	for k, i := range own {
		ranges[k] = l.entries[i].cores
	}
	cover := newCover(ranges)
	for i := range l.entries {
		if e := &l.entries[i]; cover.meets(e.cores) {
			do(e)
		}
	}
}

// crowded reports whether own are so many that it is less work to look at each entry
// once than at those around each of own. As written they may all overlap.
func (l *ledger) crowded(own []int32) bool {
	const few = 8
	candidates := 0
	for k := 0; k < len(own) && len(own) > few && candidates <= len(l.entries); k++ {
		l.tiles(l.entries[own[k]].cores, func(tile int) { candidates += len(l.byTile[tile]) })
	}
	return candidates > len(l.entries)
}

// next returns the address that tt-metal gives to a CB with these entries of its
// own. ok is false beyond l1.MaxAddr.
func (l *ledger) next(own []int32) (addr uint64, ok bool) {
	addr = l.spec.CBBase
	for _, i := range own {
		addr = max(addr, l.entries[i].end)
	}
	return l.spec.AlignCB(addr)
}

// nextAbove is next for scratchpads, which look at every entry they touch.
func (l *ledger) nextAbove(own []int32) (addr uint64, ok bool) {
	addr = l.spec.CBBase
	l.meeting(own, func(e *entry) { addr = max(addr, e.end) })
	return l.spec.AlignCB(addr)
}

// mark charges a CB at an address to every entry that it touches, each once, and
// reports whether the rule allows that: an address that the ledger gave always is;
// one given from outside may lie below what is marked on the CB's own entries, and
// is then added all the same. An entry without a mark takes any address.
func (l *ledger) mark(own []int32, at l1.Range) (asRule bool) {
	asRule = true
	for _, i := range own {
		if at.Start < l.entries[i].end {
			asRule = false
		}
		l.entries[i].add(at)
	}
	l.meeting(own, func(e *entry) {
		// Below the end: "already marked higher", by another CB, or by this one
		// through another of its ranges. (If it is empty, again adds nothing.)
		if at.Start >= e.end {
			e.add(at)
		}
	})
	return asRule
}

func (e *entry) add(at l1.Range) {
	e.end = max(e.end, at.End)
	n := len(e.regions)
	switch {
	case at.IsEmpty():
	case n > 0 && e.regions[n-1].End == at.Start:
		e.regions[n-1].End = at.End
	default:
		e.regions = append(e.regions, at)
	}
}

// marked returns the entries with a region, in creation order.
func (l *ledger) marked() (out []Entry) {
	for i := range l.entries {
		if e := &l.entries[i]; len(e.regions) > 0 {
			out = append(out, Entry{e.cores, e.end})
		}
	}
	return out
}

// footprint returns what the ledger charges: every entry's regions on all its cores.
func (l *ledger) footprint() (Footprint, bool) {
	var layers []layer
	var cores [][]l1.CoreRange
	same := map[string]int{} // regions -> position in layers
	var key []byte
	for i := range l.entries {
		e := &l.entries[i]
		if len(e.regions) == 0 {
			continue
		}
		e.regions = l1.Merge(e.regions)
		key = appendRanges(key[:0], e.regions)
		k, found := same[string(key)]
		if !found {
			k = len(layers)
			same[string(key)] = k
			layers, cores = append(layers, layer{ranges: e.regions}), append(cores, nil)
		}
		cores[k] = append(cores[k], e.cores)
	}
	areas := make([]area, len(layers))
	for k := range areas {
		areas[k] = l.known.area(cores[k])
	}
	return footprintOf(layers, l.known.divide(areas))
}
