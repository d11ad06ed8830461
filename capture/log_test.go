package capture_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/device"
)

const logHead = `{"event":"log","version":1}` + "\n"

// readLog returns what a log yields.
func readLog(t *testing.T, r io.Reader) (events []*capture.LogEvent, err error) {
	t.Helper()
	for e, err := range capture.NewLog(r, "log.jsonl").Events() {
		if err != nil {
			require.Nil(t, e)
			checkError(t, err)
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// kinds returns the kinds of events, with their lines.
func kinds(events []*capture.LogEvent) string {
	var out []string
	for _, e := range events {
		out = append(out, fmt.Sprintf("%d:%s", e.Pos.Line, e.Kind))
	}
	return strings.Join(out, " ")
}

func TestLogReads(t *testing.T) {
	const op = `{"event":"op_end"}`
	for _, c := range []struct{ name, text, want string }{
		{"nothing but the header", logHead, ""},
		{"header without a line end", `{"event":"log","version":1}`, ""},
		{"one event", logHead + op + "\n", "2:op_end"},
		{"last line end missing", logHead + op, "2:op_end"},
		{"blank lines, blanks, CRLF", "\r\n \t" + logHead + "\n\r\n  " + op + "  \r\n\n", "5:op_end"},
		{"byte order mark", "\xef\xbb\xbf" + logHead + op, "2:op_end"},
		{"unknown fields", `{"x":[{}],"event":"log","version":1,"y":null}` + "\n" + `{"event":"op_end","later":{"a":[1]}}`, "2:op_end"},
		{"unknown event", logHead + `{"event":"teleport"}`, "2:teleport"},
		{"header again", logHead + logHead, "2:log"},
		{"query", logHead + `{"query":"totals","device":0}`, "2:query"},
		{"escaped keys", logHead + `{"\u0065vent":"op_\u0065nd"}`, "2:op_end"},
		{"version as text", `{"event":"log","version":"1"}`, ""},
		{"torn in a key", logHead + op + "\n" + `{"eve`, "2:op_end 3:torn"},
		{"torn in a number", logHead + `{"event":"dispatch","program":1`, "2:torn"},
		{"torn by a crash of the file system", logHead + op + "\n\x00\x00\x00\x00", "2:op_end 3:torn"},
		{"the same key twice with one value", logHead + `{"event":"dispatch","program":1,"program":1.0}`, "2:dispatch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			events, err := readLog(t, strings.NewReader(c.text))
			require.NoError(t, err)
			require.Equal(t, c.want, kinds(events))
			events, err = readLog(t, iotest.OneByteReader(strings.NewReader(c.text)))
			require.NoError(t, err)
			require.Equal(t, c.want, kinds(events))
			for _, packed := range [][]byte{gzipped(t, strings.NewReader(c.text)), zstded(t, strings.NewReader(c.text))} {
				events, err = readLog(t, bytes.NewReader(packed))
				require.NoError(t, err)
				require.Equal(t, c.want, kinds(events))
			}
		})
	}
}

func TestLogRefuses(t *testing.T) {
	deep := strings.Repeat("[", 1001) + strings.Repeat("]", 1001)
	for _, c := range []struct {
		name, text, want string
		is               error
	}{
		{"nothing", "", "has no header", io.ErrUnexpectedEOF},
		{"blank lines only", "\n\n", "has no header", io.ErrUnexpectedEOF},
		{"a capture", "[]", "1: byte 0: [] is not an event, which is an object", capture.ErrNotCapture},
		{"a page", "<html>\n", "this is an HTML page, not JSON", capture.ErrNotCapture},
		{"no header", `{"event":"op_end"}`, "event:", capture.ErrNotCapture},
		{"a graph capture", "[\n{}]", "this begins as a graph capture does", io.ErrUnexpectedEOF},
		{"torn header", `{"event":"log","vers`, "input ends inside a string", io.ErrUnexpectedEOF},
		{"no version", `{"event":"log"}`, "version: missing", nil},
		{"later version", `{"event":"log","version":2}`, "version: 2 is later than 1", capture.ErrVersion},
		{"version 0", `{"event":"log","version":0}`, "version: 0 is no version", nil},
		{"broken in the middle", logHead + "{\"event\":\n" + `{"event":"op_end"}`, `log.jsonl:2: byte 37: {"event": input ends`, io.ErrUnexpectedEOF},
		{"two values on a line", logHead + `{"event":"op_end"} {}` + "\n", "a second JSON value after the first", nil},
		{"not an object", logHead + "12\n", "log.jsonl:2: byte 28: 12 is not an event", capture.ErrNotCapture},
		{"neither event nor query", logHead + `{"program":1}`, "event: missing", nil},
		{"event is a number", logHead + `{"event":1}`, "event: 1 is not a string", nil},
		{"a key twice", logHead + `{"event":"dispatch","program":1,"program":2}`, "log.jsonl:2: byte 70: program: 2 is the second value", nil},
		{"missing", logHead + "\n" + `{"event":"dispatch"}`, "log.jsonl:3: byte 29: program: missing", nil},
		{"null is missing", logHead + `{"event":"dispatch","program":null}`, "program: missing", nil},
		{"negative", logHead + `{"event":"dispatch","program":-1}`, "program: -1 is negative", nil},
		{"fraction", logHead + `{"event":"dispatch","program":1.5}`, "program: 1.5 is not a whole number", nil},
		{"not wholly digits", logHead + `{"event":"dispatch","program":"0x1"}`, "is not a whole number", nil},
		{"size of 2^63", logHead + `{"event":"program","program":1,"cbs":[{"cores":"0-0","size":1},{"cores":"0-0","size":9223372036854775808}]}`,
			"cbs[1].size: 9223372036854775808 is above 2^63-1", nil},
		{"time is a text", logHead + `{"event":"op_end","t":"5 ns"}`, `t: "5 ns" is not a number`, nil},
		{"devices is a number", logHead + `{"event":"dispatch","program":1,"devices":0}`, "devices: 0 is not an array", nil},
		{"a device that is none", logHead + `{"event":"dispatch","program":1,"devices":[0,-1]}`, "devices: -1 is negative", nil},
		{"cores", logHead + `{"event":"program","program":1,"cbs":[{"cores":"{[1-0 - 0-0]}","size":1}]}`, "cbs[0].cores: ", nil},
		{"cores of no form", logHead + `{"event":"program","program":1,"cbs":[{"cores":"all","size":1}]}`, "cbs[0].cores: ", nil},
		{"kind", logHead + `{"event":"allocate","buffer":1,"kind":"cb"}`, `kind: "cb" is none of l1`, nil},
		{"CB kind", logHead + `{"event":"program","program":1,"cbs":[{"cores":"0-0","size":1,"kind":"l1"}]}`, `cbs[0].kind: "l1" is none of cb`, nil},
		{"flag", logHead + `{"event":"program","program":1,"cbs":[{"cores":"0-0","size":1,"global":"yes"}]}`, "cbs[0].global: ", nil},
		{"page size", logHead + `{"event":"program","program":1,"cbs":[{"cores":"0-0","size":1,"indices":[{"page_size":4}]}]}`, "cbs[0].indices[0].index: missing", nil},
		{"list of numbers", logHead + `{"event":"program","program":1,"cbs":[1]}`, "cbs[0]: 1 is not an object", nil},
		{"no spec", logHead + `{"event":"device","device":0}`, "spec: missing", nil},
		{"spec is a text", logHead + `{"event":"device","device":0,"spec":"p150"}`, "spec: ", nil},
		{"board", logHead + `{"event":"device","device":0,"spec":{"board":"p15"}}`, `spec.board: "p15" is not a board`, nil},
		{"architecture", logHead + `{"event":"device","device":0,"spec":{"arch":"quasar"}}`, "spec.arch: ", nil},
		{"nested too deeply", logHead + `{"event":"op_end","x":` + deep + "}\n", "nest more than 1000 deep", capture.ErrTooDeep},
		{"a line too long", logHead + `{"event":"op_start","name":"` + strings.Repeat("x", capture.MaxNode) + `"}` + "\n", "line of more than 16777216 bytes", capture.ErrTooLarge},
		{"a line too long, and torn", logHead + strings.Repeat("x", capture.MaxNode+2), "line of more than 16777216 bytes", capture.ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readLog(t, strings.NewReader(c.text))
			require.ErrorContains(t, err, c.want)
			require.True(t, isInputError(err))
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}

func isInputError(err error) bool {
	_, ok := errors.AsType[*capture.InputError](err)
	return ok
}

// What an event says arrives as it was written.
func TestLogEvent(t *testing.T) {
	events, err := readLog(t, strings.NewReader(`{"event":"log","version":1,"process":"sim","tag":"a"}
{"event":"dispatch","program":18446744073709551615,"devices":[0,18446744073709551615],"t":-1.50e3}
{"event":"dispatch","program":"7","tag":"b","id":{"a":[1]}}
{"event":"allocate","buffer":1,"kind":"l1_small","size":6,"name":"w\u00e9","parts":[{"address":1,"size":2,"cores":"(x=1,y=0)"},{"address":5,"size":1}],"backing":true}
{"event":"device","device":0,"spec":{"board":"p150b","cb_base":1,"name":"mine"}}
{"event":"device","device":0,"spec":{"arch":"wormhole","cols":2,"rows":3}}
{"event":"device","device":0,"spec":{}}`))
	require.NoError(t, err)
	require.Len(t, events, 6)

	e := events[0]
	require.Equal(t, capture.Pos{Offset: 54, Line: 2, Node: 1}, e.Pos)
	require.Equal(t, []string{"sim", "a", "-1.50e3"}, []string{e.Process, e.Tag, e.T})
	require.EqualValues(t, ^uint64(0), e.Program)
	require.Equal(t, []device.ID{0, ^device.ID(0)}, e.Devices.V)

	e = events[1]
	require.EqualValues(t, 7, e.Program)
	require.False(t, e.Devices.OK)
	require.Equal(t, []string{"sim", "b", "", `{"a":[1]}`}, []string{e.Process, e.Tag, e.T, string(e.ID)})

	e = events[2]
	require.Equal(t, device.Buffer{ID: 1, Kind: device.KindL1Small, Size: 6, Name: "wé", Backing: true}, e.Buffer)
	require.Len(t, e.Parts, 2)
	require.Equal(t, "{[1-0 - 1-0]}", e.Parts[0].Cores.V.String())
	require.False(t, e.Parts[1].Cores.OK)
	require.EqualValues(t, 6, e.Parts[1].Range.End)

	require.Equal(t, "mine (blackhole 11x10, L1 1572864, CB base 1, align 64)", events[3].Spec.String())
	require.Equal(t, "wormhole (wormhole 2x3, L1 1499136, CB base 103712, align 32)", events[4].Spec.String())
	require.Equal(t, "spec ( 0x0, L1 0, CB base 0, align 1)", events[5].Spec.String())
}

// An event comes when its line end has come, and so does the answer to a query: a
// simulator that waits for the answer sends nothing meanwhile.
func TestLogNeedsNoMoreThanTheLine(t *testing.T) {
	in, sim := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error)
	go func() {
		var s capture.Session
		err := s.Stream(capture.NewLog(in, "pipe"), out)
		_ = out.Close()
		done <- err
	}()
	say := func(text string) { // returns when it was read
		_, err := io.WriteString(sim, text)
		require.NoError(t, err)
	}
	hear := func(want string) {
		line := make([]byte, len(want))
		_, err := io.ReadFull(answers, line)
		require.NoError(t, err)
		require.Equal(t, want, string(line))
	}
	say("{")
	say("\"event\":\"log\",\"version\":1}\n")
	say(`{"query":"totals","device":1,"t":5}` + "\n")
	hear(`{"answer":"error","t":5,"code":"no-device","error":"device 1: no such device"}` + "\n")
	say(`{"event":"op_end","id":"x"}` + "\n")
	hear(`{"answer":"anomaly","id":"x","line":3,"event":"op_end","code":"no-op","error":"no operation is running"}` + "\n")
	say(`{"query":"anomalies","id":[1, "\u00e9é"]}` + "\n")
	hear(`{"answer":"anomalies","id":[1,"\u00e9\u00e9"],"anomalies":[{"code":"no-op","count":1,"first_line":3,"detail":"line 3: op_end: no operation is running"}]}` + "\n")
	require.NoError(t, sim.Close())
	require.NoError(t, <-done)
}

// The error of the input, and of the output, is what Stream returns.
func TestStreamFails(t *testing.T) {
	var s capture.Session
	log := func() *capture.Log {
		return capture.NewLog(io.MultiReader(strings.NewReader(logHead+`{"event":"op_end"}`+"\n"), iotest.ErrReader(fs.ErrPermission)), "log")
	}
	err := s.Stream(log(), io.Discard)
	require.ErrorIs(t, err, fs.ErrPermission)
	require.True(t, isInputError(err))

	in, out := io.Pipe()
	require.NoError(t, in.Close())
	require.ErrorIs(t, s.Stream(log(), out), io.ErrClosedPipe)

	l := log()
	for _, err := range l.Events() {
		require.NoError(t, err)
		break
	}
	require.ErrorContains(t, s.Stream(l, io.Discard), "is read already")
}

// What a fleet refuses is counted, and changes nothing.
func TestSessionCountsAnomalies(t *testing.T) {
	var s capture.Session
	events, err := readLog(t, strings.NewReader(logHead+`{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"op_start","name":"a"}
{"event":"op_start","name":"b"}
{"event":"free","buffer":7,"t":3}
{"event":"free","buffer":8,"devices":[0]}
{"event":"unregister","program":1}
{"ev`))
	require.NoError(t, err)
	var refused []*capture.LogError
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			require.True(t, isLogError(err), "%v", err)
			e, _ := errors.AsType[*capture.LogError](err)
			refused = append(refused, e)
		}
	}
	require.Len(t, refused, 4)
	require.Equal(t, "a > b", refused[0].Op)
	require.Equal(t, "3", refused[0].Event.T)
	require.ErrorIs(t, refused[0], device.ErrNotAllocated)
	require.EqualError(t, refused[1], "line 6: free: device 0: buffer 8: buffer is not allocated")
	require.ErrorIs(t, refused[2], device.ErrNotRegistered)
	require.Equal(t, []capture.LogAnomaly{
		{Code: capture.LogCodeNotAllocated, Count: 2, Line: 5, Detail: "line 5: free: buffer 7: buffer is not allocated"},
		{Code: capture.LogCodeNotRegistered, Count: 1, Line: 7, Detail: "line 7: unregister: program 1: program is not registered"},
		{Code: capture.LogCodeTornLine, Count: 1, Line: 8, Detail: "line 8: torn: the last line is cut"},
	}, s.Anomalies())
	d, err := s.Fleet().Device(0)
	require.NoError(t, err)
	require.Zero(t, d.Totals())
}

func isLogError(err error) bool {
	_, ok := errors.AsType[*capture.LogError](err)
	return ok
}

// A program that is defined, registered and asked about again and again takes memory once.
func TestSessionPlacesOnce(t *testing.T) {
	var s capture.Session
	text := logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"program","program":1,"cbs":[{"cores":"[0-0 - 7-7]","size":2048}]}
` + strings.Repeat(`{"event":"enqueue","program":1}`+"\n", 100)
	require.NoError(t, s.Stream(capture.NewLog(strings.NewReader(text), "log"), io.Discard))
	p, ok := s.Fleet().Program(1)
	require.True(t, ok)
	require.NoError(t, s.Stream(capture.NewLog(strings.NewReader(logHead+`{"event":"enqueue","program":1}`), "log"), io.Discard))
	again, _ := s.Fleet().Program(1)
	require.Same(t, p, again)
}

// FuzzLog reads anything: reader and session never panic, say what is wrong in one
// printable line, and do not care how the input is cut into pieces; the fleet stays
// what its programs make it, and answers are JSON in one line.
func FuzzLog(f *testing.F) {
	conformance, err := os.ReadFile("testdata/log/conformance.jsonl")
	require.NoError(f, err)
	f.Add(conformance)
	all := lines(string(conformance))
	for i := 0; i < len(all); i += 12 {
		f.Add([]byte(logHead + strings.Join(all[i:min(i+12, len(all))], "\n")))
	}
	for _, seed := range []string{
		"", "\n", logHead, logHead + `{"ev`, `{"event":"log","version":2}`, "\xef\xbb\xbf" + logHead,
		logHead + `{"event":"mesh","first":18446744073709551615,"rows":2,"cols":1,"spec":{}}`,
		logHead + `{"event":"device","device":1,"spec":{}}
{"event":"program","program":1,"ranges":[{"cores":"255-255","start":0,"end":9223372036854775807}]}
{"event":"enqueue","program":1}
{"event":"allocate","buffer":1,"kind":"l1","parts":[{"cores":"{}","address":9223372036854775807,"size":9223372036854775807}]}
{"query":"headroom","program":1,"cb":0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Count(data, []byte("mesh")) > 1 { // thousands of devices, which only take time
			return
		}
		var s, again capture.Session
		var out, outAgain bytes.Buffer
		err := s.Stream(capture.NewLog(bytes.NewReader(data), "fuzz.jsonl"), &out)
		errAgain := again.Stream(capture.NewLog(iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(data))), "fuzz.jsonl"), &outAgain)
		if err != nil || errAgain != nil {
			require.Error(t, err)
			checkError(t, err)
			require.True(t, isInputError(err))
			require.EqualError(t, errAgain, err.Error())
		}
		require.Equal(t, out.String(), outAgain.String())
		require.NoError(t, s.Fleet().CheckInvariants())
		for answer := range bytes.Lines(out.Bytes()) {
			require.True(t, isAnswer(answer), "%s", answer)
		}
		if _, err := capture.Replay(capture.NewReader(bytes.NewReader(data), "fuzz.jsonl"), capture.Options{}); err != nil {
			checkError(t, err)
		}
	})
}

// An event log is no capture, and whoever gives it as one is told what reads it.
func TestReaderKnowsLogs(t *testing.T) {
	for _, c := range []struct {
		text string
		log  bool
	}{
		{logHead, true},
		{`{"event":"log","version":1}`, true},
		{"\xef\xbb\xbf\r\n" + `{"tag":"x","version":99,"event":"log"}` + "\r\n{", true},
		{`{"event":"device"}`, false},
		{`{"event":"log"`, false},
		{`{"graph":[]}`, false},
		{"{\n" + `"event":"log"}`, false},
	} {
		var err error
		for _, e := range capture.NewReader(strings.NewReader(c.text), "x.json").Nodes() {
			err = e
		}
		if c.log {
			require.EqualError(t, err, "x.json:1: byte 0: this is an event log, not a graph capture; cbl1 stream reads it", "%s", c.text)
			require.ErrorIs(t, err, capture.ErrNotCapture)
		} else if err != nil {
			require.NotContains(t, err.Error(), "event log", "%s", c.text)
		}
	}
}

// What an event costs, from its line to the totals of 8 devices.
func BenchmarkSession(b *testing.B) {
	var s capture.Session
	head := logHead + `{"event":"mesh","first":0,"rows":1,"cols":8,"spec":{"board":"p150"}}
{"event":"program","program":1,"cbs":[{"cores":"[0-0 - 7-7]","size":2048}]}
{"event":"program","program":2,"cbs":[{"cores":"[0-0 - 7-7]","size":4096}]}
{"event":"register","program":1}
{"event":"register","program":2}
`
	require.NoError(b, s.Stream(capture.NewLog(strings.NewReader(head), "head"), io.Discard))
	for _, c := range []struct{ name, lines string }{
		{"event=dispatch", `{"event":"dispatch","program":1,"devices":[0,1,2,3,4,5,6,7],"t":12345}` + "\n" + `{"event":"dispatch","program":2,"t":12345}` + "\n"},
		{"event=buffer", `{"event":"allocate","buffer":1,"kind":"l1","parts":[{"address":1048576,"size":4096}]}` + "\n" + `{"event":"free","buffer":1}` + "\n"},
		{"event=query", strings.Repeat(`{"query":"totals","device":3}`+"\n", 2)},
	} {
		b.Run(c.name, func(b *testing.B) {
			text := logHead + strings.Repeat(c.lines, b.N/2+1)
			b.SetBytes(int64(len(c.lines) / 2))
			b.ReportAllocs()
			b.ResetTimer()
			require.NoError(b, s.Stream(capture.NewLog(strings.NewReader(text), "log"), io.Discard))
		})
	}
}
