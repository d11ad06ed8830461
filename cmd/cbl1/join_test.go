package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/oracle"
	"github.com/cbl1/cbl1/internal/oracle/randomcapture"
)

// A window is what a recorder writes that sees a part of a run: nodes counted from 0, without
// connections to nodes of other windows, and a list of the buffers that lived when each operation
// ended.
type window struct {
	first int // what its first node counts as
	nodes []jsonNode
	lists map[string][]map[string]any
}

// windows cuts the run before some of its nodes, and leaves some out. It returns which node of the run
// each node of the windows is.
func (r jsonRun) windows(cuts []int, lost map[int]bool) (out []window, kept []int) {
	live, depth, start := map[int][4]int64{}, 0, -1
	to := map[int]int{} // by node of the run
	for at, n := range r.nodes {
		if at == 0 || slices.Contains(cuts, at) {
			out = append(out, window{first: len(kept), nodes: []jsonNode{}, lists: map[string][]map[string]any{}})
		}
		w := &out[len(out)-1]
		if !lost[at] {
			to[at] = len(kept)
			w.nodes, kept = append(w.nodes, n), append(kept, at)
		}
		r.follow(at, live)
		switch n.kind() {
		case "function_start":
			if depth++; depth == 1 {
				start = at
			}
		case "function_end":
			if depth = max(0, depth-1); depth == 0 && start >= 0 && !lost[start] {
				w.lists[strconv.Itoa(to[start]-w.first)] = listed(live)
			}
		}
	}
	for _, w := range out {
		for i, n := range w.nodes {
			w.nodes[i] = n.moved(i, func(c int) (int, bool) {
				c, ok := to[c]
				return c - w.first, ok && c >= w.first && c < w.first+len(w.nodes)
			})
		}
	}
	return out, kept
}

// listed are rows of per_operation_buffers.
func listed(live map[int][4]int64) []map[string]any {
	rows := []map[string]any{}
	for _, b := range live {
		rows = append(rows, map[string]any{"device_id": b[0], "address": b[1], "max_size_per_bank": b[2], "buffer_type": b[3], "buffer_layout": 0})
	}
	return rows
}

// write writes windows into a folder, with or without their lists.
func write(t require.TestingT, folder string, devices []map[string]any, all []window, lists bool) {
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, os.Mkdir(folder, 0o700))
	for i, w := range all {
		out := map[string]any{"version": 1, "graph": w.nodes}
		if lists {
			out["per_operation_buffers"] = w.lists
		}
		if devices != nil {
			out["devices"] = devices
		}
		require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("report_%d.json", i+1)), marshal(t, out), 0o600))
	}
	// What lies beside windows is none.
	require.NoError(t, os.WriteFile(filepath.Join(folder, "report_1.python_io.json"), []byte("[]"), 0o600))
}

// joinedQuestions are those whose answers are alike but for the list of windows.
func joinedQuestions() (out [][]string) {
	for _, q := range questions() {
		if slices.Contains(q, "json") {
			out = append(out, q)
		}
	}
	return append(out, []string{"map", "--format", "json"}, []string{"room", "--size", "4096", "--format", "json"})
}

// asOne spells an answer about windows as one about the run.
func asOne(text, folder, whole string, all []window) string {
	text = windowsOf.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, `"file":"`+folder+`"`, `"file":"`+whole+`"`)
	return nodeOf.ReplaceAllStringFunc(text, func(place string) string {
		m := nodeOf.FindStringSubmatch(place)
		node, _ := strconv.Atoi(m[1])
		number, _ := strconv.Atoi(m[2])
		return fmt.Sprint("node ", all[number-1].first+node)
	})
}

var nodeOf = regexp.MustCompile(`node (\d+) of report_(\d+)\.json`)

var windowsOf = regexp.MustCompile(`,"windows":\[[^\]]*\]`)

// drawCuts draws one to four cuts of a run between top-level operations.
func drawCuts(t *rapid.T, r jsonRun) []int {
	starts := r.cut()
	if len(starts) < 2 {
		t.Skip("needs two top-level operations, to cut between them")
	}
	cuts := rapid.SliceOfNDistinct(rapid.SampledFrom(starts[1:]), 1, min(4, len(starts)-1), rapid.ID).Draw(t, "cuts")
	slices.Sort(cuts)
	return cuts
}

func randomFlags() []string {
	return []string{"--base", strconv.Itoa(randomcapture.Base), "--set", "align=" + strconv.Itoa(randomcapture.Align), "--set", "l1=" + strconv.Itoa(randomcapture.L1)}
}

// TestWindowsAnswerAsTheRun: a run that is cut into windows, of which none lacks a node and each lists
// its buffers, is answered about as the run in one file.
func TestWindowsAnswerAsTheRun(t *testing.T) {
	sameDraws(t)
	t.Chdir(t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		run := readRun(t, randomcapture.Draw(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })).known()
		cuts := drawCuts(t, run)
		parts, _ := run.windows(cuts, nil)
		write(t, "parts", run.devices, parts, true)
		if _, got, _ := call("", "report", "--join", "parts"); strings.Contains(got, "lived in") { // a plan, or a window without an operation
			t.Skip("needs a list of buffers for each window after the first")
		}
		require.NoError(t, os.WriteFile("whole", run.capture(t), 0o600))
		for _, q := range joinedQuestions() {
			ask := func(file string, more ...string) (int, string, string) {
				args := append([]string{q[0], file}, q[1:]...)
				return call("", append(append(args, randomFlags()...), more...)...)
			}
			wantCode, want, _ := ask("whole")
			code, got, stderr := ask("parts", "--join")
			requireLines(t, want, asOne(got, "parts", "whole", parts), append(q, stderr))
			require.Equal(t, wantCode, code, "%s %s", q, stderr)
		}
	})
}

// drawLost draws what no window has: up to two operations behind each cut.
func drawLost(t *rapid.T, r jsonRun, cuts []int) map[int]bool {
	lost, starts := map[int]bool{}, append(r.cut(), len(r.nodes))
	for _, cut := range cuts {
		i := slices.Index(starts, cut)
		end := starts[min(i+rapid.IntRange(0, 2).Draw(t, "lost"), len(starts)-1)]
		for at := cut; at < end; at++ {
			lost[at] = true
		}
	}
	if all := len(r.members(nil)); all == 0 || all != len(r.members(lost)) {
		t.Skip("needs to know which chips a mesh has: else programs run together, in windows or not")
	}
	return lost
}

// members are the texts that say which chips a mesh has.
func (r jsonRun) members(lost map[int]bool) map[string]bool {
	out := map[string]bool{}
	for at, n := range r.nodes {
		p := n.params()
		if !lost[at] && (p["device_tensors"] != nil || p["physical_device_id"] != nil) {
			out[fmt.Sprint(p["device_id"], p["physical_device_id"], p["device_tensors"])] = true
		}
	}
	return out
}

// TestWindowsWithGapsAreNeverWrong: whatever happened between windows, what they say for certain of a
// program is what an independent model says of it that has seen all of the run.
func TestWindowsWithGapsAreNeverWrong(t *testing.T) {
	sameDraws(t)
	t.Chdir(t.TempDir())
	answers := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		run := readRun(t, randomcapture.Draw(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })).known()
		cuts := drawCuts(t, run)
		lost := drawLost(t, run, cuts)
		parts, kept := run.windows(cuts, lost)
		lists := rapid.Bool().Draw(t, "lists")
		write(t, "parts", run.devices, parts, lists)
		all, err := oracle.L1(run.capture(t), oracle.Options{
			Arch: "blackhole", Base: randomcapture.Base, Align: randomcapture.Align, L1Size: randomcapture.L1,
		})
		require.NoError(t, err)
		_, got, stderr := call("", append([]string{"check", "--join", "parts", "--format", "json"}, randomFlags()...)...)
		var check struct {
			Answer   string
			Failures []struct {
				Program struct{ Counter int }
				Verdict struct{ Refusals []any }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(got), &check), stderr)
		answers[fmt.Sprint(check.Answer, lists)]++
		for _, f := range check.Failures {
			if len(f.Verdict.Refusals) == 0 {
				continue // a list does not say on which cores a buffer lies: it is taken to lie on all
			}
			at := int64(kept[f.Program.Counter]) // programs that run together begin at the first one
			refused := func(v oracle.Verdict) bool { return v.At >= at && !lost[int(v.At)] && (!v.Fits || v.Untold) }
			require.True(t, slices.ContainsFunc(all.Verdicts, refused), "node %d: %s", at, got)
		}
		for _, v := range all.Verdicts {
			if check.Answer == "fits" && !lost[int(v.At)] {
				require.True(t, v.Fits || v.Untold, "node %d: %s", v.At, got)
			}
		}
	})
	t.Log(answers)
}
