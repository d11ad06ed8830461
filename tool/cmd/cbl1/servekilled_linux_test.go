package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// killedClient kills a process when it has sent some bytes.
func killedClient(t *testing.T, path string, b []byte) {
	t.Helper()
	child := command(t, path)
	child.Args[0], child.Stdin = "client", bytes.NewReader(b)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	require.Equal(t, "sent <nil>", firstLine(t, bufio.NewScanner(out)))
	require.NoError(t, child.Process.Kill())
	_ = child.Wait() // it was killed
}

// A process that is killed inside a record is lost. The recording names its devices, and that of the half
// record, and check answers "cannot tell". A process that is killed between two records lacks none.
func TestServeReportsKilledClients(t *testing.T) {
	whole, err := wire.Newest().Append(nil, &wire.Record{Type: wire.TypeCBAlloc, Device: 1, Size: 4096, ID: 0x20000})
	require.NoError(t, err)
	next, err := wire.Newest().Append(nil, &wire.Record{Type: wire.TypeCBAlloc, Device: 3, Size: 4096, ID: 0x20000})
	require.NoError(t, err)
	for _, c := range []struct {
		name    string
		sent    []byte
		devices string // of the loss
		summary string
	}{
		{"between records", slices.Concat(whole, next), "", "closed 0 (torn 0), refused 0; leaked 2; live 0\n"},
		{"behind the type", slices.Concat(whole, next[:1]), "any", "closed 1 (torn 1), refused 0; leaked 1; live 0\n"},
		{"before the device ends", slices.Concat(whole, next[:7]), "any", "closed 1 (torn 1), refused 0; leaked 1; live 0\n"},
		{"behind the device", slices.Concat(whole, next[:8]), "[1,3]", "closed 1 (torn 1), refused 0; leaked 1; live 0\n"},
		{"before the last byte", next[:len(next)-1], "[3]", "closed 1 (torn 1), refused 0; leaked 0; live 0\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "s") // paths of sockets are short
			require.NoError(t, err)
			defer func() { require.NoError(t, os.RemoveAll(dir)) }()
			path, record := filepath.Join(dir, "s"), filepath.Join(dir, "live.jsonl")
			server := command(t, "serve", "--socket", path, "--record", record, "--devices", "0-3=n150", "--dialect", "144", "--delay", "0s", "-q")
			var out bytes.Buffer
			server.Stdout = &out
			require.NoError(t, server.Start())
			require.NoError(t, dial(t, path).Close())
			killedClient(t, path, c.sent)
			require.Eventually(t, func() bool { return released(t, record, len(c.sent) >= len(whole)) }, testkit.Patience, 10*time.Millisecond)
			require.NoError(t, server.Process.Signal(syscall.SIGTERM))
			require.NoError(t, server.Wait())
			require.Contains(t, out.String(), c.summary)
			require.Equal(t, c.devices, lostDevices(t, record))
			code, stdout, stderr := call("", "check", record)
			require.Equal(t, map[bool]int{true: exitTell, false: 0}[c.devices != ""], code, stdout+stderr)
			require.Equal(t, c.devices != "", strings.Contains(stdout, "1 client of the server was closed"), stdout)
		})
	}
}

// released reports whether a recording has all of a process that had something, or was lost.
func released(t *testing.T, record string, had bool) bool {
	text, err := os.ReadFile(record)
	require.NoError(t, err)
	if had {
		return bytes.Contains(text, []byte(`"leaked":true`))
	}
	return bytes.Contains(text, []byte(wire.CodeLost))
}

// lostDevices returns the devices that a recording says a client was lost of.
func lostDevices(t *testing.T, record string) (devices string) {
	f, err := os.Open(record)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	for e, err := range event.NewLog(f, "log").Events() {
		require.NoError(t, err)
		if e.Code != wire.CodeLost {
			continue
		}
		require.Empty(t, devices, "one loss")
		if devices = "any"; e.Devices.OK {
			b, err := json.Marshal(e.Devices.V)
			require.NoError(t, err)
			devices = string(b)
		}
	}
	return devices
}

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
		server := command(t, "serve", "--socket", path, "--record", record, "--record-size", "20000", "--format", "protocol", "--dialect", "144")
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
	last := command(t, "serve", "--socket", path, "-q")
	require.NoError(t, last.Start())
	require.NoError(t, dial(t, path).Close())
	require.NoError(t, last.Process.Signal(syscall.SIGTERM))
	require.NoError(t, last.Wait())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries { // a server that is killed while it makes its socket leaves a dead one
		require.True(t, strings.HasPrefix(e.Name(), "live.jsonl") || strings.HasPrefix(e.Name(), ".cbl1-"), e.Name())
	}
	t.Logf("%d kills in %v", kills, time.Since(start).Round(time.Millisecond))
}

func firstLine(t *testing.T, in *bufio.Scanner) string {
	t.Helper()
	require.True(t, in.Scan())
	return in.Text()
}
