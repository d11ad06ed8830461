package export

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A Trace is written in the format of Perfetto's trace processor: protobuf, by the field numbers of
// TracePacket, TrackDescriptor and TrackEvent. A node is a microsecond: captures have no durations.
// Make one with NewTrace.
//
// Errors of writing are kept, and returned by Finish.
type Trace struct {
	w       *bufio.Writer
	capture bool // events have the operations in which they happened
	told    bool // the source has starts of operations
	open    []string
	last    uint64
	err     error
}

// The numbers of tracks.
const (
	processTrack = 1 + iota
	operationTrack
	firstCounter
)

// nanoseconds that a node takes on the axis.
const perNode = 1000

// NewTrace begins a trace. The name of the input is only shown.
func NewTrace(w io.Writer, file string) *Trace {
	t := &Trace{w: bufio.NewWriter(w)}
	process := message{}.number(1, 1).text(6, clip(file)+" (cbl1; one microsecond is one node, not a time)")
	t.packet(message{}.bytes(60, message{}.number(1, processTrack).bytes(3, process)))
	t.track(operationTrack, "operations", nil)
	return t
}

// Through passes events on and writes their operations as slices. It writes the operations of a
// capture with capture.Options.Operations, and does not pass these on, since the events name them
// anyway. In other sources, like the log of a capture, an operation lasts while events name it
// (event.Event.Op): two that follow each other under one name are one slice.
func (t *Trace) Through(events iter.Seq2[*event.Event, error]) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		for e, err := range events {
			if err == nil && t.take(e) && t.capture {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// take writes an event that starts or ends an operation, and reports whether it is one.
func (t *Trace) take(e *event.Event) (is bool) {
	t.last = max(t.last, e.Node)
	switch e.Kind {
	default:
		if e.Op.OK && !e.Earlier && !t.told {
			t.follow(e.Op.V)
		}
		return false
	case event.KindHeader:
		t.capture = e.Source != ""
		return false
	case event.KindOpStart:
		if !t.told {
			t.told = true
			t.follow("")
		}
		t.begin(e.Name, e.Node)
	case event.KindOpEnd:
		t.end(e.Node)
	}
	return true
}

// follow ends the operations that are not on a path any more, and begins the new ones.
func (t *Trace) follow(path string) {
	var names []string
	if path != "" {
		names = strings.Split(path, between)
	}
	same := 0
	for same < min(len(names), len(t.open)) && names[same] == t.open[same] {
		same++
	}
	for len(t.open) > same {
		t.end(t.last)
	}
	for _, name := range names[same:] {
		t.begin(name, t.last)
	}
}

// between stands between the names of a path.
const between = " > "

func (t *Trace) begin(name string, node uint64) {
	t.open = append(t.open, name)
	t.event(node, message{}.number(9, 1).number(11, operationTrack).text(23, clip(name)))
}

// end ends the operation that began last, if one is open.
func (t *Trace) end(node uint64) {
	if n := len(t.open); n > 0 {
		t.open = t.open[:n-1]
		t.event(node, message{}.number(9, 2).number(11, operationTrack))
	}
}

// Finish writes the time lines of a Result (replay.Options.Timeline) as counters, four for
// each device, and ends operations that did not end at the last node.
func (t *Trace) Finish(r *answer.Result) error {
	for len(t.open) > 0 {
		t.end(t.last)
	}
	id := uint64(firstCounter)
	for _, line := range r.Timeline {
		for _, c := range counters() {
			t.track(id, deviceName(line.Device)+": "+c.name, message{}.number(3, 3))
			for _, s := range line.Samples {
				if v := c.of(s); v.OK {
					t.event(s.At, message{}.number(9, 4).number(11, id).number(30, v.V))
				}
			}
			id++
		}
	}
	if t.err != nil {
		return t.err
	}
	return t.w.Flush()
}

// A counter is a figure of a time line.
type counter struct {
	name string
	of   func(answer.Sample) event.Opt[uint64]
}

func counters() []counter {
	return []counter{
		{"registered, bytes over all cores", func(s answer.Sample) event.Opt[uint64] { return event.Some(s.Registered) }},
		{"resident, bytes over all cores", func(s answer.Sample) event.Opt[uint64] { return event.Some(s.Resident) }},
		{"tracked, bytes over all cores", func(s answer.Sample) event.Opt[uint64] { return event.Some(s.Tracked) }},
		{"headroom, bytes on the core with the least", func(s answer.Sample) event.Opt[uint64] { return s.Headroom }},
	}
}

// track describes a track of the process: of counters if it has a CounterDescriptor.
func (t *Trace) track(id uint64, name string, counter message) {
	d := message{}.number(1, id).text(2, name).number(5, processTrack)
	if counter != nil {
		d = d.bytes(8, counter)
	}
	t.packet(message{}.bytes(60, d))
}

// event writes a TrackEvent at a node.
func (t *Trace) event(node uint64, e message) {
	if node > math.MaxInt64/perNode && t.err == nil {
		t.err = fmt.Errorf("node %d lies beyond the axis of a trace, which ends at node %d", node, uint64(math.MaxInt64/perNode))
	}
	t.packet(message{}.number(8, node*perNode).bytes(11, e))
}

// packet writes a TracePacket of the one sequence that there is.
func (t *Trace) packet(p message) {
	if t.err == nil {
		_, t.err = t.w.Write(message{}.bytes(1, p.number(10, 1)))
	}
}

// A message is a message of protobuf in the making: each method appends a field.
type message []byte

// number appends a varint.
func (m message) number(field int, v uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), v)
}

// bytes appends bytes with their length before them.
func (m message) bytes(field int, b []byte) message {
	return append(binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3|2), uint64(len(b))), b...)
}

func (m message) text(field int, s string) message { return m.bytes(field, []byte(s)) }

func deviceName(id event.Opt[uint64]) string {
	if !id.OK {
		return "a device without an id"
	}
	return "device " + strconv.FormatUint(id.V, 10)
}

// clip makes a name from a file fit to be shown.
func clip(name string) string { return shown.Visible(shown.Clip(name, shown.MaxOutput)) }
