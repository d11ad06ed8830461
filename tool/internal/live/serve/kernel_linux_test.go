package serve_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// asClient is set in the environment of a process that only sends the bytes of asBytes, in
// hexadecimal, and waits to be killed.
const (
	asClient = "CBL1_SERVE_CLIENT"
	asBytes  = "CBL1_SERVE_BYTES"
)

func TestMain(m *testing.M) {
	path := os.Getenv(asClient)
	if path == "" {
		os.Exit(m.Run())
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		panic(err)
	}
	b, _ := hex.DecodeString(os.Getenv(asBytes))
	_, _ = conn.Write(b)
	fmt.Println("sent")
	select {}
}

// house is a server on a real socket, and the kernel says who its clients are.
type house struct {
	*serve.Server
	path string
	l    *serve.Listener
	done chan error
	errs bytes.Buffer
}

func newHouse(t *testing.T, c serve.Config) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.Remove(dir)) }) // nothing is left in it
	h := &house{path: filepath.Join(dir, "s"), done: make(chan error)}
	h.l, err = serve.Listen(h.path, 0o600)
	require.NoError(t, err)
	c.Now, c.Identify, c.Err = time.Now, serve.Identify, &h.errs
	h.Server, err = serve.New(c)
	require.NoError(t, err)
	go func() { h.done <- h.Serve(h.l) }()
	return h
}

func (h *house) shut(t *testing.T) {
	t.Helper()
	require.NoError(t, h.Server.Close())
	require.NoError(t, h.l.Close())
	require.NoError(t, <-h.done)
}

// What a process holds when it is killed is released, also while it is a zombie; half a
// record of it changes nothing. Nothing is left open.
func TestKilled(t *testing.T) {
	// What a process opens once and keeps, like its poller, is there before anything is counted.
	newHouse(t, serve.Config{}).shut(t)
	before := testkit.Open()
	h := newHouse(t, serve.Config{Dialect: wire.Newest()})
	b, err := wire.Newest().Append(nil, &wire.Record{Type: wire.TypeCBAlloc, Size: 4096, ID: 0x1000, PID: 1})
	require.NoError(t, err)
	for range 5 {
		child := h.child(t, append(b, b[:50]...))
		require.Eventually(t, func() bool { n, _, _ := h.Totals(0); return n.CBs == 1 }, testkit.Patience, time.Millisecond)
		h.Sweep()
		n, core, _ := h.Totals(0)
		require.Equal(t, wire.Sums{CBs: 1, CB: 4096}, n)
		require.EqualValues(t, 4096, core)
		require.NoError(t, child.Process.Kill())
		require.Eventually(t, func() bool { h.Sweep(); n, _, _ := h.Totals(0); return n == wire.Sums{} }, testkit.Patience, time.Millisecond)
		_ = child.Wait() // it was killed
	}
	require.Contains(t, string(h.AppendSummary(nil)), "; closed 5 (torn 5), refused 0; leaked 5; ")
	h.shut(t)
	require.Equal(t, 5, strings.Count(h.errs.String(), "its devices are incomplete: record 1, byte 144: record: 50 bytes of it came before the end\n"))
	before.RequireBack(t, time.Sleep)
}

// child starts a process that has sent some bytes.
func (h *house) child(t *testing.T, b []byte) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), asClient+"="+h.path, asBytes+"="+hex.EncodeToString(b))
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = out.Read(make([]byte, 4))
	require.NoError(t, err)
	return child
}

// The documented Python client gets what its faults make of right answers.
func TestPythonClient(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	h := newHouse(t, serve.Config{Grace: 50 * time.Millisecond, Delay: time.Hour, Devices: []wire.DeclaredDevice{{ID: 0, Spec: l1.N150()}, {ID: 1, Spec: l1.N150()}}})
	out, err := exec.Command(python, "testdata/client.py", h.path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "device 1 0 4096 64 0\ndevices 1\n", string(out))
	n, _, _ := h.Totals(1)
	require.Equal(t, wire.Sums{BufferTotals: fit.BufferTotals{Count: 2, L1: 4096, L1Small: 64}}, n)
	require.Contains(t, string(h.AppendSummary(nil)), "odd: unknown-free 1\n", "its free named device 0")
	h.shut(t)
}

// The client in C++ is understood, in the newest dialect.
func TestCPPClient(t *testing.T) {
	compiler, err := exec.LookPath("c++")
	if err != nil {
		t.Skip("needs a C++ compiler named c++")
	}
	client := filepath.Join(t.TempDir(), "client")
	out, err := exec.Command(compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", client, "../../../../examples/cpp/alloc_client.cpp").CombinedOutput()
	require.NoError(t, err, "%s", out)
	h := newHouse(t, serve.Config{Grace: 50 * time.Millisecond, Delay: time.Hour, Devices: []wire.DeclaredDevice{{ID: 0, Spec: l1.N150()}, {ID: 1, Spec: l1.N150()}}})
	out, err = exec.Command(client, h.path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "L1 4096, DRAM 0, CB 262144, kernels 2048\ndevices 2, L1 of a core 1499136\n", string(out))
	n, core, _ := h.Totals(1)
	require.Equal(t, wire.Sums{BufferTotals: fit.BufferTotals{Count: 2, L1: 4096, Kernels: 2048}, CBs: 1, CB: 262144, Loaded: 1}, n)
	require.EqualValues(t, 262144, core)
	require.Zero(t, h.Snapshot().Server.Closed)
	h.shut(t)
}
