package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// slowly sends a text again and again, a byte at a time, on connections that it makes anew where they
// are closed. Whether the last byte was read does not matter.
func slowly(network, address, text string, pause time.Duration, end time.Time) {
	for time.Now().Before(end) {
		conn, err := net.Dial(network, address)
		for at := 0; err == nil && time.Now().Before(end); at++ {
			if _, err = io.WriteString(conn, text[at%len(text):at%len(text)+1]); err == nil {
				time.Sleep(pause)
			}
		}
		if conn != nil {
			_ = conn.Close() // it may be closed already
		}
	}
}

// Clients that send a byte now and then, records to the one and requests to the other socket, do not
// delay the requests for metrics.
func TestHammerSlowMetrics(t *testing.T) {
	n, last := 40, time.Second
	if *hammer {
		n, last = 1000, time.Minute
	}
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	warm, err := net.Listen("tcp", "localhost:0") // what a process opens once and keeps, like its poller
	require.NoError(t, err)
	require.NoError(t, warm.Close())
	s := busyStage(t)
	before := testkit.Open()
	path := filepath.Join(dir, "s")
	l, err := serve.Listen(path, 0o600)
	require.NoError(t, err)
	done := make(chan error)
	go func() { done <- s.server.Serve(l) }()
	var errs strings.Builder
	stop, err := (&exposing{address: "localhost:0", processes: true}).start(s.server, &errs, httpClients)
	require.NoError(t, err)
	url := strings.TrimSpace(strings.TrimPrefix(errs.String(), "cbl1: "))
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")
	record, err := wire.Newest().Append(nil, &wire.Record{Type: wire.TypeCBAlloc, Device: 1, Size: 16, ID: 0x1000})
	require.NoError(t, err)

	end := time.Now().Add(last)
	var slow sync.WaitGroup
	for range n / 2 {
		slow.Go(func() { slowly("unix", path, string(record), last/150, end) })
		slow.Go(func() { slowly("tcp", address, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n", last/150, end) })
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var waits []time.Duration
	most := testkit.OpenCounts{}
	for time.Now().Before(end) {
		begun := time.Now()
		r, err := client.Get(url)
		require.NoError(t, err)
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		waits = append(waits, time.Since(begun))
		require.Contains(t, string(text), `cbl1_device_cb_sum_bytes{device="0",board="n150"} 1310720`)
		if len(waits)%50 == 1 { // which counts all of them
			now := testkit.Open()
			most.Files, most.Goroutines = max(most.Files, now.Files), max(most.Goroutines, now.Goroutines)
		}
		time.Sleep(20 * time.Millisecond)
	}
	slow.Wait()
	slices.Sort(waits)
	require.NotEmpty(t, waits)
	half, most99, longest := waits[len(waits)/2], waits[len(waits)*99/100], waits[len(waits)-1]
	if *hammer {
		require.Less(t, half, 100*time.Millisecond)
		require.Less(t, most99, time.Second)
	}
	stop()
	require.NoError(t, s.server.Close())
	require.NoError(t, l.Close())
	require.NoError(t, <-done)
	after := before.RequireBack(t, time.Sleep)
	t.Logf("beside %d slow connections, half of records and half of requests, for %v: %d answers of /metrics, half in %v, 99 of 100 in %v, all in %v; %v before, %v among them, %v after",
		n, last, len(waits), half, most99, longest, before, most, after)
}
