package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// A file that is written keeps its mode, a new one has 0666 less the umask, and links stay.
func TestReplacedFiles(t *testing.T) {
	umask := syscall.Umask(0)
	syscall.Umask(umask)
	for name, c := range map[string]struct {
		before func(t *testing.T, path string)
		file   string // that has the text in the end
		mode   os.FileMode
	}{
		"new":     {func(*testing.T, string) {}, "out", 0o666 &^ os.FileMode(umask)},
		"private": {func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, nil, 0o600)) }, "out", 0o600},
		"for a group": {func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, nil, 0))
			require.NoError(t, os.Chmod(path, 0o664))
		}, "out", 0o664},
		"linked": {func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "real"), nil, 0o640))
			require.NoError(t, os.Symlink("real", path))
		}, "real", 0o640},
		"linked, new": {func(t *testing.T, path string) { require.NoError(t, os.Symlink("real", path)) }, "real", 0o666 &^ os.FileMode(umask)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			c.before(t, path)
			was, err := os.Lstat(path)
			require.NoError(t, writeFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }))
			text, readErr := os.ReadFile(filepath.Join(dir, c.file))
			require.NoError(t, readErr)
			require.Equal(t, "text", string(text))
			now, statErr := os.Stat(filepath.Join(dir, c.file))
			require.NoError(t, statErr)
			require.Equal(t, c.mode, now.Mode())
			if err == nil {
				same, err := os.Lstat(path)
				require.NoError(t, err)
				require.Equal(t, was.Mode().Type(), same.Mode().Type())
			}
			requireNothingBeside(t, dir)
		})
	}
}

func requireNothingBeside(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".cbl1-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// asWriter is set in the environment of a process that writes a file without end.
const asWriter = "CBL1_TEST_WRITER"

// A signal ends a process that writes a file or tables, and leaves nothing beside the file or in the folder.
func TestSignalLeavesNothing(t *testing.T) {
	if path := os.Getenv(asWriter); filepath.Base(path) == "folder" {
		_ = intoFolder(filepath.Dir(path), []string{"a.csv", "b.csv"}, func([]io.Writer) error { time.Sleep(time.Hour); return nil })
		return
	} else if path != "" {
		_ = writeFile(path, func(io.Writer) error { time.Sleep(time.Hour); return nil })
		return
	}
	for sig, name := range map[syscall.Signal]string{syscall.SIGTERM: "out", syscall.SIGINT: "out", syscall.SIGHUP: "folder"} {
		if signal.Ignored(sig) { // as of a job in the background, and then by the command too
			continue
		}
		dir := t.TempDir()
		c := exec.Command(os.Args[0], "-test.run", "^TestSignalLeavesNothing$")
		c.Env = append(os.Environ(), asWriter+"="+filepath.Join(dir, name))
		var told bytes.Buffer
		c.Stdout = &told
		require.NoError(t, c.Start())
		require.Eventually(t, func() bool {
			files, err := os.ReadDir(dir)
			return err == nil && len(files) == 1
		}, testkit.Patience, time.Millisecond)
		require.NoError(t, c.Process.Signal(sig))
		require.Error(t, c.Wait(), told.String())
		require.Equal(t, sig, c.ProcessState.Sys().(syscall.WaitStatus).Signal())
		requireNothingBeside(t, dir)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
