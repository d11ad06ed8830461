package cbregion

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
)

// A world is the model of the exhaustive tests: 8 bytes, and for each a count.
type world [8]int

func (w *world) shift(r l1.Range, d int) (moved uint64) {
	for a := r.Start; a < r.End; a++ {
		if w[a] == 0 || w[a]+d == 0 {
			moved++
		}
		w[a] += d
	}
	return moved
}

func (w *world) bytesIn(r l1.Range) (n uint64) {
	for a := r.Start; a < r.End; a++ {
		if w[a] > 0 {
			n++
		}
	}
	return n
}

func (w *world) gap(r l1.Range) l1.Range {
	for a := r.Start; a < r.End; a++ {
		if w[a] == 0 {
			end := a
			for end < r.End && w[end] == 0 {
				end++
			}
			return l1.Range{Start: a, End: end}
		}
	}
	return l1.Range{}
}

// worldRanges has the 36 ranges of the world.
func worldRanges() (out []l1.Range) {
	for s := range uint64(8) {
		for e := s + 1; e <= 8; e++ {
			out = append(out, l1.Range{Start: s, End: e})
		}
	}
	return out
}

// check compares what v says with the world, without the weight of require: it runs
// millions of times.
func (w *world) check(v *Coverage) error {
	if err := v.CheckInvariants(); err != nil {
		return err
	}
	if got, want := v.Bytes(), w.bytesIn(l1.Range{Start: 0, End: 8}); got != want {
		return fmt.Errorf("%d bytes, want %d", got, want)
	}
	var painted world
	end := uint64(0)
	var span l1.Range
	for r := range v.Regions() {
		if span.End = r.End; painted == (world{}) {
			span.Start = r.Start
		}
		if r.IsEmpty() || end > 0 && r.Start <= end {
			return fmt.Errorf("region %v behind %d", r, end)
		}
		end = r.End
		painted.shift(r, +1)
	}
	if v.Span() != span {
		return fmt.Errorf("span %v, want %v", v.Span(), span)
	}
	for a := range w {
		if (w[a] > 0) != (painted[a] > 0) {
			return fmt.Errorf("regions say %v, want %v", painted, *w)
		}
	}
	return nil
}

// every runs all orders of adding and then removing the given ranges.
func every(t *testing.T, limits [2]int, ranges []l1.Range, asks []l1.Range) {
	n := len(ranges)
	var w world
	v := &Coverage{leafLimit: limits[0], innerLimit: limits[1]}
	step := func(i, d int) {
		r := ranges[i]
		want, got := w.shift(r, d), uint64(0)
		if d > 0 {
			got = v.Add(r)
		} else {
			got = v.Remove(r)
		}
		if got != want {
			t.Fatalf("%v: %+d %v moved %d bytes, want %d", ranges, d, r, got, want)
		}
		if err := w.check(v); err != nil {
			t.Fatalf("%v: after %+d %v: %v", ranges, d, r, err)
		}
	}
	orders := permutations(n)
	for _, in := range orders {
		for _, out := range orders {
			for _, i := range in {
				step(i, +1)
			}
			for _, r := range asks {
				if got, want := v.BytesIn(r), w.bytesIn(r); got != want {
					t.Fatalf("%v: %d bytes in %v, want %d", ranges, got, r, want)
				}
				if got, want := v.Gap(r), w.gap(r); got != want {
					t.Fatalf("%v: gap %v in %v, want %v", ranges, got, r, want)
				}
			}
			for _, i := range out {
				step(i, -1)
			}
		}
	}
}

func permutations(n int) (out [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for at := range n {
			out = append(out, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return out
}

// All pairs of ranges in 8 bytes, in every order of add and remove, with every
// question, in nodes of every size.
func TestAllPairs(t *testing.T) {
	all := worldRanges()
	for _, l := range limits {
		for _, a := range all {
			for _, b := range all {
				every(t, l, []l1.Range{a, b}, all)
			}
		}
	}
}

// All triples of ranges in 8 bytes, in every order of add and remove. Which of them
// comes first is settled by the orders, so each combination is tried once.
func TestAllTriples(t *testing.T) {
	all := worldRanges()
	for _, l := range limits[:2] {
		if l[0] == 0 && testing.Short() {
			continue
		}
		for i, a := range all {
			for j, b := range all[i:] {
				for _, c := range all[i+j:] {
					every(t, l, []l1.Range{a, b, c}, []l1.Range{a, b, c})
				}
			}
		}
	}
}

// Every set of covered bytes of a world of 8, twice over: the regions are the runs.
func TestAllSubsets(t *testing.T) {
	for _, l := range limits {
		for set := range 256 {
			var w world
			v := &Coverage{leafLimit: l[0], innerLimit: l[1]}
			for a := range uint64(8) {
				if set>>a&1 == 1 {
					r := l1.Range{Start: a, End: a + 1}
					v.Add(r)
					v.Add(r)
					w.shift(r, +2)
				}
			}
			require.NoError(t, w.check(v), "set %08b", set)
			require.NoError(t, w.check(v.Clone()), "set %08b", set)
		}
	}
}
