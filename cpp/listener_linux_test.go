package cpp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/session"
)

var update = flag.Bool("update", false, "TestListener: write its log anew; review the difference")

// listener compiles testdata/listener.cpp with tt-metal's header at a path, and returns the command. Without a compiler
// of C++20 the test is skipped.
func listener(t *testing.T, compiler, path string, flags ...string) string {
	t.Helper()
	here, err := os.Getwd()
	require.NoError(t, err)
	folder := t.TempDir()
	for _, name := range []string{"buffer.hpp", "core_coord.hpp", "device.hpp", "mesh_device.hpp", path} {
		at := filepath.Join(folder, "tt-metalium", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.WriteFile(at, []byte("#include \"metal.hpp\"\n"), 0o600))
	}
	include := []string{"-std=c++20", "-Wall", "-Wextra", "-Werror", "-Woverloaded-virtual", "-pthread", "-I", folder, "-I", here, "-I", filepath.Join(here, "testdata")}
	return compile(t, compiler, "testdata/listener.cpp", header(t), slices.Concat(include, flags)...)
}

// TestListener: the header writes the log of a story, wherever tt-metal has its header, and no event of it is refused.
// Without dataflow buffers in the base it compiles too, and an L1 buffer has no size there. With -short it is compiled
// once.
func TestListener(t *testing.T) {
	compiler := compilers(t)[0]
	ways := [][]string{
		{"graph_tracking.hpp", "-O0"}, {"graph_tracking.hpp", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"},
		{"internal/graph_tracking.hpp"}, {"experimental/graph_tracking.hpp"}, {"graph_tracking.hpp", "-DOLD"},
	}
	for i, way := range ways {
		log, command := filepath.Join(t.TempDir(), "run.jsonl"), listener(t, compiler, way[0], way[1:]...)
		if i == 0 {
			t.Run("never waits", func(t *testing.T) { neverWaits(t, command) })
		}
		out, err := exec.Command(command, log).CombinedOutput()
		require.NoError(t, err, "%s", out)
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		if slices.Contains(way, "-DOLD") {
			require.Contains(t, string(text), `"parts":[{"address":1400000,"size":0}],"cores_from":"assumed","unsized":true}`)
			require.NotContains(t, string(text), "dataflow")
		} else {
			testkit.Golden(t, *update, "testdata/listener.jsonl", string(text))
		}
		for _, err := range event.NewLog(bytes.NewReader(text), "log").Events() {
			require.NoError(t, err)
		}
		var answers bytes.Buffer
		require.NoError(t, new(session.Session).Stream(event.NewLog(bytes.NewReader(text), "log").Events(), &answers))
		require.Empty(t, answers.String())
		result, err := replay.Run("log", event.NewLog(bytes.NewReader(text), "log").Events(), replay.Options{})
		require.NoError(t, err)
		require.Equal(t, answer.CannotTell, result.Judge(answer.Terms{}).Answer)
		if testing.Short() {
			return
		}
	}
}

// neverWaits: without a reader a listener drops whole lines, and counts them when there is one.
func neverWaits(t *testing.T, command string) {
	const runs = 30_000
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	cmd := exec.Command(command, fifo, strconv.Itoa(runs))
	printed, err := cmd.StdoutPipe()
	require.NoError(t, err)
	reader, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0) // holds the pipe, and does not read yet
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(printed).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "did not wait\n", line)
	lines, lost := 0, 0
	for scan := bufio.NewScanner(reader); scan.Scan(); lines++ {
		var e struct {
			Event, Code string
			Count       int
		}
		require.NoError(t, json.Unmarshal(scan.Bytes(), &e), "a whole line: %s", scan.Text())
		if e.Event == "hidden" && e.Code == "not-recorded" {
			lost += e.Count
			lines--
		}
	}
	require.NoError(t, cmd.Wait())
	require.Positive(t, lost)
	require.Equal(t, 4+1+runs, lines+lost, "the header, two devices, a program, and its runs")
}

// TestListenerNeedsMetal: without tt-metal's header the message says so.
func TestListenerNeedsMetal(t *testing.T) {
	compiler, here := compilers(t)[0], t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(here, "a.cpp"), []byte(`#include "cbl1_listener.hpp"`), 0o600))
	root, err := os.Getwd()
	require.NoError(t, err)
	out, err := exec.Command(compiler, "-std=c++20", "-fsyntax-only", "-I", root, filepath.Join(here, "a.cpp")).CombinedOutput()
	exit := (*exec.ExitError)(nil)
	require.True(t, errors.As(err, &exit))
	require.True(t, strings.Contains(string(out), "needs graph_tracking.hpp of tt-metal"), "%s", out)
}
