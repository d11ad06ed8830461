package serve

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// A Recorder is the destination of the event log of a server. Each log can be read alone: it begins
// with the devices and the live allocations.
type Recorder struct {
	// Open opens the next log, where the one before is closed. A log that can be cut, as an *os.File, ends
	// with a whole line where a Write fails, and is empty where it could not be begun. One that can be
	// synced shows at its header whether a full disk has room again.
	Open func() (io.WriteCloser, error)
	// Most is after how many bytes the next log begins; 0: never.
	Most int64
}

// recordRoom is how many bytes of lines wait for Server.Sweep.
const recordRoom = 64 << 10

// A recording that failed is tried again after firstPause. Each further failure doubles the pause, up to mostPause, and
// up to 128 times as long as the try took, so that tries take less than 1 % of a processor.
const (
	firstPause = 500 * time.Millisecond
	mostPause  = time.Minute
)

// A recording is the log at hand.
type recording struct {
	to     *Recorder
	file   io.WriteCloser // nil: none is open
	events *event.Writer
	teller wire.Translator
	wait   []byte // lines that are not written yet
	there  int64  // bytes that are
	bytes  int64  // of both
	least  int64  // after the live allocations
	failed error  // why nothing is written; nil: it is
	lost   int64  // events that are in no log
	told   bool   // that nothing is written

	pause time.Duration // from the last failed try to the next; 0: it did not fail
	next  time.Time     // when it is tried again
}

// Write takes the line of an event.
func (r *recording) Write(b []byte) (int, error) {
	r.bytes += int64(len(b))
	r.wait = append(r.wait, b...)
	return len(b), nil
}

// write takes an event. The error is a *event.WriteError.
func (r *recording) write(e *event.Event) error {
	if r.failed != nil {
		r.lost++
		return nil
	}
	if err := r.events.Write(e); err != nil {
		return err
	}
	if len(r.wait) >= recordRoom {
		r.flush()
	}
	return nil
}

// full reports whether the next log is to begin. A log with little more than the live allocations
// continues, however large they are.
func (r *recording) full() bool {
	return r.to.Most > 0 && r.failed == nil && r.bytes > r.to.Most && r.bytes > 2*r.least
}

// event returns the event of a lost client.
func (l loss) event(t string) event.Event {
	e := event.Event{
		Pos: event.Pos{Node: -1}, Kind: event.KindHidden, Code: wire.CodeLost, Count: 1, T: t, Process: strconv.Itoa(int(l.pid)), Detail: l.reason,
	}
	if len(l.devices) == 0 {
		e.Detail += "; what it was about cannot be told"
		return e
	}
	for _, id := range l.devices {
		e.Devices.V = append(e.Devices.V, device.ID(id))
	}
	e.Devices.OK = true
	return e
}

// flush writes the waiting bytes. Lines that cannot be written are lost.
func (r *recording) flush() {
	if r.file == nil || len(r.wait) == 0 {
		return
	}
	n, err := r.file.Write(r.wait)
	whole := bytes.LastIndexByte(r.wait[:n], '\n') + 1
	r.there += int64(whole)
	if err != nil {
		r.failed = err
		r.lost += int64(bytes.Count(r.wait[whole:], []byte("\n")))
		r.cut(r.there)
	}
	r.wait = r.wait[:0]
}

// sync writes a log to its disk, if that can be: a file system may have no room for bytes that it took.
func (r *recording) sync() {
	if f, ok := r.file.(interface{ Sync() error }); ok && r.failed == nil {
		r.failed = f.Sync()
	}
}

// cut shortens a log, if that can be.
func (r *recording) cut(size int64) {
	if f, ok := r.file.(interface{ Truncate(size int64) error }); ok {
		_ = f.Truncate(size) // the first failure is reported
	}
}

// close ends the log.
func (r *recording) close() {
	if r.file == nil {
		return
	}
	r.flush()
	if err := r.file.Close(); r.failed == nil {
		r.failed = err
	}
	r.file = nil
}

// begin begins a log with the devices and the live lots. Lines that it cannot write are not lost: the
// next log has them, too.
func (s *Server) begin() error {
	r := s.log
	r.close()
	lost := r.lost
	file, err := r.to.Open()
	if err != nil {
		r.failed = err
		return err
	}
	r.file, r.there, r.bytes, r.failed = file, 0, 0, nil
	r.events, r.teller = event.NewWriter(r), wire.Translator{T: s.stamp()}
	write := func(e *event.Event) error {
		if r.failed != nil { // the first failure ends it
			return r.failed
		}
		return r.write(e)
	}
	err = writeAll(write, r.teller.Header())
	if r.pause > 0 { // is there room again?
		r.flush()
		r.sync()
	}
	if r.failed == nil {
		err = cmp.Or(err, s.moment(&r.teller, write))
	}
	if lost > 0 {
		err = cmp.Or(err, write(&event.Event{
			Pos: event.Pos{Node: -1}, Kind: event.KindHidden, Code: wire.CodeNotRecorded, Count: min(lost, math.MaxInt32), T: r.teller.T,
		}))
	}
	r.least = r.bytes
	// The header of a log is on disk from the start, even if this process is killed before the next
	// Sweep.
	r.flush()
	if r.failed != nil {
		r.cut(0)
		r.lost, err = lost, r.failed
	}
	return err
}

// record writes the waiting bytes, or begins another log after a failure. It warns once that
// nothing is recorded, and reports the end of that.
func (s *Server) record() {
	r := s.log
	if r == nil {
		return
	}
	now := s.c.Now()
	switch {
	case r.failed == nil:
		r.flush()
	case now.Before(r.next):
		return
	default:
		r.pause = max(r.pause, firstPause)
		if err := s.begin(); r.failed == nil {
			s.fail(err)
			r.pause = 0
			break
		}
		then := s.c.Now()
		r.pause = max(min(2*r.pause, mostPause), 128*then.Sub(now))
		r.next = then.Add(r.pause)
	}
	s.tellRecording()
}

func (s *Server) tellRecording() {
	switch r := s.log; {
	case r.failed != nil && !r.told:
		r.told = true
		s.warn("nothing is recorded: %s", r.failed)
	case r.failed == nil && r.told:
		r.told = false
		s.warn("it is recorded again: %s in no log", shown.Plural(r.lost, "event"))
	}
}
