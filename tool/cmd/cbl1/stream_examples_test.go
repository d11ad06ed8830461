package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

const examples = "../../../examples"

// tool returns the path of a program that a test needs, or skips it.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("needs %s, which is not installed here", name)
	}
	return path
}

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var errw bytes.Buffer
	cmd.Stderr = &errw
	out, err := cmd.Output()
	require.NoError(t, err, "%s", errw.String())
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

// The writers in other languages write the log of the demo, byte for byte.
func TestWritersInOtherLanguages(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(examples, "events.jsonl"))
	require.NoError(t, err)
	t.Run("C++", func(t *testing.T) {
		gcc := tool(t, "g++")
		demo := filepath.Join(t.TempDir(), "demo")
		output(t, filepath.Join(examples, "cpp"), gcc, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", demo, "demo.cpp")
		require.Equal(t, string(want), output(t, ".", demo))
	})
	t.Run("Python", func(t *testing.T) {
		require.Equal(t, string(want), output(t, filepath.Join(examples, "python"), tool(t, "python3"), "-B", "demo.py"))
	})
}

// What the demo log comes to.
func TestDemoLog(t *testing.T) {
	var out, errw bytes.Buffer
	require.Zero(t, run([]string{"stream", filepath.Join(examples, "events.jsonl")}, nil, &out, &errw))
	require.Empty(t, errw.String())
	answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Len(t, answers, 5)
	for i, want := range []string{
		`{"answer":"totals","id":1,"device":0,"registered_union_bytes":41943040,`,
		`{"answer":"anomaly","t":1700,"line":9,"event":"enqueue","code":"does-not-fit","error":"Statically allocated circular buffers in program 1 clash with L1 buffers`,
		`{"answer":"headroom","id":2,"program":1,`,
		`{"answer":"who","id":3,"device":0,"core":"7-7","address":704512,"resident":[{"kind":"cb","start":242688,"end":766976,"bytes":524288,"program":1,"cb":1,"name":"matmul, 1 of 2","op":"ttnn.matmul"},{"kind":"l1",`,
		`{"answer":"anomalies","id":4,"anomalies":[{"code":"does-not-fit","count":1,`,
	} {
		require.Contains(t, answers[i], want)
	}
}

// A simulator in another language makes queries while it runs, over real pipes.
func TestLiveSimulator(t *testing.T) {
	python := tool(t, "python3")
	if runtime.GOOS == "windows" {
		t.Skip("needs symbolic links, for a command named cbl1")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cbl1 := filepath.Join(t.TempDir(), "cbl1") // under this name TestMain is the command
	require.NoError(t, os.Symlink(self, cbl1))
	out := output(t, filepath.Join(examples, "python"), python, "-B", "live.py", cbl1)
	require.Equal(t, `tick 1: 346848 bytes of room
tick 2: 281312 bytes of room
tick 3: 215776 bytes of room
tick 4: 150240 bytes of room
tick 5: 84704 bytes of room
tick 6: 19168 bytes of room
tick 7: 0 bytes of room
tick 7: Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer allocated at 1105920 and static circular buffer region ends at 1152288
46368 bytes too many
`, out)
}

// A simulator that never reads does not wait for ever, nor does one whose cbl1 is gone, or
// is something else.
func TestLiveNeverBlocks(t *testing.T) {
	python := tool(t, "python3")
	if runtime.GOOS == "windows" {
		t.Skip("needs symbolic links, for a command named cbl1")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cbl1 := filepath.Join(t.TempDir(), "cbl1") // under this name TestMain is the command
	require.NoError(t, os.Symlink(self, cbl1))
	script := filepath.Join(t.TempDir(), "script.py")
	for _, c := range []struct{ name, script, want string }{
		{"refused, without a query", `
live = Live([command, "stream"])
live("device", device=0, spec={})
for i in range(3000):
    live("dispatch", program=i)
print(live.close(), len(live.refused), live.refused[2999]["line"])
`, "0 3000 3002\n"},
		{"refused, then queried", `
live = Live([command, "stream"])
live("device", device=0, spec={})
for i in range(3000):
    live("dispatch", program=i)
answer = live.ask("anomalies")
print(len(live.refused), answer["anomalies"][0]["count"], live.close())
`, "3000 3000 0\n"},
		{"it has ended", `
live = Live([sys.executable, "-c", "input()"])
for _ in range(2):
    try:
        live.ask("anomalies")
    except EOFError:
        print("ended")
`, "ended\nended\n"},
		{"it has ended before an event", `
live = Live([sys.executable, "-c", "import sys; input(); sys.exit(3)"])
live.process.wait()
try:
    live("device", device=0, spec={})
except EOFError as error:
    print(error)
print(live.close())
`, "cbl1 stream has ended: see what it wrote to standard error\n3\n"},
		{"it is something else", `
live = Live([sys.executable, "-c", "import sys\nfor line in sys.stdin: print('x' * 1000, flush=True)"])
for _ in range(2):
    try:
        live.ask("anomalies")
    except ValueError:
        print("no JSON")
for i in range(3000):
    live("dispatch", program=i)
print(live.close())
`, "no JSON\nno JSON\n0\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(script, []byte("import sys\nsys.path.insert(0, sys.argv[1])\nfrom cbl1_events import Live\ncommand = sys.argv[2]\n"+c.script), 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, python, "-B", script, filepath.Join(examples, "python"), cbl1)
			cmd.WaitDelay = time.Second
			out, err := cmd.Output()
			require.NoError(t, err, "%s", out)
			require.Equal(t, c.want, strings.ReplaceAll(string(out), "\r\n", "\n"))
		})
	}
}
