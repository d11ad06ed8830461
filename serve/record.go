package serve

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"strconv"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/wire"
)

// A Record says where the event log of a server goes. Each log can be read alone: it begins
// with the devices and with what is live.
type Record struct {
	// Open opens the next log, where the one before is closed.
	Open func() (io.WriteCloser, error)
	// Most is after how many bytes the next log begins; 0: never.
	Most int64
}

// A recording is the log at hand.
type recording struct {
	to     *Record
	file   io.WriteCloser
	out    *bufio.Writer
	events *event.Writer
	teller wire.Teller
	bytes  int64
	least  int64 // after what is live
}

// Write counts what is written.
func (r *recording) Write(b []byte) (int, error) {
	r.bytes += int64(len(b))
	return r.out.Write(b)
}

func (r *recording) write(e *event.Event) error {
	if r.file == nil {
		return nil
	}
	return r.events.Write(e)
}

// full reports whether the next log is to begin. One that has little more than what is
// live goes on, however large that is.
func (r *recording) full() bool {
	return r.to.Most > 0 && r.file != nil && r.bytes > r.to.Most && r.bytes > 2*r.least
}

// event tells that a client was lost.
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

func (r *recording) flush() error {
	if r.file == nil {
		return nil
	}
	return r.out.Flush()
}

func (r *recording) close() error {
	if r.file == nil {
		return nil
	}
	err := errors.Join(r.out.Flush(), r.file.Close())
	r.file = nil
	return err
}

// begin begins a log with the devices and what is live.
func (s *Server) begin() error {
	r := s.log
	if err := r.close(); err != nil {
		return err
	}
	file, err := r.to.Open()
	if err != nil {
		return err
	}
	r.file, r.out, r.bytes = file, bufio.NewWriterSize(file, 1<<16), 0
	r.events, r.teller = event.NewWriter(r), wire.Teller{T: s.stamp()}
	for e := range s.moment(&r.teller) {
		err = cmp.Or(err, r.write(&e))
	}
	r.least = r.bytes
	// A log says what it is from the start, also if this is killed before the next Sweep.
	return cmp.Or(err, r.flush())
}
