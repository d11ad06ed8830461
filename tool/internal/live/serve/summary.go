package serve

import (
	"encoding/json"
	"fmt"

	"github.com/cbl1/cbl1/internal/asciijson"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A summary is the final report of a server. As JSON it is the last row, which
// cbl1.serve-1.schema.json describes.
type summary struct {
	T       int64                 `json:"t"` // nanoseconds since 1970
	What    wire.Fate             `json:"what"`
	Devices []deviceSum           `json:"devices"`          // by id
	Fleets  []answer.LiveDevice   `json:"fleets,omitempty"` // devices of named fleets, by name
	Left    int                   `json:"devices_left,omitempty"`
	Odd     map[wire.Oddity]int64 `json:"anomalies"`
	Lines   int64                 `json:"lines,omitempty"`        // that were not printed
	Lost    int64                 `json:"not_recorded,omitempty"` // events
	Records int64                 `json:"records"`
	Clients int64                 `json:"clients"`
	Closed  int64                 `json:"closed"`
	Torn    int64                 `json:"torn"`
	Refused int64                 `json:"refused"`
	Leaked  int64                 `json:"leaked_count"` // leaked is a flag of other rows
	Live    int                   `json:"live"`
}

// A deviceSum is one device of a summary.
type deviceSum struct {
	Device     int32  `json:"device"`
	CB         uint64 `json:"cb_sum_bytes"`
	Core       uint64 `json:"core_at_most_bytes"`
	Peak       uint64 `json:"core_at_most_peak_bytes"`
	Buffers    int    `json:"buffers"`
	DRAM       uint64 `json:"dram_buffer_bytes"`
	L1         uint64 `json:"l1_buffer_bytes"`
	L1Small    uint64 `json:"l1_small_buffer_bytes"`
	Trace      uint64 `json:"trace_buffer_bytes"`
	System     uint64 `json:"system_buffer_bytes"`
	Kernels    uint64 `json:"kernel_bytes"`
	Backings   int    `json:"backings"`
	Backing    uint64 `json:"backing_bytes"`
	Incomplete bool   `json:"incomplete"` // a client that may have more there was lost
}

// AppendSummary appends the final report of a server, with its line end: each device, also of named fleets, the
// anomalies, and the fates of clients. It is one row as FormatJSON, else lines.
func (s *Server) AppendSummary(b []byte) []byte {
	fleets := s.Snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.summary()
	for _, d := range fleets.Devices {
		if d.Fleet != "" {
			now.Fleets = append(now.Fleets, d)
		}
	}
	now.Left = fleets.Left
	if s.c.Format != FormatJSON {
		return now.appendText(b)
	}
	row, err := json.Marshal(now)
	s.fail(err)
	return append(append(b, asciijson.Escape(row)...), '\n')
}

func (s *Server) summary() summary {
	c := s.count()
	out := summary{
		T: s.c.Now().UnixNano(), What: "summary", Devices: []deviceSum{}, Odd: s.ledger.Anomalies(), Lines: c.Unprinted, Lost: c.NotRecorded,
		Records: c.Records, Clients: c.Clients, Closed: c.Closed, Torn: c.Torn, Refused: c.Refused, Leaked: c.Leaked, Live: s.ledger.Len(),
	}
	for _, id := range s.devices() {
		t, d := s.sums(id), s.row(id)
		out.Devices = append(out.Devices, deviceSum{
			Device: id, CB: *d.Sum, Core: *d.Core, Peak: d.Peak.Core, Buffers: t.Buffers(), DRAM: d.DRAM, L1: d.L1, L1Small: d.L1Small,
			Trace: d.Trace, System: t.System, Kernels: *d.Kernels, Backings: t.Backings, Backing: t.Backing, Incomplete: d.Incomplete,
		})
	}
	return out
}

// sums returns the figures of a device, for a mesh those of its chips and of the buffers that back theirs.
func (s *Server) sums(id int32) wire.Sums {
	t := s.ledger.On(id)
	for _, chip := range s.mesh(id) {
		t.Merge(s.ledger.On(chip))
	}
	return t
}

// optional returns a figure, or ? for one that is not known.
func optional(n *uint64) string {
	if n == nil {
		return "?"
	}
	return l1.Bytes(*n).Exact()
}

func (s *summary) appendText(b []byte) []byte {
	end := func(incomplete bool) {
		if incomplete {
			b = append(b, "; incomplete"...)
		}
		b = append(b, '\n')
	}
	for _, d := range s.Devices {
		b = fmt.Appendf(b, "device %d: CBs %s bytes in sum, at most %s of a core (peak %s); %s, DRAM %s, L1 %s, L1_SMALL %s, TRACE %s, system %s; kernels %s",
			d.Device, l1.Bytes(d.CB).Exact(), l1.Bytes(d.Core).Exact(), l1.Bytes(d.Peak).Exact(), shown.Plural(int64(d.Buffers), "buffer"),
			l1.Bytes(d.DRAM).Exact(), l1.Bytes(d.L1).Exact(), l1.Bytes(d.L1Small).Exact(), l1.Bytes(d.Trace).Exact(), l1.Bytes(d.System).Exact(), l1.Bytes(d.Kernels).Exact())
		if d.Backings > 0 {
			b = fmt.Appendf(b, "; backing %s in %d", l1.Bytes(d.Backing).Exact(), d.Backings)
		}
		end(d.Incomplete)
	}
	for i := range s.Fleets {
		d := &s.Fleets[i]
		b = fmt.Appendf(b, "device %d of %s: registered CBs %s bytes, %s of a core; tracked %s; DRAM %s, L1 %s, L1_SMALL %s, TRACE %s; kernels %s",
			d.Device, shown.Visible(d.Fleet), optional(d.Registered), optional(d.Core), optional(d.Tracked),
			l1.Bytes(d.DRAM).Exact(), l1.Bytes(d.L1).Exact(), l1.Bytes(d.L1Small).Exact(), l1.Bytes(d.Trace).Exact(), optional(d.Kernels))
		end(d.Incomplete)
	}
	if s.Left > 0 {
		b = fmt.Appendf(b, "left out: %s of fleets\n", shown.Plural(int64(s.Left), "device"))
	}
	for _, a := range wire.Oddities() {
		if n := s.Odd[a]; n > 0 {
			b = fmt.Appendf(b, "odd: %s %d\n", a, n)
		}
	}
	if s.Lines > 0 {
		b = fmt.Appendf(b, "left out: %s\n", shown.Plural(s.Lines, "line"))
	}
	if s.Lost > 0 {
		b = fmt.Appendf(b, "not recorded: %s\n", shown.Plural(s.Lost, "event"))
	}
	return fmt.Appendf(b, "%s of %s; closed %d (torn %d), refused %d; leaked %d; live %d\n",
		shown.Plural(s.Records, "record"), shown.Plural(s.Clients, "client"), s.Closed, s.Torn, s.Refused, s.Leaked, s.Live)
}

// maxLatest is how much of each kind a latest has.
const maxLatest = 3

// latest keeps the most recent refused records, as text, and the leaks of the most recent dead
// processes.
type latest struct {
	refused []string
	leaks   []watch.Leak
}

// refuses adds a record that changed nothing.
func (l *latest) refuses(e *wire.Effect) {
	if e.What != wire.Unknown && e.What != wire.Refused {
		return
	}
	l.refused = last(append(l.refused, fmt.Sprintf("process %d, device %d: %v of 0x%x, %d bytes: %s", e.PID, e.Device, e.Type, e.ID, e.Bytes, e.Odd)))
}

// closes adds a closed client.
func (l *latest) closes(pid int32, reason string) {
	l.refused = last(append(l.refused, fmt.Sprintf("process %d was closed: %s", pid, reason)))
}

// leaked adds the allocations of a dead process.
func (l *latest) leaked(pid int32, effects []wire.Effect) {
	of := watch.Leak{PID: pid}
	for i := range effects {
		switch effects[i].Type {
		case wire.TypeCBAlloc:
			of.CBs++
		case wire.TypeKernelLoad:
			of.Kernels++
		default:
			of.Buffers++
		}
	}
	l.leaks = last(append(l.leaks, of))
}

// last returns the end of a list.
func last[T any](all []T) []T { return all[max(0, len(all)-maxLatest):] }
