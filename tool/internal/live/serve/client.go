package serve

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// A client is one connection that sends AllocMessages.
type client struct {
	s       *Server
	conn    net.Conn
	of      *process
	in      *wire.Reader
	hurry   bool
	gone    bool      // it has closed its end
	read    int64     // bytes
	second  time.Time // since when records are counted
	records int       // since then
	answer  []byte
}

// errOver ends a connection that a child of its process keeps open.
var errOver = errors.New("its process has ended, and another one keeps the connection open")

// client follows one connection to its end.
func (s *Server) client(conn net.Conn) {
	c := &client{s: s, conn: conn, of: s.processOf(conn)}
	if c.of == nil {
		return
	}
	c.in = wire.NewReader(c, s.c.Dialect)
	c.in.Hurry = func(on bool) { c.hurry = on }
	err := c.follow()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.leave(c.of, conn)
	if c.of.over {
		err = errOver
	}
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || s.closed {
		return
	}
	s.lose(c, err)
	s.complain(c.of, c.in.Records(), err)
}

// Read reads from the connection. Between records it waits as long as it takes, inside of
// one no longer than the server's patience, and for as long as it is polite to take silence
// for the end of a first record.
func (c *client) Read(b []byte) (n int, err error) {
	var until time.Time
	switch {
	case c.hurry:
		until = c.s.c.Now().Add(c.s.c.Grace)
	case c.read > c.in.Offset() && c.s.c.Stall > 0:
		until = c.s.c.Now().Add(c.s.c.Stall)
	}
	err = c.conn.SetReadDeadline(until) // fails too if the other end of a net.Pipe is closed
	if err == nil {
		n, err = c.conn.Read(b)
	}
	c.read += int64(n)
	switch {
	case hungUp(err):
		err = io.EOF // it left answers behind
	case errors.Is(err, os.ErrDeadlineExceeded) && !c.hurry:
		err = fmt.Errorf("it stopped inside a record: %w", err)
	}
	return n, err
}

// hungUp reports whether an error means that the client has closed its end. Its earlier bytes can
// still be read.
func hungUp(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrClosedPipe)
}

func (c *client) follow() error {
	var r wire.Record
	for {
		if err := c.in.Next(&r); err != nil {
			return err
		}
		answer, err := c.take(&r)
		if err != nil {
			return err
		}
		if len(answer) == 0 || c.gone {
			continue
		}
		if c.s.c.Stall > 0 {
			if err := c.conn.SetWriteDeadline(c.s.c.Now().Add(c.s.c.Stall)); err != nil {
				return err
			}
		}
		if _, err := c.conn.Write(answer); hungUp(err) {
			c.gone = true // it does not wait for answers, and its other records count
		} else if err != nil {
			return fmt.Errorf("it does not take its answers: %w", err)
		}
	}
}

// torn records the device of half a record. It reports false if the record ends before its device.
func (c *client) torn() bool {
	half, known := c.in.Torn()
	if known && half.Type.Names() && c.s.ledger.Knows(half.Device) {
		c.of.devices[half.Device] = struct{}{}
	}
	return known
}

// take applies a record and returns the bytes of its answer.
func (c *client) take(r *wire.Record) ([]byte, error) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || c.of.over {
		return nil, net.ErrClosed
	}
	if err := c.tooFast(); err != nil {
		return nil, err
	}
	s.counts.Records++
	switch r.Type {
	case wire.TypeQuery:
		return c.reply(s.figures(r.Device))
	case wire.TypeDeviceQuery:
		return c.reply(s.deviceInfo(r.Device))
	case wire.TypeDumpRemaining:
		s.sweep()
		s.dumpRemaining()
		return nil, nil
	case wire.TypeDumpKernels:
		s.dumpKernels()
		return nil, nil
	case wire.TypeResponse, wire.TypeDeviceInfo:
		s.print(fmt.Appendf(nil, "Unknown message type: %d\n", r.Type), true)
		return nil, nil
	}
	e, err := s.ledger.Apply(c.of.owner, c.of.pid(r), r)
	if err == nil {
		c.of.devices[r.Device] = struct{}{}
		s.tell(&e)
		s.turn()
	}
	s.latest.refuses(&e)
	s.show(&e)
	if most := s.c.Limits.Lots; err == nil && most > 0 && s.ledger.LenOf(c.of.owner) > most {
		err = &LimitError{"live at once", most}
	}
	return nil, err
}

// tooFast counts the records of a second.
func (c *client) tooFast() error {
	most := c.s.c.Limits.PerSecond
	if most == 0 {
		return nil
	}
	if now := c.s.c.Now(); now.Sub(c.second) >= time.Second {
		c.second, c.records = now, 0
	}
	if c.records++; c.records > most {
		return &LimitError{"records in a second", most}
	}
	return nil
}

// reply encodes an answer as the client was built to read it.
func (c *client) reply(r wire.Record) (_ []byte, err error) {
	c.answer, err = c.in.Dialect().Append(c.answer[:0], &r)
	return slices.Clip(c.answer), err
}

// figures returns the counters of a device. A device that no record has named counts zero.
func (s *Server) figures(id int32) wire.Record {
	t := s.ledger.Totals(id)
	return wire.Record{
		Type: wire.TypeResponse, Device: id, DRAM: t.DRAM, L1: t.L1, L1Small: t.L1Small + t.System, Trace: t.Trace, CB: t.CB, Kernel: t.Kernels,
	}
}

// deviceInfo returns the properties of a device that was declared, to the server or by an event
// log. Unknown fields are zero.
func (s *Server) deviceInfo(id int32) wire.Record {
	r := wire.Record{Type: wire.TypeDeviceInfo, Device: id}
	told := s.machine()
	if id == -1 {
		r.Devices = uint32(len(s.known))
		if told != nil {
			r.Devices = uint32(told.Fleet().Set().Len())
		}
		r.Available = min(r.Devices, 1)
		return r
	}
	known, ok := s.known[id]
	spec, dram := known.Spec, known.DRAM
	if told != nil && id >= 0 {
		if d, err := told.Fleet().Device(device.ID(id)); err == nil {
			spec, dram, ok = d.Spec(), told.notes.DRAM(d.ID()), true
		}
	}
	if !ok {
		return r
	}
	r.Available, r.Arch = 1, archNumber(spec.Arch)
	r.L1PerCore = uint32(min(spec.L1Size, 1<<32-1))
	r.TotalL1 = spec.L1Size * uint64(spec.NumCores())
	has := wire.DRAMOf(spec.Name, dram)
	r.TotalDRAM, r.DRAMChannels, r.DRAMPerChannel = has.Bytes, has.Channels, has.PerChannel
	return r
}
