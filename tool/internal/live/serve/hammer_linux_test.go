package serve_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay"
)

// hammer makes the tests below try everything; make hammer sets it.
var hammer = flag.Bool("hammer", false, "TestHammer: 10,000 deaths, 1,000 slow clients, 10 M random bytes, a day of allocations")

// dose returns how much of something a test tries.
func dose(short, all int) int {
	if *hammer {
		return all
	}
	return short
}

// memory returns the bytes of this process that are in memory, now and at most, as the
// kernel says.
func memory(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	var out []string
	for line := range strings.SplitSeq(string(status), "\n") {
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "VmHWM") {
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(out, ", ")
}

// Processes are killed after every byte of every record of every dialect, alone and behind a whole
// record: whole records count, their allocations are leaked, and half a record is torn.
func TestHammerDeaths(t *testing.T) {
	newHouse(t, serve.Config{}).shut(t)
	before := testkit.Open()
	deaths, start := 0, time.Now()
	for _, d := range wire.Dialects() {
		h := newHouse(t, serve.Config{Dialect: d})
		whole, err := d.Append(nil, &wire.Record{Type: wire.TypeAlloc, Device: 1, Size: 64, Kind: 1, ID: 5})
		require.NoError(t, err)
		var torn, leaked, all int64
		var running sync.WaitGroup
		places := make(chan struct{}, 4)
		for typ := wire.Type(1); int(typ) <= d.Types; typ++ {
			if typ == wire.TypeResponse || typ == wire.TypeDeviceInfo {
				continue
			}
			b, err := d.Append(nil, &wire.Record{Type: typ, Device: 1, Size: 16, Kind: 1, ID: 77 + uint64(typ)}) // no process frees another one's allocation
			require.NoError(t, err)
			for n := 0; n <= 2*d.Size+3; n++ { // the last two stand behind a whole record, as two did before
				bytes := b[:n%(d.Size+1)]
				if !*hammer && (n+int(typ))%97 != 0 {
					continue
				}
				all++
				if len(bytes) > 0 && len(bytes) < d.Size {
					torn++
				}
				if len(bytes) == d.Size && (typ == wire.TypeAlloc || typ == wire.TypeCBAlloc || typ == wire.TypeKernelLoad) {
					leaked++
				}
				if n > d.Size {
					leaked++
					bytes = slices.Concat(whole, bytes)
				}
				places <- struct{}{}
				running.Go(func() {
					defer func() { <-places }()
					child := h.child(t, bytes)
					if err := child.Process.Kill(); err != nil {
						t.Error(err)
					}
					_ = child.Wait() // it was killed
				})
			}
		}
		running.Wait()
		want := [...]int64{all, leaked, torn}
		counts := func() [3]int64 {
			now := h.Snapshot()
			return [...]int64{now.Server.Clients, now.Leaked, now.Server.Closed}
		}
		require.Eventually(t, func() bool { h.Sweep(); return counts() == want }, testkit.Patience, 10*time.Millisecond, "%v: want %v", d, want)
		require.Contains(t, string(h.AppendSummary(nil)), fmt.Sprintf("; closed %d (torn %d), ", torn, torn))
		require.Equal(t, wire.Sums{}, total1(h))
		h.shut(t)
		deaths += int(all)
	}
	after := before.RequireBack(t, time.Sleep)
	t.Logf("%d deaths in %v; %v before, %v after; %s", deaths, time.Since(start).Round(time.Second), before, after, memory(t))
}

func total1(h *house) wire.Sums {
	t, _, _ := h.Totals(1)
	return t
}

// Clients that send a byte now and then do not hinder others.
func TestHammerSlowClients(t *testing.T) {
	newHouse(t, serve.Config{}).shut(t)
	before := testkit.Open()
	h := newHouse(t, serve.Config{Stall: 10 * time.Second, Dialect: wire.Newest()})
	b, err := wire.Newest().Append(nil, &wire.Record{Type: wire.TypeCBAlloc, Size: 16, ID: 0x1000})
	require.NoError(t, err)
	n, last := dose(50, 1000), time.Duration(dose(1, 60))*time.Second
	end := time.Now().Add(last)
	var sent atomic.Int64
	var running sync.WaitGroup
	for i := range n {
		conn := dialHouse(t, h)
		running.Go(func() {
			defer func() { _ = conn.Close() }()
			time.Sleep(last / 150 * time.Duration(i) / time.Duration(n))
			for at := 0; time.Now().Before(end); at++ {
				if _, err := conn.Write(b[at%len(b) : at%len(b)+1]); err != nil {
					t.Error(err)
					return
				}
				sent.Add(1)
				time.Sleep(last / 150)
			}
		})
	}
	witness := dialHouse(t, h)
	query, err := wire.Newest().Append(nil, &wire.Record{Type: wire.TypeQuery, Device: 3})
	require.NoError(t, err)
	var waits, looks []time.Duration
	open := 0
	for time.Now().Before(end) {
		start := time.Now()
		_, err := witness.Write(query)
		require.NoError(t, err)
		_, err = io.ReadFull(witness, make([]byte, 144))
		require.NoError(t, err)
		waits = append(waits, time.Since(start))
		start = time.Now()
		h.Snapshot()
		looks = append(looks, time.Since(start))
		open = max(open, testkit.Open().Files)
		time.Sleep(10 * time.Millisecond)
	}
	running.Wait()
	require.NoError(t, witness.Close())
	require.Eventually(t, func() bool { h.Sweep(); return h.Snapshot().Server.Clients == int64(n+1) }, testkit.Patience, 10*time.Millisecond)
	slices.Sort(waits)
	slices.Sort(looks)
	require.NotEmpty(t, waits)
	middle := waits[len(waits)/2]
	if *hammer {
		require.Less(t, middle, 100*time.Millisecond)
	}
	h.shut(t)
	after := before.RequireBack(t, time.Sleep)
	t.Logf("%d clients for %v, %d bytes: %d answers, half in %v, 99 of 100 in %v, all in %v; a snapshot in %v at most; %d descriptors, %v before and %v after; %s", n, last, sent.Load(), len(waits),
		middle, waits[len(waits)*99/100], waits[len(waits)-1], looks[len(looks)-1], open, before, after, memory(t))
}

func dialHouse(t *testing.T, h *house) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", h.path)
	require.NoError(t, err)
	return conn
}

// Random bytes, and records with random bytes in them, end their client at once, and nothing
// else changes.
func TestHammerRandomBytes(t *testing.T) {
	newHouse(t, serve.Config{}).shut(t)
	before := testkit.Open()
	h := newHouse(t, serve.Config{Grace: 20 * time.Millisecond, Stall: time.Second})
	witness := dialHouse(t, h)
	want, err := wire.Newest().Append(nil, &wire.Record{Type: wire.TypeAlloc, Size: 64, Kind: 1, ID: 5, Device: 200})
	require.NoError(t, err)
	_, err = witness.Write(append(want, want...))
	require.NoError(t, err)
	random := rand.NewChaCha8([32]byte{1})
	pick := rand.New(random)
	bytes, most, clients := 0, dose(200_000, 10_000_000), int64(1)
	for ; bytes < most; clients++ {
		b := make([]byte, 8000)
		_, _ = random.Read(b) // which never fails
		if clients%3 > 0 {    // a record that begins well, and is about any device of 2^31
			copy(b, want[:8+pick.IntN(136)])
			binary.LittleEndian.PutUint32(b[4:], uint32(256+pick.IntN(1<<31-256)))
		}
		conn := dialHouse(t, h)
		_, _ = conn.Write(b) // it may be closed in the middle
		if clients%64 == 0 {
			_, _ = io.ReadAll(conn)
		}
		require.NoError(t, conn.Close())
		bytes += len(b)
	}
	require.Eventually(t, func() bool { return h.Snapshot().Server.Closed == clients-1 }, testkit.Patience, 10*time.Millisecond, "%v of %d", h.Snapshot().Server, clients)
	// The server may read the witness last.
	require.Eventually(t, func() bool {
		got, _, _ := h.Totals(200)
		return got == wire.Sums{BufferTotals: fit.BufferTotals{Count: 1, L1: 64, Backings: 1, Backing: 64}}
	}, testkit.Patience, 10*time.Millisecond)
	require.EqualValues(t, 2, h.Snapshot().Server.Records-refusedOf(h))
	require.NoError(t, witness.Close())
	h.shut(t)
	after := before.RequireBack(t, time.Sleep)
	t.Logf("%d bytes of %d clients; %v before, %v after; %s", bytes, clients, before, after, memory(t))
}

// refusedOf returns how many records named a device that cannot be.
func refusedOf(h *house) int64 {
	for _, odd := range h.Snapshot().Odd {
		if odd.Code == string(wire.OddityDevice) {
			return odd.Count
		}
	}
	return 0
}

// A day of a model's allocations, a step a second: the server's final figures equal the figures of
// its log, and no record is lost.
func TestHammerDay(t *testing.T) {
	before := testkit.Open()
	path := filepath.Join(t.TempDir(), "day.jsonl")
	var now atomic.Int64
	var devices []wire.DeclaredDevice
	for id := range int32(4) {
		devices = append(devices, wire.DeclaredDevice{ID: id, Spec: l1.N150()})
	}
	s, err := serve.New(serve.Config{
		Now: func() time.Time { return time.Unix(now.Load(), 0) }, Dialect: wire.Newest(), Devices: devices,
		Record: &serve.Recorder{Open: func() (io.WriteCloser, error) { return os.Create(path) }},
	})
	require.NoError(t, err)
	conns := &pipedServer{conns: make(chan net.Conn)}
	done := make(chan error)
	go func() { done <- s.Serve(conns) }()
	here, there := net.Pipe()
	conns.conns <- there
	start := time.Now()
	records, middle := day(t, here, &now, dose(300, 86_400))
	require.Eventually(t, func() bool { return s.Snapshot().Server.Records == records }, testkit.Patience, time.Millisecond)
	require.NoError(t, here.Close())
	took := time.Since(start)
	require.Zero(t, s.Snapshot().Server.Closed)
	type figures struct{ sum, core, peak, l1, dram uint64 }
	var want, got []figures
	for id := range int32(4) {
		n, core, peak := s.Totals(id)
		want = append(want, figures{n.CB * 64, core, peak, n.L1, n.DRAM})
	}
	require.NoError(t, s.Close())
	require.NoError(t, conns.Close())
	require.NoError(t, <-done)
	f, err := os.Open(path)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	start = time.Now()
	result, err := replay.Run("day", event.NewLog(f, "day").Events(), replay.Options{})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for i := range result.Devices {
		d, all := result.Devices[i], result.L1[i]
		got = append(got, figures{d.RegisteredLogical, d.RegisteredCoreFinal, d.CorePeak, all.L1Final, all.DRAMFinal})
	}
	require.Equal(t, want, got)
	before.RequireBack(t, time.Sleep)
	t.Logf("%d records in %v, %.0f a second; the log has %d bytes and is read in %v; in memory after half: %s, in the end: %s", records, took.Round(time.Millisecond),
		float64(records)/took.Seconds(), info.Size(), time.Since(start).Round(time.Millisecond), middle, memory(t))
}

// day sends what a model allocates in so many steps, a second each, and returns how many
// records that were.
func day(t *testing.T, to net.Conn, now *atomic.Int64, steps int) (records int64, middle string) {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 8))
	var live [][]wire.Record
	for step := range steps {
		now.Add(1)
		if step == steps/2 {
			middle = memory(t)
		}
		var b []byte
		say := func(r wire.Record) {
			r.PID, r.Time = 1, uint64(now.Load())*1e9
			b, _ = wire.Newest().Append(b, &r)
			records++
		}
		var came []wire.Record
		for i := range 10 {
			r := wire.Record{Type: wire.TypeAlloc, Device: int32(step % 4), ID: uint64(step%64)<<32 | uint64(i)<<14, Size: 2048 * (1 + random.Uint64N(8)), Kind: uint8(i % 2)}
			if i >= 6 {
				r.Type, r.ID, r.Kind = wire.TypeCBAlloc, 103_712+32*random.Uint64N(1000), 0
			}
			if i == 9 {
				r.Type, r.ID = wire.TypeKernelLoad, uint64(step)
			}
			came = append(came, r)
			say(r)
		}
		if live = append(live, came); len(live) > 50 {
			for _, r := range live[0] {
				r.Type++
				say(r)
			}
			live = live[1:]
		}
		_, err := to.Write(b)
		require.NoError(t, err)
	}
	return records, middle
}
