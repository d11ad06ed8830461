package serve_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// Two connections of unknown processes end in one sweep: each is shown under the id that it claims,
// in the order in which they came, below one line. Under one id they are one row.
func TestTwoDeathsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		s := newPipedServer(t, serve.Config{Dialect: d})
		one, two, third := s.connect(0), s.connect(0), s.connect(0)
		for i, c := range []struct {
			conn net.Conn
			pid  int32
		}{{one, 70}, {two, 70}, {third, 60}} {
			for kind := range uint8(5) {
				send(t, c.conn, d, wire.Record{Type: wire.TypeAlloc, PID: c.pid, Size: 1 << (8*i + int(kind)), Kind: kind, ID: uint64(16*i) + uint64(kind)})
			}
			send(t, c.conn, d, wire.Record{Type: wire.TypeCBAlloc, PID: c.pid, Size: 32 << i}, wire.Record{Type: wire.TypeKernelLoad, PID: c.pid, Size: 64 << i})
		}
		zero := uint64(0)
		require.Equal(t, []watch.Process{
			{PID: 60, Device: &zero, CB: 128, L1: 1 << 17, L1Small: 1 << 19, DRAM: 1 << 16, Trace: 1 << 20, Kernels: 256},
			{PID: 70, Device: &zero, CB: 96, L1: 1<<1 + 1<<9, L1Small: 1<<3 + 1<<11, DRAM: 1 + 1<<8, Trace: 1<<4 + 1<<12, Kernels: 192},
		}, s.Snapshot().Processes)
		require.Contains(t, s.out.String(), "✓ [PID 60] Allocated 65536 bytes of DRAM")
		s.out.Reset()
		for _, conn := range []net.Conn{third, two, one} {
			require.NoError(t, conn.Close())
		}
		synctest.Wait()
		s.Sweep()
		require.Equal(t, "\n"+wire.DeadLine+
			"   PID 70 is dead, removing its buffers...\n   ✓ Removed 5 buffers (2.95639e-05 MB) from PID 70\n   ✓ Removed 1 CBs (3.05176e-05 MB) from PID 70\n   ✓ Removed 1 kernels (6.10352e-05 MB) from PID 70\n"+
			"   PID 70 is dead, removing its buffers...\n   ✓ Removed 5 buffers (0.00756836 MB) from PID 70\n   ✓ Removed 1 CBs (6.10352e-05 MB) from PID 70\n   ✓ Removed 1 kernels (0.00012207 MB) from PID 70\n"+
			"   PID 60 is dead, removing its buffers...\n   ✓ Removed 5 buffers (1.9375 MB) from PID 60\n   ✓ Removed 1 CBs (0.00012207 MB) from PID 60\n   ✓ Removed 1 kernels (0.000244141 MB) from PID 60\n", s.out.String())
		require.Empty(t, s.Snapshot().Processes)
		s.shut(t)
	})
}

// A client that leaves with nothing leaves no trace.
func TestNothingLeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest()})
		conn := s.connect(10)
		send(t, conn, wire.Newest(), cb, wire.Record{Type: wire.TypeCBFree, ID: cb.ID})
		s.out.Reset()
		require.NoError(t, conn.Close())
		synctest.Wait()
		s.kill()
		s.Sweep()
		require.Empty(t, s.out.String())
		require.Empty(t, s.Snapshot().Leaks)
		require.Zero(t, s.Snapshot().Leaked)
		s.shut(t)
	})
}

// Each connection takes two descriptors, and each process without one takes one, until it is released.
func TestDescriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		s := newPipedServer(t, serve.Config{Dialect: d, Limits: serve.Limits{Files: 6}})
		tries := func(pid int32) {
			require.NoError(t, s.connect(pid).Close())
			synctest.Wait()
		}
		a, b := s.connect(10), s.connect(10)
		send(t, a, d, cb)
		require.NoError(t, b.Close()) // its process has another one
		synctest.Wait()
		two, three := s.connect(2), s.connect(3)
		require.Zero(t, s.Snapshot().Server.Refused)
		tries(4)
		require.EqualValues(t, 1, s.Snapshot().Server.Refused)

		require.NoError(t, a.Close())
		synctest.Wait()
		tries(4)
		require.EqualValues(t, 2, s.Snapshot().Server.Refused, "2+2 for two, 1 for the first, 2 more")
		s.kill()
		for range 3 {
			s.Sweep()
		}
		four := s.connect(4)
		require.EqualValues(t, 2, s.Snapshot().Server.Refused)
		tries(5)
		require.EqualValues(t, 3, s.Snapshot().Server.Refused)
		for _, conn := range []net.Conn{two, three, four} {
			require.NoError(t, conn.Close())
		}
		synctest.Wait()
		s.shut(t)
	})
}

// Silence ends a first record as soon as it is polite.
func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Grace: time.Second, Stall: time.Hour})
		conn, begun := s.connect(1), time.Now()
		ask(t, conn, wire.Dialect{Size: 72, Types: 5}, wire.Record{Type: wire.TypeQuery})
		require.Equal(t, begun.Add(time.Second), time.Now())
		ask(t, conn, wire.Dialect{Size: 72, Types: 5}, wire.Record{Type: wire.TypeQuery})
		require.Equal(t, begun.Add(time.Second), time.Now(), "the dialect is known by now")
		s.shut(t)
	})
}

// The properties of declared devices of each architecture.
func TestArchitectures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		boards := map[string]uint32{"e150": 1, "n150": 2, "p150": 3}
		var devices []wire.DeclaredDevice
		for _, board := range l1.Boards() {
			if boards[board.Name] > 0 {
				devices = append(devices, wire.DeclaredDevice{ID: int32(boards[board.Name]), Spec: board})
			}
		}
		devices = append(devices, wire.DeclaredDevice{ID: 9, Spec: l1.Spec{Name: "x", Cols: 2, Rows: 1, L1Size: 1 << 32}})
		s := newPipedServer(t, serve.Config{Dialect: d, Devices: devices})
		conn := s.connect(1)
		for _, want := range boards {
			got := ask(t, conn, d, wire.Record{Type: wire.TypeDeviceQuery, Device: int32(want)})
			require.Equal(t, want, got.Arch)
		}
		got := ask(t, conn, d, wire.Record{Type: wire.TypeDeviceQuery, Device: 9})
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: 9, Available: 1, L1PerCore: 1<<32 - 1, TotalL1: 1 << 33}, got)
		require.EqualValues(t, 4, ask(t, conn, d, wire.Record{Type: wire.TypeDeviceQuery, Device: -1}).Devices)
		s.shut(t)
	})
}

// Event logs are counted and named in their order; a fleet that ends without devices takes no other one away.
func TestLogsAndFleets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{})
		l := newLogs(s)
		for range 2 {
			requireEnds(t, l.tell(t, "{}"))
		}
		require.Regexp(t, `^cbl1: log 1 closed: .*\ncbl1: log 2 closed: .*\n$`, s.errs.String())
		first, second := l.tell(t, ours), l.tell(t, theirs)
		first.line(t, device3)
		require.NoError(t, second.conn.Close())
		synctest.Wait()
		_, ok := s.Row("ours", 3)
		require.True(t, ok)
		requireEnds(t, l.tell(t, "{}"))
		require.Contains(t, s.errs.String(), "cbl1: log 5 closed: ")
		var moment strings.Builder
		require.NoError(t, s.WriteMoment("ours", &moment))
		require.Contains(t, moment.String(), `"device":3`)
		require.ErrorIs(t, s.WriteMoment("theirs", &moment), serve.ErrNoFleet)
		long := l.tell(t, `{"event":"log","version":1,"fleet":"`+strings.Repeat("x", 256)+`"}`)
		require.Equal(t, "error", long.ask(t, totals)["answer"], "it has no device, and a name")
		l.shut(t)
	})
}

// sink takes so many writes, and then fails; it may fail to be closed.
type sink struct {
	strings.Builder
	writes int
	close  error
}

func (f *sink) Write(b []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, errSink
	}
	return f.Builder.Write(b)
}
func (f *sink) Close() error { return f.close }

var errSink = errors.New("the sink is full")

// WriteMoment returns the error of its writer, at each line.
func TestMomentFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		s := newPipedServer(t, serve.Config{Dialect: d, Devices: []wire.DeclaredDevice{{ID: 4, Spec: l1.N150()}}})
		send(t, s.connect(1), d, cb, cb)
		bad := s.connect(2)
		_, err := bad.Write([]byte{1, 0, 0})
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, bad.Close())
		synctest.Wait()
		n := 0
		for ; errors.Is(s.WriteMoment("", &sink{writes: n}), errSink); n++ {
			require.Less(t, n, 100)
		}
		require.Equal(t, 9, n, "a header, what it says of itself, two devices, two CBs of two lines each, and a loss")
		s.shut(t)
	})
}

// A recording is written line by line where much waits, and else by Sweep. One that cannot be closed was not
// recorded, and a server that cannot begin one does not begin.
func TestRecordIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		log := &sink{writes: 1 << 20, close: errors.New("closed badly")}
		s := newPipedServer(t, serve.Config{Dialect: d, Record: &serve.Recorder{Open: func() (io.WriteCloser, error) { return log, nil }}})
		conn, begun := s.connect(1), log.Len()
		send(t, conn, d, cb)
		require.Equal(t, begun, log.Len())
		s.Sweep()
		written := log.Len()
		require.Greater(t, written, begun)
		for log.Len() == written {
			send(t, conn, d, cb)
		}
		require.GreaterOrEqual(t, log.Len()-written, 64<<10)
		require.Less(t, log.Len()-written, 65<<10)
		s.shut(t)
		require.Equal(t, "cbl1: nothing is recorded: closed badly\n", s.errs.String())
	})
	_, err := serve.New(serve.Config{Now: time.Now, Record: &serve.Recorder{Open: func() (io.WriteCloser, error) { return nil, errSink }}})
	require.ErrorIs(t, err, errSink)
	_, err = serve.New(serve.Config{Now: time.Now, Devices: []wire.DeclaredDevice{{ID: 1, Spec: l1.N150()}, {ID: 1, Spec: l1.N150()}}})
	require.Error(t, err)
}

// broken is a listener that cannot listen.
type broken struct{ net.Listener }

func (broken) Accept() (net.Conn, error) { return nil, errSink }

// A listener that fails ends Serve with its error; one of a server that was closed ends it without.
func TestBrokenListener(t *testing.T) {
	s, err := serve.New(serve.Config{Now: time.Now})
	require.NoError(t, err)
	require.ErrorIs(t, s.Serve(broken{}), errSink)
	require.Zero(t, s.Snapshot().Server.Refused)
	require.NoError(t, s.Close())
	require.NoError(t, s.ServeLogs(broken{}))
}

// Nothing waits to be printed where nothing may wait.
func TestPrintedAtOnce(t *testing.T) {
	s, err := serve.New(serve.Config{Now: time.Now})
	require.NoError(t, err)
	<-s.Printed()
	require.NoError(t, s.Close())
	require.NoError(t, s.Err())
	require.Equal(t, "0 records of 0 clients; closed 0 (torn 0), refused 0; leaked 0; live 0\n", string(s.AppendSummary(nil)))
}

// answered counts the answers that a client gets which has gone.
type answered struct {
	early
	answers int
}

func (a *answered) Write([]byte) (int, error) { a.answers++; return a.early.Write(nil) }

// A client that has gone gets no second answer, and its records count.
func TestNoSecondAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		s := newPipedServer(t, serve.Config{Dialect: d, Stall: time.Second})
		here, there := net.Pipe()
		var said []byte
		for _, r := range []wire.Record{{Type: wire.TypeQuery}, cb, {Type: wire.TypeQuery}} {
			said, _ = d.Append(said, &r)
		}
		conn := &answered{early: early{Conn: there, said: said}}
		s.pid.Store(10)
		s.conns <- conn
		synctest.Wait()
		require.Equal(t, 1, conn.answers)
		require.Equal(t, 1, total(s, 0).CBs)
		require.Equal(t, "Closed 0, Records 3", fmt.Sprintf("Closed %d, Records %d", s.Snapshot().Server.Closed, s.Snapshot().Server.Records))
		require.NoError(t, here.Close())
		s.shut(t)
	})
}
