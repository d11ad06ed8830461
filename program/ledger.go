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
	entries []entry
	own     []int32 // the entries of each shape, one shape after the other
	byShape []span  // shape -> its own entries in own; none if no CB of the ledger has the shape
}

// fewEntries is up to how many own entries of a CB each is compared with all entries. Beyond that a
// cover is cheaper: as written there may be thousands, and all may overlap.
const fewEntries = 8

// A span is a part of a slice.
type span struct{ from, to int32 }

type entry struct {
	cores   l1.CoreRange
	shape   int        // the last one that named it
	end     uint64     // where the next CB may start: the highest end marked, 0 if there is none
	regions []l1.Range // not empty; sorted and disjoint but for CBs that the rule would refuse
	first   [1]l1.Range
}

// open makes the ledger for the CBs of some kinds. Entries go by core ranges as stated if
// the program is placed as written, else by merged ones. The shapes come in the order in
// which CBs of the ledger name them: others may have named them in another order.
func (l *ledger) open(p *Program, s *workspace, kinds kindSet) {
	*l = ledger{spec: *p.spec, entries: l.entries[:0], own: l.own[:0], byShape: l.byShape[:0]}
	l.byShape = slices.Grow(l.byShape, len(s.shapes))[:len(s.shapes)]
	s.roll.reset()
	for i, k := range s.of {
		if !kinds.has(p.cbs[i].kind) || l.byShape[k] != (span{}) {
			continue
		}
		ranges := s.shapes[k].ranges
		if p.written {
			ranges = s.shapes[k].stated
		}
		from := int32(len(l.own))
		for r := range ranges.All() {
			s.key = appendCores(s.key[:0], r)
			i, fresh := s.roll.number(s.key)
			switch {
			case fresh:
				l.entries = append(l.entries, entry{cores: r})
			case l.entries[i].shape == k: // repeated
				continue
			}
			l.entries[i].shape = k
			l.own = append(l.own, int32(i))
		}
		l.byShape[k] = span{from, int32(len(l.own))}
	}
	for i := range l.entries {
		l.entries[i].regions = l.entries[i].first[:0] // they lie where they stay
	}
}

// of returns the own entries of a shape.
func (l *ledger) of(shape int) []int32 {
	s := l.byShape[shape]
	return l.own[s.from:s.to]
}

// meeting calls do for every entry that shares a core with one of own, own ones
// included, perhaps more than once.
func (l *ledger) meeting(own []int32, do func(*entry)) {
	if len(own) <= fewEntries {
		for _, i := range own {
			r := l.entries[i].cores
			for k := range l.entries {
				if e := &l.entries[k]; e.cores.Overlaps(r) {
					do(e)
				}
			}
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

// next returns the address that tt-metal gives to a CB at a site. ok is false beyond
// l1.MaxAddr.
func (l *ledger) next(on site) (addr uint64, ok bool) {
	addr = on.low
	for _, i := range on.own {
		addr = max(addr, l.entries[i].end)
	}
	return l.spec.AlignCB(addr)
}

// nextAbove is next for scratchpads, which look at every entry they touch.
func (l *ledger) nextAbove(on site) (addr uint64, ok bool) {
	addr = on.low
	l.meeting(on.own, func(e *entry) { addr = max(addr, e.end) })
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
func (l *ledger) marked() []Entry {
	n := 0
	for i := range l.entries {
		if len(l.entries[i].regions) > 0 {
			n++
		}
	}
	out := make([]Entry, 0, n)
	for i := range l.entries {
		if e := &l.entries[i]; len(e.regions) > 0 {
			out = append(out, Entry{e.cores, e.end})
		}
	}
	return out
}

// footprint returns what the ledger charges: every entry's regions on all its cores. The
// areas of the shapes were cut into all.
func (l *ledger) footprint(s *workspace, all []cell) (Footprint, bool) {
	for i := range l.entries {
		l.entries[i].regions = l1.Merge(l.entries[i].regions)
	}
	if !l.even() {
		return l.uneven(s)
	}
	s.layers = s.layers[:0]
	s.roll.reset()
	for k := range l.byShape {
		y := layer{}
		if own := l.of(k); len(own) > 0 {
			y.ranges = l.entries[own[0]].regions
		}
		s.key = appendRanges(s.key[:0], y.ranges)
		y.like, _ = s.roll.number(s.key)
		s.layers = append(s.layers, y)
	}
	return s.footprint(all)
}

// even reports whether the own entries of each shape have the same regions. Then these are
// what the shape charges each of its cores: every entry is one that some shape names.
func (l *ledger) even() bool {
	for k := range l.byShape {
		for i, e := range l.of(k) {
			if i > 0 && !slices.Equal(l.entries[e].regions, l.entries[l.of(k)[0]].regions) {
				return false
			}
		}
	}
	return true
}

// uneven is footprint for entries that go their own ways.
func (l *ledger) uneven(s *workspace) (Footprint, bool) {
	s.layers = s.layers[:0]
	var cores [][]l1.CoreRange
	s.roll.reset()
	for i := range l.entries {
		e := &l.entries[i]
		if len(e.regions) == 0 {
			continue
		}
		s.key = appendRanges(s.key[:0], e.regions)
		k, fresh := s.roll.number(s.key)
		if fresh {
			s.layers, cores = append(s.layers, layer{ranges: e.regions, like: k}), append(cores, nil)
		}
		cores[k] = append(cores[k], e.cores)
	}
	areas := make([]area, len(s.layers))
	for k := range areas {
		areas[k] = newArea(cores[k])
	}
	return s.footprint(s.cells(areas))
}
