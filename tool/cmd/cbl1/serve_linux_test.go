package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// TestServe runs the command as a process: clients, a second server, a signal, and a
// recording of which report says what the server said.
func TestServe(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	path, record := filepath.Join(dir, "s"), filepath.Join(dir, "live.jsonl")
	server := command(t, "serve", "--socket", path, "--logs", path+"2", "--devices", "0-7=n150,32=mesh:0-7", "--record", record, "--delay", "1h", "--format", "protocol")
	var errw bytes.Buffer
	server.Stderr = &errw
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	conn := dial(t, path)
	send := func(r wire.Record) {
		b, err := wire.Newest().Append(nil, &r)
		require.NoError(t, err)
		_, err = conn.Write(b)
		require.NoError(t, err)
	}
	lines := bufio.NewScanner(out)
	next := func() string {
		require.True(t, lines.Scan())
		return lines.Text()
	}
	for range 29 {
		send(wire.Record{Type: wire.TypeCBAlloc, Device: 3, Size: 1 << 20, ID: 111616})
	}
	require.Equal(t, "✓ [CB_ALLOC] Device 3: +1 MB (Total: 1 MB)", next())
	for range 27 {
		next()
	}
	require.Equal(t, "✓ [CB_ALLOC] Device 3: +1 MB (Total: 29 MB)", next())

	var second bytes.Buffer
	require.Equal(t, exitUsage, run([]string{"serve", "--socket", path}, strings.NewReader(""), io.Discard, &second))
	require.Equal(t, "cbl1: "+path+": another server listens there\n", second.String())

	log := dial(t, path+"2")
	_, err = io.WriteString(log, eventLog+`{"query":"totals","device":0}`+"\n")
	require.NoError(t, err)
	answer, err := bufio.NewReader(log).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, answer, `{"answer":"totals","device":0,"registered_union_bytes":0`)
	for _, sock := range []string{path, path + "2"} {
		info, err := os.Lstat(sock)
		require.NoError(t, err)
		require.Equal(t, os.ModeSocket|0o600, info.Mode())
	}

	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	rest := ""
	for lines.Scan() {
		rest += lines.Text() + "\n"
	}
	require.NoError(t, server.Wait())
	require.Contains(t, rest, "device 3: CBs 30,408,704 bytes in sum, at most 1,048,576 of a core (peak 1,048,576); 0 buffers")
	// The second server asked whether one listens: this one accepted that by now, or not.
	require.Regexp(t, `29 records of (1 client|2 clients); closed 0 \(torn 0\), refused 0; leaked 0; live 29\n$`, rest)
	require.Equal(t, "cbl1: listening on "+path+"\ncbl1: listening on "+path+"2, for event logs\n", errw.String())
	require.NoFileExists(t, path)
	require.NoFileExists(t, path+"2")

	code, stdout, stderr := call("", "report", "--format", "json", record)
	require.Zero(t, code, stderr)
	var report struct {
		Devices map[string]struct {
			Registered uint64 `json:"registered_core_peak_bytes"`
			Logical    uint64 `json:"registered_logical_bytes"`
		} `json:"devices"`
		Anomalies []struct {
			Code string `json:"code"`
		} `json:"anomalies"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	require.EqualValues(t, 1<<20, report.Devices["3"].Registered)
	require.EqualValues(t, 29<<20*64, report.Devices["3"].Logical)
	require.Len(t, report.Anomalies, 1)
	require.Equal(t, "every-core", report.Anomalies[0].Code)
	code, stdout, _ = call("", "check", record)
	require.Zero(t, code, stdout)
	require.Contains(t, stdout, "29 recorded CBs, none ends above an L1 buffer\n")
}

// dial connects as soon as somebody listens.
func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	var conn net.Conn
	require.Eventually(t, func() (ok bool) {
		var err error
		conn, err = net.Dial("unix", path)
		return err == nil
	}, testkit.Patience, time.Millisecond)
	return conn
}

func TestServeFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--devices 0", "want devices like 0-7=n150"},
		{"--devices 7-0=n150", "want devices like 0-7=n150"},
		{"--devices 0-99999=n150", "want devices like 0-7=n150"},
		{"--devices 0=n151", `board "n151": want one of`},
		{"--devices 0=n150,0=n300", "device 0 comes twice"},
		{"--devices 0=n150:0", `DRAM of "0": want 1MiB or more, like 12GiB`},
		{"--devices 0=n150:6", `DRAM of "6": want 1MiB or more, like 12GiB`},
		{"--devices 0=n150,8=mesh:0-1,9=mesh:8", "mesh 9: its chip 8 is a mesh"},
		{"--devices 32=mesh:30-33", "mesh 32: its chip 32 is a mesh"},
		{"--devices 0=n150:12Gb", `DRAM of "12Gb": want 1MiB or more, like 12GiB`},
		{"--devices 0=mesh:x", `mesh of "x": want chips like 0-7`},
		{"--mode 888", "want permissions like 0600"},
		{"--mode 1777", "want permissions like 0600"},
		{"--dialect 104", "want auto, 72, 112, 128 or 144"},
		{"--format xml", "want one of text, protocol, json"},
		{"--max-clients -1", "want a whole number"},
		{"--max-live 2147483648", "above 2^31-1"},
		{"--delay -1s", "below 0"},
		{"--socket " + strings.Repeat("s", 200), "file name too long"},
		{"--socket run.go", "exists and is no socket"},
		{"more", "accepts at most 0 arg"},
	} {
		code, stdout, stderr := call("", append([]string{"serve"}, strings.Fields(c.args)...)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Empty(t, stdout)
		require.Contains(t, stderr, c.want, c.args)
		requireOneLine(t, stderr)
	}
}

// Nobody takes away a log that another server records, not even an empty one.
func TestServeNextLogInUse(t *testing.T) {
	const log = `{"event":"log","version":1}` + "\n"
	path := filepath.Join(t.TempDir(), "live.jsonl")
	for _, text := range []string{"", log} {
		in := serving{record: path}
		file, err := in.nextLog()
		require.NoError(t, err)
		_, err = io.WriteString(file, text)
		require.NoError(t, err)
		for range 3 {
			_, err := (&serving{record: path}).nextLog()
			require.EqualError(t, err, path+": another server records it")
		}
		_, err = io.WriteString(file, log)
		require.NoError(t, err)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text+log, string(got))
		require.NoError(t, file.Close())
		next, err := in.nextLog()
		require.NoError(t, err)
		require.NoError(t, next.Close())
	}
}
