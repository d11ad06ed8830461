package capture

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
)

// folder returns a folder with these files, each an empty capture.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("[]"), 0o600))
	}
	return dir
}

func names(inputs []Input) (list []string) {
	for _, in := range inputs {
		list = append(list, filepath.Base(in.Path))
	}
	return list
}

func TestInputs(t *testing.T) {
	for _, c := range []struct{ files, want []string }{
		{
			[]string{
				"graph_capture_10_of_12.json", "graph_capture_2_of_12.json.gz", "graph_capture_0_of_12.json.zst", "config.json", "other.json",
				"graph_capture_2_of_12.python_io.json", "graph_capture_2_of_12.comparison_records.json", "graph_capture_x_of_2.json", "graph_capture_1_of_x.json", "notes.txt", "graph_capture_1_of_12.json.bak",
			},
			[]string{"graph_capture_0_of_12.json.zst", "graph_capture_2_of_12.json.gz", "graph_capture_10_of_12.json"},
		},
		{
			[]string{
				"b.json", "a10.json", "a9.json", "a09.json", "a.json.gz", "c.json.zst", "config.json", "a.python_io.json", "a.python_io.json.gz",
				"x.expected.json", "._a.json", "b.JSONL", "db.sqlite",
			},
			[]string{"a.json.gz", "a09.json", "a9.json", "a10.json", "b.json", "c.json.zst"},
		},
	} {
		dir := folder(t, c.files...)
		require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.json"), 0o700))
		got, err := Inputs(dir)
		require.NoError(t, err)
		require.Equal(t, c.want, names(got))
	}

	dir := folder(t, "graph_capture_3_of_4.json", "config.json")
	got, err := Inputs(dir)
	require.NoError(t, err)
	require.Equal(t, []Input{{Path: filepath.Join(dir, "graph_capture_3_of_4.json"), Rank: some[uint64](3)}}, got)

	// A file is taken whatever its name.
	got, err = Inputs(filepath.Join(dir, "config.json"))
	require.NoError(t, err)
	require.Equal(t, []Input{{Path: filepath.Join(dir, "config.json")}}, got)
}

func TestInputsRefused(t *testing.T) {
	twice := folder(t, "graph_capture_0_of_2.json", "graph_capture_0_of_4.json")
	_, err := Inputs(twice)
	require.EqualError(t, err, twice+": rank 0 is there twice: graph_capture_0_of_2.json and graph_capture_0_of_4.json")
	checkError(t, err)

	none := folder(t, "config.json")
	_, err = Inputs(none)
	require.EqualError(t, err, none+": no captures, logs or dumps (*.json, *.jsonl, *detailed_memory_usage.csv, also with .gz or .zst) in this folder")
	checkError(t, err)

	_, err = Inputs(filepath.Join(twice, "missing\n.json"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	checkError(t, err)

	_, err = Input{Path: filepath.Join(twice, "missing")}.open()
	require.ErrorIs(t, err, fs.ErrNotExist)
	checkError(t, err)

	_, err = Input{Path: twice}.open()
	require.EqualError(t, err, twice+": is a folder")
	checkError(t, err)
}

// Each name comes before all that follow it.
func TestNatural(t *testing.T) {
	names := []string{"", "01", "1", "2", "10", "11", "11a", "a", "a.json", "a09", "a9", "a9b", "a10", "ab", "ab1"}
	for i, a := range names {
		for j, b := range names {
			require.Equal(t, cmp.Compare(i, j), natural(a, b), "%s, %s", a, b)
		}
	}
}

// A file is another one if its number, its size or its time differs.
func TestUnchanged(t *testing.T) {
	dir := folder(t, "a", "b")
	info := func(name string, seconds int64) fs.FileInfo {
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Unix(seconds, 0)))
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		return info
	}
	first := info("a", 1)
	require.True(t, unchanged(first, info("a", 1)))
	require.False(t, unchanged(first, info("a", 2)))
	require.False(t, unchanged(first, info("b", 1)))
	require.NoError(t, os.Truncate(filepath.Join(dir, "a"), 1))
	require.False(t, unchanged(first, info("a", 1)))
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	text := longGraph(2 << 20) // more than is read ahead
	write := func() {
		require.NoError(t, os.WriteFile(path, text, 0o600))
		old := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(path, old, old))
	}
	read := func(meanwhile func()) (n int, err error) {
		write()
		r, err := Input{Path: path}.open()
		require.NoError(t, err)
		for _, err := range r.nodes() {
			if err != nil {
				return n, err
			}
			if n++; n == 10 {
				meanwhile()
			}
		}
		return n, nil
	}
	whole, err := read(func() {})
	require.NoError(t, err)
	require.Equal(t, bytes.Count(text, []byte(`"counter"`)), whole)

	for name, meanwhile := range map[string]func(){
		"appended to": func() {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString(" ")
			require.NoError(t, err)
			require.NoError(t, f.Close())
		},
		"cut":         func() { require.NoError(t, os.Truncate(path, 1<<20)) },
		"overwritten": func() { require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", len(text))), 0o600)) },
		"touched":     func() { require.NoError(t, os.Chtimes(path, time.Time{}, time.Now())) },
	} {
		_, err := read(meanwhile)
		require.ErrorIs(t, err, event.ErrChanged, name)
		require.EqualError(t, err, (&event.InputError{File: path, Node: -1, Reason: "file changed while it was read"}).Error())
	}
	// One that is replaced is still the old one.
	n, err := read(func() {
		other := path + ".new"
		require.NoError(t, os.WriteFile(other, []byte("[]"), 0o600))
		require.NoError(t, os.Rename(other, path))
	})
	require.NoError(t, err)
	require.Equal(t, whole, n)
}

func TestClose(t *testing.T) {
	in := Input{Path: filepath.Join(folder(t, "a.json"), "a.json")}
	r, err := in.open()
	require.NoError(t, err)
	require.NoError(t, r.shut())
	require.ErrorIs(t, r.shut(), os.ErrClosed)
	again := NewReader(strings.NewReader(two), "")
	for _, err := range again.Events(Options{}) {
		require.NoError(t, err)
	}
	for _, err := range again.Events(Options{}) {
		require.ErrorContains(t, err, "is read already, or closed")
	}
	require.NoError(t, NewReader(strings.NewReader(two), "").shut())
}
