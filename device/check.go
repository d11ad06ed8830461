package device

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A place is what the devices have in common that a program is checked against.
type place struct {
	spec    *l1.Spec
	heap    *heap
	first   ID
	devices int
}

// Check says whether p fits on the devices of s beside what is in L1 now, and if it
// does not, who is in the way. p need not be registered: Register records, Check
// judges. Circular buffers of other programs are never in the way, since programs
// share their addresses. An empty set fits.
//
// Errors, the first that applies: ErrNoProgram; ErrForeignSet; ErrNoDevice for a
// removed device; *SpecError for a program built for another Spec. Cost: O(CBs x
// buffers) for each distinct set of live buffers among the devices, whatever is
// registered.
func (f *Fleet) Check(p *program.Program, s Set) (Verdict, error) {
	if p == nil {
		return Verdict{}, ErrNoProgram
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	places, err := f.places(p, s)
	if err != nil {
		return Verdict{}, err
	}
	return judge(p, places), nil
}

// places groups the devices of s by what they are and which buffers live there, by
// their first device. It refuses devices of another Spec than p was built for.
func (f *Fleet) places(p *program.Program, s Set) ([]place, error) {
	if err := f.check(s); err != nil || s.s == nil {
		return nil, err
	}
	var out []place
next:
	for slot := range s.s.slots.all() {
		c := f.slots[slot]
		for i := range out {
			if o := &out[i]; o.spec == c.spec && o.heap == c.heap() {
				o.devices++
				o.first = min(o.first, c.id)
				continue next
			}
		}
		if p != nil && *c.spec != p.Spec() {
			return nil, &SpecError{Program: p.ID(), Device: c.id, Built: p.Spec(), Has: *c.spec}
		}
		out = append(out, place{c.spec, c.heap(), c.id, 1})
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Compare(a.first, b.first) })
	return out, nil
}

// judge checks p against places.
func judge(p *program.Program, places []place) Verdict {
	for i := range places {
		if !places[i].clears(p) {
			return examine(p, places)
		}
	}
	return Verdict{Program: p}
}

// examine is judge with a close look.
func examine(p *program.Program, places []place) Verdict {
	v := Verdict{Program: p}
	for i := range places {
		v.Refusals = append(v.Refusals, refusals(p, &places[i], places, false)...)
		v.Hybrid = append(v.Hybrid, refusals(p, &places[i], places, true)...)
		v.Clashes = append(v.Clashes, clashes(p, &places[i])...)
	}
	v.explain(places)
	return v
}

// clears reports whether p fits on a place at first glance: inside the grid, above all
// kernels and below everything else, on whatever cores that lies. Nearly all programs do.
func (at *place) clears(p *program.Program) bool {
	free := anywhere()
	if at.heap != nil {
		free = at.heap.free
	}
	if at.spec.L1Size > 0 {
		free.End = min(free.End, at.spec.L1Size)
	}
	if at.spec.Cols > 0 {
		for _, cb := range p.CBs() {
			for r := range cb.Cores.All() {
				if int(r.End.X) >= at.spec.Cols || int(r.End.Y) >= at.spec.Rows {
					return false
				}
			}
		}
	}
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		for e := range p.Entries(kind) {
			if e.End > free.End {
				return false
			}
		}
		for g := range p.Occupied(kind).Groups() {
			if n := g.NumRanges(); g.Range(0).Start < free.Start || g.Range(n-1).End > free.End {
				return false
			}
		}
	}
	return true
}
