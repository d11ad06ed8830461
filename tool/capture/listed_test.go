package capture

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// passed returns what was passed over as text, without the folder.
func passed(l Listing) (list []string) {
	for _, p := range l.Passed {
		list = append(list, filepath.Base(p.Path)+": "+p.Why)
	}
	return list
}

// What a folder passes over is said with the reason; what ttnn writes beside captures, and
// what is not called like an input, is not.
func TestPassed(t *testing.T) {
	const expected, beside = ": it says what a test expects", ": the captures of the ranks are beside it"
	for name, c := range map[string]struct{ files, inputs, passed []string }{
		"nothing": {[]string{"b.json", "a10.jsonl", "a9.jsonl.zst", "a.json.gz"}, []string{"a.json.gz", "b.json", "a9.jsonl.zst", "a10.jsonl"}, nil},
		"what tests expect": {
			[]string{"a.json", "a10.expected.json", "a9.expected.json.gz", "a.right.jsonl", "expected.json", "a.expected.txt"},
			[]string{"a.json", "expected.json"},
			[]string{"a.right.jsonl" + expected, "a9.expected.json.gz" + expected, "a10.expected.json" + expected},
		},
		"beside ranks": {
			[]string{"run.json", "graph_capture_1_of_2.json", "log.jsonl", "graph_capture_0_of_2.json", "graph_capture_0.json", "x.expected.json"},
			[]string{"graph_capture_0_of_2.json", "graph_capture_1_of_2.json", "log.jsonl"},
			[]string{"graph_capture_0.json" + beside, "run.json" + beside, "x.expected.json" + expected},
		},
		"side files": {
			[]string{"a.json", "config.json", "a.python_io.json", "a.comparison_records.json", "cluster_descriptor.json", "physical_mesh_coordinate_mapping_1_of_1.json", ".a.json", "notes.txt"},
			[]string{"a.json"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, c.files...)
			require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.json"), 0o700))
			l, err := List(dir)
			require.NoError(t, err)
			require.Equal(t, c.inputs, names(l.Inputs))
			require.Equal(t, c.passed, passed(l))
			for _, p := range l.Passed {
				require.Equal(t, dir, filepath.Dir(p.Path))
			}
		})
	}
}

// An answer of the program is no capture, whatever its name and form. One that is named is refused when it is read.
func TestPassedAnswers(t *testing.T) {
	const answer = ": it is an answer of cbl1: cbl1 diff and cbl1 page --against read saved reports"
	dir := folder(t, "empty.json")
	for name, text := range map[string]string{
		"check.json": "{ \"schema\" : \"cbl1.check/1\"}", "report.jsonl": "{\"schema\":\"cbl1.report/1\",", "run.json": "{\"schema\":\"other\"}",
		"late.json": "[{\"schema\":\"cbl1.report/1\"}]", "log.jsonl": "{\"event\":\"log\",\"version\":1}",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	packed := testkit.Gzip(t, strings.NewReader("{\"schema\":\"cbl1.report/1\"}"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "report.json.gz"), packed, 0o600))
	l, err := List(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"empty.json", "late.json", "run.json", "log.jsonl"}, names(l.Inputs))
	require.Equal(t, []string{"check.json" + answer, "report.json.gz" + answer, "report.jsonl" + answer}, passed(l))
	named, err := List(filepath.Join(dir, "check.json"))
	require.NoError(t, err)
	require.Len(t, named.Inputs, 1)
}

// Where nothing is left, what was passed over says why. A file that is named is never passed
// over.
func TestPassedAll(t *testing.T) {
	dir := folder(t, "a.expected.json")
	l, err := List(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	checkError(t, err)
	require.Empty(t, l.Inputs)
	require.Equal(t, []string{"a.expected.json: it says what a test expects"}, passed(l))

	name := filepath.Join(dir, "a.expected.json")
	l, err = List(name)
	require.NoError(t, err)
	require.Equal(t, Listing{Inputs: []Input{{Path: name}}}, l)

	l, err = List(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	checkError(t, err)
	require.Equal(t, Listing{}, l)
}
