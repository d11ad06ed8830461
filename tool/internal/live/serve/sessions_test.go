package serve_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files; review the difference")

// outputs holds all outputs of a server about a session.
type outputs struct{ text strings.Builder }

func (o *outputs) part(name, text string) { fmt.Fprintf(&o.text, "-- %s\n%s", name, text) }

// said are the lines since the last time.
func (o *outputs) said(s *pipedServer) {
	o.part("out", s.out.String())
	o.part("err", s.errs.String())
	s.out.Reset()
	s.errs.Reset()
}

func (o *outputs) snapshot(t *testing.T, s *pipedServer) {
	now := s.Snapshot()
	text, err := now.AppendJSON(nil)
	require.NoError(t, err)
	o.part("snapshot", strings.NewReplacer(`,"devices":[`, ",\"devices\":[\n", `},{`, "},\n{", `],"`, "],\n\"").Replace(string(text)))
	o.part("summary", string(s.AppendSummary(nil)))
}

func (o *outputs) moment(t *testing.T, s *pipedServer) {
	var log bytes.Buffer
	require.NoError(t, s.WriteMoment("", &log))
	o.part("moment", log.String())
}

// playSession plays two processes and a monitor on a server: each size is another one, and most things
// come twice.
func playSession(t *testing.T, f serve.Format) string {
	var o outputs
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		var log file
		s := newPipedServer(t, serve.Config{
			Format: f, Dialect: d, Delay: 3 * time.Second, Stall: time.Minute,
			Devices: []wire.DeclaredDevice{{ID: 4, Spec: l1.N150(), DRAM: 1 << 30}, {ID: 32, Spec: l1.Spec{Cols: 1, Rows: 1}, Chips: []int32{4, 5}}},
			Record:  &serve.Recorder{Open: func() (io.WriteCloser, error) { return &log, nil }},
		})
		ten, eleven, monitor := s.connect(10), s.connect(11), s.connect(12)
		record := func(typ wire.Type, device int32, id, size uint64, kind uint8) wire.Record {
			return wire.Record{Type: typ, Device: device, ID: id, Size: size, Kind: kind}
		}
		for kind := range uint8(5) {
			send(t, ten, d, record(wire.TypeAlloc, 4, 0x1000+uint64(kind), 16<<kind, kind))
		}
		loaded := record(wire.TypeKernelLoad, 4, 7, 1<<10, 1)
		loaded.Time = uint64(time.Now().Add(-3 * time.Second).UnixNano())
		send(t, ten, d,
			record(wire.TypeAlloc, 4, 0x2000, 1<<10, 1), record(wire.TypeAlloc, 4, 0x2000, 1<<10, 1), // which backs the first
			record(wire.TypeCBAlloc, 4, 111616, 1<<11, 0), record(wire.TypeCBAlloc, 4, 111616, 1<<12, 0), record(wire.TypeCBAlloc, 1, 111616, 1<<13, 0),
			loaded, record(wire.TypeKernelLoad, 4, 8, 1<<11, 2), record(wire.TypeAlloc, 32, 0x3000, 1<<14, 1))
		send(t, eleven, d,
			record(wire.TypeAlloc, 4, 0x2000, 1<<10, 1), // which is shared
			record(wire.TypeAlloc, 1, 0x4000, 1<<15, 0), record(wire.TypeCBAlloc, 1, 200_000, 1<<16, 0), record(wire.TypeAlloc, 1, 0x4000, 5, 0), record(wire.TypeKernelLoad, 1, 9, 1<<9, 0),
			record(wire.TypeAlloc, 4, 0x5000, 0, 1), record(wire.TypeAlloc, 4, 0x5000, 1, 5), record(wire.TypeFree, 4, 0x6000, 0, 0), record(wire.TypeCBFree, 1, 200_000, 1<<17, 0),
			record(wire.TypeCBFree, 4, 5, 1<<40, 0), record(wire.TypeKernelUnload, 4, 99, 5, 0), record(wire.TypeCBAlloc, 1, 5, 1<<63, 0), record(wire.TypeResponse, 4, 0, 0, 0))
		o.said(s)
		for _, id := range []int32{1, 4, 32, 9} {
			o.part(fmt.Sprintf("device %d", id), fmt.Sprintf("%+v\n", ask(t, monitor, d, record(wire.TypeQuery, id, 0, 0, 0))))
		}
		for _, id := range []int32{-1, 1, 4, 32} {
			o.part(fmt.Sprintf("info of device %d", id), fmt.Sprintf("%+v\n", ask(t, monitor, d, record(wire.TypeDeviceQuery, id, 0, 0, 0))))
		}
		send(t, monitor, d, record(wire.TypeDumpRemaining, 0, 0, 0, 0), record(wire.TypeDumpKernels, 0, 0, 0, 0))
		s.Statistics()
		o.said(s)
		o.snapshot(t, s)

		s.kill()
		s.Sweep()
		time.Sleep(4 * time.Second)
		require.NoError(t, ten.Close())
		synctest.Wait()
		o.part("dead", fmt.Sprintf("%v\n", s.Snapshot().Processes[0].Dead))
		s.Sweep()
		send(t, eleven, d, record(wire.TypeFree, 4, 0x2000, 0, 0), record(wire.TypeCBFree, 1, 200_000, 0, 0), record(wire.TypeKernelUnload, 1, 9, 0, 0), record(wire.TypeCBFree, 4, 111616, 0, 0))
		_, err := eleven.Write([]byte{1, 0, 0, 0, 1, 0, 0, 0, 9})
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, eleven.Close())
		synctest.Wait()
		o.said(s)
		o.snapshot(t, s)
		o.moment(t, s)
		s.shut(t)
		o.part("recorded", log.String())
	})
	return o.text.String()
}

// A session, and all that a server says of it: lines, lists, answers, snapshots, the summary and the recording.
// -update writes them anew: review the difference.
func TestSessions(t *testing.T) {
	for _, f := range []serve.Format{serve.FormatText, serve.FormatProtocol, serve.FormatJSON} {
		testkit.Golden(t, *update, "testdata/session."+string(f)+".golden", playSession(t, f))
	}
}

// A server without anything says so.
func TestNothingHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{})
		monitor := s.connect(1)
		send(t, monitor, wire.Newest(), wire.Record{Type: wire.TypeDumpRemaining}, wire.Record{Type: wire.TypeDumpKernels}, wire.Record{Type: wire.TypeDumpKernels})
		s.Statistics()
		require.Equal(t, "\nRemaining allocations:\n  none\n\nLoaded kernels:\n\nLoaded kernels:\n\n📊 Current Statistics:\n  Active allocations: 0\n", s.out.String())
		require.Equal(t, "3 records of 1 client; closed 0 (torn 0), refused 0; leaked 0; live 0\n", string(s.AppendSummary(nil)))
		require.ErrorIs(t, s.WriteMoment("nobody's", io.Discard), serve.ErrNoFleet)
		s.shut(t)
		require.Equal(t, &watch.ServerCounts{Clients: 1, Records: 3}, s.Snapshot().Server)
	})
}

// A CB of a mesh lies on each of its chips, and is one allocation.
func TestStatisticsOfAMesh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Devices: []wire.DeclaredDevice{{ID: 32, Spec: l1.Spec{Cols: 1, Rows: 1}, Chips: []int32{4, 5}}}})
		send(t, s.connect(1), wire.Newest(), wire.Record{Type: wire.TypeCBAlloc, Device: 32, ID: 111616, Size: 2048}, wire.Record{Type: wire.TypeAlloc, Device: 5, ID: 64, Size: 16})
		s.out.Reset()
		s.Statistics()
		require.Equal(t, `
📊 Current Statistics:
  Device 4:
    CBs: 2048 bytes in 1, at most 2048 bytes of a core
  Device 5:
    Buffers:
    DRAM: 16 bytes (0.015625 KB)
    Total: 16 bytes
    CBs: 2048 bytes in 1, at most 2048 bytes of a core
  Active allocations: 2
`, s.out.String())
		s.shut(t)
	})
}

// A quiet server prints its own faults alone.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Quiet: true, Dialect: wire.Newest(), Limits: serve.Limits{Clients: 1}})
		conn := s.connect(1)
		send(t, conn, wire.Newest(), cb, wire.Record{Type: wire.TypeAlloc}, wire.Record{Type: wire.TypeDumpRemaining}, wire.Record{Type: wire.TypeDumpKernels})
		_, err := s.connect(2).Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		s.Statistics()
		require.Empty(t, s.out.String())
		require.Equal(t, "cbl1: there is no room for a client: 1 connection at once\n", s.errs.String())
		s.shut(t)
	})
}

// How often no room was there is said again after a minute of room.
func TestNoRoomIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Limits: serve.Limits{Files: 4}})
		s.connect(1)
		said := func() int { return strings.Count(s.errs.String(), "no room for a client: 4 descriptors for clients\n") }
		second := s.connect(2)
		require.Zero(t, said())
		for i, want := range []struct {
			wait time.Duration
			said int
		}{{0, 1}, {time.Minute - 1, 1}, {time.Minute - 1, 1}, {time.Minute, 2}} {
			time.Sleep(want.wait)
			_, err := s.connect(3).Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
			require.Equal(t, want.said, said(), i)
			require.EqualValues(t, i+1, s.Snapshot().Server.Refused)
		}
		// A process that lives on without a connection takes one of the four.
		send(t, second, wire.Newest(), cb)
		require.NoError(t, second.Close())
		synctest.Wait()
		_, err := s.connect(3).Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		s.shut(t)
	})
}

// A thousand lost clients are kept apart, and one more is a line that there are more.
func TestManyLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log file
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Record: &serve.Recorder{Open: func() (io.WriteCloser, error) { return &log, nil }}})
		for i := range 1003 {
			conn := s.connect(int32(i + 1))
			_, err := conn.Write([]byte{1, 0, 0})
			require.NoError(t, err)
			synctest.Wait()
			require.NoError(t, conn.Close())
			synctest.Wait()
		}
		require.Contains(t, string(s.AppendSummary(nil)), "; closed 1003 (torn 1003), ")
		var moment bytes.Buffer
		require.NoError(t, s.WriteMoment("", &moment))
		s.shut(t)
		for _, text := range []string{log.String(), moment.String()} {
			require.Equal(t, 1001, strings.Count(text, `"code":"client-lost"`))
			require.Equal(t, 1, strings.Count(text, `"process":"0","code":"client-lost","count":1,"detail":"more clients were closed; what it was about cannot be told"}`+"\n"))
			require.Equal(t, 1, strings.Count(text, `"process":"1000"`))
			require.NotContains(t, text, `"process":"1001"`)
		}
	})
}

// Limits hold up to the number that they name: records in a second, which begins with its first one, and what
// lives at once.
func TestLimitsOfClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Limits: serve.Limits{PerSecond: 2, Lots: 3}})
		one := s.connect(1)
		for range 2 {
			send(t, one, wire.Newest(), cb)
			time.Sleep(time.Second - 1)
			send(t, one, wire.Newest(), wire.Record{Type: wire.TypeQuery})
			_, err := io.ReadFull(one, make([]byte, 144))
			require.NoError(t, err)
			time.Sleep(time.Nanosecond)
		}
		send(t, one, wire.Newest(), cb)
		require.Zero(t, s.Snapshot().Server.Closed)
		time.Sleep(time.Second)
		send(t, one, wire.Newest(), cb)
		require.EqualValues(t, 1, s.Snapshot().Server.Closed)
		require.Contains(t, s.errs.String(), "client of process 1 closed after 6 records, its devices are incomplete: more than 3 live at once\n")
		two := s.connect(2)
		send(t, two, wire.Newest(), cb, cb)
		require.EqualValues(t, 1, s.Snapshot().Server.Closed)
		send(t, two, wire.Newest(), cb)
		require.Contains(t, s.errs.String(), "client of process 2 closed after 3 records, its devices are incomplete: more than 2 records in a second\n")
		require.EqualValues(t, 8, s.Snapshot().Server.Records, "a record too many was not taken in")
		s.shut(t)
	})
}
