package attack_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// asClient is set in the environment of a process that sends its standard input to a socket and waits for
// an answer.
const asClient = "CBL1_ATTACK_CLIENT"

func TestMain(m *testing.M) {
	path := os.Getenv(asClient)
	if path == "" {
		os.Exit(m.Run())
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		_, err = io.Copy(conn, os.Stdin)
	}
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, wire.Newest().Size))
	}
	if err != nil {
		panic(err)
	}
}

// The cost of a request to a server follows its answer, not the live allocations: twice the
// requests beside twice as much cost at most 2.3 times the steps.
func TestRequestsCostTheirResult(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("needs a run without -short and without the race detector: it counts the steps of a server of its own")
	}
	m := newMeter(t)
	for _, c := range []struct {
		name         string
		lives, asked func(i int) wire.Record
		by           func(i int) int // which of two processes sends the request: the first has all that lives
	}{
		{
			"frees of another size",
			func(i int) wire.Record { return wire.Record{Type: wire.TypeCBAlloc, ID: 0x20000, Size: 64} },
			func(i int) wire.Record { return wire.Record{Type: wire.TypeCBFree, ID: 0x20000, Size: 32} }, first,
		},
		{
			"frees of more than there is",
			func(i int) wire.Record { return wire.Record{Type: wire.TypeCBAlloc, ID: 0x20000, Size: 64} },
			func(i int) wire.Record { return wire.Record{Type: wire.TypeCBFree, ID: 0x20000, Size: 96} }, first,
		},
		{
			"an id of two processes",
			func(i int) wire.Record { return wire.Record{Type: wire.TypeAlloc, ID: 0x20000, Size: 64, Kind: 1} },
			func(i int) wire.Record {
				return wire.Record{Type: wire.TypeAlloc + wire.Type(i%2), ID: 0x20000, Size: 64, Kind: 1}
			},
			func(int) int { return 1 },
		},
		{
			"lists that nobody reads",
			func(i int) wire.Record { return wire.Record{Type: wire.TypeAlloc, ID: uint64(i), Size: 64} },
			func(i int) wire.Record { return wire.Record{Type: wire.TypeDumpRemaining} }, first,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var steps [2]int64
			for k, n := range [...]int{3_000, 6_000} {
				var sent [2][]byte
				for i := range n {
					sent[0] = record(t, sent[0], c.lives(i))
				}
				for i := range n {
					sent[c.by(i)] = record(t, sent[c.by(i)], c.asked(i))
				}
				steps[k] = m.served(t, sent)
			}
			t.Logf("%d steps, %d for half", steps[1], steps[0])
			require.Less(t, float64(steps[1]), 2.3*float64(steps[0]))
		})
	}
}

func first(int) int { return 0 }

func record(t *testing.T, b []byte, r wire.Record) []byte {
	b, err := wire.Newest().Append(b, &r)
	require.NoError(t, err)
	return b
}

// served returns the steps of a server to which two clients send records, one behind the other.
func (m meter) served(t *testing.T, sent [2][]byte) int64 {
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "s")
	c := exec.Command(m.binary, "serve", "-q", "--socket", path, "--dialect", "144", "--delay", "1h", "--max-rate", "0")
	c.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	var told bytes.Buffer
	c.Stderr = &told
	require.NoError(t, c.Start())
	require.Eventually(t, func() bool { _, err := os.Lstat(path); return err == nil }, testkit.Patience, time.Millisecond)
	for _, b := range sent {
		client := exec.Command(os.Args[0])
		client.Env = append(os.Environ(), asClient+"="+path)
		client.Stdin = bytes.NewReader(record(t, b, wire.Record{Type: wire.TypeQuery})) // the last answer
		out, err := client.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	require.NoError(t, c.Wait(), "%.300s", told.String())
	sum, err := m.Sum(dir)
	require.NoError(t, err)
	return sum
}
