package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Printed lines of a server are no input: the error names the way to record.
func TestPrintedLinesAreNoInput(t *testing.T) {
	const want = "this is output of an allocation server, which has no addresses; record with cbl1 serve --record"
	for _, lines := range []string{
		"✓ [CB_ALLOC] Device 0: +0.00390625 MB (Total: 0.00390625 MB)\n",
		"\nAllocation server, listening\n✗ [PID 4242] Freed buffer 122880 on device 0 (4096 bytes, FINAL)\n",
	} {
		for _, verb := range []string{"report", "check", "peak", "map", "page", "convert"} {
			code, stdout, stderr := call(lines, verb, "-")
			require.Equal(t, exitUsage, code, stderr)
			require.Empty(t, stdout)
			require.Contains(t, stderr, want)
		}
	}
}

// A device without an id has the name in CSV that it has in JSON.
func TestCSVOfNoDevice(t *testing.T) {
	capture := graph("ttnn.add", goodCB)
	for _, rows := range [][]string{nil, {"--programs"}, {"--cores"}} {
		_, stdout, _ := call(capture, append([]string{"report", "--format", "csv", "-"}, rows...)...)
		all, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		require.NoError(t, err)
		require.Len(t, all, 2)
		for i, name := range all[0] {
			switch name {
			case "device":
				require.Equal(t, "none", all[1][i])
			case "l1_device": // null in JSON
				require.Empty(t, all[1][i])
			}
		}
	}
}

// A page takes the budgets that check takes, and refuses what check refuses.
func TestPageOfBudgets(t *testing.T) {
	budgets := filepath.Join(t.TempDir(), "budgets")
	require.NoError(t, os.WriteFile(budgets, []byte("op ttnn.add = 4 KB\n"), 0o600))
	const over = "96 above the budget of 4,000 bytes for ttnn.add (line 1)"
	code, text, stderr := call(graph("ttnn.add", goodCB), "check", "--budget", budgets, "-")
	require.Equal(t, exitNo, code, stderr)
	require.Contains(t, text, over)
	code, page, stderr := call(graph("ttnn.add", goodCB), "page", "--budget", budgets, "-")
	require.Zero(t, code, stderr)
	require.Contains(t, page, over)
	require.NoError(t, os.WriteFile(budgets, []byte("op ttnn.add = 4 KB of L1\n"), 0o600))
	_, _, want := call(graph("ttnn.add", goodCB), "check", "--budget", budgets, "-")
	code, page, stderr = call(graph("ttnn.add", goodCB), "page", "--budget", budgets, "-")
	require.Equal(t, exitUsage, code)
	require.Empty(t, page)
	require.Equal(t, want, stderr)
}

// A log whose first line is still being written is followed, and no capture is.
func TestWatchBegins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	for _, start := range []string{"", "\n", `{"event":"lo`, `{"event":"log","version":1}`} {
		require.NoError(t, os.WriteFile(file, []byte(start), 0o600))
		in := watching{every: time.Second}
		from, err := in.source([]string{file})
		require.NoError(t, err, start)
		from.close()
	}
	for _, start := range []string{"[", "[]", "[\n", "{\n", "{}", `{"version":1,"graph":[]}`, `{"event":"device","device":0}` + "\n", "text\n"} {
		require.NoError(t, os.WriteFile(file, []byte(start), 0o600))
		in := watching{every: time.Second}
		_, err := in.source([]string{file})
		require.ErrorContains(t, err, "no event log", start)
	}
}
