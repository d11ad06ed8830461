package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What people name by mistake, and the one line that helps.
func TestMistakes(t *testing.T) {
	const small, other = "../../capture/testdata/repeats.json", "testdata/clashing.json"
	for _, c := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"TT_THROW: Statically allocated", []string{"check", "-"}, "cbl1: stdin:1: byte 0: unexpected 'T' where a value belongs; cbl1 explain reads tt-metal's messages in a text\n"},
		{"", []string{"check", "--budget", "90", small}, "cbl1: invalid argument \"90\" for \"--budget\" flag: 90 bytes, or 90%? want \"90 B\" or 90%, or a file of budgets\n"},
		{"", []string{"diff", "--max-growth", "100", small, other}, "cbl1: invalid argument \"100\" for \"--max-growth\" flag: 100 bytes, or 100%? want \"100 B\" or 100%\n"},
		{"", []string{"peak", "--core", "8-0", small}, "cbl1: --core 8-0: it lies outside the grid of all inputs, 8x10; the nearest of 80 cores: 7-0, 7-1, 6-0, 6-1, 7-2, 6-2, 5-0, 5-1, 7-3, 5-2\n"},
		{"", []string{"peak", "--core", "20-0", small, other}, "cbl1: --core 20-0: it lies outside the grid of all inputs, 13x10, 8x10; the nearest of 130 cores: 12-0, 12-1, 12-2, 12-3, 12-4, 11-0, 11-1, 11-2, 12-5, 11-3\n"},
	} {
		code, _, stderr := call(c.stdin, c.args...)
		require.Equal(t, c.want, stderr, c.args)
		require.Equal(t, 2, code)
	}
	for _, budget := range []string{"90 B", "101", "0", "90%", "90B"} {
		code, _, stderr := call("", "check", "--budget", budget, small)
		require.Less(t, code, 2, "%s: %s", budget, stderr)
	}
}

// A folder with the files that ttnn writes beside a report is that report.
func TestSidecars(t *testing.T) {
	folder := t.TempDir()
	text, err := os.ReadFile("../../capture/testdata/repeats.json")
	require.NoError(t, err)
	for name, text := range map[string]string{"r.json": string(text), "r.python_io.json": `[{"operation":"a"}]`, "r.comparison_records.json": `[{"golden":1}]`} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	code, stdout, stderr := call("", "check", folder)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "r.json")
	require.Empty(t, stderr)
}

// Two files whose long names end alike are named by the folders that differ.
func TestDiffNamesBothFiles(t *testing.T) {
	text, err := os.ReadFile("../../capture/testdata/repeats.json")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	const below = "/reports/of/the/whole/night/and/of/the/day/graph_capture.json"
	for _, day := range []string{"monday", "tuesday"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(day+below), 0o700))
		require.NoError(t, os.WriteFile(day+below, text, 0o600))
	}
	for _, c := range []struct{ old, new, want string }{
		{"monday" + below, "tuesday" + below, "the same  monday/reports/of/the/whole/... -> tuesday/reports/of/the/whole/...  "},
		{"monday" + below, "monday" + below, "the same  .../the/day/graph_capture.json -> .../the/day/graph_capture.json  "},
	} {
		_, stdout, stderr := call("", "diff", c.old, c.new)
		require.True(t, strings.HasPrefix(stdout, c.want), stdout+stderr)
	}
}

// A test case that is green tells what ran, and no failure of another one.
func TestJUnitGreenCase(t *testing.T) {
	code, stdout, _ := call("", "check", "--format", "junit", "--budget", "101", "../../capture/testdata/repeats.json")
	require.Equal(t, 1, code)
	first, rest, _ := strings.Cut(stdout, "</testcase>")
	require.Contains(t, first, `<testcase name="every program run fits"`)
	require.Contains(t, first, "<system-out>7 runs; wormhole?</system-out>")
	require.Contains(t, rest, "above the budget of 101 bytes")
}

// Help is as wide as it is told, and the commands stand in groups.
func TestHelpGroups(t *testing.T) {
	require.Equal(t, "one two\nthree\n\nfour", fill("one  two three\n\nfour", 8))
	_, stdout, _ := call("", "--help")
	for _, group := range verbGroups() {
		require.Contains(t, stdout, "\n"+group[0]+":\n")
	}
	for line := range strings.Lines(stdout[strings.Index(stdout, "One run:"):]) {
		require.LessOrEqual(t, len(line), 81, "a terminal of 80 columns")
	}
	_, others, _ := strings.Cut(stdout, "Additional Commands:\n")
	others, _, _ = strings.Cut(others, "\n\n")
	require.Equal(t, 3, strings.Count(others+"\n", "\n"), "every other command is in a group: %s", others)
}
