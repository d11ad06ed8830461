package suite

import (
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"pgregory.net/rapid"
)

// A Counter counts the ranges of one core: the operations of a cbregion.Counter in
// plain types. The oracle is model.Counter. With an error comes nothing, and nothing
// has changed; the classes are model.ErrRange and model.ErrNotHeld.
//
// A Counter may also have any of these, which are then checked:
//
//	Len() int                         live ranges
//	BytesIn(r l1.Range) uint64        covered bytes inside r
//	Owners(addr uint64) []uint64      who covers a byte, ascending, each once
//	Clone() Counter                   an independent copy
//	CheckInvariants() error
type Counter interface {
	Add(owner uint64, r l1.Range) (grew uint64, err error)
	Remove(owner uint64, r l1.Range) (freed uint64, err error)
	Bytes() uint64
	Regions() []l1.Range
}

var _ Counter = (*model.Counter)(nil)

// CounterModel returns the property that a counter is right: one random life of a new
// counter beside the oracle, with a handful of ranges at a time.
func CounterModel(newCounter func() Counter) func(*rapid.T) {
	return counterModel(newCounter, false)
}

// WideCounterModel is CounterModel with hundreds of ranges at a time: for counters that
// keep them in a tree, which for a handful has no branches. It is slower, and shows
// larger counterexamples.
func WideCounterModel(newCounter func() Counter) func(*rapid.T) {
	return counterModel(newCounter, true)
}

func counterModel(newCounter func() Counter, wide bool) func(*rapid.T) {
	return func(t *rapid.T) {
		g := &counting{
			counter: newCounter(),
			model:   &model.Counter{},
			base:    rapid.SampledFrom([]uint64{0, 111_616, l1.MaxAddr - 1000}).Draw(t, "base"),
		}
		g.ends = gen.Ends(g.base)
		actions := map[string]func(*rapid.T){
			"":            g.check,
			"add":         func(t *rapid.T) { g.add(t, gen.Range(g.ends).Draw(t, "range")) },
			"add more":    func(t *rapid.T) { g.add(t, gen.Range(g.ends).Draw(t, "range")) },
			"add illegal": func(t *rapid.T) { g.add(t, gen.IllegalRange(g.ends).Draw(t, "range")) },
			"remove":      func(t *rapid.T) { g.remove(t, owner(t), gen.Range(g.ends).Draw(t, "range")) },
			"remove illegal": func(t *rapid.T) {
				g.remove(t, owner(t), gen.IllegalRange(g.ends).Draw(t, "range"))
			},
			"remove held": g.removeHeld,
			"query":       g.query,
			"clone":       g.clone,
		}
		if wide {
			g.ends = append(g.ends, g.base+150, g.base+300, g.base+301, g.base+302, g.base+500, g.base+905, g.base+1000)
			actions["comb"] = g.comb
			actions["comb again"] = g.comb
		}
		t.Repeat(actions)
	}
}

// counting is a counter beside the model.
type counting struct {
	counter Counter
	model   *model.Counter
	base    uint64
	ends    []uint64
}

func owner(t *rapid.T) uint64 {
	return rapid.SampledFrom([]uint64{1, 2, 0, ^uint64(0)}).Draw(t, "owner")
}

func (g *counting) add(t *rapid.T, r l1.Range) {
	g.change(t, "add", owner(t), r, g.counter.Add, g.model.Add)
}

func (g *counting) remove(t *rapid.T, o uint64, r l1.Range) {
	g.change(t, "remove", o, r, g.counter.Remove, g.model.Remove)
}

// change makes a call of the subject and of the model.
func (g *counting) change(t *rapid.T, what string, o uint64, r l1.Range, subject, model func(uint64, l1.Range) (uint64, error)) {
	want, wantErr := model(o, r)
	got, err := subject(o, r)
	t.Logf("%s %v of owner %d -> %d, %v", what, r, o, got, err)
	sameError(t, err, wantErr, "%s %v of owner %d", what, r, o)
	same(t, got, want, "%s %v of owner %d", what, r, o)
}

// removeHeld removes a held range, now and then in the name of another owner.
func (g *counting) removeHeld(t *rapid.T) {
	owners, ranges := g.model.Held()
	if len(owners) == 0 {
		g.remove(t, owner(t), gen.Range(g.ends).Draw(t, "range"))
		return
	}
	i := rapid.IntRange(0, len(owners)-1).Draw(t, "held")
	if rapid.IntRange(0, 7).Draw(t, "whose") == 7 {
		owners[i] = 77
	}
	g.remove(t, owners[i], ranges[i])
}

// comb adds or removes many short ranges at once: trees that are shallow for a handful
// of ranges grow and shrink by it.
//
//	.##.##.##.##.##.##.##.##.##
func (g *counting) comb(t *rapid.T) {
	const owner = 9
	step := rapid.SampledFrom([]int{1, 7, -1, -5}).Draw(t, "step")
	first := rapid.SampledFrom([]uint64{0, 1, 120}).Draw(t, "first")
	teeth := rapid.SampledFrom([]uint64{40, 100, 250}).Draw(t, "teeth")
	for i := range teeth {
		if step < 0 {
			i = teeth - 1 - i // from the far end
		}
		at := g.base + (first+i)*3%900
		r := l1.Range{Start: at + 1, End: at + 3}
		if step == 1 || step == 7 && i%7 != 0 {
			_, _ = g.model.Add(owner, r) // a legal range
			if _, err := g.counter.Add(owner, r); err != nil {
				t.Fatalf("comb: add %v of owner %d: %v", r, owner, err)
			}
			continue
		}
		if step == -5 && i%5 == 0 {
			continue
		}
		_, want := g.model.Remove(owner, r)
		_, err := g.counter.Remove(owner, r)
		sameError(t, err, want, "comb: remove %v of owner %d", r, owner)
	}
	t.Logf("comb %+d of %d teeth from %d", step, teeth, first)
}

func (g *counting) check(t *rapid.T) {
	invariants(t, g.counter)
	same(t, g.counter.Bytes(), g.model.Bytes(), "bytes")
	equal(t, g.counter.Regions(), g.model.Regions(), "regions")
	if c, ok := g.counter.(interface{ Len() int }); ok {
		same(t, c.Len(), g.model.Len(), "live ranges")
	}
}

// query compares all queries about a part of the core.
func (g *counting) query(t *rapid.T) {
	r := gen.Range(g.ends).Draw(t, "range")
	if c, ok := g.counter.(interface{ BytesIn(l1.Range) uint64 }); ok {
		same(t, c.BytesIn(r), g.model.BytesIn(r), "bytes in %v", r)
	}
	if c, ok := g.counter.(interface{ Owners(uint64) []uint64 }); ok {
		equal(t, c.Owners(r.Start), g.model.Owners(r.Start), "owners of byte %d", r.Start)
	}
}

// clone continues with a copy, and ruins the original.
func (g *counting) clone(t *rapid.T) {
	c, ok := g.counter.(interface{ Clone() Counter })
	if !ok {
		return
	}
	original := g.counter
	g.counter = c.Clone()
	owners, ranges := g.model.Held()
	for i := range owners {
		if _, err := original.Remove(owners[i], ranges[i]); err != nil {
			t.Fatalf("original after clone: remove %v of owner %d: %v", ranges[i], owners[i], err)
		}
	}
	if _, err := original.Add(5, l1.Range{Start: g.base + 3, End: g.base + 60}); err != nil || original.Bytes() != 57 {
		t.Fatalf("original after clone: %d bytes, %v; want 57", original.Bytes(), err)
	}
}
