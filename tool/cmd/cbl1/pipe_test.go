//go:build unix

package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newPipe returns the name of a pipe that nobody writes to.
func newPipe(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "pipe.json")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	return name
}

// said is standard error. What is written to it first is in first.
type said struct {
	bytes.Buffer
	first chan string
}

func newSaid() *said { return &said{first: make(chan string, 1)} }

func (s *said) Write(p []byte) (int, error) {
	if s.Len() == 0 {
		s.first <- string(p)
	}
	return s.Buffer.Write(p)
}

// TestPipeIsWaitedFor: somebody writes to a pipe only after it was said that it is waited
// for, and is read all the same. That takes a second, by all verbs.
func TestPipeIsWaitedFor(t *testing.T) {
	t.Parallel()
	for verb, want := range map[string]string{"report": "fullest core", "explain": "", "check": "ok    "} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			pipe, errw, began := newPipe(t, t.TempDir()), newSaid(), time.Now()
			waiting := "cbl1: " + pipe + ": a pipe without a writer yet: waiting\n"
			wrote := make(chan error, 1)
			go func() {
				if got := <-errw.first; got != waiting || time.Since(began) < noticeable {
					t.Errorf("said after %v: %q", time.Since(began), got)
				}
				wrote <- os.WriteFile(pipe, []byte(graph("ttnn.add", goodCB)), 0)
			}()
			var out bytes.Buffer
			code := run([]string{verb, pipe}, strings.NewReader(""), &out, errw)
			require.NoError(t, <-wrote)
			require.Contains(t, out.String(), want)
			if verb == "explain" {
				require.Equal(t, exitNo, code)
				return
			}
			require.Equal(t, exitOK, code, "%s", errw.String())
			require.Equal(t, waiting, errw.String())
		})
	}
	require.Equal(t, time.Second, noticeable)
}

// TestPipeWithAWriter: nothing is said of a pipe whose writer is there in time, and nothing
// later, when it is open.
func TestPipeWithAWriter(t *testing.T) {
	pipe := newPipe(t, t.TempDir())
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(pipe, []byte("text"), 0) }()
	var errw bytes.Buffer
	f, err := streams{err: &errw}.openSaying(pipe, time.Hour)
	require.NoError(t, err)
	require.NoError(t, <-wrote)
	require.NoError(t, f.Close())
	require.Empty(t, errw.String())
}

// TestNoEnd: devices, and what only looks like a file, are refused at once.
func TestNoEnd(t *testing.T) {
	dir, err := os.MkdirTemp("", "cbl1") // the name of a socket must be short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	socket, link := filepath.Join(dir, "socket.json"), filepath.Join(dir, "zero.json")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	require.NoError(t, os.Symlink("/dev/zero", link))
	for name, want := range map[string]string{
		"/dev/zero": " is a device, and no file: it may have no end",
		link:        " is a device, and no file: it may have no end",
		socket:      " is a socket, which cannot be read like a file",
	} {
		for _, args := range [][]string{{"explain", name}, {"report", name}, {"check", name}, {"who", name, "111616"}, {"stream", name}} {
			var out, errw bytes.Buffer
			require.Equal(t, exitUsage, run(args, strings.NewReader(""), &out, &errw), "%v", args)
			require.Equal(t, "cbl1: "+name+want+"\n", errw.String(), "%v", args)
			require.Empty(t, out.String())
		}
	}
}

// TestPipeInAFolder: a folder is read without what nobody may ever write to, and says so. It
// is what is left that decides.
func TestPipeInAFolder(t *testing.T) {
	dir := t.TempDir()
	pipe := newPipe(t, dir)
	passed := "cbl1: " + pipe + ": passed over: it is a pipe: name it to read it\n"
	var out, errw bytes.Buffer
	require.Equal(t, exitUsage, run([]string{"check", dir}, strings.NewReader(""), &out, &errw))
	require.Equal(t, passed+"cbl1: "+dir+": no captures, logs or dumps (*.json, *.jsonl, *detailed_memory_usage.csv, also with .gz or .zst) in this folder\n", errw.String())

	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(graph("ttnn.add", goodCB)), 0o600))
	nowhere, base := filepath.Join(dir, "a.sqlite"), filepath.Join(dir, "db.sqlite")
	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), nowhere))
	require.NoError(t, os.Rename(newPipe(t, t.TempDir()), base))
	errw.Reset()
	require.Equal(t, exitOK, run([]string{"check", dir}, strings.NewReader(""), &out, &errw))
	passed += "cbl1: " + nowhere + ": passed over: no such file or directory\n"
	passed += "cbl1: " + base + ": passed over: it is a pipe: name it to read it\n"
	require.Equal(t, passed, errw.String())
	require.Contains(t, out.String(), "run.json")
}
