package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/wire"
)

// A server that is killed at any moment leaves a socket that the next one replaces, and logs
// that can be read but for their last line.
func TestHammerServeKilled(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	path, record := filepath.Join(dir, "s"), filepath.Join(dir, "live.jsonl")
	kills := 6 // every other one has written for sure
	if *hammer {
		kills = 1000
	}
	start := time.Now()
	for n := range kills {
		server := command(t, "serve", "--socket", path, "--record", record, "--record-size", "20000", "--format", "seeds", "--dialect", "144")
		out, err := server.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, server.Start())
		conn := dial(t, path)
		var b []byte
		for i := range uint64(n % 200) {
			b, err = wire.Newest().Append(b, &wire.Record{Type: wire.TypeCBAlloc, Size: 1024, ID: i})
			require.NoError(t, err)
		}
		b = append(b, b[:min(len(b), n%144)]...)
		_, err = conn.Write(b)
		require.NoError(t, err)
		if n%2 == 1 { // it is killed when it has printed something, or before
			require.True(t, strings.HasPrefix(firstLine(t, bufio.NewScanner(out)), "✓ [CB_ALLOC] Device 0: "))
		}
		require.NoError(t, server.Process.Kill())
		_ = server.Wait() // it was killed
		require.NoError(t, conn.Close())
		require.FileExists(t, path)
	}
	for _, log := range []string{record + ".1", record + ".2", record} {
		info, err := os.Stat(log)
		require.NoError(t, err)
		require.NotZero(t, info.Size(), "a log says at once what it is, and an empty one gives way")
		code, _, stderr := call("", "report", log)
		require.Zero(t, code, stderr)
	}
	// The last one takes away what one left that was killed just when it made its socket.
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".cbl1-77"), 0o700))
	last := command(t, "serve", "--socket", path, "-q")
	require.NoError(t, last.Start())
	require.NoError(t, dial(t, path).Close())
	require.NoError(t, last.Process.Signal(syscall.SIGTERM))
	require.NoError(t, last.Wait())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.LessOrEqual(t, len(entries), 3, "logs alone")
	t.Logf("%d kills in %v", kills, time.Since(start).Round(time.Millisecond))
}

func firstLine(t *testing.T, in *bufio.Scanner) string {
	t.Helper()
	require.True(t, in.Scan())
	return in.Text()
}
