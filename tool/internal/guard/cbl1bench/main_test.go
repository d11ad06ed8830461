package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/baseline"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

const tiny = 100 // times smaller than measured

// histories returns all histories, tiny, and in every order of calls.
func histories() map[string]history {
	out := map[string]history{}
	for _, w := range workloads(tiny) {
		if w.reads == nil {
			h := w.made().measured()
			out[w.name], out[w.name+"/call=device"], out[w.name+"/order=device"] = h, h.perDevice(), h.deviceMajor()
		}
	}
	return out
}

// Measurements are of right answers: all contenders compute the same totals on every history.
func TestContendersAgree(t *testing.T) {
	for name, h := range histories() {
		t.Run(name, func(t *testing.T) {
			_, err := race(name, h, 1, append([]contender{engine()}, simple(h, part{})...)...)
			require.NoError(t, err)
			f := newFleet(h)
			change(f, h.before)
			change(f, h.steps)
			require.NoError(t, f.CheckInvariants())
		})
	}
}

// Histories are the same on every run.
func TestHistoriesAreDeterministic(t *testing.T) {
	again := histories()
	for name, h := range histories() {
		require.Equal(t, stepTexts(h.before), stepTexts(again[name].before))
		require.Equal(t, stepTexts(h.steps), stepTexts(again[name].steps))
	}
}

func stepTexts(steps []step) (out []string) {
	for _, s := range steps {
		out = append(out, fmt.Sprintf("%d %#v %v %v", s.do, s.program, s.buffer, s.devices))
	}
	return out
}

// Histories have the shapes that their names promise.
func TestShapes(t *testing.T) {
	t.Run("fragmented: every core is its own class", func(t *testing.T) {
		h := fragments(1, 200, 0, onAll(1))
		seen := map[string]bool{}
		for c := range h.spec.Grid().Cores().All() {
			held := ""
			for _, s := range h.before {
				if g, ok := s.program.Occupied(program.CircularBuffer).On(c); ok {
					held += fmt.Sprint(s.program.ID(), g.Bytes(), " ")
				}
			}
			seen[held] = true
		}
		require.Len(t, seen, h.spec.NumCores())
	})
	t.Run("nested: no two ranges are equal, and all are in L1", func(t *testing.T) {
		h, seen := nested(10_000, 1), map[l1.Range]bool{}
		for _, s := range h.before {
			r := s.program.Occupied(program.CircularBuffer).Group(0).Range(0)
			require.False(t, seen[r])
			require.LessOrEqual(t, r.End, h.spec.L1Size)
			seen[r] = true
		}
		require.Len(t, seen, 10_000)
	})
	t.Run("states: as many as promised", func(t *testing.T) {
		h := states(30, 5, 3, 1)
		f, totals := newFleet(h), map[uint64]bool{}
		change(f, h.before)
		for d := range h.devices {
			totals[f.Total(d)] = true
		}
		require.Len(t, totals, 5)
	})
	t.Run("reserved bytes are queried where they differ", func(t *testing.T) {
		require.Equal(t, baseline.Registered, churn(2, 4, 4).measured().measure)
		require.Equal(t, baseline.Reserved, fragments(2, 40, 4, onAll(2)).measured().measure)
		require.Equal(t, baseline.Tracked, scattered(2, 4, 4).measured().measure)
	})
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
	h := mesh(4, 10)
	for _, x := range []part{{}, {devices: []int{0, 3}}, {steps: 5}, {[]int{1}, 8}} {
		lie := contender{"liar", x, func(h history) baseline.Contender {
			return &liar{Contender: baseline.NewSortedSlice(h.spec, h.devices, h.measure)}
		}}
		_, err := race("mesh", h, 1, engine(), lie)
		require.ErrorContains(t, err, "for liar and")
	}
}

// A part is the steps of some devices, and of these the first ones.
func TestPart(t *testing.T) {
	h := part{[]int{1, 4}, 12}.of(fragments(6, 10, 20, onHalves(6)))
	require.Len(t, h.steps, 12)
	for _, s := range h.steps {
		require.Subset(t, []int{1, 4}, s.devices)
		require.NotEmpty(t, s.devices)
	}
}

func TestTable(t *testing.T) {
	var out, errw bytes.Buffer
	require.Zero(t, run([]string{"-div", "200", "-rounds", "1", "-previous", "none"}, &out, &errw), "%s", &errw)
	for _, w := range workloads(1) {
		require.Contains(t, out.String(), "\n"+w.name+" ")
	}
	require.Contains(t, out.String(), "all totals equal; previous: none; 1 rounds")
}

// The previous release plays the same histories. A release that cannot be built is no failure.
func TestPrevious(t *testing.T) {
	var out, errw bytes.Buffer
	require.Zero(t, run([]string{"-div", "200", "-rounds", "1", "-run", "^far$", "-previous", "no-such-tag"}, &out, &errw), "%s", &errw)
	require.Contains(t, errw.String(), "no-such-tag is not measured")
	require.Contains(t, out.String(), "previous: none")
	if testing.Short() || exec.Command("git", "rev-parse", "HEAD").Run() != nil {
		t.Skip("needs git, and a run without -short: it builds the command of a commit")
	}
	out.Reset()
	require.Zero(t, run([]string{"-div", "200", "-rounds", "1", "-run", "^far$", "-previous", "HEAD"}, &out, &errw), "%s", &errw)
	require.Regexp(t, `far +\S+ \S+ +\S+ +\S+ +\d\S*x `, out.String())
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"-run", "("}, {"argument"}, {"-rounds", "0"}, {"-div", "0"}} {
		require.Equal(t, 2, run(args, io.Discard, io.Discard), "%v", args)
	}
}

// A call may take four times as long as that of the best other structure, and 300 ns more.
// A floor is a promise about percore, and a lead is one about shared.
func TestLimits(t *testing.T) {
	x := row{workload: workload{name: "w", floor: 2, lead: 4}, engine: 1900, percore: 3_800, slice: 400, shared: 7_600, sampled: true}
	require.Empty(t, x.misses())
	require.Equal(t, "kept", x.limit())
	x.engine++
	require.Equal(t, []string{
		"w: a call takes more than 4 times the best other structure and 300 ns: ~4.75x",
		"w: percore needs ~2.00x, at least 2x are promised",
		"w: shared needs 4.00x, at least 4x are promised",
	}, x.misses())
	var out strings.Builder
	require.NoError(t, printTable(&out, []row{x}, false))
	require.NotContains(t, out.String(), "promised", "by sizes that promise nothing")
	require.EqualError(t, printTable(&out, []row{x}, true), "3 promises are broken")
	require.Contains(t, out.String(), "w: shared needs 4.00x")
	require.Equal(t, "NO: ~4.75x", x.limit())
	require.Equal(t, "-", row{engine: 1e9}.limit())
	require.Empty(t, row{engine: 1e9}.misses())
	require.Len(t, x.cells(), len(header()))
}

func TestNumbers(t *testing.T) {
	for want, n := range map[string]float64{"1,234": 1234.4, "12.3": 12.34, "1.50": 1.5, "1": 1} {
		require.Equal(t, want, number(n))
	}
	for want, ns := range map[string]float64{"35.2 ns": 35.21, "1.5 us": 1500, "2.5 ms": 2.5e6, "3.25 s": 3.25e9} {
		require.Equal(t, want, duration(ns))
	}
	require.Equal(t, "-", times(0, 1, true))
	require.Equal(t, []string{"~1,000x", "0.50x"}, strings.Fields(times(1e3, 1, true)+" "+times(1, 2, false)))
}
