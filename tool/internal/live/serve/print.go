package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// open begins to write lines.
func (s *Server) open() {
	var writing sync.WaitGroup
	for i, w := range [...]io.Writer{s.c.Out, s.c.Err} {
		o := &s.prints[i]
		*o = outlet{to: w, room: s.c.Waiting, note: s.leftOut, more: make(chan struct{}, 1)}
		if w != nil && o.room > 0 {
			writing.Go(o.run)
		}
	}
	go func() {
		writing.Wait()
		close(s.printed)
	}()
}

// warn prints a fault of the server itself.
func (s *Server) warn(format string, args ...any) {
	text := shown.Visible(shown.Clip(fmt.Sprintf(format, args...), 300))
	s.fail(s.prints[1].write([]byte("cbl1: " + text + "\n")))
}

// print writes lines, to Err or Out.
func (s *Server) print(b []byte, toErr bool) {
	if s.c.Quiet {
		return
	}
	o := &s.prints[0]
	if toErr {
		o = &s.prints[1]
	}
	s.fail(o.write(b))
}

// leftOut is the line that counts left-out lines, with the reason: full is the error of writing, or
// nil. A full disk may have taken a part of a line, which ends there.
func (s *Server) leftOut(lines int64, full error) []byte {
	before, why := "", "is read too slowly"
	if full != nil {
		before, why = "\n", "could not be written"
	}
	if s.c.Format == FormatJSON {
		return fmt.Appendf(nil, "%s{\"t\":%d,\"what\":\"unprinted\",\"lines\":%d}\n", before, s.c.Now().UnixNano(), lines)
	}
	return fmt.Appendf(nil, "%scbl1: left out, as it %s: %s\n", before, why, shown.Plural(lines, "line"))
}

// live is the What of a row in a list.
const live wire.Fate = "live"

// A row is an effect as JSON has it; cbl1.serve-1.schema.json describes it.
type row struct {
	T       int64       `json:"t"` // nanoseconds since 1970
	What    wire.Fate   `json:"what"`
	Type    string      `json:"type"`
	Device  int32       `json:"device"`
	PID     int32       `json:"pid"`
	ID      uint64      `json:"id"`
	Bytes   uint64      `json:"bytes"`
	Kind    string      `json:"kind,omitempty"`
	Refs    int         `json:"refs,omitempty"`
	Total   *uint64     `json:"total_bytes,omitempty"` // of the sums that the protocol means; nil in lists, and where a record was refused
	Core    uint64      `json:"core_at_most_bytes"`
	Odd     wire.Oddity `json:"anomaly,omitempty"`
	Wrapped bool        `json:"wrapped,omitempty"`
	Leaked  bool        `json:"leaked,omitempty"`
	Backing bool        `json:"backing,omitempty"`
	Shared  bool        `json:"shared,omitempty"`
}

// show prints the effect of a record.
func (s *Server) show(e *wire.Effect) {
	if s.c.Quiet || s.c.Out == nil && s.c.Err == nil {
		return
	}
	if s.c.Format == FormatJSON {
		s.showRow(e)
		return
	}
	line, toErr := e.AppendLine(s.line[:0])
	cb := e.Type == wire.TypeCBAlloc || e.Type == wire.TypeCBFree
	if cb && !toErr && s.c.Format != FormatProtocol {
		line = fmt.Appendf(line[:len(line)-1], " [PID %d] at most %d bytes of a core\n", e.PID, s.core(e.Device))
	}
	s.print(line, toErr)
	s.line = line
}

func (s *Server) showRow(e *wire.Effect) {
	r := row{
		T: s.c.Now().UnixNano(), What: e.What, Type: e.Type.String(), Device: e.Device, PID: e.PID, ID: e.ID, Bytes: e.Bytes, Refs: e.Refs,
		Core: s.core(e.Device), Odd: e.Odd, Wrapped: e.Wrapped, Leaked: e.Leaked, Backing: e.Lot.Backing, Shared: e.Lot.Shared,
	}
	if e.What != live && e.What != wire.Refused {
		r.Total = &e.Total
	}
	switch e.Type {
	case wire.TypeAlloc, wire.TypeFree:
		if r.Kind = wire.BufferKind(e.Kind); e.Odd == wire.OddityKind {
			r.Kind = "other"
		}
	case wire.TypeKernelLoad, wire.TypeKernelUnload:
		r.Kind = wire.KernelKind(e.Kind)
	}
	if brings := e.Type == wire.TypeAlloc || e.Type == wire.TypeKernelLoad; e.What == wire.Unknown || e.What == wire.Refused && !brings {
		r.Kind = "" // unknown
	}
	b, err := json.Marshal(r)
	s.fail(err)
	s.print(append(b, '\n'), false)
}

// showReleased prints the released lots of a dead process.
func (s *Server) showReleased(pid int32, effects []wire.Effect, first bool) {
	if s.c.Format == FormatJSON {
		for i := range effects {
			s.showRow(&effects[i])
		}
		return
	}
	b := s.line[:0]
	if first {
		b = append(append(b, '\n'), wire.DeadLine...)
	}
	b = wire.AppendReleased(b, pid, effects)
	s.print(b, false)
	s.line = b
}

// complain prints the reason why a client was closed.
func (s *Server) complain(p *process, records int64, err error) {
	if _, mismatch := errors.AsType[*wire.RecordError](err); mismatch && s.c.Format == FormatProtocol {
		s.print([]byte("⚠️  Too many consecutive errors (10) - closing connection (likely protocol mismatch)\n"), true)
		return
	}
	s.print(fmt.Appendf(nil, "cbl1: client of process %d closed after %s, its devices are incomplete: %s\n", p.shown(), shown.Plural(records, "record"), shown.Visible(shown.Clip(err.Error(), 300))), true)
}

// Statistics prints the block of statistics that the allocation server prints every 10 seconds. As
// FormatText it has CBs and kernels, too, on each device but meshes: all lies on their chips. Nothing
// is printed as JSON.
func (s *Server) Statistics() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.c.Format {
	case FormatJSON:
	case FormatProtocol:
		s.print(append([]byte{'\n'}, s.ledger.AppendStatistics(nil)...), false)
	default:
		s.print(s.appendStatistics([]byte("\n📊 Current Statistics:\n")), false)
	}
}

func (s *Server) appendStatistics(b []byte) []byte {
	active := 0
	for _, id := range s.devices() {
		t := s.ledger.Totals(id)
		active += t.Count + t.CBs
		t = s.ledger.On(id)
		if s.mesh(id) != nil || t.BufferBytes() == 0 && t.CBs == 0 && t.Loaded == 0 {
			continue
		}
		b = t.AppendBuffers(fmt.Appendf(b, "  Device %d:\n", id))
		if t.CBs > 0 {
			b = fmt.Appendf(b, "    CBs: %d bytes in %d, at most %d bytes of a core\n", t.CB, t.CBs, s.core(id))
		}
		if t.Loaded > 0 {
			b = fmt.Appendf(b, "    Kernels: %d bytes in %d\n", t.Kernels, t.Loaded)
		}
	}
	return fmt.Appendf(b, "  Active allocations: %d\n", active)
}

// showLive prints the live lots of some types as rows. It reports false if lines are to be printed
// in their place.
func (s *Server) showLive(types ...wire.Type) bool {
	if s.c.Quiet || s.c.Out == nil {
		return true // no reader
	}
	if s.c.Format != FormatJSON {
		return false
	}
	for lot := range s.ledger.Live(types...) {
		s.showRow(&wire.Effect{What: live, Type: lot.Type, Device: lot.Device, ID: lot.ID, PID: lot.PID, Bytes: lot.Size, Kind: lot.Kind, Lot: lot})
	}
	return true
}

// dumpRemaining lists the live allocations without kernels.
func (s *Server) dumpRemaining() {
	if s.showLive(wire.TypeAlloc, wire.TypeCBAlloc) {
		return
	}
	b := []byte("\nRemaining allocations:\n")
	n := 0
	for lot := range s.ledger.Live(wire.TypeAlloc, wire.TypeCBAlloc) {
		n++
		what := "CB"
		if lot.Type == wire.TypeAlloc {
			what = wire.BufferKind(lot.Kind)
		}
		mark := ""
		switch {
		case lot.Backing:
			mark = ", backs another"
		case lot.Shared:
			mark = ", shared"
		}
		b = fmt.Appendf(b, "  Device %d: %s 0x%x, %d bytes (PID %d%s)\n", lot.Device, what, lot.ID, lot.Size, lot.PID, mark)
	}
	if n == 0 {
		b = append(b, "  none\n"...)
	}
	s.print(b, false)
}

// dumpKernels lists the kernels of each device.
func (s *Server) dumpKernels() {
	if s.showLive(wire.TypeKernelLoad) {
		return
	}
	b := []byte("\nLoaded kernels:\n")
	now := uint64(max(s.c.Now().UnixNano(), 0))
	for lot := range s.ledger.Live(wire.TypeKernelLoad) {
		age := "age unknown"
		if lot.Time > 0 {
			age = fmt.Sprintf("%d s", (now-min(lot.Time, now))/uint64(time.Second))
		}
		b = fmt.Appendf(b, "  Device %d: kernel 0x%x, %s, %.1f KB (PID %d, %s)\n", lot.Device, lot.ID, wire.KernelKind(lot.Kind), float64(lot.Size)/1024, lot.PID, age)
	}
	s.print(b, false)
}
