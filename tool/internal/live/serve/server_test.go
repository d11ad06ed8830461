package serve_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/shm"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// pipedServer is a server on pipes, with the processes that the test puts at their other ends.
type pipedServer struct {
	*serve.Server
	conns chan net.Conn
	pid   atomic.Int32 // of the next client; 0: unknown
	lacks atomic.Bool  // no descriptor can be had for its process
	mu    sync.Mutex
	lives map[int32]*bool // whether the process that has an id now has ended
	open  int             // peers that were not closed
	out   bytes.Buffer
	errs  bytes.Buffer
	done  chan error
}

func (s *pipedServer) Accept() (net.Conn, error) {
	c, ok := <-s.conns
	if !ok {
		return nil, net.ErrClosed
	}
	if c == nil {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return c, nil
}
func (s *pipedServer) Close() error   { close(s.conns); return nil }
func (s *pipedServer) Addr() net.Addr { return &net.UnixAddr{} }

func (s *pipedServer) identify(net.Conn) (serve.Peer, error) {
	pid := s.pid.Load()
	if pid == 0 {
		return serve.Peer{}, errors.New("of another namespace")
	}
	if s.lacks.Load() {
		return serve.Peer{}, os.NewSyscallError("pidfd_open", syscall.EMFILE)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	if s.lives[pid] == nil {
		s.lives[pid] = new(bool)
	}
	dead := s.lives[pid]
	return serve.Peer{
		PID: pid,
		Dead: func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return *dead
		},
		Close: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.open--
		},
	}, nil
}

// kill ends the process that these tests kill.
func (s *pipedServer) kill() {
	const pid = 10
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.lives[pid] = true
	delete(s.lives, pid)
}

// newPipedServer begins to serve in a bubble with a clock of its own.
func newPipedServer(t *testing.T, c serve.Config) *pipedServer {
	t.Helper()
	s := &pipedServer{conns: make(chan net.Conn), lives: map[int32]*bool{}, done: make(chan error)}
	c.Now, c.Identify, c.Err = time.Now, s.identify, &s.errs
	if c.Out == nil {
		c.Out = &s.out
	}
	var err error
	s.Server, err = serve.New(c)
	require.NoError(t, err)
	go func() { s.done <- s.Serve(s) }()
	return s
}

// connect returns the client's end of a connection of a process.
func (s *pipedServer) connect(pid int32) net.Conn {
	here, there := net.Pipe()
	s.pid.Store(pid)
	s.conns <- there
	synctest.Wait()
	return here
}

// shut ends the server, and proves that it has left nothing behind.
func (s *pipedServer) shut(t *testing.T) {
	t.Helper()
	require.NoError(t, s.Server.Close())
	require.NoError(t, s.Close())
	require.NoError(t, <-s.done)
	synctest.Wait()
	require.Zero(t, s.open, "peers that nobody closed")
}

func send(t *testing.T, conn net.Conn, d wire.Dialect, records ...wire.Record) {
	t.Helper()
	var b []byte
	for _, r := range records {
		var err error
		b, err = d.Append(b, &r)
		require.NoError(t, err)
	}
	_, err := conn.Write(b)
	require.NoError(t, err)
	synctest.Wait()
}

func ask(t *testing.T, conn net.Conn, d wire.Dialect, r wire.Record) wire.Record {
	t.Helper()
	b, err := d.Append(nil, &r)
	require.NoError(t, err)
	_, err = conn.Write(b)
	require.NoError(t, err)
	answer := make([]byte, d.Size)
	_, err = io.ReadFull(conn, answer)
	require.NoError(t, err)
	var got wire.Record
	require.NoError(t, d.Decode(answer, &got))
	return got
}

var cb = wire.Record{Type: wire.TypeCBAlloc, Size: 262144, ID: 0x19000, PID: 4242, Time: 5}

// Every dialect gets its own answers, whether the dialect is given or recognised by the client's
// silence.
func TestAnswers(t *testing.T) {
	for _, d := range wire.Dialects() {
		for _, as := range []wire.Dialect{{}, d} {
			synctest.Test(t, func(t *testing.T) {
				s := newPipedServer(t, serve.Config{Dialect: as, Grace: time.Second, Stall: time.Minute, Devices: []wire.DeclaredDevice{
					{ID: 0, Spec: l1.N150()}, {ID: 1, Spec: l1.P150()}, {ID: 32, Spec: l1.Spec{Cols: 1, Rows: 1}, Chips: []int32{0, 1}},
				}})
				monitor := s.connect(7)
				require.Equal(t, wire.Record{Type: wire.TypeResponse, Device: 3}, ask(t, monitor, d, wire.Record{Type: wire.TypeQuery, Device: 3}))
				client := s.connect(4242)
				for kind := range uint8(5) {
					send(t, client, d, wire.Record{Type: wire.TypeAlloc, Size: 1 << (kind + 4), Kind: kind, ID: uint64(kind)})
				}
				want := wire.Record{Type: wire.TypeResponse, DRAM: 16, L1: 32, L1Small: 64 + 128, Trace: 256}
				if d.Knows(wire.TypeKernelLoad) {
					send(t, client, d, cb, cb, wire.Record{Type: wire.TypeKernelLoad, Size: 100})
					want.CB, want.Kernel = 524288, 100
				}
				require.Equal(t, want, ask(t, monitor, d, wire.Record{Type: wire.TypeQuery}))
				if d.Knows(wire.TypeDeviceQuery) {
					require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: -1, Available: 1, Devices: 2},
						ask(t, monitor, d, wire.Record{Type: wire.TypeDeviceQuery, Device: -1}))
					require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Available: 1, Arch: 2, L1PerCore: 1499136, TotalL1: 1499136 * 64, TotalDRAM: 12 << 30, DRAMChannels: 12, DRAMPerChannel: 1 << 30},
						ask(t, monitor, d, wire.Record{Type: wire.TypeDeviceQuery}))
					require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: 5}, ask(t, monitor, d, wire.Record{Type: wire.TypeDeviceQuery, Device: 5}))
				}
				require.Zero(t, s.Snapshot().Server.Closed)
				s.shut(t)
			})
		}
	}
}

// The published figures of a device have each byte of a core once: as version 4 too, since records
// show no dispatch.
func TestUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Devices: []wire.DeclaredDevice{{ID: 0, Spec: l1.N150()}}})
		send(t, s.connect(1), wire.Newest(), cb, cb, wire.Record{Type: wire.TypeAlloc, Size: 5, Kind: 3, ID: 1}, wire.Record{Type: wire.TypeAlloc, Size: 6, Kind: 2, ID: 2})
		row, ok := s.Row("", 0)
		require.True(t, ok)
		require.Equal(t, s.Snapshot().Devices[0], row)
		for _, version := range []uint32{shm.Version3, shm.Version4} {
			require.Equal(t, shm.Counters{L1Small: 5, CB: 64 * 262144}, watch.UsageOf(&row, version))
		}
		for _, id := range []uint64{9, math.MaxInt32, 1 << 32, math.MaxUint64} {
			row, ok = s.Row("", id)
			require.False(t, ok)
			require.Zero(t, row)
		}
		_, ok = s.Row("nobody's", 0)
		require.False(t, ok)
		require.Nil(t, s.Detail("nobody's", 0))
		s.shut(t)
	})
}

// A dead process keeps its allocations for a while. All its records are read first.
func TestDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Delay: 3 * time.Second, Stall: time.Minute})
		first, second, other := s.connect(10), s.connect(10), s.connect(11)
		send(t, first, wire.Newest(), cb)
		send(t, second, wire.Newest(), wire.Record{Type: wire.TypeAlloc, Size: 4096, Kind: 1, ID: 1}, wire.Record{Type: wire.TypeKernelLoad, Size: 1024})
		send(t, other, wire.Newest(), cb)
		require.NoError(t, first.Close())
		synctest.Wait()
		time.Sleep(time.Minute)
		s.Sweep()
		require.Equal(t, 2, total(s, 0).CBs, "a closed connection alone frees nothing")
		s.kill()
		s.Sweep()
		time.Sleep(4 * time.Second)
		s.Sweep()
		require.Equal(t, 2, total(s, 0).CBs, "it has a connection that was not read to its end")
		require.NoError(t, second.Close())
		synctest.Wait()
		s.Sweep()
		require.Equal(t, wire.Sums{CBs: 1, CB: 262144}, total(s, 0))
		require.EqualValues(t, 3, s.Snapshot().Leaked)
		require.Equal(t, []watch.Leak{{PID: 10, CBs: 1, Buffers: 1, Kernels: 1}}, s.Snapshot().Leaks)
		require.Contains(t, s.out.String(), "\n\n⚠️  Detected dead processes, cleaning up orphaned buffers...\n   PID 10 is dead, removing its buffers...\n"+
			"   ✓ Removed 1 buffers (0.00390625 MB) from PID 10\n   ✓ Removed 1 CBs (0.25 MB) from PID 10\n   ✓ Removed 1 kernels (0.000976562 MB) from PID 10\n")
		before := s.out.Len()
		s.Sweep()
		require.Equal(t, before, s.out.Len())

		require.NoError(t, other.Close())
		synctest.Wait()
		s.Sweep()
		time.Sleep(time.Minute)
		s.Sweep()
		require.Equal(t, 1, total(s, 0).CBs, "it has no connection any more, and lives")
		s.shut(t)
	})
}

// The last three refusals are kept as text, and no accepted record: a buffer that comes again with
// another size is odd, and one reference more.
func TestLastRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest()})
		one := s.connect(10)
		free := wire.Record{Type: wire.TypeCBFree, ID: 5, Size: 16}
		send(t, one, wire.Newest(), cb, free, free, wire.Record{Type: wire.TypeAlloc, ID: 6})
		send(t, one, wire.Newest(), wire.Record{Type: wire.TypeAlloc, ID: 8, Size: 64}, wire.Record{Type: wire.TypeAlloc, ID: 8, Size: 32})
		synctest.Wait()
		require.Equal(t, []string{
			"process 10, device 0: CB_FREE of 0x5, 16 bytes: unknown-free", "process 10, device 0: CB_FREE of 0x5, 16 bytes: unknown-free", "process 10, device 0: ALLOC of 0x6, 0 bytes: size",
		}, s.Snapshot().Refused)
		require.Contains(t, s.Snapshot().Odd, watch.OddityCount{Code: "differs", Count: 1})
		send(t, one, wire.Newest(), wire.Record{Type: wire.TypeFree, Device: 256, ID: 7})
		synctest.Wait()
		got := s.Snapshot().Refused
		require.Len(t, got, 3)
		require.Equal(t, "process 10, device 256: FREE of 0x7, 0 bytes: device", got[1])
		require.Contains(t, got[2], "process 10 was closed: FREE names device 256")
		require.Empty(t, s.Snapshot().Leaks)
		require.NoError(t, one.Close())
		s.shut(t)
	})
}

func total(s *pipedServer, id int32) wire.Sums {
	t, _, _ := s.Totals(id)
	return t
}

// A process that has the id of a dead one is another one, also while that waits.
func TestProcessIDAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Delay: 3 * time.Second})
		old := s.connect(10)
		send(t, old, wire.Newest(), cb, cb)
		require.NoError(t, old.Close())
		s.kill()
		s.Sweep()
		young := s.connect(10)
		send(t, young, wire.Newest(), cb)
		require.Equal(t, 3, total(s, 0).CBs)
		time.Sleep(4 * time.Second)
		s.Sweep()
		require.Equal(t, 1, total(s, 0).CBs)
		s.kill()
		require.NoError(t, young.Close())
		synctest.Wait()
		s.Sweep()
		time.Sleep(4 * time.Second)
		s.Sweep()
		require.Zero(t, total(s, 0).CBs)
		s.shut(t)
	})
}

// The delay counts from when a process is found dead.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Delay: 3 * time.Second})
		conn := s.connect(10)
		send(t, conn, wire.Newest(), cb)
		require.NoError(t, conn.Close())
		s.kill()
		synctest.Wait()
		s.Sweep()
		time.Sleep(3*time.Second - 1)
		s.Sweep()
		require.Equal(t, 1, total(s, 0).CBs)
		time.Sleep(time.Nanosecond)
		s.Sweep()
		require.Zero(t, total(s, 0).CBs)
		s.shut(t)
	})
}

// An unknown process lives as long as its connection.
func TestUnknownPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest()})
		one, two := s.connect(0), s.connect(0)
		send(t, one, wire.Newest(), cb)
		send(t, two, wire.Newest(), cb)
		s.Sweep()
		require.Equal(t, 2, total(s, 0).CBs)
		require.NoError(t, one.Close())
		synctest.Wait()
		s.Sweep()
		require.Equal(t, 1, total(s, 0).CBs)
		require.Contains(t, s.out.String(), "PID 4242 is dead")
		s.shut(t)
	})
}

// The whole records of a client that dies after any byte count, and no other client is concerned.
func TestDeathAfterEveryByte(t *testing.T) {
	for _, d := range wire.Dialects() {
		synctest.Test(t, func(t *testing.T) {
			s := newPipedServer(t, serve.Config{Dialect: d})
			witness := s.connect(1)
			send(t, witness, d, wire.Record{Type: wire.TypeAlloc, Size: 64, Kind: 1, ID: 1})
			deaths, torn := 0, 0
			for typ := wire.Type(1); int(typ) <= d.Types; typ++ {
				if typ == wire.TypeResponse || typ == wire.TypeDeviceInfo {
					continue
				}
				b, err := d.Append(nil, &wire.Record{Type: typ, Device: 1, Size: 16, Kind: 1, ID: 77})
				require.NoError(t, err)
				for n := range d.Size {
					conn := s.connect(100)
					_, err := conn.Write(b[:n])
					require.NoError(t, err)
					synctest.Wait()
					require.NoError(t, conn.Close())
					synctest.Wait()
					require.Equal(t, wire.Sums{}, total(s, 1))
					if deaths++; n > 0 {
						torn++
					}
				}
			}
			require.Equal(t, wire.Record{Type: wire.TypeResponse, L1: 64}, ask(t, witness, d, wire.Record{Type: wire.TypeQuery}))
			require.EqualValues(t, deaths+1, s.Snapshot().Server.Clients)
			require.Contains(t, string(s.AppendSummary(nil)), fmt.Sprintf("; closed %d (torn %d), ", torn, torn))
			s.shut(t)
		})
	}
}

// Clients that break the rules end alone, with a count and a word; their allocations stay until
// their process ends.
func TestClosed(t *testing.T) {
	d := wire.Newest()
	alloc := wire.Record{Type: wire.TypeAlloc, Size: 64, Kind: 1, ID: 1}
	for _, c := range []struct {
		name string
		send func(t *testing.T, conn net.Conn)
		want string
		left int
	}{
		{"random bytes", func(_ *testing.T, conn net.Conn) { _, _ = conn.Write(bytes.Repeat([]byte{0xfe, 7}, 200)) }, "closed after 0 records, its devices are incomplete: record 0, byte 0: type: 254 is none of 1 to 12", 0},
		{"a process id", func(t *testing.T, conn net.Conn) {
			send(t, conn, d, alloc, wire.Record{Type: wire.TypeAlloc, Size: 1, Device: 9, ID: 4}, wire.Record{Type: wire.TypeFree, Device: 2657333})
		}, "not one of 0 to 255 and not declared: perhaps a process id", 2},
		{"its own process id", func(t *testing.T, conn net.Conn) { send(t, conn, d, wire.Record{Type: wire.TypeFree, Device: 5000}) }, "which is the id of the sender's process", 0},
		{"too fast", func(t *testing.T, conn net.Conn) {
			for range 10 {
				send(t, conn, d, alloc)
			}
			time.Sleep(time.Second)
			for range 11 {
				b, _ := d.Append(nil, &alloc)
				_, _ = conn.Write(b)
			}
		}, "closed after 21 records, its devices are incomplete: more than 10 records in a second", 20},
		{"too much", func(t *testing.T, conn net.Conn) {
			for i := range 31 {
				time.Sleep(time.Second)
				send(t, conn, d, wire.Record{Type: wire.TypeCBAlloc, ID: uint64(i)})
			}
		}, "more than 30 live at once", 31},
		{"too slow to write", func(t *testing.T, conn net.Conn) {
			_, err := conn.Write(make([]byte, 0))
			require.NoError(t, err)
			_, err = conn.Write([]byte{1, 0, 0})
			require.NoError(t, err)
			time.Sleep(time.Minute)
		}, "it stopped inside a record", 0},
		{"too slow to read", func(t *testing.T, conn net.Conn) {
			send(t, conn, d, wire.Record{Type: wire.TypeQuery})
			time.Sleep(time.Minute)
		}, "it does not take its answers", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPipedServer(t, serve.Config{Dialect: d, Stall: 10 * time.Second, Limits: serve.Limits{PerSecond: 10, Lots: 30}})
				witness := s.connect(1)
				conn := s.connect(5000)
				c.send(t, conn)
				synctest.Wait()
				_, err := io.ReadAll(conn)
				require.NoError(t, err, "the server has closed it")
				require.EqualValues(t, 1, s.Snapshot().Server.Closed)
				require.Contains(t, s.errs.String(), c.want)
				require.Contains(t, string(s.AppendSummary(nil)), fmt.Sprintf("live %d\n", c.left))
				require.Equal(t, wire.TypeResponse, ask(t, witness, d, wire.Record{Type: wire.TypeQuery}).Type)
				send(t, witness, d, wire.Record{Type: wire.TypeAlloc, Device: 3, Size: 1, ID: 9})
				row, _ := s.Row("", 3)
				require.True(t, row.Incomplete, "the client lives on, and may be about any device")
				s.shut(t)
			})
		})
	}
}

// A client that is idle between records is left alone.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Grace: time.Second, Stall: time.Second})
		conn := s.connect(1)
		time.Sleep(time.Hour)
		for range 3 {
			send(t, conn, wire.Newest(), cb)
			time.Sleep(time.Hour)
		}
		require.Equal(t, 3, total(s, 0).CBs)
		require.Zero(t, s.Snapshot().Server.Closed)
		s.shut(t)
	})
}

func TestMostClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Limits: serve.Limits{Clients: 2}})
		one := s.connect(1)
		s.connect(2)
		_, err := s.connect(3).Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.EqualValues(t, 1, s.Snapshot().Server.Refused)
		require.NoError(t, one.Close())
		synctest.Wait()
		send(t, s.connect(3), wire.Newest(), cb)
		require.Equal(t, 1, total(s, 0).CBs)
		s.shut(t)
	})
}

func TestPrinted(t *testing.T) {
	session := func(t *testing.T, f serve.Format) (out, errs string) {
		synctest.Test(t, func(t *testing.T) {
			s := newPipedServer(t, serve.Config{Format: f, Dialect: wire.Newest()})
			conn := s.connect(4242)
			send(t, conn, wire.Newest(),
				wire.Record{Type: wire.TypeCBAlloc, Size: 1 << 20, ID: 0x19000}, wire.Record{Type: wire.TypeCBAlloc, Size: 262144, ID: 0x19000},
				wire.Record{Type: wire.TypeAlloc, Size: 4096, Kind: 0, ID: 0x1f},
				wire.Record{Type: wire.TypeKernelLoad, Size: 2048, Kind: 1, ID: 3, Time: uint64(time.Now().UnixNano())},
				wire.Record{Type: wire.TypeKernelLoad, Size: 1024, Kind: 1, ID: 4}, // of no time
				wire.Record{Type: wire.TypeCBFree, ID: 0x19000}, wire.Record{Type: wire.TypeAlloc})
			time.Sleep(2500 * time.Millisecond)
			send(t, conn, wire.Newest(), wire.Record{Type: wire.TypeDumpRemaining}, wire.Record{Type: wire.TypeDumpKernels})
			s.Statistics()
			s.shut(t)
			out, errs = s.out.String(), s.errs.String()
		})
		return out, errs
	}
	tail := `✓ [PID 4242] Allocated 4096 bytes of DRAM on device 0 (buffer_id=0x1f)
✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.00195312 MB (Total: 0.00195312 MB)
✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.000976562 MB (Total: 0.00292969 MB)
`
	lists := `
Remaining allocations:
  Device 0: CB 0x19000, 1048576 bytes (PID 4242)
  Device 0: DRAM 0x1f, 4096 bytes (PID 4242)

Loaded kernels:
  Device 0: kernel 0x3, Fabric, 2.0 KB (PID 4242, 2 s)
  Device 0: kernel 0x4, Fabric, 1.0 KB (PID 4242, age unknown)

📊 Current Statistics:
  Device 0:
    Buffers:
    DRAM: 4096 bytes (4 KB)
    Total: 4096 bytes
`
	out, errs := session(t, serve.FormatText)
	require.Equal(t, `✓ [CB_ALLOC] Device 0: +1 MB (Total: 1 MB) [PID 4242] at most 1048576 bytes of a core
✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 1.25 MB) [PID 4242] at most 1048576 bytes of a core
`+tail+`✗ [CB_FREE] Device 0: -0.25 MB (Total: 1 MB) [PID 4242] at most 1048576 bytes of a core
`+lists+`    CBs: 1048576 bytes in 1, at most 1048576 bytes of a core
    Kernels: 3072 bytes in 2
  Active allocations: 4
`, out)
	require.Equal(t, "⚠️  Invalid size 0 - ignoring message\n", errs)

	out, _ = session(t, serve.FormatProtocol)
	require.Equal(t, `✓ [CB_ALLOC] Device 0: +1 MB (Total: 1 MB)
✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 1.25 MB)
`+tail+`✗ [CB_FREE] Device 0: -0.25 MB (Total: 1 MB)
`+lists+`  Active allocations: 1
`, out)

	out, _ = session(t, serve.FormatJSON)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 11)
	for _, line := range lines {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.Contains(t, lines[5], `"what":"gone","type":"CB_FREE","device":0,"pid":4242,"id":102400,"bytes":262144,"refs":1,"total_bytes":1048576,"core_at_most_bytes":1048576}`)
	require.Contains(t, lines[6], `"what":"refused","type":"ALLOC"`)
	require.Contains(t, lines[6], `"anomaly":"size"`)
	require.Contains(t, lines[9], `"what":"live","type":"KERNEL_LOAD","device":0,"pid":4242,"id":3,"bytes":2048,"kind":"Fabric"`)
}

// Each recorded log alone has the figures of the server, however often it turns.
func TestRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logs []*file
		c := serve.Config{Dialect: wire.Newest(), Stall: time.Second, Devices: []wire.DeclaredDevice{{ID: 0, Spec: l1.N150()}}, Record: &serve.Recorder{
			Most: 4000, Open: func() (io.WriteCloser, error) { logs = append(logs, &file{}); return logs[len(logs)-1], nil },
		}}
		s := newPipedServer(t, c)
		require.True(t, strings.HasPrefix(logs[0].String(), `{"event":"log","version":1}`+"\n"), "before any Sweep")
		conn := s.connect(10)
		for i := range 40 {
			send(t, conn, wire.Newest(), wire.Record{Type: wire.TypeCBAlloc, Device: int32(i % 2), ID: uint64(i%7) * 1024, Size: 4096 + uint64(i)},
				wire.Record{Type: wire.TypeAlloc, ID: uint64(i), Size: uint64(i + 1), Kind: uint8(i % 5)})
			if i%3 == 0 {
				send(t, conn, wire.Newest(), wire.Record{Type: wire.TypeCBFree, Device: int32(i % 2), ID: uint64(i%7) * 1024})
			}
		}
		_, _ = conn.Write(bytes.Repeat([]byte{99}, 40))
		time.Sleep(time.Minute)
		synctest.Wait()
		zero, core, _ := s.Totals(0)
		s.shut(t)
		require.Greater(t, len(logs), 3)
		for i, log := range logs {
			require.True(t, log.closed)
			text := log.String()
			require.True(t, strings.HasPrefix(text, `{"event":"log","version":1}`+"\n"+`{"event":"anomaly","code":"every-core"`) || i == 0 || strings.Contains(text, `"code":"every-core"`))
			var again session.Session
			for e, err := range event.NewLog(strings.NewReader(text), "log").Events() {
				require.NoError(t, err)
				require.NoError(t, again.Apply(e))
			}
			if i < len(logs)-1 {
				continue
			}
			require.Contains(t, text, `"code":"client-lost"`)
			d, err := again.Fleet().Device(0)
			require.NoError(t, err)
			got := d.Totals()
			require.Equal(t, core, got.Core)
			require.Equal(t, zero.CBs, got.Programs)
			require.Equal(t, zero.CB*64, got.Logical)
			require.Equal(t, zero.BufferTotals, got.Buffers)
		}
	})
}

// A log that begins after a client was lost says so too, and so does the summary. A client that the
// server closes may be about any device, whatever it named before.
func TestLostIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logs []*file
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Record: &serve.Recorder{
			Most: 1500, Open: func() (io.WriteCloser, error) { logs = append(logs, &file{}); return logs[len(logs)-1], nil },
		}})
		bad, worse, good := s.connect(10), s.connect(11), s.connect(12)
		send(t, bad, wire.Newest(), wire.Record{Type: wire.TypeAlloc, Device: 5, Size: 1, ID: 7})
		require.NotContains(t, string(s.AppendSummary(nil)), "incomplete")
		for _, conn := range []net.Conn{bad, worse} {
			_, err := conn.Write(bytes.Repeat([]byte{99}, 144))
			require.NoError(t, err)
			synctest.Wait()
		}
		for i := range 40 {
			send(t, good, wire.Newest(), wire.Record{Type: wire.TypeAlloc, Size: 1, ID: uint64(i)}, wire.Record{Type: wire.TypeFree, ID: uint64(i)})
		}
		summary := string(s.AppendSummary(nil))
		require.Contains(t, summary, "; closed 2 (torn 0), refused 0; ")
		require.Contains(t, summary, "device 0: CBs 0 bytes")
		require.Regexp(t, `(?m)^device 5: .*; incomplete$`, summary)
		require.Regexp(t, `(?m)^device 0: .*; incomplete$`, summary)
		s.shut(t)
		require.Greater(t, len(logs), 2)
		for _, log := range logs {
			text := log.String()
			require.Len(t, regexp.MustCompile(`"process":"1[01]","code":"client-lost",[^\n]*; what it was about cannot be told"}\n`).FindAllString(text, -1), 2)
		}
	})
}

// Half a record concerns the device that it names, beside earlier ones of the client; any device,
// if it ends before that.
func TestHalfARecordIsAboutItsDevice(t *testing.T) {
	first := wire.Record{Type: wire.TypeAlloc, Device: 1, Size: 1, ID: 7}
	for _, c := range []struct {
		name    string
		next    wire.Record
		bytes   int
		devices string
	}{
		{"device", wire.Record{Type: wire.TypeCBAlloc, Device: 3, Size: 1}, 8, `"devices":[1,3]`},
		{"no device yet", wire.Record{Type: wire.TypeCBAlloc, Device: 3, Size: 1}, 7, `what it was about cannot be told"`},
		{"no device that can be one", wire.Record{Type: wire.TypeCBAlloc, Device: 256, Size: 1}, 143, `"devices":[1]`},
		{"the last device", wire.Record{Type: wire.TypeCBAlloc, Device: 255, Size: 1}, 143, `"devices":[1,255]`},
		{"a question", wire.Record{Type: wire.TypeQuery, Device: 3}, 143, `"devices":[1]`},
		{"a mesh: its chips, too", wire.Record{Type: wire.TypeCBAlloc, Device: 20, Size: 1}, 143, `"devices":[1,20,21,22]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log file
				s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Devices: []wire.DeclaredDevice{{ID: 20, Chips: []int32{21, 22}}}, Record: &serve.Recorder{Open: func() (io.WriteCloser, error) { return &log, nil }}})
				other, conn := s.connect(11), s.connect(10)
				send(t, other, wire.Newest(), wire.Record{Type: wire.TypeAlloc, Device: 7, Size: 1, ID: 7})
				send(t, conn, wire.Newest(), first)
				half, err := wire.Newest().Append(nil, &c.next)
				require.NoError(t, err)
				_, err = conn.Write(half[:c.bytes])
				require.NoError(t, err)
				s.kill() // dead or alive
				require.NoError(t, conn.Close())
				synctest.Wait()
				for id, incomplete := range map[uint64]bool{1: true, 7: c.bytes < 8} {
					row, _ := s.Row("", id)
					require.Equal(t, incomplete, row.Incomplete, "device %d", id)
				}
				s.shut(t)
				require.Contains(t, log.String(), `"code":"client-lost"`)
				require.Contains(t, log.String(), c.devices+"}\n")
				_, err = replay.Run("log", event.NewLog(&log, "log").Events(), replay.Options{})
				require.NoError(t, err)
				require.Contains(t, string(s.AppendSummary(nil)), "; closed 1 (torn 1), ")
			})
		})
	}
}

// A child that inherited the connection of a dead process cannot keep what that had for
// ever, nor bring more in its name.
func TestInheritedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Delay: 3 * time.Second, Stall: 10 * time.Second})
		conn := s.connect(10)
		send(t, conn, wire.Newest(), cb)
		s.kill()
		s.Sweep()
		time.Sleep(13 * time.Second)
		s.Sweep()
		require.Equal(t, 1, total(s, 0).CBs)
		time.Sleep(time.Nanosecond)
		s.Sweep()
		require.Zero(t, total(s, 0).CBs)
		synctest.Wait()
		_, err := conn.Write(make([]byte, 144))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.Contains(t, s.errs.String(), "its process has ended")
		s.shut(t)
	})
}

// A listener without a descriptor to give waits until a client has gone, or until the next Sweep.
func TestNoDescriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest()})
		conn := s.connect(10)
		s.conns <- nil // no descriptor for this one
		synctest.Wait()
		require.EqualValues(t, 1, s.Snapshot().Server.Refused)
		require.NoError(t, conn.Close())
		synctest.Wait()
		send(t, s.connect(11), wire.Newest(), cb)
		require.Equal(t, 1, total(s, 0).CBs)
		for range 3 { // one connection that waits
			s.conns <- nil
			synctest.Wait()
			select {
			case s.conns <- nil:
				t.Fatal("it does not wait")
			default:
			}
			s.Sweep()
		}
		require.EqualValues(t, 2, s.Snapshot().Server.Refused)
		send(t, s.connect(12), wire.Newest(), cb)
		require.Equal(t, 2, total(s, 0).CBs)
		require.Equal(t, "cbl1: there is no room for a client: too many open files\n", s.errs.String())
		s.conns <- nil
		synctest.Wait()
		require.EqualValues(t, 3, s.Snapshot().Server.Refused)
		s.shut(t)
	})
}

type file struct {
	bytes.Buffer
	closed bool
}

func (f *file) Close() error { f.closed = true; return nil }

// An event log gets its answers, and one that cannot be read ends alone.
func TestLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{})
		conns := &pipedServer{conns: make(chan net.Conn)}
		done := make(chan error)
		go func() { done <- s.ServeLogs(conns) }()
		good, bad := conns.connect(0), conns.connect(0)
		go func() { _, _ = io.WriteString(bad, "{}\n") }()
		go func() {
			_, _ = io.WriteString(good, `{"event":"log","version":1}`+"\n"+`{"event":"device","device":3,"spec":{"board":"n150"}}`+"\n"+`{"query":"totals","device":3,"id":1}`+"\n")
		}()
		b := make([]byte, 4096)
		n, err := good.Read(b)
		require.NoError(t, err)
		require.Contains(t, string(b[:n]), `{"answer":"totals","id":1,"device":3,"registered_union_bytes":0`)
		synctest.Wait()
		_, err = bad.Read(b)
		require.ErrorIs(t, err, io.EOF)
		require.Contains(t, s.errs.String(), "cbl1: log ")
		s.shut(t)
		require.NoError(t, conns.Close())
		require.NoError(t, <-done)
	})
}

// On real sockets: modes, obstacles, and the process at the other end.
func TestListen(t *testing.T) {
	if runtime.GOOS != "linux" {
		_, err := serve.Listen(filepath.Join(t.TempDir(), "s"), 0o600)
		require.ErrorIs(t, err, serve.ErrPlatform)
		return
	}
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "sock")
	l, err := serve.Listen(path, 0o640)
	require.NoError(t, err)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket|0o640, info.Mode())
	requireAlone(t, dir)

	_, err = serve.Listen(path, 0o600)
	require.ErrorIs(t, err, serve.ErrServed)
	requireAlone(t, dir)
	go func() {
		if c, err := net.Dial("unix", path); err == nil {
			_, _ = c.Read(make([]byte, 1))
			_ = c.Close()
		}
	}()
	conn, err := l.Accept()
	require.NoError(t, err)
	for conn.RemoteAddr() != nil { // the look of the second server came first
		peer, err := serve.Identify(conn)
		require.NoError(t, err)
		require.EqualValues(t, os.Getpid(), peer.PID)
		require.False(t, peer.Dead())
		peer.Close()
		break
	}
	require.NoError(t, conn.Close())

	// A dead socket is replaced; a file that took its place is not removed.
	require.NoError(t, l.Listener.Close())
	again, err := serve.Listen(path, 0o600)
	require.NoError(t, err)
	requireAlone(t, dir)
	require.ErrorIs(t, l.Close(), net.ErrClosed)
	require.FileExists(t, path)
	require.NoError(t, again.Close())
	require.NoFileExists(t, path)

	for _, make := range []func() error{
		func() error { return os.WriteFile(path, []byte("mine"), 0o600) },
		func() error { return os.Symlink(filepath.Join(dir, "nowhere"), path) },
		func() error { return os.Mkdir(path, 0o700) },
	} {
		require.NoError(t, make())
		_, err = serve.Listen(path, 0o600)
		require.ErrorIs(t, err, serve.ErrNotSocket)
		requireAlone(t, dir)
		require.NoError(t, os.Remove(path))
	}
	_, err = serve.Listen(filepath.Join(dir, "missing", "s"), 0o600)
	require.ErrorIs(t, err, os.ErrNotExist)
	longest := filepath.Join(dir, strings.Repeat("s", 106-len(dir)))
	l, err = serve.Listen(longest, 0o600)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	_, err = serve.Listen(longest+"s", 0o600)
	require.ErrorIs(t, err, syscall.ENAMETOOLONG)
}

func requireAlone(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing but the socket is left")
}

// The records of a client that has gone without its answers count, and nothing of it is incomplete.
func TestHungUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		s := newPipedServer(t, serve.Config{Dialect: d, Stall: time.Second, Delay: time.Hour})
		here, there := net.Pipe()
		b, err := d.Append(nil, &wire.Record{Type: wire.TypeQuery})
		require.NoError(t, err)
		b, err = d.Append(b, &cb)
		require.NoError(t, err)
		s.pid.Store(10)
		s.conns <- &early{Conn: there, said: b}
		require.NoError(t, here.Close())
		synctest.Wait()
		require.Equal(t, wire.Sums{CBs: 1, CB: 262144}, total(s, 0))
		require.Zero(t, s.Snapshot().Server.Closed)
		require.Empty(t, s.errs.String())
		s.shut(t)
	})
}

// early is a connection with something in it that was said before it was closed.
type early struct {
	net.Conn
	said []byte
}

func (e *early) Read(b []byte) (int, error) {
	if len(e.said) == 0 {
		return 0, &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	n := copy(b, e.said)
	e.said = e.said[n:]
	return n, nil
}
func (e *early) Write([]byte) (int, error) {
	return 0, &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}
}
func (e *early) SetReadDeadline(time.Time) error  { return nil }
func (e *early) SetWriteDeadline(time.Time) error { return nil }
