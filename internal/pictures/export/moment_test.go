package export

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// Each byte belongs to the one of its holders that came last, as a map of bytes says too.
func TestOwners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Moment
		var of [64]int // index in m.Held, and 1
		for i := range rapid.IntRange(0, 12).Draw(t, "held") {
			start := rapid.Uint64Range(0, 60).Draw(t, "start")
			held := replay.L1Resident{
				ResidentRow: fit.NewResidentRow(
					rapid.SampledFrom([]fit.Kind{fit.KindCB, fit.KindL1, fit.KindKernel}).Draw(t, "kind"),
					l1.Range{Start: start, End: min(64, start+rapid.Uint64Range(0, 20).Draw(t, "length"))},
				),
				Program: &replay.ProgramRun{At: rapid.Uint64Range(1, 4).Draw(t, "node")},
				CB:      event.Some(uint64(i)),
			}
			m.Held = append(m.Held, held)
		}
		for b := range of {
			for i, held := range m.Held {
				if !held.Range().Has(uint64(b)) || held.Kind == fit.KindKernel {
					continue
				}
				last := of[b] - 1
				if last < 0 || held.Program.At > m.Held[last].Program.At ||
					held.Program.At == m.Held[last].Program.At && held.Start >= m.Held[last].Start {
					of[b] = i + 1
				}
			}
		}
		want, got := map[int]uint64{}, map[int]uint64{}
		for _, i := range of {
			if i > 0 {
				want[i-1]++
			}
		}
		for _, o := range m.owners() {
			got[int(o.CB.V)] += o.bytes
		}
		require.Equal(t, want, got)
	})
}

func inputs(t *testing.T) (all []capture.Input) {
	for _, folder := range []string{"../../../capture/testdata", "../../../examples"} {
		found, err := capture.Inputs(folder)
		require.NoError(t, err)
		all = append(all, found...)
	}
	require.Greater(t, len(all), 15)
	return all
}

func replayed(t *testing.T, in capture.Input, opt replay.Options) *replay.Result {
	r, err := replay.Run(in.Path, in.Events(capture.Options{At: opt.GroupsAt}), opt)
	require.NoError(t, err, in.Path)
	return r
}

// The samples of a profile are the peak: nothing is left out, nothing counts twice.
func TestProfilesSumUp(t *testing.T) {
	profiles := 0
	for _, in := range inputs(t) {
		r := replayed(t, in, replay.Options{Groups: true})
		m, ok := AtPeak(r)
		var most uint64
		for _, d := range r.L1 {
			if d.Peak != nil {
				most = max(most, d.Peak.Bytes)
			}
		}
		require.Equal(t, most > 0, ok, in.Path)
		if !ok {
			continue
		}
		profiles++
		var b bytes.Buffer
		require.NoError(t, Pprof(&b, m))
		p, err := profile.Parse(&b)
		require.NoError(t, err)
		require.NoError(t, p.CheckValid())
		var sum uint64
		for _, s := range p.Sample {
			sum += uint64(s.Value[0])
			require.NotEmpty(t, s.Location)
		}
		require.Equal(t, most, sum, in.Path)
		require.Contains(t, strings.Join(p.Comments, "\n"), "owner: a byte that two hold")
	}
	require.Greater(t, profiles, 10)
}

// The moment after a node has the contents of that time.
func TestProfileAfterANode(t *testing.T) {
	in := capture.Input{Path: "../../../examples/cached_ops.json"}
	peak, ok := AtPeak(replayed(t, in, replay.Options{Groups: true}))
	require.True(t, ok)
	after, ok := After(replayed(t, in, replay.Options{GroupsAt: event.Some(uint64(1451))}), 1451)
	require.True(t, ok)
	require.Equal(t, peak.Held, after.Held)
	require.Equal(t, peak.Cores.String(), after.Cores.String())
	require.Equal(t, "after node 1451", after.When)
	_, ok = After(replayed(t, in, replay.Options{GroupsAt: event.Some(uint64(0))}), 0)
	require.False(t, ok)
}

// Go's own tool reads a profile, and subtracts one from another by names.
func TestPprofReadsIt(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, first uint64) string {
		held := func(start, end, at uint64, cb int) replay.L1Resident {
			return replay.L1Resident{ResidentRow: fit.NewResidentRow(fit.KindCB, l1.Range{Start: start, End: end}), Program: &replay.ProgramRun{At: at, Op: "ttnn.add > Add"}, CB: event.Some(uint64(cb))}
		}
		tensor := replay.L1Resident{ResidentRow: fit.NewResidentRow(fit.KindL1, l1.Range{Start: 9000, End: 9500}), Buffer: &replay.BufferInfo{Op: "ttnn.from_torch", At: 3}}
		m := Moment{File: name, Device: "device 0", When: "now", Cores: l1.Rect(0, 0, 1, 0).Cores(), Held: []replay.L1Resident{held(0, first, 7, 0), held(first, 4000, 7, 1), tensor}}
		file := filepath.Join(dir, name)
		var b bytes.Buffer
		require.NoError(t, Pprof(&b, m))
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
		return file
	}
	old, grown := write("old.pb.gz", 1000), write("new.pb.gz", 1500)
	tool := func(args ...string) string {
		out, err := exec.Command("go", append([]string{"tool", "pprof", "-unit=B"}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.Join(strings.Fields(string(out)), " ")
	}
	require.Contains(t, tool("-top", old), "4500B total")
	require.Contains(t, tool("-top", old), "0 0% 100% 4000B 88.89% ttnn.add")
	diff := tool("-top", "-diff_base", old, grown)
	require.Contains(t, diff, "500B 11.11% 11.11% 500B 11.11% CB 0")
	require.Contains(t, diff, "-500B 11.11%")
}

// Programs of one operation have frames of their own, and names from files do no harm.
func TestFrames(t *testing.T) {
	b := builder{known: map[string]*profile.Location{}, runs: map[string][]uint64{}}
	of := func(at uint64, op string) (names []string) {
		for _, l := range b.stack(holding{L1Resident: replay.L1Resident{ResidentRow: fit.ResidentRow{Kind: fit.KindDataflow}, CB: event.Some[uint64](2), Program: &replay.ProgramRun{At: at, Op: replay.Name(op)}}}) {
			names = append(names, l.Line[0].Function.Name)
		}
		return names
	}
	require.Equal(t, []string{"dataflow buffer 2", "program", "b", "a"}, of(5, "a > b"))
	require.Equal(t, []string{"dataflow buffer 2", "program 2", "b", "a"}, of(9, "a > b"))
	require.Equal(t, []string{"dataflow buffer 2", "program", "b", "a"}, of(5, "a > b"))
	require.Equal(t, []string{"dataflow buffer 2", "program", "no operation"}, of(9, ""))
	require.NotContains(t, fmt.Sprint(of(1, "\x1b[2J\n")), "\x1b")
	require.Len(t, b.Function, 7)
}
