package serve_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// A disk has logs, and room for some bytes more.
type disk struct {
	room  int
	logs  []*onDisk
	opens error // of the next log
	syncs error // of a log
}

// An onDisk is a log that is cut where a Write fails, as a file is.
type onDisk struct {
	of      *disk
	offered bytes.Buffer // all that was to be written
	file
}

func (f *onDisk) Sync() error { return f.of.syncs }

func (d *disk) open() (io.WriteCloser, error) {
	if d.opens != nil {
		return nil, d.opens
	}
	d.logs = append(d.logs, &onDisk{of: d})
	return d.logs[len(d.logs)-1], nil
}

func (f *onDisk) Write(b []byte) (int, error) {
	f.offered.Write(b)
	n := min(len(b), f.of.room)
	f.of.room -= n
	_, _ = f.Buffer.Write(b[:n])
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (f *onDisk) Truncate(size int64) error {
	f.of.room += f.Len() - int(size)
	f.Buffer.Truncate(int(size))
	return nil
}

// allocates sends an ALLOC for each id: one event each.
func allocates(t *testing.T, s *pipedServer, ids ...uint64) {
	t.Helper()
	conn := s.connect(10)
	for _, id := range ids {
		send(t, conn, wire.Newest(), wire.Record{Type: wire.TypeAlloc, ID: id, Size: 1})
	}
}

// A full disk ends nothing. It is reported once, and events that no log has are counted. Each log
// has whole lines. The first log that can be written has all live allocations, and the number of
// missing events.
func TestFullDisk(t *testing.T) {
	const full = "cbl1: nothing is recorded: no space left on device\n"
	for room := 0; room < 400; room += 11 { // for the events of 2 and 3, and a part of a line
		synctest.Test(t, func(t *testing.T) {
			d := disk{room: 1 << 20}
			s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Quiet: true, Record: &serve.Recorder{Open: d.open}})
			allocates(t, s, 1)
			s.Sweep()
			d.room = room
			allocates(t, s, 2, 3)
			require.Empty(t, s.errs.String())
			s.Sweep()
			lost := s.Snapshot().Server.NotRecorded
			before := d.logs[0].String()
			require.True(t, strings.HasSuffix(before, "\n"))
			require.EqualValues(t, 3-strings.Count(before, `"event":"allocate"`), lost)
			if lost == 0 {
				require.Empty(t, s.errs.String())
				s.shut(t)
				return
			}
			require.Equal(t, full, s.errs.String())
			d.room = 50
			for range 3 {
				time.Sleep(time.Minute)
				s.Sweep()
				require.Empty(t, d.logs[len(d.logs)-1].String(), "no half log")
			}
			d.opens = errors.New("no inode")
			allocates(t, s, 4)
			time.Sleep(time.Minute)
			s.Sweep()
			require.EqualValues(t, lost+1, s.Snapshot().Server.NotRecorded)
			require.Equal(t, full, s.errs.String(), "once")
			d.room, d.opens = 1<<20, nil
			time.Sleep(time.Minute)
			s.Sweep()
			allocates(t, s, 5)
			s.shut(t)
			require.Equal(t, full+fmt.Sprintf("cbl1: it is recorded again: %s in no log\n", shown.Plural(lost+1, "event")), s.errs.String())
			require.EqualValues(t, lost+1, s.Snapshot().Server.NotRecorded)
			require.Contains(t, string(s.AppendSummary(nil)), fmt.Sprintf("\nnot recorded: %s\n", shown.Plural(lost+1, "event")))
			require.EqualValues(t, lost+1, s.Snapshot().Server.NotRecorded)
			requireLog(t, &d.logs[len(d.logs)-1].Buffer, 5, lost+1)
		})
	}
}

// A client that is closed while the disk is full is an event that is not recorded.
func TestLossesOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disk{room: 1 << 20}
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Quiet: true, Record: &serve.Recorder{Open: d.open}})
		s.Sweep()
		d.room = 0
		allocates(t, s, 1)
		s.Sweep()
		before := s.Snapshot().Server.NotRecorded
		_, err := s.connect(11).Write([]byte(strings.Repeat("\xff", 144))) // no record
		require.NoError(t, err)
		synctest.Wait()
		require.EqualValues(t, before+1, s.Snapshot().Server.NotRecorded)
		s.shut(t)
	})
}

// After each failed try the pause doubles, up to a minute. A try writes and syncs a header; without room for that it
// looks at no allocation.
func TestFullDiskIsTriedSeldom(t *testing.T) {
	for _, c := range []struct {
		name string
		fill func(d *disk) // after the first log
		tail string        // of a log that failed
	}{
		{"no room for a header", func(d *disk) { d.room = 10 }, `"version":1}` + "\n" + `{"event":"anomaly","t":X,"code":"every-core","count":1}` + "\n"},
		{"a header that cannot be synced", func(d *disk) { d.room, d.syncs = 10, syscall.ENOSPC }, `"version":1}` + "\n" + `{"event":"anomaly","t":X,"code":"every-core","count":1}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := disk{room: 1 << 20}
				s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Quiet: true, Record: &serve.Recorder{Open: d.open}})
				allocates(t, s, 1, 2, 3)
				s.Sweep()
				c.fill(&d)
				allocates(t, s, 4)
				var tries []time.Duration
				begun := time.Now()
				for range 10 * 120 { // ten minutes
					n := len(d.logs)
					s.Sweep()
					if d.syncs != nil {
						d.room = 1 << 20
					}
					if len(d.logs) > n {
						tries = append(tries, time.Since(begun).Round(time.Second))
						require.Regexp(t, "^"+strings.Replace(regexp.QuoteMeta(`{"event":"log",`+c.tail), "X", `\d+`, 1)+"$", d.logs[n].offered.String(), "the header alone")
					}
					time.Sleep(500 * time.Millisecond)
				}
				const s1 = time.Second
				require.Equal(t, []time.Duration{1 * s1, 2 * s1, 4 * s1, 8 * s1, 16 * s1, 32 * s1, 64 * s1, 124 * s1, 184 * s1, 244 * s1, 304 * s1, 364 * s1, 424 * s1, 484 * s1, 544 * s1}, tries)
				d.room, d.syncs = 1<<20, nil
				time.Sleep(time.Minute)
				s.Sweep()
				s.shut(t)
				requireLog(t, &d.logs[len(d.logs)-1].Buffer, 4, 1)
			})
		})
	}
}

// requireLog requires that a log has so many buffers, and says how many events are in none.
func requireLog(t *testing.T, log io.Reader, buffers int, lost int64) {
	t.Helper()
	for e, err := range event.NewLog(log, "log").Events() {
		require.NoError(t, err)
		switch e.Kind {
		case event.KindAllocate:
			buffers--
		case event.KindHidden:
			require.Equal(t, wire.CodeNotRecorded, e.Code)
			lost -= e.Count
		case event.KindTorn:
			t.Fatal("a cut line")
		}
	}
	require.Zero(t, buffers)
	require.Zero(t, lost)
}

// A log that is full, and has no next one, is an outage as any other, also at the end.
func TestFullDiskAtATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disk{room: 1 << 20}
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Record: &serve.Recorder{Open: d.open, Most: 1000}})
		d.opens = errors.New("no inode")
		ids := make([]uint64, 20)
		for i := range ids {
			ids[i] = uint64(i)
		}
		allocates(t, s, ids...)
		first := int64(strings.Count(d.logs[0].String(), `"event":"allocate"`))
		s.shut(t)
		require.Greater(t, first, int64(5))
		require.EqualValues(t, 20-first, s.Snapshot().Server.NotRecorded)
		require.Contains(t, s.errs.String(), "cbl1: nothing is recorded: no inode\n")
	})
}

// Lines for a full disk are left out, and counted in their place as soon as it has room.
func TestFullOutput(t *testing.T) {
	for _, format := range []serve.Format{serve.FormatProtocol, serve.FormatJSON} {
		for room := 0; room < 200; room += 5 {
			synctest.Test(t, func(t *testing.T) {
				d := disk{room: room}
				out, err := d.open()
				require.NoError(t, err)
				s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Format: format, Waiting: 1 << 20, Out: out})
				allocates(t, s, 1, 2, 3)
				for range 3 {
					s.Sweep()
					synctest.Wait()
				}
				require.NoError(t, s.Err())
				left := s.Snapshot().Server.Unprinted
				require.EqualValues(t, 3-strings.Count(d.logs[0].String(), "\n"), left, "lines without an end")
				d.room = 1 << 20
				s.Sweep()
				synctest.Wait()
				allocates(t, s, 4)
				synctest.Wait()
				s.shut(t)
				<-s.Printed()
				text := d.logs[0].String()
				require.EqualValues(t, left, s.Snapshot().Server.Unprinted)
				if left == 0 {
					require.NotContains(t, text, "left out")
					return
				}
				require.Contains(t, text, map[serve.Format]string{
					serve.FormatProtocol: "\ncbl1: left out, as it could not be written: " + shown.Plural(left, "line") + "\n",
					serve.FormatJSON:     fmt.Sprintf(`"what":"unprinted","lines":%d}`+"\n", left),
				}[format])
			})
		}
	}
}

// A narrowDisk takes a part of a write, and has room from then on, or never.
type narrowDisk struct {
	*onDisk
	began, goOn chan struct{} // the first Write
	more        int           // bytes that it has room for after a failure
	writes      int
}

func (d *narrowDisk) Write(b []byte) (int, error) {
	if d.writes++; d.writes == 1 {
		close(d.began)
		<-d.goOn
	}
	if d.writes > 100 {
		return 0, errors.New("it is tried again and again")
	}
	n, err := d.onDisk.Write(b)
	if err != nil {
		d.of.room = d.more
	}
	return n, err
}

// The part of a line that a full disk took is followed by the line that counts: lines that came while it was
// written are counted, too. At the end a full disk is tried once more, and no more.
func TestFullOutputMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name, want string
		more       int
		err        error
	}{
		{"has room again", "[PID\ncbl1: left out, as it could not be written: 2 lines\n", 1 << 20, nil},
		{"has none", "[PID", 0, syscall.ENOSPC},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &narrowDisk{
					onDisk: &onDisk{of: &disk{room: len("✓ [PID")}}, more: c.more, began: make(chan struct{}), goOn: make(chan struct{}),
				}
				s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Format: serve.FormatProtocol, Waiting: 1 << 20, Out: out})
				allocates(t, s, 1)
				<-out.began
				allocates(t, s, 2)
				synctest.Wait()
				close(out.goOn)
				synctest.Wait()
				s.shut(t)
				<-s.Printed()
				require.Equal(t, "✓ "+c.want, out.String())
				require.EqualValues(t, 2, s.Snapshot().Server.Unprinted)
				require.ErrorIs(t, s.Err(), c.err)
				require.Less(t, out.writes, 6)
			})
		})
	}
}

// Connections and processes take descriptors: two for a connection, one for a process that has something and no
// connection. A process without both takes none.
func TestMostFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Quiet: true, Limits: serve.Limits{Files: 5}})
		refused := func(pid int32, want bool) (closing func()) {
			t.Helper()
			conn := s.connect(pid)
			_ = conn.SetReadDeadline(time.Now().Add(time.Second)) // or it is closed
			_, err := conn.Read(make([]byte, 1))
			require.Equal(t, want, errors.Is(err, io.EOF))
			return func() { require.NoError(t, conn.Close()); synctest.Wait() }
		}
		one, two := refused(10, false), refused(11, false)
		refused(12, true)
		one()
		two()
		require.Zero(t, s.open, "processes that have nothing are forgotten")
		allocates(t, s, 1) // of 10, which stays connected
		one = refused(11, false)
		refused(12, true)
		one()
		require.EqualValues(t, 2, s.Snapshot().Server.Refused)
		require.Equal(t, "cbl1: there is no room for a client: 5 descriptors for clients\n", s.errs.String(), "once")
		time.Sleep(time.Minute)
		one = refused(11, false)
		refused(12, true)
		one()
		require.Equal(t, 2, strings.Count(s.errs.String(), "\n"), "and again, a minute later")
		s.shut(t)
	})
}

// A process that has something keeps its descriptor without a connection, and takes no second one when it
// connects again.
func TestFilesOfProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Limits: serve.Limits{Files: 4}})
		for pid := range int32(2) {
			conn := s.connect(10 + pid)
			send(t, conn, wire.Newest(), wire.Record{Type: wire.TypeAlloc, ID: uint64(pid), Size: 1})
			require.NoError(t, conn.Close())
			synctest.Wait()
		}
		require.Equal(t, 2, s.open)
		for range 3 { // 2 of them, and 2 for a connection
			conn := s.connect(11)
			send(t, conn, wire.Newest(), wire.Record{Type: wire.TypeAlloc, ID: 3, Size: 1}, wire.Record{Type: wire.TypeFree, ID: 3})
			require.NoError(t, conn.Close())
			synctest.Wait()
		}
		require.Zero(t, s.Snapshot().Server.Refused)
		conn := s.connect(12)
		send(t, conn, wire.Newest(), wire.Record{Type: wire.TypeAlloc, ID: 4, Size: 1})
		require.NoError(t, conn.Close())
		synctest.Wait()
		_, err := s.connect(12).Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "3 processes leave one descriptor")
		s.kill()
		s.Sweep()
		require.Equal(t, 2, s.open)
		send(t, s.connect(12), wire.Newest(), wire.Record{Type: wire.TypeAlloc, ID: 5, Size: 1})
		require.EqualValues(t, 1, s.Snapshot().Server.Refused)
		s.shut(t)
	})
}

// A client whose process is unknown for want of a descriptor is refused: its allocations would end
// with its connection.
func TestNoDescriptorForAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest()})
		s.lacks.Store(true)
		_, err := s.connect(10).Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.EqualValues(t, 1, s.Snapshot().Server.Refused)
		require.Zero(t, s.Snapshot().Server.Clients)
		s.lacks.Store(false)
		allocates(t, s, 1)
		require.Equal(t, 1, total(s, 0).Buffers())
		require.Equal(t, "cbl1: there is no room for a client: too many open files\n", s.errs.String())
		s.shut(t)
	})
}

// A record counts as many lost events as it has: a CB comes with its program, and goes as one.
func TestRecordsOfSeveralEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disk{room: 1 << 20}
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Quiet: true, Record: &serve.Recorder{Open: d.open}})
		allocates(t, s, 1)
		s.Sweep()
		d.room = 0
		allocates(t, s, 2)
		s.Sweep()
		conn, lost := s.connect(10), int64(1)
		for _, c := range []struct {
			of   wire.Type
			id   uint64
			lost int64
		}{{wire.TypeAlloc, 64, 1}, {wire.TypeCBAlloc, 128, 2}, {wire.TypeCBAlloc, 192, 2}, {wire.TypeCBFree, 128, 1}} {
			send(t, conn, wire.Newest(), wire.Record{Type: c.of, ID: c.id, Size: 1})
			lost += c.lost
			require.Equal(t, lost, s.Snapshot().Server.NotRecorded)
		}
		s.shut(t)
	})
}
