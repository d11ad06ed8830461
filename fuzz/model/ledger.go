package model

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Place returns the address that tt-metal gives to each CB of a program, in creation order. Circular
// buffers have a bookkeeping of their own. Dataflow buffers and scratchpads share one, in which scratchpads
// come last. CBs with a given address keep it; global ones without get 0.
func Place(spec l1.Spec, cbs []program.CB) []uint64 { return placeBy(spec, nil, recut, cbs) }

// PlaceAsWritten is Place for programs whose core ranges stay as they are.
func PlaceAsWritten(spec l1.Spec, cbs []program.CB) []uint64 { return placeBy(spec, nil, written, cbs) }

// PlaceLike is Place for the CBs of a built program, above its bases.
func PlaceLike(p *program.Program) []uint64 {
	cut, cbs, bases := recut, []program.CB(nil), slices.Collect(p.Bases())
	if p.AsWritten() {
		cut = written
	}
	for _, placed := range p.CBs() {
		cbs = append(cbs, placed.CB)
	}
	return placeBy(p.Spec(), bases, cut, cbs)
}

func withBytes(entries []*entry) (out []program.Entry) {
	for _, e := range entries {
		if !e.bytes.empty() {
			out = append(out, program.Entry{Cores: e.cores, End: e.end})
		}
	}
	return out
}

// ledgers returns the kinds that share a bookkeeping, in the order in which they are placed.
func ledgers() [][]program.Kind {
	return [][]program.Kind{{program.CircularBuffer}, {program.DataflowBuffer, program.Scratchpad}}
}

func placeBy(spec l1.Spec, bases []program.Base, cut cut, cbs []program.CB) []uint64 {
	out := make([]uint64, len(cbs))
	for _, kinds := range ledgers() {
		entries := entriesOf(cut, cbs, kinds)
		for _, kind := range kinds {
			for i, cb := range cbs {
				if cb.Kind != kind {
					continue
				}
				first, on := aliases(cbs, i)
				switch {
				case cb.Fixed:
					out[i] = cb.Address
				case cb.Global:
				case first < i:
					out[i] = out[first]
				default:
					out[i] = addressFor(spec, lowOn(spec, bases, on), cut, on, entries, kind == program.Scratchpad)
				}
				if !cb.Global && first == i {
					mark(rangesOf(cut, on), l1.Range{Start: out[i], End: out[i] + cb.Size}, entries)
				}
			}
		}
	}
	return out
}

// aliases returns the first CB that shares the address of one, and the cores of all that do.
func aliases(cbs []program.CB, i int) (first int, on []l1.CoreRangeSet) {
	first = i
	for k, other := range cbs {
		if k == i || cbs[i].Alias != 0 && other.Alias == cbs[i].Alias {
			first, on = min(first, k), append(on, other.Cores)
		}
	}
	return first, on
}

// An entry is the bookkeeping of one core range.
type entry struct {
	cores  l1.CoreRange
	marked bool
	end    uint64 // of the last region
	bytes  byteSet
}

// A cut gives the rectangles of a set that the bookkeeping goes by: recut or written.
type cut func(l1.CoreRangeSet) []l1.CoreRange

// written leaves a set as it is.
func written(set l1.CoreRangeSet) []l1.CoreRange { return slices.Collect(set.All()) }

// rangesOf returns the rectangles of some sets.
func rangesOf(cut cut, sets []l1.CoreRangeSet) (out []l1.CoreRange) {
	for _, set := range sets {
		out = append(out, cut(set)...)
	}
	return out
}

// entriesOf returns one entry for each distinct core range that CBs of some kinds name,
// local and global ones alike.
func entriesOf(cut cut, cbs []program.CB, kinds []program.Kind) []*entry {
	var out []*entry
	for _, cb := range cbs {
		if !slices.Contains(kinds, cb.Kind) {
			continue
		}
		for _, r := range cut(cb.Cores) {
			if !slices.ContainsFunc(out, func(e *entry) bool { return e.cores == r }) {
				out = append(out, &entry{cores: r})
			}
		}
	}
	return out
}

// charged returns the entries of some kinds, charged with their local CBs, which have addresses, kind by kind. An
// alias group is charged with its first CB. outOfOrder are the CBs that start below an entry of their own ranges.
func charged(cut cut, cbs []program.CB, kinds []program.Kind) (entries []*entry, outOfOrder []int) {
	entries = entriesOf(cut, cbs, kinds)
	for _, kind := range kinds {
		for i, cb := range cbs {
			first, on := aliases(cbs, i)
			if cb.Kind != kind || cb.Global || first < i {
				continue
			}
			if mark(rangesOf(cut, on), l1.Range{Start: cb.Address, End: cb.Address + cb.Size}, entries) {
				outOfOrder = append(outOfOrder, i)
			}
		}
	}
	return entries, outOfOrder
}

// lowOn returns the highest base of some cores: among the device's base and the bases of sets with
// one of the cores.
func lowOn(spec l1.Spec, bases []program.Base, on []l1.CoreRangeSet) uint64 {
	low := spec.CBBase
	for _, cores := range on {
		for c := range covered(cores) {
			for _, base := range bases {
				if covered(base.Cores)[c] && base.Address > low {
					low = base.Address
				}
			}
		}
	}
	return low
}

// addressFor returns the highest end of the entries with exactly the ranges of a CB, or the lowest address
// of its cores, rounded up. A scratchpad is above all entries that share a core with it.
func addressFor(spec l1.Spec, low uint64, cut cut, on []l1.CoreRangeSet, entries []*entry, scratchpad bool) uint64 {
	addr := low
	for _, r := range rangesOf(cut, on) {
		for _, e := range entries {
			if e.marked && e.end > addr && (e.cores == r || scratchpad && shareCore(e.cores, r)) {
				addr = e.end
			}
		}
	}
	for spec.CBAlign > 1 && addr%spec.CBAlign != 0 {
		addr++
	}
	return addr
}

// mark charges a local CB on some ranges to every entry that shares a core with it, except entries
// of other ranges that are marked higher already. It reports whether one of its own is.
func mark(ranges []l1.CoreRange, at l1.Range, entries []*entry) (below bool) {
	for _, e := range entries {
		exact := slices.Contains(ranges, e.cores)
		touched := slices.ContainsFunc(ranges, func(r l1.CoreRange) bool { return shareCore(r, e.cores) })
		higher := e.marked && at.Start < e.end
		if !touched || !exact && higher {
			continue
		}
		below, e.marked = below || higher, true
		e.end = max(e.end, at.End) // below the end only for addresses given from outside
		e.bytes.paint(at)
	}
	return below
}

func shareCore(a, b l1.CoreRange) bool {
	for _, c := range coresOf(a) {
		if slices.Contains(coresOf(b), c) {
			return true
		}
	}
	return false
}

// coresOf returns the cores of a rectangle.
func coresOf(r l1.CoreRange) []l1.Core {
	var out []l1.Core
	for x := int(r.Start.X); x <= int(r.End.X); x++ {
		for y := int(r.Start.Y); y <= int(r.End.Y); y++ {
			out = append(out, l1.Core{X: uint8(x), Y: uint8(y)})
		}
	}
	return out
}

// covered returns the cores of a set, each once.
func covered(set l1.CoreRangeSet) map[l1.Core]bool {
	out := map[l1.Core]bool{}
	for r := range set.All() {
		for _, c := range coresOf(r) {
			out[c] = true
		}
	}
	return out
}

// recut returns the rectangles of a set as tt-metal cuts them: one is left alone; of
// several each row becomes runs, and a run grows the rectangle above it if that has
// the same columns; they are sorted.
//
//	{[0-0 - 1-1], [2-0 - 2-0]}    ###   ->   ###    {[0-0 - 2-0], [0-1 - 1-1]}
//	                              ##         ''
func recut(set l1.CoreRangeSet) []l1.CoreRange {
	if set.Len() < 2 {
		return slices.Collect(set.All())
	}
	on := covered(set)
	cols, rows := 0, 0
	for c := range on {
		cols, rows = max(cols, int(c.X)+1), max(rows, int(c.Y)+1)
	}
	has := func(x, y int) bool { return x >= 0 && x < cols && on[l1.Core{X: uint8(x), Y: uint8(y)}] }
	var out []l1.CoreRange
	for y := range rows {
		for x := range cols {
			if !has(x, y) || has(x-1, y) {
				continue // not where a run starts
			}
			last := x
			for has(last+1, y) {
				last++
			}
			above := slices.IndexFunc(out, func(r l1.CoreRange) bool {
				return int(r.Start.X) == x && int(r.End.X) == last && int(r.End.Y) == y-1
			})
			if above >= 0 {
				out[above].End.Y = uint8(y)
				continue
			}
			out = append(out, l1.CoreRange{
				Start: l1.Core{X: uint8(x), Y: uint8(y)},
				End:   l1.Core{X: uint8(last), Y: uint8(y)},
			})
		}
	}
	slices.SortFunc(out, l1.CoreRange.Compare)
	return out
}
