package oracle_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/guard/oracle"
)

// rightAnswer holds the parts of a NN_name.right.json that the oracle is compared with.
type rightAnswer struct {
	Answer  int
	Why     string
	Capture string
	Stdin   bool
	Args    []string
	Exit    int
	Check   map[string]any
	Report  map[string]any
	Codes   []string
	Without []string
}

// root is the module's root as seen from here.
const root = "../../../.."

const rightDir = root + "/tool/capture/testdata/right/"

// TestRightAnswers holds the oracle against the answers that were worked out by hand.
// What a capture on a pipe may say is no business of the oracle, nor is advice.
func TestRightAnswers(t *testing.T) {
	files, err := filepath.Glob(rightDir + "*.right.json")
	require.NoError(t, err)
	compared := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".right.json")
		t.Run(name, func(t *testing.T) {
			want := readRight(t, file)
			if want.Stdin {
				return
			}
			data, err := os.ReadFile(rightDir + want.Capture)
			require.NoError(t, err)
			m, err := oracle.L1(data, oracle.Options{})
			require.NoError(t, err)
			var accepted []string
			if len(want.Args) == 2 && want.Args[0] == "--accept" {
				accepted = strings.Split(want.Args[1], ",")
			}
			require.Equal(t, want.Exit, m.Answer(accepted...), "%s: %v", want.Why, m.Hidden)
			compared += requirePaths(t, want.Check, checkPaths(m))
			compared += requirePaths(t, want.Report, reportPaths(m))
			requireCodes(t, want, m)
		})
	}
	require.Greater(t, compared, 150, "figures that were compared")
}

func readRight(t *testing.T, file string) (want rightAnswer) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &want))
	if want.Capture == "" {
		want.Capture = strings.Replace(filepath.Base(file), ".right.json", ".json", 1)
	}
	return want
}

// requirePaths compares the paths that the oracle has an opinion of, and says how many.
func requirePaths(t *testing.T, want map[string]any, got map[string]string) (n int) {
	t.Helper()
	for path, v := range want {
		text := fmt.Sprint(v)
		if f, ok := v.(float64); ok {
			text = strconv.FormatFloat(f, 'f', -1, 64)
		}
		have, ok := got[path]
		if !ok {
			continue
		}
		n++
		require.Equal(t, text, have, path)
	}
	return n
}

// checkPaths spells the verdicts as the JSON of check does.
func checkPaths(m *oracle.L1Results) map[string]string {
	out := map[string]string{}
	set := func(path string, v any) { out[path] = fmt.Sprint(v) }
	set("runs", m.Runs)
	set("runs_inferred", m.Inferred)
	set("runs_failed", m.Failed)
	set("untold.#", len(m.Hidden))
	failed := slices.DeleteFunc(slices.Clone(m.Verdicts), func(v oracle.Verdict) bool { return v.Fits || v.Untold })
	set("failures.#", len(failed))
	if len(failed) == 0 {
		return out
	}
	v := failed[0]
	set("failures.0.device", v.Device)
	set("failures.0.program.op", v.Op)
	const verdict = "failures.0.verdict."
	set(verdict+"refusals.#", len(v.Refusals))
	if len(v.Refusals) > 0 {
		r := v.Refusals[0]
		for key, value := range map[string]any{"kind": r.Kind, "cores": r.Cores, "region_end": r.End, "limit": r.Limit, "over_bytes": r.End - r.Limit} {
			set(verdict+"refusals.0."+key, value)
		}
	}
	if len(v.Clash) == 0 {
		set(verdict+"clashes.#", 0)
		return out
	}
	bytes := map[uint64]bool{}
	for _, n := range v.Clash {
		bytes[n] = true
	}
	if len(bytes) == 1 {
		set(verdict+"clashes.0.count", len(v.Clash))
		for n := range bytes {
			set(verdict+"clashes.0.clashing_bytes", n)
		}
	}
	if len(v.Named) == 1 {
		set(verdict+"clashes.0.above.0.start", v.Named[0].Addr)
		set(verdict+"clashes.0.above.0.buffer.address", v.Named[0].Addr)
	}
	return out
}

// reportPaths spells the figures as the JSON of report does.
func reportPaths(m *oracle.L1Results) map[string]string {
	out := map[string]string{}
	if d := m.Devices["0"]; d != nil {
		for key, n := range map[string]uint64{
			"tracked_peak_bytes": d.TotalPeak, "tracked_final_bytes": d.Total, "core_peak.tracked_bytes": d.Peak, "l1_peak_bytes": d.L1[0],
			"dispatched.peak_bytes": d.DispatchedPeak, "dispatched.final_bytes": d.Dispatched,
			"dispatched.executions": uint64(d.Executions), "dispatched.executions_unknown": uint64(d.Unknown),
		} {
			out["l1.0."+key] = fmt.Sprint(n)
		}
	}
	return out
}

// requireCodes compares the codes that the oracle has.
func requireCodes(t *testing.T, want rightAnswer, m *oracle.L1Results) {
	t.Helper()
	has := map[string]bool{}
	for code := range m.Hidden {
		has[code] = true
	}
	has["ambiguous"] = has["ambiguous"] || m.Ambiguous > 0
	has["free-again"] = m.FreeAgain > 0
	has["buffers-apart"], has["earlier-used"] = has["apart"], has["earlier"]
	known := []string{
		"ambiguous", "not-shown", "unsettled", "cache-hit", "buffer-unplaced", "free-again", "buffers-apart", "earlier-used", "id-collision", "specs-differ", "buffers-overlap",
	}
	for _, code := range known {
		if slices.Contains(want.Codes, code) {
			require.True(t, has[code], code)
		}
		if slices.Contains(want.Without, code) {
			require.False(t, has[code], code)
		}
	}
}

// TestAnswers lists the answers to the other captures of the project.
func TestAnswers(t *testing.T) {
	want := map[string]int{
		"tool/capture/testdata/dialect_2024_08.json": 3, // neither addresses nor sizes per core
		"tool/capture/testdata/unattributed.json":    3, // CBs that name no core
		"tool/cmd/cbl1/testdata/clashing.json":       1, "tool/cmd/cbl1/testdata/clashing_no_dispatch.json": 1,
	}
	var files []string
	for _, pattern := range []string{
		"tool/capture/testdata/*.json", "tool/capture/testdata/ranks/graph_capture_?_of_2.json", "examples/cached_ops.json", "tool/cmd/cbl1/testdata/clashing.json",
		"tool/cmd/cbl1/testdata/clashing_no_dispatch.json",
	} {
		some, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.NotEmpty(t, some, pattern)
		files = append(files, some...)
	}
	for _, file := range files {
		name := strings.TrimPrefix(filepath.ToSlash(file), root+"/")
		if strings.HasSuffix(name, ".expected.json") {
			continue
		}
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		m, err := oracle.L1(data, oracle.Options{})
		require.NoError(t, err)
		require.Equal(t, want[name], m.Answer(), "%s: %v", name, m.Hidden)
	}
}

// traces has captures that were written after published ones, with their figures.
const traces = "../../../capture/testdata/published"

func trace(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(traces, name))
	require.NoError(t, err)
	return data
}

// TestAnswersOfTraces does the same with captures after published ones.
func TestAnswersOfTraces(t *testing.T) {
	for name, want := range map[string]int{
		"conv2d": 0, "matmul": 0, "sharded_add": 0, "matmul_2024": 0, "concat_2024": 3, "add_cached_2024": 3,
	} {
		m, err := oracle.L1(trace(t, name+".json"), oracle.Options{})
		require.NoError(t, err)
		require.Equal(t, want, m.Answer(), "%s: %v", name, m.Hidden)
	}
}
