package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// A limited is a server as a process of its own, with 64 descriptors.
type limited struct {
	*exec.Cmd
	dir, path, record, web string
	told                   *bufio.Reader // standard error behind the address of /metrics
	read                   string        // what has been read of it
}

func startLimited(t *testing.T, flags ...string) *limited {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	s := &limited{dir: dir, path: filepath.Join(dir, "s"), record: filepath.Join(dir, "live.jsonl")}
	s.Cmd = command(t, "serve")
	self := s.Path
	s.Path, err = exec.LookPath("bash")
	require.NoError(t, err)
	s.Args = append([]string{
		"bash", "-c", `ulimit -n 64; exec -a cbl1 "$0" "$@"`, self,
		"serve", "-q", "--socket", s.path, "--record", s.record, "--dialect", "144", "--http", "127.0.0.1:0",
	}, flags...)
	errs, err := s.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, s.Start())
	s.told = bufio.NewReader(errs)
	line, err := s.told.ReadString('\n')
	require.NoError(t, err)
	s.web = strings.TrimPrefix(strings.TrimSpace(line), "cbl1: ")
	return s
}

// end ends the server in order, and returns what it said on standard error since it began.
func (s *limited) end(t *testing.T) string {
	t.Helper()
	require.NoError(t, s.Process.Signal(syscall.SIGTERM))
	told, err := io.ReadAll(s.told)
	require.NoError(t, err)
	require.NoError(t, s.Wait(), "%s", told)
	return s.read + string(told)
}

// says waits until the server has written a line to standard error.
func (s *limited) says(t *testing.T, line string) {
	t.Helper()
	for !strings.Contains(s.read, line) {
		next, err := s.told.ReadString('\n')
		s.read += next
		require.NoError(t, err, "%s", s.read)
	}
}

// ask connects, allocates a buffer, queries the sum of all, and returns it.
func (s *limited) ask(t *testing.T, id uint64) uint64 {
	t.Helper()
	conn, err := net.Dial("unix", s.path)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(testkit.Patience)))
	b, err := wire.Newest().Append(nil, &wire.Record{Type: wire.TypeAlloc, ID: id, Size: 64})
	require.NoError(t, err)
	b, err = wire.Newest().Append(b, &wire.Record{Type: wire.TypeQuery})
	require.NoError(t, err)
	_, err = conn.Write(b)
	require.NoError(t, err)
	answer := make([]byte, wire.Newest().Size)
	_, err = io.ReadFull(conn, answer)
	require.NoError(t, err)
	var r wire.Record
	require.NoError(t, wire.Newest().Decode(answer, &r))
	return r.DRAM
}

// metric returns a figure of /metrics.
func (s *limited) metric(t *testing.T, name string) string {
	t.Helper()
	client := http.Client{Timeout: testkit.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(s.web)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^` + name + ` (\d+)$`).FindSubmatch(text)
	require.NotNil(t, found, "%s", text)
	return string(found[1])
}

// descriptors returns how many descriptors the server has open.
func (s *limited) descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(s.Process.Pid), "fd"))
	require.NoError(t, err)
	return len(open)
}

// held opens so many connections that say nothing.
func held(t *testing.T, network, address string, n int) (all []net.Conn) {
	t.Helper()
	for range n {
		conn, err := net.Dial(network, address)
		require.NoError(t, err)
		all = append(all, conn)
	}
	return all
}

func release(t *testing.T, all []net.Conn) {
	t.Helper()
	for _, conn := range all {
		require.NoError(t, conn.Close())
	}
}

// changeLimit changes the soft limit of a process that runs, and returns the one before.
func changeLimit(t *testing.T, pid, what int, soft uint64) (before uint64) {
	t.Helper()
	var limit syscall.Rlimit
	_, _, no := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(what), 0, uintptr(unsafe.Pointer(&limit)), 0, 0)
	require.Zero(t, no)
	before, limit.Cur = limit.Cur, soft
	_, _, no = syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(what), uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	require.Zero(t, no)
	return before
}

// Connections over HTTP that are held take no descriptor that a client needs, and those of clients none that
// /metrics needs.
func TestServeStaysUpWhereDescriptorsAreFew(t *testing.T) {
	s := startLimited(t)
	address := strings.TrimSuffix(strings.TrimPrefix(s.web, "http://"), "/metrics")
	web := held(t, "tcp", address, 100)
	require.EqualValues(t, 64, s.ask(t, 1))
	require.EqualValues(t, 128, s.ask(t, 2))
	open := s.descriptors(t)
	first := held(t, "unix", s.path, 1)
	require.False(t, closedWithin(t, 100*time.Millisecond, first[0]))
	clients := held(t, "unix", s.path, 99)
	require.True(t, closedWithin(t, testkit.Patience, clients[98]))
	release(t, web)
	require.Equal(t, "80", s.metric(t, "cbl1_server_refused_total"), "20 connections take two descriptors each")
	release(t, append(first, clients...))
	require.Eventually(t, func() bool { return s.descriptors(t) <= open }, testkit.Patience, time.Millisecond)
	require.EqualValues(t, 192, s.ask(t, 3))
	require.Equal(t, "cbl1: there is no room for a client: 40 descriptors for clients\n", s.end(t))
}

// closedWithin reports whether the server has closed a connection, and does not wait for a record.
func closedWithin(t *testing.T, most time.Duration, conn net.Conn) bool {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(most)))
	_, err := conn.Read(make([]byte, 1))
	require.Error(t, err)
	return !os.IsTimeout(err)
}

// A process without any descriptor to give keeps its listeners, says so once, and has clients and requests
// after it has some.
func TestServeWaitsForDescriptors(t *testing.T) {
	s := startLimited(t)
	require.EqualValues(t, 64, s.ask(t, 1))
	before := changeLimit(t, s.Process.Pid, syscall.RLIMIT_NOFILE, 3)
	clients := held(t, "unix", s.path, 3)
	address := strings.TrimSuffix(strings.TrimPrefix(s.web, "http://"), "/metrics")
	web := held(t, "tcp", address, 3)
	lines := []string{"cbl1: there is no room for a client: too many open files\n", "cbl1: there is no room for a connection over HTTP: too many open files\n"}
	for _, line := range lines {
		s.says(t, line)
	}
	changeLimit(t, s.Process.Pid, syscall.RLIMIT_NOFILE, before)
	require.EqualValues(t, 128, s.ask(t, 2))
	require.Equal(t, "1", s.metric(t, "cbl1_server_refused_total"))
	release(t, append(clients, web...))
	told := s.end(t)
	for _, line := range lines {
		require.Equal(t, 1, strings.Count(told, line), told)
	}
	require.Equal(t, 2, strings.Count(told, "\n"), told)
}

// A log that cannot be written ends nothing: it is said once, counted, and after there is room
// another log begins with what lives. The log before it ends with a whole line.
func TestServeStaysUpWhereTheDiskIsFull(t *testing.T) {
	s := startLimited(t)
	require.EqualValues(t, 64, s.ask(t, 1))
	holds(t, s.record, `"buffer":1,`)
	before := changeLimit(t, s.Process.Pid, syscall.RLIMIT_FSIZE, 100)
	require.EqualValues(t, 128, s.ask(t, 2))
	require.Eventually(t, func() bool { return s.metric(t, "cbl1_server_not_recorded_total") == "1" }, testkit.Patience, time.Millisecond)
	require.EqualValues(t, 192, s.ask(t, 3))
	require.Eventually(t, func() bool { return s.metric(t, "cbl1_server_not_recorded_total") == "2" }, testkit.Patience, time.Millisecond)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(s.record) // it gives way for a moment
		return err == nil && len(text) == 0
	}, testkit.Patience, time.Millisecond, "no log could be begun")
	changeLimit(t, s.Process.Pid, syscall.RLIMIT_FSIZE, before)
	holds(t, s.record, `"not-recorded","count":2`)
	require.EqualValues(t, 256, s.ask(t, 4))
	require.Equal(t, "cbl1: nothing is recorded: write "+s.record+": file too large\ncbl1: it is recorded again: 2 events in no log\n", s.end(t))
	require.NoFileExists(t, s.record+".2", "a log gives way once")
	for log, buffers := range map[string]int{s.record + ".1": 1, s.record: 4} {
		text := read(t, log)
		require.Equal(t, buffers, bytes.Count(text, []byte(`"event":"allocate"`)), "%s", text)
		require.True(t, bytes.HasSuffix(text, []byte("\n")))
	}
	code, stdout, stderr := call("", "check", s.record)
	require.Equal(t, exitTell, code, stdout+stderr)
	require.Contains(t, stdout, "2 events before this log were not recorded")
}

// holds waits until a file, which may not be there for a moment, has a text.
func holds(t *testing.T, path, want string) {
	t.Helper()
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(path)
		return err == nil && bytes.Contains(text, []byte(want))
	}, testkit.Patience, time.Millisecond)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}
