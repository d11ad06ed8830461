package export

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// fields takes a message of protobuf apart: the values of each field, as they come. It shares
// nothing with what writes it.
func fields(t *testing.T, b []byte) map[int][]any {
	out := map[int][]any{}
	varint := func() (v uint64) {
		for shift := 0; ; shift += 7 {
			require.NotEmpty(t, b)
			c := b[0]
			b = b[1:]
			v |= uint64(c&0x7f) << shift
			if c < 0x80 {
				return v
			}
		}
	}
	for len(b) > 0 {
		key := varint()
		switch key & 7 {
		case 0:
			out[int(key>>3)] = append(out[int(key>>3)], varint())
		case 2:
			n := varint()
			require.LessOrEqual(t, n, uint64(len(b)))
			out[int(key>>3)] = append(out[int(key>>3)], string(b[:n]))
			b = b[n:]
		default:
			require.Fail(t, "unknown type of a field")
		}
	}
	return out
}

func number(of map[int][]any, field int) uint64 {
	if len(of[field]) == 0 {
		return 0
	}
	return of[field][0].(uint64)
}

// A readTrace is a trace as a viewer understands it.
type readTrace struct {
	process string
	tracks  map[uint64]string
	slices  []string // "begin name at", "end at"
	values  map[string][]string
}

func read(t *testing.T, b []byte) readTrace {
	out := readTrace{tracks: map[uint64]string{}, values: map[string][]string{}}
	for _, p := range fields(t, b)[1] {
		packet := fields(t, []byte(p.(string)))
		require.Equal(t, uint64(1), number(packet, 10))
		if d := packet[60]; d != nil {
			track := fields(t, []byte(d[0].(string)))
			if process := track[3]; process != nil {
				out.process = fields(t, []byte(process[0].(string)))[6][0].(string)
				continue
			}
			require.Equal(t, uint64(1), number(track, 5), "the process is the parent")
			if c := track[8]; c != nil {
				require.Equal(t, uint64(3), number(fields(t, []byte(c[0].(string))), 3), "bytes")
			}
			require.NotContains(t, out.tracks, number(track, 1))
			out.tracks[number(track, 1)] = track[2][0].(string)
			continue
		}
		e := fields(t, []byte(packet[11][0].(string)))
		at, track := number(packet, 8), out.tracks[number(e, 11)]
		require.NotEmpty(t, track, "described before it is used")
		switch number(e, 9) {
		case 1:
			out.slices = append(out.slices, fmt.Sprintf("begin %s %d", e[23][0], at))
		case 2:
			out.slices = append(out.slices, fmt.Sprint("end ", at))
		case 4:
			out.values[track] = append(out.values[track], fmt.Sprintf("%d %d", at, number(e, 30)))
		}
	}
	return out
}

// A trace says the operations of a source and the time line of its devices.
func TestTracesAreRead(t *testing.T) {
	operations, samples := 0, 0
	for _, in := range inputs(t) {
		var b bytes.Buffer
		trace := NewTrace(&b, in.Path)
		var want []string
		var names []string
		events := in.Events(capture.Options{Operations: true})
		r, err := replay.Run(in.Path, trace.Through(events), replay.Options{Timeline: true})
		require.NoError(t, err)
		require.NoError(t, trace.Finish(r))
		plain, err := replay.Run(in.Path, in.Events(capture.Options{}), replay.Options{Timeline: true})
		require.NoError(t, err, in.Path)
		require.Equal(t, plain, r, "operations change no figure")
		for e, err := range in.Events(capture.Options{Operations: true}) {
			require.NoError(t, err)
			switch {
			case e.Kind == event.KindOpStart:
				names = append(names, e.Name)
				want = append(want, fmt.Sprintf("begin %s %d", clip(e.Name), e.Node*1000))
			case e.Kind == event.KindOpEnd && len(names) > 0:
				names = names[:len(names)-1]
				want = append(want, fmt.Sprint("end ", e.Node*1000))
			}
		}
		got := read(t, b.Bytes())
		require.Contains(t, got.process, "one microsecond is one node")
		require.GreaterOrEqual(t, len(got.slices), len(want))
		require.Equal(t, want, got.slices[:len(want):len(want)], in.Path)
		require.Len(t, got.slices, len(want)+len(names), "what did not end ends with the last node")
		operations += len(want)
		require.Len(t, got.tracks, 1+4*len(r.Timeline))
		for _, line := range r.Timeline {
			var registered, headroom []string
			for _, s := range line.Samples {
				registered = append(registered, fmt.Sprintf("%d %d", s.At*1000, s.Registered))
				if s.Headroom.OK {
					headroom = append(headroom, fmt.Sprintf("%d %d", s.At*1000, s.Headroom.V))
				}
			}
			samples += len(registered)
			name := deviceName(line.Device)
			require.Equal(t, registered, got.values[name+": registered, bytes over all cores"])
			require.Equal(t, headroom, got.values[name+": headroom, bytes on the core with the least"])
			require.Len(t, got.values[name+": tracked, bytes over all cores"], len(registered))
			require.Len(t, got.values[name+": resident, bytes over all cores"], len(registered))
		}
	}
	require.Greater(t, operations, 500)
	require.Greater(t, samples, 100)
}

// A log that was made of a capture has no starts of operations, but its events name the operations
// around them: slices are open accordingly, in order and nested.
func TestTracesOfConvertedLogs(t *testing.T) {
	slices := 0
	for _, in := range inputs(t) {
		var b bytes.Buffer
		trace := NewTrace(&b, in.Path)
		var want []string // the path at each event that has one
		for e, err := range trace.Through(in.Events(capture.Options{})) {
			require.NoError(t, err)
			if e.Op.OK && !e.Earlier {
				want = append(want, clip(e.Op.V))
				trace.event(trace.last, message{}.number(9, 1).number(11, operationTrack).text(23, "here"))
				trace.event(trace.last, message{}.number(9, 2).number(11, operationTrack))
			}
		}
		require.NoError(t, trace.Finish(&answer.Result{}))
		var open []string
		at, last := 0, uint64(0)
		for _, s := range read(t, b.Bytes()).slices {
			name, isBegin := strings.CutPrefix(s[:strings.LastIndex(s, " ")], "begin ")
			switch {
			case isBegin && name == "here":
				require.Equal(t, want[at], strings.Join(open, " > "), in.Path)
				open, at = append(open, name), at+1
				continue
			case isBegin:
				open = append(open, name)
				slices++
			default:
				open = open[:len(open)-1]
			}
			node, err := strconv.ParseUint(s[strings.LastIndex(s, " ")+1:], 10, 64)
			require.NoError(t, err)
			require.GreaterOrEqual(t, node, last, "the axis goes forward")
			last = node
		}
		require.Empty(t, open)
		require.Len(t, want, at)
	}
	require.Greater(t, slices, 100)
}

// An axis has an end, and a name that is none does no harm.
func TestTraceRefuses(t *testing.T) {
	finish := func(node uint64) error {
		trace := NewTrace(new(bytes.Buffer), "x")
		trace.take(&event.Event{Kind: event.KindOpStart, Name: "a\xff", Node: node})
		return trace.Finish(&answer.Result{})
	}
	require.NoError(t, finish(math.MaxInt64/1000))
	require.ErrorContains(t, finish(math.MaxInt64/1000+1), "beyond the axis")

	trace := NewTrace(full{}, "x")
	trace.take(&event.Event{Kind: event.KindOpStart, Name: strings.Repeat("x", 1<<16)})
	require.ErrorIs(t, trace.Finish(&answer.Result{}), errFull)
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func inputs(t *testing.T) (all []capture.Input) {
	for _, folder := range []string{"../../../capture/testdata", "../../../../examples"} {
		found, err := capture.Inputs(folder)
		require.NoError(t, err)
		all = append(all, found...)
	}
	require.Greater(t, len(all), 15)
	return all
}
