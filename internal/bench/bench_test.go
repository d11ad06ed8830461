package bench_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/internal/bench"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Measurements are of right answers: all contenders compute the same totals on every workload.
func TestContendersAgree(t *testing.T) {
	for _, w := range bench.Tiny() {
		t.Run(w.Name, func(t *testing.T) {
			require.NoError(t, bench.Check(w))
			require.NotEmpty(t, w.Steps)
			require.Positive(t, bench.Changes(w.Steps))
		})
	}
}

// Workloads are the same on every run.
func TestWorkloadsAreDeterministic(t *testing.T) {
	first, second := bench.Tiny(), bench.Tiny()
	for i := range first {
		same(t, first[i].Before, second[i].Before)
		same(t, first[i].Steps, second[i].Steps)
	}
}

func same(t *testing.T, a, b []bench.Call) {
	require.Len(t, b, len(a))
	for i := range a {
		require.Equal(t, a[i].Devices, b[i].Devices)
		require.Equal(t, a[i].Do, b[i].Do)
		require.Equal(t, a[i].Buffer, b[i].Buffer)
		if a[i].Program == nil {
			require.Nil(t, b[i].Program)
			continue
		}
		require.Equal(t, a[i].Program.ID(), b[i].Program.ID())
		require.True(t, a[i].Program.Equal(b[i].Program))
	}
}

// The names promise shapes; these are they.
func TestShapes(t *testing.T) {
	t.Run("fragmented: every core is its own class", func(t *testing.T) {
		w := bench.Fragmented(1, 200, 0)
		f := bench.NewEngine(w.Spec, 1)
		bench.Change(f, w.Before)
		seen := map[string]bool{}
		for c := range w.Spec.Grid().Cores().All() {
			held := ""
			for _, s := range w.Before {
				if g, ok := s.Program.Occupied(program.CircularBuffer).On(c); ok {
					held += fmt.Sprint(s.Program.ID(), g.Bytes(), " ")
				}
			}
			seen[held] = true
		}
		require.Len(t, seen, w.Spec.NumCores())
	})
	t.Run("comb: as many regions as teeth", func(t *testing.T) {
		w := bench.Comb(10_000, 1)
		f := bench.NewEngine(w.Spec, 1)
		bench.Change(f, w.Before[:10_000])
		regions := 0
		for r := range f.Device(0).Regions(l1.Core{}) {
			require.LessOrEqual(t, r.End, w.Spec.L1Size)
			regions++
		}
		require.Equal(t, 10_000, regions)
	})
	t.Run("adversarial: no two ranges are equal, and all are in L1", func(t *testing.T) {
		w := bench.Adversarial(10_000, 1)
		seen := map[l1.Range]bool{}
		for _, s := range w.Before {
			r := s.Program.Occupied(program.CircularBuffer).Group(0).Range(0)
			require.False(t, seen[r])
			require.LessOrEqual(t, r.End, w.Spec.L1Size)
			seen[r] = true
		}
		require.Len(t, seen, 10_000)
	})
	t.Run("sweep: one range from the base", func(t *testing.T) {
		for _, spec := range []l1.Spec{l1.N150(), l1.P150()} {
			for _, s := range bench.Sweep(spec, 50).Steps {
				footprint := s.Program.Occupied(program.CircularBuffer)
				require.Equal(t, 1, footprint.NumGroups())
				require.Equal(t, 1, footprint.Group(0).NumRanges())
				require.Equal(t, spec.CBBase, footprint.Group(0).Range(0).Start)
			}
		}
	})
	t.Run("states: as many as promised", func(t *testing.T) {
		w := bench.States(30, 5, 3, 1)
		f := bench.NewEngine(w.Spec, w.Devices)
		bench.Change(f, w.Before)
		totals := map[uint64]bool{}
		for d := range w.Devices {
			totals[f.Total(d)] = true
		}
		require.Len(t, totals, 5)
	})
}

func TestPartsOfAWorkload(t *testing.T) {
	w := bench.Diverged(6, 10, 20)
	per, major := w.PerDevice(), w.DeviceMajor()
	require.Equal(t, bench.Changes(w.Steps), len(per.Steps))
	require.Equal(t, bench.Changes(w.Steps), len(major.Steps))
	for i := range major.Steps[1:] {
		require.LessOrEqual(t, major.Steps[i].Devices[0], major.Steps[i+1].Devices[0])
	}
	// The totals of a part are the totals of that part.
	whole, part := baseline.NewSortedSlice(w.Spec, w.Devices), baseline.NewSortedSlice(w.Spec, w.Devices)
	bench.Load(whole, w.Before)
	some := w.On(1, 4)
	bench.Load(part, some.Before)
	all := bench.Play(whole, w.Steps, nil)
	require.Equal(t, w.Totals(all, 1, 4), bench.Play(part, some.Steps, nil))
}

func total(bytes ...uint64) (out []bench.Total) {
	for _, n := range bytes {
		out = append(out, bench.Total{Bytes: n})
	}
	return out
}

func TestDisagreementIsNoticed(t *testing.T) {
	require.NoError(t, bench.Disagree("w", "a", total(1), "b", total(1, 2)))
	require.ErrorContains(t, bench.Disagree("w", "a", total(1, 3), "b", total(1, 2)), "total 1 is 3 for a and 2 for b")
	require.Error(t, bench.Disagree("w", "a", total(1, 2, 3), "b", total(1, 2)))
	asked, lie := total(1, 2), total(1, 2)
	asked[1].Asked, asked[1].Reserved = true, 7
	require.NoError(t, bench.Disagree("w", "a", asked, "b", lie)) // who is not asked says nothing
	lie[1].Asked, lie[1].Reserved = true, 8
	require.ErrorContains(t, bench.Disagree("w", "a", asked, "b", lie), "7 bytes are reserved for a at total 1, and 8 for b")
}

// All contenders count reserved bytes where these differ from the occupied ones.
func TestReservedIsAskedFor(t *testing.T) {
	require.False(t, bench.Churn(2, 4, 4).Asked().Both)
	w := bench.Halves(1, 8, 4).Asked()
	require.True(t, w.Both)
	for _, d := range bench.Designs(w) {
		c := d.New(w)
		bench.Load(c, w.Before)
		totals := bench.Play(c, w.Steps, nil)
		for _, x := range totals {
			require.True(t, x.Asked, d.Name)
			require.Greater(t, x.Reserved, x.Bytes, d.Name)
		}
	}
}
