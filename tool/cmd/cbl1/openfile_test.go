package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// forever is input without an end, and without an end of a line.
type forever struct{ read int }

func (f *forever) Read(p []byte) (int, error) {
	if f.read > 64<<20 {
		return 0, errors.New("64 MiB were read, and it did not stop")
	}
	for i := range p {
		p[i] = 'x'
	}
	f.read += len(p)
	return len(p), nil
}

// TestLinesHaveALimit: what has no end is no log, and is left soon behind the 16 MiB that a
// line may have. A log of more than that is read to its end.
func TestLinesHaveALimit(t *testing.T) {
	var out, errw bytes.Buffer
	in := &forever{}
	require.Equal(t, exitUsage, run([]string{"explain", "-"}, in, &out, &errw))
	require.Equal(t, "cbl1: stdin: line 1: is longer than 16 MiB: this is no log\n", errw.String())
	require.Empty(t, out.String())
	require.Less(t, in.read, 17<<20)

	long := strings.NewReader(strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 18))
	errw.Reset()
	require.Equal(t, exitNo, run([]string{"explain", "-"}, long, &out, &errw))
	require.Equal(t, "cbl1: stdin: no message of tt-metal about circular buffers, nor of its allocator\n", errw.String())
	require.Zero(t, long.Len())
}

// TestNoFile: a folder has files to name, and the empty device is an empty file.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]struct {
		code int
		text string
	}{
		dir:                          {exitUsage, dir + " is a folder: name a file in it"},
		filepath.Join(dir, "no.log"): {exitUsage, filepath.Join(dir, "no.log") + ": no such file or folder"},
		os.DevNull:                   {exitNo, os.DevNull + ": no message of tt-metal about circular buffers, nor of its allocator"},
	} {
		var out, errw bytes.Buffer
		require.Equal(t, want.code, run([]string{"explain", name}, strings.NewReader(""), &out, &errw))
		require.Equal(t, "cbl1: "+want.text+"\n", errw.String())
	}
}

// TestInputsAreNamed: what cannot be an input is refused before anything is read.
func TestInputsAreNamed(t *testing.T) {
	for want, args := range map[string][]string{
		"nothing to read: name a file or a folder, or - for standard input": {"report"},
		"an empty name is no file":                     {"report", "-", ""},
		"standard input (-) can be read only once":     {"report", "-", "x", "-"},
		"want FILE and ADDRESS, like run.json 0x1b400": {"who", "-"},
	} {
		var out, errw bytes.Buffer
		in := &forever{}
		require.Equal(t, exitUsage, run(args, in, &out, &errw))
		require.Equal(t, "cbl1: "+want+"\n", errw.String())
		require.Empty(t, out.String())
		require.Zero(t, in.read)
	}
}
