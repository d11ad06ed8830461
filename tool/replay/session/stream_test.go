package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// The error of the input, and of the output, is what Stream returns.
func TestStreamFails(t *testing.T) {
	var s session.Session
	log := func() *event.Log {
		return event.NewLog(io.MultiReader(strings.NewReader(logHead+`{"event":"op_end"}`+"\n"), iotest.ErrReader(fs.ErrPermission)), "log")
	}
	err := s.Stream(log().Events(), io.Discard)
	require.ErrorIs(t, err, fs.ErrPermission)
	var input *event.InputError
	require.ErrorAs(t, err, &input)

	in, out := io.Pipe()
	require.NoError(t, in.Close())
	require.ErrorIs(t, s.Stream(log().Events(), out), io.ErrClosedPipe)

	l := log()
	for _, err := range l.Events() {
		require.NoError(t, err)
		break
	}
	require.ErrorContains(t, s.Stream(l.Events(), io.Discard), "is read already")
}

// What a fleet refuses is counted, and changes nothing.
func TestSessionCountsAnomalies(t *testing.T) {
	var s session.Session
	var refused []*session.RefusedError
	for e, err := range events(strings.NewReader(logHead+`{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"op_start","name":"a"}
{"event":"op_start","name":"b"}
{"event":"free","buffer":7,"t":3}
{"event":"free","buffer":8,"devices":[0]}
{"event":"unregister","program":1}
{"ev`), "log") {
		require.NoError(t, err)
		if err := s.Apply(e); err != nil {
			require.True(t, isRefused(err), "%v", err)
			e, _ := errors.AsType[*session.RefusedError](err)
			refused = append(refused, e)
		}
	}
	require.Len(t, refused, 4)
	require.Equal(t, "a > b", refused[0].Op)
	require.Equal(t, "3", refused[0].Event.T)
	require.ErrorIs(t, refused[0], device.ErrNotAllocated)
	require.EqualError(t, refused[1], "line 6: free: device 0: buffer 8: buffer is not allocated")
	require.ErrorIs(t, refused[2], device.ErrNotRegistered)
	require.Equal(t, []session.RefusalCount{
		{Code: event.CodeNotAllocated, Count: 2, Line: 5, Detail: "line 5: free: buffer 7: buffer is not allocated"},
		{Code: event.CodeNotRegistered, Count: 1, Line: 7, Detail: "line 7: unregister: program 1: program is not registered"},
		{Code: event.CodeTornLine, Count: 1, Line: 8, Detail: "line 8: torn: the last line is cut"},
	}, s.Anomalies())
	d, err := s.Fleet().Device(0)
	require.NoError(t, err)
	require.Zero(t, d.Totals())
}

func isRefused(err error) bool {
	_, ok := errors.AsType[*session.RefusedError](err)
	return ok
}

// A program that is defined, registered and queried again and again takes memory once.
func TestSessionPlacesOnce(t *testing.T) {
	var s session.Session
	text := logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"program","program":1,"cbs":[{"cores":"[0-0 - 7-7]","size":2048}]}
` + strings.Repeat(`{"event":"enqueue","program":1}`+"\n", 100)
	require.NoError(t, s.Stream(events(strings.NewReader(text), "log"), io.Discard))
	p, ok := s.Fleet().Program(1)
	require.True(t, ok)
	require.NoError(t, s.Stream(events(strings.NewReader(logHead+`{"event":"enqueue","program":1}`), "log"), io.Discard))
	again, _ := s.Fleet().Program(1)
	require.Same(t, p, again)
}

// FuzzStream follows anything: a session never panics, says the same twice, and answers in
// lines of JSON; its fleet stays what its programs make it, and there is a Result.
func FuzzStream(f *testing.F) {
	conformance, err := os.ReadFile("../../../event/testdata/conformance.jsonl")
	require.NoError(f, err)
	all := lines(string(conformance))
	for i := 0; i < len(all); i += 12 {
		f.Add([]byte(logHead + strings.Join(all[i:min(i+12, len(all))], "\n")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var outs [2]bytes.Buffer
		var errs [2]error
		for i := range outs {
			var s session.Session
			errs[i] = s.Stream(events(bytes.NewReader(data), "fuzz.jsonl"), &outs[i])
			require.NoError(t, s.Fleet().CheckInvariants())
		}
		require.Equal(t, errs[0], errs[1])
		require.Equal(t, outs[0].String(), outs[1].String())
		for line := range bytes.Lines(outs[0].Bytes()) {
			require.True(t, json.Valid(line), "%s", line)
		}
		_, err := replay.Run("fuzz.jsonl", events(bytes.NewReader(data), "fuzz.jsonl"), replay.Options{Runs: true})
		require.Equal(t, errs[0], err)
	})
}

// Ids of logs go up to 2^64-1. What is live at the end, and what lies lowest beside a run, goes by
// id among equals, and the difference of two ids fits in no int.
func TestBuffersOfLogGoByID(t *testing.T) {
	const ids = "18446744073709551615 3 9223372036854775808 4294967297 4"
	text := logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n"
	for id := range strings.FieldsSeq(ids) {
		text += `{"event":"allocate","buffer":` + id + `,"kind":"l1","parts":[{"address":1048576,"size":64}],"name":"` + id + `"}` + "\n"
	}
	text += `{"event":"program","program":1,"cbs":[]}` + "\n" + `{"event":"enqueue","program":1}` + "\n"
	for range 20 { // they are gathered from a map
		result, err := replay.Run("log", events(strings.NewReader(text), "log"), replay.Options{Runs: true})
		require.NoError(t, err)
		for _, list := range [][]answer.BufferInfo{result.Live.List, result.Runs[0].Lowest} {
			var got []string
			for _, b := range list {
				got = append(got, string(b.Op))
			}
			require.Equal(t, strings.Fields("3 4 4294967297 9223372036854775808 18446744073709551615"), got)
		}
	}
}

// What a log enqueues is listed as the runs of a capture are, refused programs included:
// those are what messages are about.
func TestRunsOfLog(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"mesh","first":0,"rows":1,"cols":3,"spec":{"board":"n150"}}
{"event":"program","program":7,"cbs":[{"cores":"[0-0 - 7-7]","size":1048576}]}
{"event":"enqueue","program":7}
{"event":"allocate","buffer":1,"kind":"l1","devices":[1],"parts":[{"address":900000,"size":599136}]}
{"event":"enqueue","program":7}
{"event":"dispatch","program":7,"devices":[1]}
`
	type run struct {
		at, device, lowest uint64
		devices            int
		times              int64
	}
	r, err := replay.Run("run.jsonl", events(strings.NewReader(log), "run.jsonl"), replay.Options{Runs: true})
	require.NoError(t, err)
	var got []run
	for _, e := range r.Runs {
		for _, p := range e.Programs {
			require.EqualValues(t, 7, p.ID())
		}
		one := run{at: e.Run.At, device: e.Device.V, devices: e.Devices, times: e.Times}
		require.False(t, e.LowestSynthesised)
		for _, b := range e.Lowest {
			one.lowest = b.Address.V
		}
		got = append(got, one)
	}
	require.Equal(t, []run{{3, 0, 0, 3, 2}, {5, 1, 900_000, 1, 2}}, got)
	require.Equal(t, int64(7), r.Checks.Runs)
}

// A dispatch on no device may name an undefined program. Stream and Run agree on that.
func TestDispatchOnNoDevice(t *testing.T) {
	const log = logHead + `{"event":"dispatch","program":31}
`
	var s session.Session
	require.NoError(t, s.Stream(events(strings.NewReader(log), "log"), io.Discard))
	require.Empty(t, s.Anomalies())
	r, err := replay.Run("log", events(strings.NewReader(log), "log"), replay.Options{})
	require.NoError(t, err)
	require.Zero(t, r.Checks.Runs)
}
