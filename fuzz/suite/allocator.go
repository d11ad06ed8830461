package suite

import (
	"slices"

	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"pgregory.net/rapid"
)

// An Allocator places the circular buffers of one program: it returns an address for each, in the
// same order. The address of a global CB without a given one is ignored.
type Allocator interface {
	Place(spec l1.Spec, cbs []program.CB) (addresses []uint64, err error)
}

// PlaceFunc is a function as an Allocator.
type PlaceFunc func(spec l1.Spec, cbs []program.CB) ([]uint64, error)

// Place calls f.
func (f PlaceFunc) Place(spec l1.Spec, cbs []program.CB) ([]uint64, error) { return f(spec, cbs) }

// Rules are promises that some allocators make beyond the common ones. The zero Rules are for any
// allocator.
type Rules struct {
	// Disjoint: no two local CBs of a program share a byte of a core. tt-metal does not
	// promise it: its bookkeeping goes by core ranges, not by cores, and a CB that
	// spans two ranges can land inside a larger CB of one of them. For CBs on the same
	// core range set it always has to hold.
	Disjoint bool

	// Stable: later CBs do not move earlier ones. tt-metal promises it.
	Stable bool

	// Reference: every address is tt-metal's.
	Reference bool

	// AsWritten: the reference keeps core ranges as they are, as tt-metal does for a
	// ProgramDescriptor. Without it, it merges them first, as CreateCircularBuffer does.
	AsWritten bool
}

// AllocatorRules returns the property that an allocator places as it should:
//
//   - there is one address for each CB, and no error;
//   - a given address is kept;
//   - local CBs that are to be placed start at or above the base, on a multiple of the
//     alignment, and end by 2^63-1;
//   - of those with the same core range set no two share a byte;
//   - the same CBs get the same addresses again, and the arguments are not changed;
//   - and what rules add.
//
// All programs are so small that they can be placed; they need not fit into L1.
func AllocatorRules(a Allocator, rules Rules) func(*rapid.T) {
	return func(t *rapid.T) {
		spec := gen.ToySpec().Draw(t, "spec")
		kind := gen.Unplaced(spec)
		if rapid.Bool().Draw(t, "all kinds of CBs") {
			kind = gen.CB(spec)
		}
		cbs := rapid.SliceOfN(kind, 0, 6).Draw(t, "CBs")
		given := slices.Clone(cbs)
		place := func(cbs []program.CB) []uint64 {
			out, err := a.Place(spec, cbs)
			if err != nil {
				t.Fatalf("%v: %v", spec, err)
			}
			if len(out) != len(cbs) {
				t.Fatalf("%d addresses for %d CBs", len(out), len(cbs))
			}
			return out
		}
		p := placement{spec: spec, cbs: given, at: slices.Clone(place(cbs))}
		for i, cb := range cbs {
			if same := cb.Cores.Equal(given[i].Cores) && cb.Size == given[i].Size && cb.Address == given[i].Address &&
				cb.Fixed == given[i].Fixed && cb.Global == given[i].Global; !same {
				t.Fatalf("CB %d was changed", i)
			}
		}
		p.alone(t)
		p.pairs(t, rules)
		p.same(t, place(given), "placed again")
		if rules.Stable && len(given) > 0 {
			p.same(t, place(given[:len(given)-1]), "placed without the last")
		}
		switch {
		case rules.Reference && rules.AsWritten:
			p.same(t, model.PlaceAsWritten(spec, given), "as tt-metal places by core ranges as written")
		case rules.Reference:
			p.same(t, model.Place(spec, given), "as tt-metal places")
		}
	}
}

// A placement is the result of an allocator for a program.
type placement struct {
	spec l1.Spec
	cbs  []program.CB
	at   []uint64
}

// alone checks each CB by itself.
func (p placement) alone(t *rapid.T) {
	for i, cb := range p.cbs {
		switch {
		case cb.Fixed && p.at[i] != cb.Address:
			t.Fatalf("CB %d was given address %d, and is placed at %d", i, cb.Address, p.at[i])
		case cb.Fixed || cb.Global:
		case p.at[i] < p.spec.CBBase:
			t.Fatalf("CB %d at %d, below the base %d", i, p.at[i], p.spec.CBBase)
		case p.at[i]%max(p.spec.CBAlign, 1) != 0:
			t.Fatalf("CB %d at %d, not a multiple of %d", i, p.at[i], p.spec.CBAlign)
		case p.at[i] > l1.MaxAddr-cb.Size:
			t.Fatalf("CB %d at %d with %d bytes, beyond 2^63-1", i, p.at[i], cb.Size)
		}
	}
}

// pairs finds CBs that share a byte and should not. Given addresses are exempt.
func (p placement) pairs(t *rapid.T, rules Rules) {
	for i, a := range p.cbs {
		for j, b := range p.cbs[:i] {
			if a.Global || b.Global || a.Fixed || b.Fixed {
				continue
			}
			bytes := l1.Range{Start: p.at[i], End: p.at[i] + a.Size}.Intersect(l1.Range{Start: p.at[j], End: p.at[j] + b.Size})
			core, meet := sharedCore(a.Cores, b.Cores)
			if bytes.IsEmpty() || !meet {
				continue
			}
			if rules.Disjoint || a.Cores.Equal(b.Cores) {
				t.Fatalf("CB %d on %v and CB %d on %v share %v of core %v", j, b.Cores, i, a.Cores, bytes, core)
			}
		}
	}
}

// sharedCore returns a core that two sets cover, if there is one.
func sharedCore(a, b l1.CoreRangeSet) (l1.Core, bool) {
	for r := range a.All() {
		for q := range b.All() {
			c := l1.Core{X: max(r.Start.X, q.Start.X), Y: max(r.Start.Y, q.Start.Y)}
			if r.Has(c) && q.Has(c) {
				return c, true
			}
		}
	}
	return l1.Core{}, false
}

// same compares the addresses with the earlier ones of the first CBs.
func (p placement) same(t *rapid.T, at []uint64, how string) {
	for i := range at {
		if unknown := p.cbs[i].Global && !p.cbs[i].Fixed; !unknown && at[i] != p.at[i] {
			t.Fatalf("CB %d at %d; %s: at %d", i, p.at[i], how, at[i])
		}
	}
}
