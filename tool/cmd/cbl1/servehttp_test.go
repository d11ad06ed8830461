package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// A stage is a server with clients on pipes, and what it records.
type stage struct {
	server *serve.Server
	conns  chan net.Conn
	record strings.Builder
	open   []net.Conn
	shut   func()

	mu   sync.Mutex // connections are identified and swept in goroutines of their own
	last int32
	dead map[int32]bool
}

func (s *stage) identify(net.Conn) (serve.Peer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	me := s.last
	return serve.Peer{PID: me, Dead: func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.dead[me]
	}}, nil
}

func (s *stage) kill(pid int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead[pid] = true
}

func (s *stage) Accept() (net.Conn, error) {
	if c, ok := <-s.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (s *stage) Close() error   { return nil }
func (s *stage) Addr() net.Addr { return &net.UnixAddr{} }

type keeps struct{ *strings.Builder }

func (keeps) Close() error { return nil }

func newStage(t *testing.T) *stage {
	s := newStageAt(t, func() time.Time { return time.Unix(5, 0) }, 0)
	t.Cleanup(s.shut)
	return s
}

// newStageAt has a clock and a delay of the caller, who shuts it.
func newStageAt(t *testing.T, now func() time.Time, delay time.Duration) *stage {
	s := &stage{conns: make(chan net.Conn), last: 100, dead: map[int32]bool{}}
	var err error
	s.server, err = serve.New(serve.Config{
		Now: now, Delay: delay, Dialect: wire.Newest(),
		Devices:  []wire.DeclaredDevice{{ID: 0, Spec: l1.N150()}, {ID: 1, Spec: l1.P150()}, {ID: 32, Spec: l1.Spec{Cols: 1, Rows: 1}, Chips: []int32{0, 1}}},
		Identify: s.identify,
		Record:   &serve.Recorder{Open: func() (io.WriteCloser, error) { return keeps{&s.record}, nil }},
	})
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.server.Serve(s) // until it is closed
	}()
	s.shut = func() {
		_ = s.server.Close()
		close(s.conns)
		<-ended
	}
	return s
}

// client sends records of the next process, which is number 101 at first.
func (s *stage) client(t *testing.T, records ...wire.Record) {
	here, there := net.Pipe()
	s.conns <- there
	for _, r := range append(records, wire.Record{Type: wire.TypeQuery}) {
		b, err := wire.Newest().Append(nil, &r)
		require.NoError(t, err)
		_, err = here.Write(b)
		require.NoError(t, err)
	}
	_, err := io.ReadFull(here, make([]byte, 144)) // all was taken in
	require.NoError(t, err)
	s.open = append(s.open, here)
}

// fleet sends a log that names a fleet, and ends.
func (s *stage) fleet(t *testing.T, log string) {
	logs := &stage{conns: make(chan net.Conn)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.server.ServeLogs(logs) // until it is closed
	}()
	here, there := net.Pipe()
	logs.conns <- there
	go func() { _, _ = io.Copy(io.Discard, here) }() // its answers
	_, err := io.WriteString(here, log)
	require.NoError(t, err)
	require.NoError(t, here.Close())
	t.Cleanup(func() {
		_ = s.server.Close()
		close(logs.conns)
		<-ended
	})
}

func fetch(t *testing.T, h http.Handler, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	return w.Body.String()
}

func busyStage(t *testing.T) *stage {
	s := newStage(t)
	s.client(t,
		wire.Record{Type: wire.TypeCBAlloc, Size: 1 << 20, ID: 111616},
		wire.Record{Type: wire.TypeCBAlloc, Size: 1 << 18, ID: 111616},
		wire.Record{Type: wire.TypeAlloc, Size: 4096, Kind: 1, ID: 1300000},
		wire.Record{Type: wire.TypeAlloc, Size: 100, Kind: 0, ID: 1},
		wire.Record{Type: wire.TypeKernelLoad, Size: 77, ID: 1},
		wire.Record{Type: wire.TypeCBFree, ID: 5})
	s.client(t, wire.Record{Type: wire.TypeCBAlloc, Device: 1, Size: 2048, ID: 111616}, wire.Record{Type: wire.TypeAlloc, Device: 5, Size: 9, Kind: 0, ID: 4})
	return s
}

// Every figure of /metrics is one of the rows, and what has gone has no series.
func TestMetrics(t *testing.T) {
	s := busyStage(t)
	h := (&exposing{processes: true}).handler(s.server)
	text := fetch(t, h, "/metrics")
	for _, want := range []string{
		`cbl1_device_registered_bytes{device="0",board="n150"} 67108864`,
		`cbl1_device_registered_core_peak_bytes{device="0",board="n150"} 1048576`,
		`cbl1_device_peak_registered_core_peak_bytes{device="0",board="n150"} 1048576`,
		`cbl1_device_cb_sum_bytes{device="0",board="n150"} 1310720`,
		`cbl1_device_cb_logical_bytes{device="0",board="n150"} 83886080`,
		`cbl1_device_l1_buffer_bytes{device="0",board="n150"} 4096`,
		`cbl1_device_dram_buffer_bytes{device="5"} 9`,
		`cbl1_device_dram_size_bytes{device="0",board="n150"} 12884901888`,
		`cbl1_device_kernel_bytes{device="0",board="n150"} 77`,
		`cbl1_device_headroom_bytes{device="0",board="n150"} 139808`,
		`cbl1_device_cores{device="0",board="n150"} 64`,
		`cbl1_device_bound{device="1",board="p150"} 1`,
		`cbl1_process_cb_bytes{pid="101",device="0"} 1310720`,
		`cbl1_process_cb_bytes{pid="102",device="1"} 2048`,
		`cbl1_odd_total{code="unknown-free"} 1`,
		`cbl1_leaked_total 0`,
	} {
		require.Contains(t, text, want+"\n")
	}
	require.NotContains(t, text, "dispatched", "records tell of none")
	require.NotContains(t, text, `registered_bytes{device="5"`, "nobody knows its cores")
	require.Contains(t, text, `cbl1_device_cb_sum_bytes{device="32",board="mesh"} 1312768`+"\n", "of the devices 0 and 1")
	require.NotContains(t, fetch(t, (&exposing{}).handler(s.server), "/metrics"), "pid")

	s.kill(102)
	require.NoError(t, s.open[1].Close())
	require.Eventually(t, func() bool { // its connection has ended
		s.server.Sweep()
		return s.server.Snapshot().Leaked == 2
	}, testkit.Patience, time.Millisecond)
	text = fetch(t, h, "/metrics")
	require.NotContains(t, text, `pid="102"`)
	require.Contains(t, text, "cbl1_leaked_total 2\n")
	require.Contains(t, text, `cbl1_device_registered_bytes{device="1",board="p150"} 0`+"\n")

	var now watch.Snapshot
	require.NoError(t, json.Unmarshal([]byte(fetch(t, h, "/figures")), &now))
	require.Equal(t, s.server.Snapshot(), now)
}

// What is reported of a moment is what is reported of a log that begins then.
func TestReportOfTheMoment(t *testing.T) {
	s := busyStage(t)
	h := (&exposing{}).handler(s.server)
	got := fetch(t, h, "/report")
	require.NoError(t, s.server.Close())
	file := filepath.Join(t.TempDir(), "now")
	odd := regexp.MustCompile(`(?m)^.*"odd-record".*\n`) // a moment tells of all at its end
	record := s.record.String()
	record = odd.ReplaceAllString(record, "") + strings.Replace(odd.FindString(record), ": CB_FREE of 0x5 on device 0", "", 1)
	require.NoError(t, os.WriteFile(file, []byte(record), 0o600))
	code, want, stderr := call("", "report", "--format", "json", file)
	require.Zero(t, code, stderr)
	var a, b map[string]any
	require.NoError(t, json.Unmarshal([]byte(got), &a))
	require.NoError(t, json.Unmarshal([]byte(want), &b))
	require.EqualValues(t, 64<<20, of(a, "devices", "0", "registered_union_bytes"))
	require.Equal(t, file, b["file"])
	delete(a, "file")
	delete(b, "file")
	require.Equal(t, b, a)
	require.True(t, strings.HasPrefix(strings.ToLower(fetch(t, h, "/page")), "<!doctype html>"))
}

// What is reported of a fleet is what its logs have come to: the same as of the log itself, where
// nothing was undone.
func TestReportOfAFleet(t *testing.T) {
	s := busyStage(t)
	log := `{"event":"log","version":1,"fleet":"training"}
{"event":"device","device":1,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"a","cbs":[{"cores":"{[0-0 - 7-7]}","size":4096,"address":111616}]}
{"event":"program","program":2,"name":"b","cbs":[{"cores":"{[0-0 - 1-0]}","size":2048,"address":111616}]}
{"event":"register","program":1}
{"event":"register","program":2}
{"event":"dispatch","program":1}
{"event":"dispatch","program":2}
{"event":"allocate","buffer":5,"kind":"l1","parts":[{"address":1300000,"size":4096}]}
{"event":"hidden","code":"elsewhere","count":2}
`
	s.fleet(t, log)
	h := (&exposing{}).handler(s.server)
	require.Eventually(t, func() bool { row, _ := s.server.Row("training", 1); return row.L1 > 0 && row.Incomplete }, testkit.Patience, time.Millisecond)
	file := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(file, []byte(log), 0o600))
	code, text, stderr := call("", "report", "--format", "json", file)
	require.Zero(t, code, stderr)
	var got, want map[string]any
	require.NoError(t, json.Unmarshal([]byte(fetch(t, h, "/report?fleet=training")), &got))
	require.NoError(t, json.Unmarshal([]byte(text), &want))
	for key, value := range of(want, "devices", "1").(map[string]any) {
		if key != "programs_detail" { // which has places in the log
			require.Equal(t, value, of(got, "devices", "1", key), key)
		}
	}
	l1 := func(report map[string]any, path ...string) any { return of(report["l1"].([]any)[0], path...) }
	require.EqualValues(t, 62*4096+2*2048, l1(got, "dispatched", "final_bytes"))
	for _, key := range []string{"tracked_final_bytes", "l1_final_bytes", "buffers_final", "l1_addresses"} {
		require.Equal(t, l1(want, key), l1(got, key), key)
	}
	require.Equal(t, of(want, "checks"), of(got, "checks"), "something is hidden")
	require.Contains(t, fmt.Sprint(got["checks"]), "elsewhere")
	require.Contains(t, fetch(t, h, "/page?fleet=training"), "elsewhere")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/report?fleet=other", nil))
	require.Equal(t, http.StatusNotFound, w.Code)
}

func of(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func TestHTTPRefuses(t *testing.T) {
	s := newStage(t)
	h := (&exposing{hosts: []string{"farm.example"}}).handler(s.server)
	for _, c := range []struct {
		method, url string
		code        int
	}{
		{"GET", "http://127.0.0.1:9117/metrics", 200},
		{"HEAD", "http://[::1]:9117/metrics", 200},
		{"GET", "http://LOCALHOST/metrics", 200},
		{"GET", "http://farm.example:80/metrics", 200},
		{"GET", "http://evil.example/metrics", 421},
		{"GET", "http://localhost.evil.example/report", 421},
		{"POST", "http://localhost/metrics", 405},
		{"GET", "http://localhost/", 200},
		{"GET", "http://evil.example/", 421},
		{"POST", "http://localhost/", 405},
		{"GET", "http://localhost/other", 404},
		{"GET", "http://localhost/debug/pprof/", 404},
		{"GET", "http://localhost/metrics/..", 404},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, c.url, nil))
		if w.Code == http.StatusMovedPermanently || w.Code == http.StatusTemporaryRedirect {
			w.Code = 404 // to a path that is cleaned
		}
		require.Equal(t, c.code, w.Code, "%s %s", c.method, c.url)
	}
	require.Equal(t, "cbl1 serve answers GET /metrics, /figures, /report and /page\n", fetch(t, h, "/"))
	_, err := (&exposing{address: "0.0.0.0:0"}).start(s.server, io.Discard, httpClients)
	require.ErrorContains(t, err, "is for other machines, too")
	_, err = (&exposing{address: "[::]:0"}).start(s.server, io.Discard, httpClients)
	require.ErrorContains(t, err, "is for other machines, too")
	stop, err := (&exposing{address: "0.0.0.0:0", anywhere: true}).start(s.server, io.Discard, httpClients)
	require.NoError(t, err)
	stop()
}
