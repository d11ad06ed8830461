package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// TestKilledReaderLeavesNothing: a signal that ends the command while it keeps a pipe in a file leaves no file.
func TestKilledReaderLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	cmd := command(t, "report", "-")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	data := long(t)
	_, err = in.Write(data[:len(data)-1])
	require.NoError(t, err)
	kept := func() bool { // the process has a file open that has no name any more
		open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", cmd.Process.Pid))
		for _, fd := range open {
			if to, _ := os.Readlink(fd); filepath.Dir(to) == dir {
				return true
			}
		}
		return false
	}
	require.Eventually(t, kept, testkit.Patience, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.Error(t, cmd.Wait())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
