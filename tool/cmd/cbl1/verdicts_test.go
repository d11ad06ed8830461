package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/tool/internal/guard/oracle"
	"github.com/cbl1/cbl1/tool/internal/guard/oracle/randomcapture"
)

// checked is what TestVerdictsMatchOracle reads of the JSON of check.
type checked struct {
	Runs     int       `json:"runs"`
	Inferred int       `json:"runs_inferred"`
	Failed   int       `json:"runs_failed"`
	More     int       `json:"failures_more"`
	Failures []failure `json:"failures"`
}

type failure struct {
	Program struct {
		Op       string `json:"op"`
		Counter  int64  `json:"counter"`
		Inferred bool   `json:"inferred"`
	} `json:"program"`
	Device  *uint64 `json:"device"`
	Times   int     `json:"times"`
	Verdict struct {
		Refusals []struct {
			Kind  string  `json:"kind"`
			Cores string  `json:"cores"`
			End   uint64  `json:"region_end"`
			Limit uint64  `json:"limit"`
			On    *uint64 `json:"device"`
		} `json:"refusals"`
		Clashes []struct {
			Count uint64  `json:"count"`
			Bytes uint64  `json:"clashing_bytes"`
			On    *uint64 `json:"device"`
			Above []struct {
				Start  uint64 `json:"start"`
				Buffer *struct {
					Device *uint64 `json:"device"`
				} `json:"buffer"`
			} `json:"above"`
		} `json:"clashes"`
	} `json:"verdict"`
}

// TestVerdictsMatchOracle holds every verdict of check on random captures against a calculator that shares no code with it:
// which program does not fit, on which chip, where its region ends, on how many cores and by how many bytes it clashes, and with what.
func TestVerdictsMatchOracle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "capture.json")
	rapid.Check(t, func(t *rapid.T) {
		data := randomcapture.Draw(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })
		noInfer := rapid.IntRange(0, 2).Draw(t, "infer") == 0
		require.NoError(t, os.WriteFile(file, data, 0o600))
		args := []string{"--format", "json", "--arch", "blackhole",
			"--set", "align=" + strconv.Itoa(randomcapture.Align), "--set", "l1=" + strconv.Itoa(randomcapture.L1)}
		base := uint64(randomcapture.Base)
		if randomcapture.StatesBase(data) {
			base = 0 // devices may have several
		} else {
			args = append(args, "--base", strconv.Itoa(randomcapture.Base))
		}
		if noInfer {
			args = append(args, "--no-infer")
		}
		args = append(args, file)
		code, stdout, stderr := call("", append([]string{"check"}, args...)...)
		t.Logf("%s\n%s", data, stdout)
		require.Empty(t, stderr)
		var got checked
		require.NoError(t, json.Unmarshal([]byte(stdout), &got))
		opts := oracle.Options{
			Arch: "blackhole", Base: base, Align: randomcapture.Align, L1Size: randomcapture.L1, NoInfer: noInfer,
		}
		want, err := oracle.L1(data, opts)
		require.NoError(t, err)
		requireVerdicts(t, want, got)
		require.Equal(t, want.Answer(), code, "exit code, with %v", want.Hidden)

		code, stdout, _ = call("", append([]string{"report"}, args...)...)
		require.Zero(t, code)
		requireReported(t, want, stdout)
	})
}

// requireReported holds the figures of report against the oracle's, for every device that it has.
func requireReported(t *rapid.T, want *oracle.L1Results, stdout string) {
	var got struct {
		L1 []struct {
			Device     *uint64 `json:"device"`
			Peak       uint64  `json:"tracked_peak_bytes"`
			Final      uint64  `json:"tracked_final_bytes"`
			Dispatched *struct {
				Peak    uint64 `json:"peak_bytes"`
				Final   uint64 `json:"final_bytes"`
				Runs    int    `json:"executions"`
				Unknown int    `json:"executions_unknown"`
			} `json:"dispatched"`
		} `json:"l1"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.L1, len(want.Devices))
	for _, row := range got.L1 {
		d := want.Devices[deviceText(row.Device)]
		require.NotNil(t, d)
		require.Equal(t, []uint64{d.TotalPeak, d.Total}, []uint64{row.Peak, row.Final}, "tracked on %s", deviceText(row.Device))
		if e := row.Dispatched; e != nil {
			require.Equal(t, []uint64{d.DispatchedPeak, d.Dispatched}, []uint64{e.Peak, e.Final}, "dispatched on %s", deviceText(row.Device))
			require.Equal(t, []int{d.Executions, d.Unknown}, []int{e.Runs, e.Unknown}, "executions on %s", deviceText(row.Device))
		}
	}
}

func requireVerdicts(t *rapid.T, want *oracle.L1Results, got checked) {
	require.Equal(t, want.Runs, got.Runs, "runs")
	require.Equal(t, want.Inferred, got.Inferred, "inferred")
	require.Equal(t, want.Failed, got.Failed, "failed")
	times := 0
	for _, f := range got.Failures {
		times += f.Times
	}
	require.Zero(t, got.More)
	require.Equal(t, got.Failed, times, "times")
	failed := slices.DeleteFunc(slices.Clone(want.Verdicts), func(v oracle.Verdict) bool { return v.Fits || v.Untold })
	for _, f := range got.Failures {
		require.True(t, slices.ContainsFunc(failed, func(v oracle.Verdict) bool { return f.names(v) && f.judges(v) }), "%+v is none of %+v", f, failed)
	}
	for _, v := range failed {
		require.True(t, slices.ContainsFunc(got.Failures, func(f failure) bool { return f.judges(v) }), "%+v is not told", v)
	}
}

// names says whether a failure is of the run of a verdict.
func (f failure) names(v oracle.Verdict) bool {
	return deviceText(f.Device) == v.Device && f.Program.Op == v.Op && f.Program.Counter == v.At && f.Program.Inferred == v.Inferred
}

// rowsOf names the device whose rows are those of a verdict: its own, or the first one where the same lives.
func (f failure) rowsOf(v oracle.Verdict) string {
	for _, r := range f.Verdict.Refusals {
		if deviceText(r.On) == v.Device {
			return v.Device
		}
	}
	for _, c := range f.Verdict.Clashes {
		if deviceText(c.On) == v.Device {
			return v.Device
		}
	}
	return deviceText(f.Device)
}

// judges says whether a failure says what a verdict says. It may name another chip, where the same lives.
func (f failure) judges(v oracle.Verdict) bool {
	var refusals []oracle.Refusal
	on := f.rowsOf(v)
	for _, r := range f.Verdict.Refusals {
		if deviceText(r.On) != on || r.Kind == "grid" && len(refusals) > 0 { // the oracle names the first range outside the grid alone
			continue
		}
		refusals = append(refusals, oracle.Refusal{Kind: r.Kind, Cores: r.Cores, End: r.End, Limit: r.Limit})
	}
	if !slices.Equal(refusals, v.Refusals) {
		return false
	}
	var cores, bytes, clash uint64
	held := map[oracle.Obstacle]bool{}
	for _, c := range f.Verdict.Clashes {
		if deviceText(c.On) != on {
			continue
		}
		cores += c.Count
		bytes += c.Count * c.Bytes
		for _, a := range c.Above {
			if a.Buffer != nil {
				held[oracle.Obstacle{Addr: a.Start, Owner: deviceText(a.Buffer.Device)}] = true
			}
		}
	}
	for _, n := range v.Clash {
		clash += n
	}
	if cores != uint64(len(v.Clash)) || bytes != clash {
		return false
	}
	for _, h := range v.Named {
		own := h // its own buffers, as those of the chip that is named
		if h.Owner == v.Device {
			own.Owner = on
		}
		lowest := slices.ContainsFunc(v.Refusals, func(r oracle.Refusal) bool { return r.Kind == "clash" && r.Limit == h.Addr })
		if !held[h] && !held[own] && !lowest {
			return false
		}
	}
	return true
}

func deviceText(id *uint64) string {
	if id == nil {
		return "none"
	}
	return strconv.FormatUint(*id, 10)
}

// sameDraws has rapid draw the same captures each time, unless -rapid.seed says otherwise:
// a change is judged by what it does, not by luck. More of them: -rapid.seed=N -rapid.checks=2000.
func sameDraws(t *testing.T) {
	seed := flag.Lookup("rapid.seed").Value
	if seed.String() == "0" {
		require.NoError(t, seed.Set("1"))
		t.Cleanup(func() { _ = seed.Set("0") })
	}
}
