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
// The entries of all CBs exist before the first address is computed. A CB goes above the marks of
// its own entries, which have exactly its ranges; other entries that it touches are skipped if they
// are "already marked higher". So two CBs can share bytes of a core, which tt-metal does not notice
// (finding Overlap).
type ledger struct {
	spec   *l1.Spec
	rects  []l1.CoreRange // of each entry
	ends   []uint64       // of each entry: the highest end marked, where the next CB may start; 0 if there is none
	marks  []layer        // of each entry: the CBs marked
	ranges []l1.Range     // of each CB that has its place
	near   []int32        // entries; see touched
	apart  bool           // no two entries share a core, so that a CB touches its own only
}

// fewEntries is the number of entries up to which a search is quicker than a map.
const fewEntries = 16

// open makes the ledger for the CBs of some kinds, and gives the shapes that they name their entries. The shapes come
// in the order in which CBs of the ledger name them: others may have named them in another order.
func (p *Program) open(shapes []shape, kinds []Kind) *ledger {
	l := &ledger{spec: p.spec}
	for k := range shapes {
		shapes[k].own = nil
	}
	var all l1.CoreSet
	var number map[l1.CoreRange]int32 // of l.rects, once they are many
	sum, rest := uint64(0), len(shapes)
	for i := range p.cbs {
		if rest == 0 { // mostly at once
			break
		}
		s := &shapes[p.cbs[i].set]
		if s.own != nil || !slices.Contains(kinds, p.cbs[i].kind) {
			continue
		}
		own := make([]int32, 0, s.ranges.Len())
		for r := range s.ranges.All() {
			n, ok := number[r]
			if number == nil {
				n = int32(slices.Index(l.rects, r))
				ok = n >= 0
			}
			if !ok {
				n = int32(len(l.rects))
				l.rects, sum = append(l.rects, r), sum+uint64(r.Len())
				if number != nil {
					number[r] = n
				} else if n == fewEntries {
					number = map[l1.CoreRange]int32{}
					for k, r := range l.rects {
						number[r] = int32(k)
					}
				}
			}
			own = append(own, n)
		}
		all = all.Union(s.cores)
		slices.Sort(own) // a rectangle may be repeated
		s.own = slices.Compact(own)
		rest--
	}
	l.ends, l.marks = make([]uint64, len(l.rects)), make([]layer, len(l.rects))
	if l.apart = sum == uint64(all.Len()); !l.apart {
		for i, r := range l.rects {
			l.marks[i].cores = r.Cores()
		}
	}
	return l
}

// touched returns the entries that share a core with a site, until it is called again.
func (l *ledger) touched(on *site) []int32 {
	if l.apart {
		return on.own
	}
	l.near = l.near[:0]
	for i := range l.marks {
		if l.marks[i].cores.Overlaps(on.cores) {
			l.near = append(l.near, int32(i))
		}
	}
	return l.near
}

// next returns the address that tt-metal gives to a CB above the marks of some entries. ok is false
// beyond l1.MaxAddr.
func (l *ledger) next(low uint64, entries []int32) (addr uint64, ok bool) {
	for _, i := range entries {
		low = max(low, l.ends[i])
	}
	return l.spec.AlignCB(low)
}

// mark charges a placed CB to every entry that it touches, each once, and reports whether the rule
// allows that. It allows every address of the ledger. A given address may lie below the marks of
// the CB's own entries, and is then added against the rule. An entry without a mark takes any
// address.
func (l *ledger) mark(cb int, at l1.Range, on *site) (asRule bool) {
	asRule = true
	for _, i := range on.own {
		if at.Start < l.ends[i] {
			asRule = false
		}
		l.add(i, cb, at)
	}
	for _, i := range l.touched(on) {
		// Below the end: "already marked higher", by another CB, or by this one
		// through another of its ranges.
		if at.Start >= l.ends[i] {
			l.add(i, cb, at)
		}
	}
	return asRule
}

// add marks a CB on an entry, once.
func (l *ledger) add(entry int32, cb int, at l1.Range) {
	l.ends[entry] = max(l.ends[entry], at.End)
	in := &l.marks[entry].in
	if n := len(*in); !at.IsEmpty() && (n == 0 || (*in)[n-1] != int32(cb)) {
		if n == 0 {
			*in = make([]int32, 0, min(len(l.ranges), 8))
		}
		*in = append(*in, int32(cb))
	}
}

// marked returns the entries with a region, in creation order.
func (l *ledger) marked() (out []Entry) {
	out = make([]Entry, 0, len(l.rects))
	for i, r := range l.rects {
		if len(l.marks[i].in) > 0 {
			out = append(out, Entry{r, l.ends[i]})
		}
	}
	return out
}

// on returns the cores of the entries that a CB is marked on, if no other was marked after it.
func (l *ledger) on(cb int) l1.CoreSet {
	var rects []l1.CoreRange
	for i, r := range l.rects {
		if in := l.marks[i].in; len(in) > 0 && in[len(in)-1] == int32(cb) {
			rects = append(rects, r)
		}
	}
	return coresOn(rects)
}

// layers returns the charged ranges: the marks of every entry on all its cores.
func (l *ledger) layers() (out []layer) {
	var cores [][]l1.CoreSet
	for i, r := range l.rects {
		in := l.marks[i].in
		k := slices.IndexFunc(out, func(y layer) bool { return slices.Equal(y.in, in) })
		if k < 0 {
			k = len(out)
			out, cores = append(out, layer{in: in}), append(cores, nil)
		}
		cores[k] = append(cores[k], r.Cores())
	}
	for k := range out {
		out[k].cores = unite(cores[k])
	}
	return out
}
