package main

import (
	"bytes"
	"encoding/csv"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/internal/bench"
	"github.com/cbl1/cbl1/internal/testkit"
	"github.com/cbl1/cbl1/l1"
)

func toy() sizes {
	return sizes{
		sweep: []int{16, 80, 160}, sweepRatio: 80,
		devices: 4, meshed: 6, cached: 8, pairs: 12,
		growing: []int{5, 10}, strewn: []int{5}, single: []int{10}, hostile: 5, below: []int{1, 2}, swapped: []int{6},
		many: []int{1, 4}, own: 4, marked: 4, refused: 3,
		ranges: []int{20, 40, 80}, fragments: 10, teeth: 50, leaving: 80,
		fleet: 20, states: 5, batches: 10,
		dispatched: []int{2, 8}, round: 6, turns: 20, cold: 6, buffers: []int{0, 4}, mega: 1e3,
	}
}

// Every part measures without finding a difference, and says something.
func TestEveryPart(t *testing.T) {
	for _, p := range parts() {
		t.Run(p.name, func(t *testing.T) {
			if (p.name == "inputs" || p.name == "files") && !testkit.Nightly() {
				t.Skip("runs the command on hundreds of files: needs CBL1_NIGHTLY")
			}
			r := &runner{size: toy(), rounds: 1, noGoals: true}
			require.NoError(t, p.measure(r))
			require.NotEmpty(t, r.rows)
			for _, x := range r.rows {
				require.NotEmpty(t, x.what)
			}
			require.NoError(t, printTable(io.Discard, r.rows))
			for _, l := range linesOf(r.rows) {
				require.Len(t, l.cells(), len(wholeHeader()))
			}
		})
	}
}

func TestCheckOnly(t *testing.T) {
	var out, errw bytes.Buffer
	require.Zero(t, run([]string{"-check", "-run", "^W(8|13/sharded/devices=3)/live=40$"}, &out, &errw), "%s", &errw)
	require.Equal(t, "W8/live=40: all totals equal\nW13/sharded/devices=3/live=40: all totals equal\n", out.String())
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"-run", "("}, {"argument"}, {"-rounds", "0"}} {
		require.Equal(t, 2, run(args, io.Discard, io.Discard), "%v", args)
	}
}

// A contender that is one byte off, once, ends the run.
type liar struct {
	baseline.Contender
	asked int
}

func (l *liar) Total(device int) uint64 {
	if l.asked++; l.asked == 7 {
		return l.Contender.Total(device) + 1
	}
	return l.Contender.Total(device)
}

func TestALiarIsFound(t *testing.T) {
	lie := by(bench.Design{Name: "liar", New: func(w bench.Workload) baseline.Contender {
		return &liar{Contender: baseline.NewDense(w.Spec, w.Devices)}
	}})
	w := bench.Mesh(4, 10)
	r := &runner{rounds: 1}
	for _, x := range []racer{lie, lie.on(0, 3), lie.first(5)} {
		_, err := r.race(w, by(bench.Ours()), x)
		require.ErrorContains(t, err, "for liar and")
	}
	_, err := r.race(bench.Sweep(l1.N150(), 60), by(bench.Ours()), lie.at(20))
	require.ErrorContains(t, err, "for liar and")
}

// A sample stands for the whole: its steps are spread over the run, and what lies
// between them has happened.
func TestSamples(t *testing.T) {
	w := bench.Sweep(l1.N150(), 100)
	e := by(bench.Dense()).at(4).enter(w)
	require.True(t, e.sample)
	require.Equal(t, []int{12, 37, 62, 87}, []int{e.step(0), e.step(1), e.step(2), e.step(3)})
	e.play()
	all := by(bench.Ours()).enter(w)
	all.play()
	require.Equal(t, []bench.Total{all.totals[12], all.totals[37], all.totals[62], all.totals[87]}, e.totals)
	require.Equal(t, e.want(all.totals), e.totals)

	e.best = []float64{10, 20, 30, 40}
	require.InDelta(t, 25, e.perChange(), 0)
	require.False(t, by(bench.Dense()).at(100).enter(w).sample)
	require.False(t, by(bench.Dense()).first(100).enter(w).sample)
}

func TestGoals(t *testing.T) {
	for _, x := range []struct {
		value   value
		goal    *goal
		reached string
	}{
		{value{n: 99}, atLeast(100, 200), "NO"},
		{value{n: 100}, atLeast(100, 200), "floor"},
		{value{n: 200}, atLeast(100, 200), "good"},
		{value{n: 0.5}, atMost(0.4, 0.3), "NO"},
		{value{n: 0.4}, atMost(0.4, 0.3), "floor"},
		{value{n: 0.3}, atMost(0.4, 0.3), "good"},
		{value{n: 1}, atMostOnly(1.5), "floor"},
		{value{n: 2}, atMostOnly(1.5), "NO"},
		{value{n: 2}, nil, "-"},
		{value{n: 2}, aimAtMost(2), "good"},
		{value{n: 3}, aimAtMost(2), "-"},
		{value{n: 2}, aimAtLeast(3), "-"},
		{value{instead: "needs 2 CPUs"}, atMost(1, 1), "-"},
	} {
		_, _, reached := x.goal.cells(x.value)
		require.Equal(t, x.reached, reached, "%v", x)
	}
}

func TestNumbers(t *testing.T) {
	for want, v := range map[string]value{
		"-":         {},
		"0 objects": {unit: "objects"},
		"~1,234x":   {n: 1234.4, unit: "x", sampled: true},
		"12.3 ns":   {n: 12.34, unit: "ns"},
		"1.50":      {n: 1.5},
		"1":         {n: 1},
	} {
		require.Equal(t, want, v.String())
	}
	require.Equal(t, "-", duration(0))
	require.Equal(t, "35.2 ns", duration(35.21))
	require.Equal(t, "1.5 us", duration(1500))
	require.Equal(t, "2.5 ms", duration(2.5e6))
	require.Equal(t, "3.25s", duration(3.25e9))
	require.InDelta(t, 0.5, slope([]int{1, 4, 16}, []float64{3, 6, 12}), 1e-9)
}

func TestCSV(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printCSV(&out, []row{{workload: "W1", value: value{n: 12_345, unit: "x"}, goal: atLeast(1, 2)}}))
	lines, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	require.Equal(t, header(), lines[0])
	want := append([]string{"W1"}, make([]string, 9)...)
	require.Equal(t, append(want, "", "12,345x", ">= 1", ">= 2", "good"), lines[1])
}

// A call may take three times what the best rival takes, and 300 ns more. Parts of the
// engine are no rivals.
func TestWhatIsAskedOfEachCall(t *testing.T) {
	w := bench.Mesh(4, 10) // four changes a call
	o := &outcome{w: w, us: timing{change: 375}, rivals: []rival{
		{name: "slow", timing: timing{change: 1_000}},
		{name: "best", timing: timing{change: 100, sampled: true}},
		{name: "Coverage", timing: timing{change: 10}, part: true},
	}}
	kept, times, ok := o.kept()
	require.True(t, ok)
	require.True(t, kept)
	require.Equal(t, value{n: 3.75, unit: "x", sampled: true}, times)
	rows := []row{{workload: w.Name, outcome: o}, {workload: "no outcome"}}
	require.Empty(t, missed(rows))
	o.us.change++
	require.Equal(t, []string{w.Name + " (~3.76x the best)"}, missed(rows))
	require.Contains(t, rows[0].cells(), "NO: ~3.76x")
	o.rivals = nil
	_, _, ok = o.kept()
	require.False(t, ok)
}

// The whole table has a line for each workload, with its missed goals.
func TestWholeTable(t *testing.T) {
	w := bench.Mesh(4, 10)
	o := &outcome{w: w, us: timing{change: 1_000}, rivals: []rival{{name: "slow", timing: timing{change: 200}}, {name: "best", timing: timing{change: 100}}},
		costs: &costs{allocations: 2, peak: 2048, longest: 5_000}}
	rows := []row{
		{workload: "W1", outcome: o, what: "of slow", value: value{n: 5, unit: "x"}, goal: aimAtMost(4)},
		{workload: "W1", what: "of best", value: value{n: 3, unit: "x"}, goal: atMost(4, 3)},
		{workload: "snapshot", what: "a call", value: value{n: 7, unit: "ms"}, goal: atMost(6, 5)},
		{workload: "snapshot", what: waiting, value: value{n: 2, unit: "ms"}, goal: aimAtMost(2)},
		{workload: "W10", what: "ns per read", value: value{instead: "needs 2 CPUs"}, goal: atMost(1, 1)},
		{workload: "heap", what: "held", value: value{n: 1, unit: "KiB"}},
	}
	var out bytes.Buffer
	require.NoError(t, printWhole(&out, rows))
	var cells [][]string
	for text := range strings.Lines(out.String()) {
		cells = append(cells, regexp.MustCompile(" {2,}").Split(strings.TrimSpace(text), -1))
	}
	require.Equal(t, [][]string{
		wholeHeader(),
		{"W1", "4 us", "best 0.10x", "NO: 10x", "1 of 2", "2", "-", "2 KiB", "5 us"},
		{"snapshot", "7 ms", "-", "-", "NO", "-", "-", "-", "2 ms"},
		{"W10", "needs 2 CPUs", "-", "-", "needs 2 CPUs", "-", "-", "-", "-"},
		{"heap", "1 KiB", "-", "-", "-", "-", "-", "-", "-"},
	}, cells)
	require.Equal(t, []string{
		"aim missed: W1, of slow: 5x, aim <= 4",
		"floor missed: snapshot, a call: 7 ms, floor <= 6",
	}, missedAims(rows))
}
