package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// half is a window of a made run: a free of the mesh, perhaps a CB of some bytes, then more nodes.
func half(more ...string) string {
	nodes := append([]string{`"node_type":"capture_start","params":{}`}, more...)
	for i, n := range nodes {
		nodes[i] = fmt.Sprintf(`{"counter":%d,%s}`, i, n)
	}
	return "[" + strings.Join(nodes, ",") + "]"
}

// The nodes of made windows.
const (
	tensorIn = `"node_type":"tensor","params":{"address":1500000,"buffer_type":1,"device_id":0,"size":65536},"connections":[]`
	bufferIn = `"node_type":"buffer_%s","params":{"address":%d,"size":65536,"max_size_per_bank":%d,"type":"L1","buffer_type":1,"device_id":0},"connections":[]`
	enter    = `"node_type":"function_start","params":{"name":"ttnn.add","inputs":"1"},"connections":[]`
	freeAll  = `"node_type":"circular_buffer_deallocate_all","params":{"device_id":0},"connections":[]`
	largeCB  = `"node_type":"circular_buffer_allocate","params":{"address":111616,"size":1400000,"core_range_set":"{[0-0 - 0-0]}","globally_allocated":"0","device_id":0},"connections":[]`
	leave    = `"node_type":"function_end","params":{"name":"ttnn.add"},"connections":[]`
)

func buffer(what string, bytes int) string {
	return fmt.Sprintf(bufferIn, what, 1500000, bytes)
}

// withLists makes a report of a window, with a list of its operation at node 1.
func withLists(graph, rows string) string {
	return `{"graph":` + graph + `,"per_operation_buffers":{"1":[` + rows + `]}}`
}

const listedRow = `{"device_id":0,"address":1500000,"max_size_per_bank":65536,"buffer_type":1}`

// TestSecondWindowSettlesABuffer: a buffer lives when the first window ends, in the way of the program of the
// second one. The answer follows from what the second one shows.
func TestSecondWindowSettlesABuffer(t *testing.T) {
	t.Chdir(t.TempDir())
	first := half(buffer("allocate", 65536))
	runs := []string{enter, freeAll, largeCB, leave}
	then := func(more ...string) string { return half(append(runs, more...)...) }
	for _, c := range []struct {
		name, second string
		code         int
		says         string
	}{
		{"nothing", then(), exitTell, "does not list"},
		{"a list with it", withLists(then(), listedRow), exitNo, "1,500,000"},
		{"a list without it", withLists(then(), ""), exitOK, "ok    "},
		{"a list with another size", withLists(then(), strings.Replace(listedRow, "65536", "32", 1)), exitNo, "before the capture"},
		{"a list that cannot be read", withLists(then(), strings.Replace(listedRow, "1500000", `"what"`, 1)), exitTell, "cannot be read"},
		{"a free", then(buffer("deallocate", 65536)), exitNo, "1,500,000"},
		{"a free of another size", then(buffer("deallocate", 32)), exitNo, "before the capture"},
		{"a tensor", then(tensorIn), exitNo, "1,500,000"},
		{"its place is allocated anew", then(buffer("allocate", 65536)), exitTell, "does not list"},
		{"and freed", then(buffer("allocate", 65536), buffer("deallocate", 65536)), exitTell, "does not list"},
		{"and listed", withLists(half(enter, freeAll, largeCB, buffer("allocate", 65536), leave), listedRow), exitOK, "ok    "},
	} {
		require.NoError(t, os.WriteFile("a.json", []byte(first), 0o600))
		require.NoError(t, os.WriteFile("b.json", []byte(c.second), 0o600))
		code, out, stderr := call("", "check", "--arch", "blackhole", "--join", "a.json", "b.json")
		require.Equal(t, c.code, code, "%s: %s%s", c.name, out, stderr)
		require.Contains(t, out, c.says, c.name)
	}
}

// TestJoinedUnreadable: what cannot be read in one window of two is hidden, and refuses none.
func TestJoinedUnreadable(t *testing.T) {
	t.Chdir(t.TempDir())
	const device = `{"device_id":0,"arch":"blackhole","num_x_compute_cores":8}`
	window := func(section string) string {
		graph := half(enter, freeAll, strings.Replace(largeCB, "1400000", "4096", 1), leave)
		return withLists(graph, "")[:len(withLists(graph, ""))-1] + "," + section + "}"
	}
	good := window(`"devices":[` + device + `]`)
	for _, section := range []string{
		`"devices":[` + device + `]`, `"devices":[{"device_id":0,"num_x_compute_cores":"what"}]`, `"metadata":{"rank":"what"}`,
	} {
		for _, files := range [][2]string{{good, window(section)}, {window(section), good}} {
			require.NoError(t, os.WriteFile("a.json", []byte(files[0]), 0o600))
			require.NoError(t, os.WriteFile("b.json", []byte(files[1]), 0o600))
			code, out, stderr := call("", "check", "--join", "a.json", "b.json")
			if !strings.Contains(section, "what") {
				require.Equal(t, exitOK, code, out+stderr)
				continue
			}
			require.Equal(t, exitTell, code, "%s: %s%s", section, out, stderr)
			require.Contains(t, out, "1 node or row with a field that cannot be read")
		}
	}
}

// TestJoinedPositions: positions name the file, tables the number of the window, and --at takes it.
func TestJoinedPositions(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("w", 0o700))
	for name, text := range map[string]string{
		"report_2.json": half(enter, freeAll, strings.Replace(largeCB, "1400000", "4096", 1), leave), "report_10.json": half(enter, freeAll, leave),
		"report_1.json": half(enter, leave), "report_2.python_io.json": "[]",
	} {
		require.NoError(t, os.WriteFile("w/"+name, []byte(text), 0o600))
	}
	ask := func(want string, args ...string) {
		_, out, stderr := call("", append(args, "--join")...)
		require.Contains(t, out, want, stderr)
	}
	ask("12 nodes in 3 windows", "report", "-v", "w")
	ask("\n2:3    1+0", "report", "--programs", "w")
	ask("(node 3 of report_2.json)", "check", "-v", "w")
	ask(`"windows":[{"file":"w/report_1.json","first_node":0},{"file":"w/report_2.json","first_node":3},{"file":"w/report_10.json","first_node":8}]`,
		"peak", "--format", "json", "w")
	ask("1 operation from the program cache: as last time (--no-infer)", "report", "w") // its run is in another file
	ask("after node 3 of report_2.json", "who", "w", "111616", "--at", "2:3")
	ask("after node 0 of report_2.json", "who", "w", "111616", "--at", "2:0")
	ask("after node 2 of report_2.json", "who", "w/report_1.json", "w/report_2.json", "111616", "--at", "2:2")
	ask(`"at":4,`, "map", "--format", "json", "--at", "2:1", "w")
	ask("the rest is the same", "diff", "w", "w")
	for _, at := range []string{"0:0", "4:0", "2:5"} {
		code, _, stderr := call("", "who", "--join", "w", "111616", "--at", at)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "there is no ")
	}
}

// TestJoinedLogs: a log of windows is answered about as the windows are.
func TestJoinedLogs(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.json", []byte(half(buffer("allocate", 65536))), 0o600))
	require.NoError(t, os.WriteFile("b.json", []byte(half(enter, freeAll, largeCB, leave, buffer("deallocate", 65536))), 0o600))
	files := []string{"--join", "a.json", "b.json"}
	code, _, stderr := call("", append([]string{"convert", "-o", "log.jsonl"}, files...)...)
	require.Equal(t, exitOK, code, stderr)
	for _, q := range questions() {
		want, text, _ := call("", append(append([]string{q[0]}, files...), q[1:]...)...)
		code, got, stderr := call("", append([]string{q[0], "log.jsonl"}, q[1:]...)...)
		require.Equal(t, want, code, "%s: %s", q, stderr)
		name := strings.NewReplacer("a.json and 1 more window", "FILE", "log.jsonl", "FILE", "\n", "", " ", "")
		require.Equal(t, name.Replace(text), name.Replace(got), "%s", q)
	}
	for _, format := range []string{"pprof", "perfetto"} {
		code, _, stderr := call("", append([]string{"export", format, "-o", "out"}, files...)...)
		require.Equal(t, exitOK, code, stderr)
	}
	code, _, stderr = call("", append([]string{"page", "-o", "out.html"}, files...)...)
	require.Equal(t, exitOK, code, stderr)
	code, _, stderr = call("", append([]string{"convert", "-o", "b.json"}, files...)...)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "is the input")
}

// TestJoinRefuses: what is no window of one run.
func TestJoinRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	device := func(id int, arch string, base int) string {
		return fmt.Sprintf(`{"devices":[{"device_id":%d,"arch":%q,"address_at_first_l1_cb_buffer":%d}],"graph":%s,"metadata":{"rank":%d}}`, id, arch, base, half(enter, leave), id)
	}
	for name, text := range map[string]string{
		"a.json": half(enter, leave), "log.jsonl": `{"event":"log","version":1}`, "torn.json": `[{"counter":0,"node_type":"capture_start"},{"counter":7}]`,
		"main_pid1_tid2_exec0.json": half(), "main_pid1_tid3_exec1.json": half(), "graph_capture_0_of_2.json": half(), "graph_capture_1_of_2.json": half(),
		"base.json": device(0, "wormhole_b0", 1024), "other.json": device(0, "wormhole_b0", 2048), "hole.json": device(0, "blackhole", 1024), "rank.json": device(1, "wormhole_b0", 1024),
		"empty/x": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for _, c := range []struct {
		files string
		says  string
	}{
		{"-", "--join is for files"},
		{"a.json a.json", "a.json: comes twice"},
		{"a.json ./a.json", "a.json: comes twice"},
		{"a.json log.jsonl", "log.jsonl:1: byte 0: is no capture"},
		{"a.json torn.json", "torn.json:1: byte 54: node 1: counter"},
		{"main_pid1_tid2_exec0.json main_pid1_tid3_exec1.json", "is of pid1_tid3"},
		{"graph_capture_0_of_2.json graph_capture_1_of_2.json", "is of another rank"},
		{"base.json other.json", "other.json: devices: says otherwise of device 0 than in base.json"},
		{"base.json hole.json", "hole.json: devices: says otherwise of device 0"},
		{"base.json rank.json", "rank.json: metadata.rank: is another one than in base.json"},
		{"empty", "no captures or logs"},
		{"missing", "no such file"},
	} {
		for _, verb := range []string{"report", "check", "peak", "room", "map", "convert"} {
			code, out, stderr := call("", append([]string{verb, "--join"}, strings.Fields(c.files)...)...)
			require.Equal(t, exitUsage, code, "%s %s", verb, c.files)
			require.Contains(t, stderr, c.says, "%s %s", verb, c.files)
			if verb != "convert" { // which writes as it reads
				require.Empty(t, out)
			}
		}
	}
}

// TestJoinOrder: files of tt-mlir's runtime come in the order of their executions, whatever ran.
func TestJoinOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"main_pid7_tid8_exec10.json", "const_eval_pid7_tid8_exec9.json", "zebra_pid7_tid8_exec2.json"} {
		require.NoError(t, os.WriteFile(name, []byte(half(enter, leave)), 0o600))
		require.NoError(t, os.WriteFile(strings.TrimSuffix(name, ".json")+".python_io.json", []byte("[]"), 0o600))
	}
	_, out, stderr := call("", "report", "--join", "--format", "json", ".")
	require.Contains(t, out, `"windows":[{"file":"zebra_pid7_tid8_exec2.json","first_node":0},{"file":"const_eval_pid7_tid8_exec9.json","first_node":3},{"file":"main_pid7_tid8_exec10.json","first_node":6}]`, stderr)
}
