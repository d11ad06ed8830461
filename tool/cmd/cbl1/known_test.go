package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An operation, a device or a core that no input knows is wrong usage, with the ten nearest; one that
// some input knows is not.
func TestUnknownFilter(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	var log strings.Builder
	log.WriteString(`{"event":"log","version":1}` + "\n" + `{"event":"mesh","first":4,"rows":1,"cols":2,"spec":{"board":"n150"}}` + "\n")
	for i := range 12 {
		fmt.Fprintf(&log, `{"event":"op_start","name":"outer"}`+"\n"+`{"event":"program","program":%d,"name":"p%d","cbs":[{"cores":"0-0","size":32}]}`+"\n", i, i)
		fmt.Fprintf(&log, `{"event":"enqueue","program":%d,"devices":[4]}`+"\n"+`{"event":"op_end"}`+"\n", i)
	}
	first, second := write("first.jsonl", log.String()), write("second.json", graph("ttnn.add", goodCB+`,"device_id":9`))
	for _, c := range []struct {
		filter, want string // "": it is known
	}{
		{"--op p11", ""},
		{"--op outer", ""},
		{"--op ttnn.add", ""},
		{"--op *add", ""},
		{"--op *", ""},
		{"--op p12", "--op p12: no input has it; the nearest of 14 operations: p1, p2, p10, p11, p0, p3, p4, p5, p6, p7"},
		{"--op OUTER", "--op OUTER: no input has it; the nearest of 14 operations: outer, p0, p1, p2, p3, p4, p5, p6, p7, p8"},
		{"--device 4", ""},
		{"--device 5", ""},
		{"--device 9", ""},
		{"--device 6", "--device 6: no input has it; there are 3 devices: 5, 4, 9"},
		{"--device 3 --op nothing", "--device 3: no input has it; there are 3 devices: 4, 5, 9"},
		{"--core 12-9", ""},
		{"--core 13-0", "--core 13-0: it lies outside the grid of all inputs, 13x10, 8x8; the nearest of 130 cores: 12-0, 12-1, 11-0, 11-1, 12-2, 11-2, 10-0, 10-1, 12-3, 10-2"},
		{"--op p3 --device 9 --core 7-7", ""},
	} {
		for _, verb := range []string{"report", "check", "peak"} {
			if verb == "peak" && strings.Contains(c.filter, "--op") {
				continue // a core holds buffers of all operations
			}
			args := append([]string{verb, first, second}, strings.Fields(c.filter)...)
			code, stdout, stderr := call("", args...)
			if c.want == "" {
				require.NotEqual(t, exitUsage, code, "%s: %s", args, stderr)
				require.Less(t, strings.Index(stdout, "first.jsonl"), strings.Index(stdout, "second.json"), "%s", args)
				require.Contains(t, stdout, "first.jsonl", "%s", args)
				continue
			}
			require.Equal(t, exitUsage, code, "%s", args)
			require.Equal(t, "cbl1: "+c.want+"\n", stderr)
			require.Empty(t, stdout, "%s", args)
		}
	}
	// An input that cannot be read may know it: the others are shown.
	code, stdout, stderr := call("", "report", first, write("broken.json", "["), "--op", "nothing")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stdout, "first.jsonl")
	require.NotContains(t, stderr, "no input has it")
	code, _, stderr = call("", "who", second, "111616", "--op", "ttnn.ad")
	require.Equal(t, exitUsage, code)
	require.Equal(t, "cbl1: --op ttnn.ad: no input has it; there is 1 operation: ttnn.add\n", stderr)
	code, _, _ = call("", "who", second, "111616", "--op", "ttnn.add")
	require.Zero(t, code)
	code, _, stderr = call("", "map", second, "--device", "8")
	require.Equal(t, exitUsage, code)
	require.Equal(t, "cbl1: --device 8: no input has it; there is 1 device: 9\n", stderr)
}
