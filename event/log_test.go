package event_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

const logHead = `{"event":"log","version":1}` + "\n"

// readLog returns what a log yields after its header.
func readLog(t testing.TB, r io.Reader) (events []*event.Event, err error) {
	t.Helper()
	return rest(t, event.NewLog(r, "log.jsonl"))
}

func rest(t testing.TB, l *event.Log) (events []*event.Event, err error) {
	t.Helper()
	header := false
	for e, err := range l.Events() {
		if err != nil {
			require.Nil(t, e)
			checkError(t, err)
			return events, err
		}
		require.NotZero(t, e.Pos.Line)
		if !header {
			require.Equal(t, event.KindHeader, e.Kind)
			require.Zero(t, e.Pos.Node)
			header = true
			continue
		}
		events = append(events, new(*e))
	}
	require.True(t, header)
	return events, nil
}

func checkError(t testing.TB, err error) {
	t.Helper()
	var e *event.InputError
	require.ErrorAs(t, err, &e)
	text := err.Error()
	require.LessOrEqual(t, len(text), 300, text)
	for _, c := range []byte(text) {
		require.True(t, ' ' <= c && c <= '~', "%q", text)
	}
	require.GreaterOrEqual(t, e.Offset, int64(0))
	require.EqualValues(t, -1, e.Node)
	require.NotEmpty(t, e.Reason)
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// kinds returns the kinds of events, with their lines.
func kinds(events []*event.Event) string {
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
		{"turns of a source, spelled", logHead + `{"event":"torn"}` + "\n" + `{"event":"query"}`, `2:"torn" 3:"query"`},
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
			for _, packed := range [][]byte{testkit.Gzip(t, strings.NewReader(c.text)), testkit.Zstd(t, strings.NewReader(c.text))} {
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
		{"a capture", "[]", "1: byte 0: [] is not an event, which is an object", event.ErrNotCapture},
		{"a page", "<html>\n", "this is an HTML page, not JSON", event.ErrNotCapture},
		{"no header", `{"event":"op_end"}`, "event:", event.ErrNotCapture},
		{"a text", "hello\n", "log.jsonl:1: byte 0: hello is no JSON: unexpected 'h' where a value belongs; an event log begins", nil},
		{"a graph capture", "[\n{}]", "this begins as a graph capture does", io.ErrUnexpectedEOF},
		{"torn header", `{"event":"log","vers`, "input ends inside a string", io.ErrUnexpectedEOF},
		{"no version", `{"event":"log"}`, "version: missing", nil},
		{"later version", `{"event":"log","version":2}`, "version: 2 is later than 1", event.ErrVersion},
		{"version 0", `{"event":"log","version":0}`, "version: 0 is no version", nil},
		{"broken in the middle", logHead + "{\"event\":\n" + `{"event":"op_end"}`, `log.jsonl:2: byte 37: {"event": is no JSON: input ends`, io.ErrUnexpectedEOF},
		{"two values on a line", logHead + `{"event":"op_end"} {}` + "\n", "a second JSON value after the first", nil},
		{"not an object", logHead + "12\n", "log.jsonl:2: byte 28: 12 is not an event", event.ErrNotCapture},
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
		{"half a rectangle of cores", logHead + `{"event":"program","program":1,"cbs":[{"cores":"[0-0 -","size":1}]}`, "cbs[0].cores: ", nil},
		{"cores of no form", logHead + `{"event":"program","program":1,"cbs":[{"cores":"all","size":1}]}`, "cbs[0].cores: ", nil},
		{"kind", logHead + `{"event":"allocate","buffer":1,"kind":"cb"}`, `kind: "cb" is none of l1`, nil},
		{"no kind", logHead + `{"event":"allocate","buffer":1}`, `kind: is none of l1`, nil},
		{"CB kind", logHead + `{"event":"program","program":1,"cbs":[{"cores":"0-0","size":1,"kind":"l1"}]}`, `cbs[0].kind: "l1" is none of cb`, nil},
		{"flag", logHead + `{"event":"program","program":1,"cbs":[{"cores":"0-0","size":1,"global":"yes"}]}`, "cbs[0].global: ", nil},
		{"page size", logHead + `{"event":"program","program":1,"cbs":[{"cores":"0-0","size":1,"indices":[{"page_size":4}]}]}`, "cbs[0].indices[0].index: missing", nil},
		{"list of numbers", logHead + `{"event":"program","program":1,"cbs":[1]}`, "cbs[0]: 1 is not an object", nil},
		{"no spec", logHead + `{"event":"device","device":0}`, "spec: missing", nil},
		{"spec is a text", logHead + `{"event":"device","device":0,"spec":"p150"}`, "spec: ", nil},
		{"board", logHead + `{"event":"device","device":0,"spec":{"board":"p15"}}`, `spec.board: "p15" is not a board`, nil},
		{"architecture", logHead + `{"event":"device","device":0,"spec":{"arch":"other"}}`, "spec.arch: ", nil},
		{"role", logHead + `{"event":"device","device":0,"spec":{},"role":"rack"}`, `role: "rack" is none of chip, mesh, none`, nil},
		{"source", logHead + `{"event":"device","device":0,"spec":{},"from":{"base":"hearsay"}}`, `from.base: "hearsay" is none of option, file, arch, assumed`, nil},
		{"run on nothing", logHead + `{"event":"run","program":1}`, `on: missing`, nil},
		{"run without nodes", logHead + `{"event":"run","program":1,"on":[{"device":1,"first":2}]}`, `on[0].last: missing`, nil},
		{"hidden without a code", logHead + `{"event":"hidden"}`, `code: missing`, nil},
		{"hidden too often", logHead + `{"event":"hidden","code":"x","count":2147483648}`, `count: 2147483648 is above 2^31-1`, nil},
		{"free of nothing", logHead + `{"event":"free"}`, `buffer: missing`, nil},
		{"no figures", logHead + `{"event":"upstream"}`, `upstream: missing`, nil},
		{"nested too deeply", logHead + `{"event":"op_end","x":` + deep + "}\n", "nest more than 1000 deep", event.ErrTooDeep},
		{"a line too long", logHead + `{"event":"op_start","name":"` + strings.Repeat("x", event.MaxNode) + `"}` + "\n", "line of more than 16777216 bytes", event.ErrTooLarge},
		{"a line too long, and torn", logHead + strings.Repeat("x", event.MaxNode+2), "line of more than 16777216 bytes", event.ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			for _, e := range event.NewLog(strings.NewReader(c.text), "log.jsonl").Events() {
				err = e
			}
			require.ErrorContains(t, err, c.want)
			checkError(t, err)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}

// The fields of an event arrive as written.
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
	require.Equal(t, event.Pos{Offset: 54, Line: 2, Node: 1}, e.Pos)
	require.EqualValues(t, 1, e.Node)
	require.Equal(t, []string{"sim", "a", "-1.50e3"}, []string{e.Process, e.Tag, e.T})
	require.EqualValues(t, ^uint64(0), e.Program)
	require.Equal(t, []device.ID{0, ^device.ID(0)}, e.Devices.V)

	e = events[1]
	require.EqualValues(t, 7, e.Program)
	require.False(t, e.Devices.OK)
	require.Equal(t, []string{"sim", "b", "", `{"a":[1]}`}, []string{e.Process, e.Tag, e.T, string(e.ID)})

	e = events[2]
	require.Equal(t, fit.Buffer{ID: 1, Kind: fit.KindL1Small, Size: 6, Name: "wé", Backing: true}, e.Buffer)
	require.Len(t, e.Parts, 2)
	require.Equal(t, "{[1-0 - 1-0]}", e.Parts[0].Cores.V.String())
	require.False(t, e.Parts[1].Cores.OK)
	require.EqualValues(t, 6, e.Parts[1].Range.End)

	require.Equal(t, "mine (blackhole 11x10, L1 1572864, CB base 1, align 64)", events[3].Spec.String())
	require.Equal(t, "wormhole (wormhole 2x3, L1 1499136, CB base 103712, align 32)", events[4].Spec.String())
	require.Equal(t, "spec ( 0x0, L1 0, CB base 0, align 1)", events[5].Spec.String())
}

// Nodes are the ones that the log names, else its lines; hidden facts and anomalies may concern the
// whole source.
func TestLogNodes(t *testing.T) {
	events, err := readLog(t, strings.NewReader(`{"event":"log","version":1,"source":"capture"}

{"event":"op_end"}
{"event":"op_end","node":77,"op":"a > b"}
{"event":"hidden","code":"x"}
{"event":"hidden","code":"x","node":0,"count":5}
{"event":"anomaly","code":"y","count":0}
{"event":"log","version":9,"source":"database"}`))
	require.NoError(t, err)
	var have []string
	for _, e := range events {
		have = append(have, fmt.Sprintf("%s %d %d %d", e.Kind, e.Node, e.Pos.Node, e.Count))
	}
	require.Equal(t, []string{"op_end 1 1 0", "op_end 77 2 0", "hidden 0 -1 1", "hidden 0 4 5", "anomaly 0 -1 0", "log 6 6 0"}, have)
	require.Equal(t, event.Some("a > b"), events[1].Op)
	require.Equal(t, "database", events[5].Source)
}

// A range that ends before it starts stays as given, up to the error.
func TestLogRangeBackwards(t *testing.T) {
	events, err := readLog(t, strings.NewReader(logHead+`{"event":"program","program":1,"ranges":[{"cores":"0-0","start":200,"end":100},{"cores":"0-0","start":100,"end":200}]}`))
	require.NoError(t, err)
	require.Len(t, events[0].CBs, 2)
	b := program.NewBuilder(1)
	for _, cb := range events[0].CBs {
		cb.AddTo(b)
	}
	_, err = b.Build(l1.N150())
	var wrong *l1.RangeError
	require.ErrorAs(t, err, &wrong)
	require.Contains(t, err.Error(), "[200, 100)")
	require.NotContains(t, err.Error(), "1844674407370955")
}

// The error of a query is kept with it.
func TestLogQuery(t *testing.T) {
	events, err := readLog(t, strings.NewReader(logHead+`{"query":"who","device":3,"core":"1-2","address":64,"cb":1,"program":9,"devices":[3]}
{"query":"who","device":-3,"id":7}
{"query":"who"}
{"query":5}
{"query":"who","core":"1-2","core":"1-2"}`))
	require.NoError(t, err)
	q := events[0].Query
	require.Equal(t, "who 3 1-2 64 1 9", strings.TrimSpace(fmt.Sprintln(q.Name, q.Device.V, q.Core.V, q.Address.V, q.CB.V, q.Program.V)))
	require.True(t, q.Device.OK && q.Core.OK && q.Address.OK && q.CB.OK && q.Program.OK)
	require.Nil(t, q.Err)
	require.EqualError(t, events[1].Query.Err, "log.jsonl:3: byte 138: device: -3 is negative")
	require.Equal(t, "7", string(events[1].ID))
	require.Equal(t, event.Query{Name: "who"}, events[2].Query)
	require.EqualError(t, events[3].Query.Err, "log.jsonl:5: byte 174: query: 5 is not a string")
	require.Zero(t, events[2].Anomaly)
	require.Equal(t, event.AnomalyDuplicateKey, events[4].Anomaly)
}

// An event comes when its line end has come: nothing behind it is waited for.
func TestLogNeedsNoMoreThanTheLine(t *testing.T) {
	in, sim := io.Pipe()
	heard := make(chan string)
	done := make(chan error, 1)
	go func() {
		defer close(heard)
		for e, err := range event.NewLog(in, "pipe").Events() {
			if err != nil {
				done <- err
				return
			}
			heard <- string(e.Kind)
		}
		done <- nil
	}()
	say := func(text string) { // returns when it was read
		_, err := io.WriteString(sim, text)
		require.NoError(t, err)
	}
	say("{")
	say("\"event\":\"log\",\"version\":1}\n")
	require.Equal(t, "log", <-heard)
	say(`{"query":"totals","device":1,"t":5}` + "\n")
	require.Equal(t, "query", <-heard)
	require.NoError(t, sim.Close())
	require.NoError(t, <-done)
}

// A log ends with the error of its input; a log is read once.
func TestLogFails(t *testing.T) {
	l := event.NewLog(io.MultiReader(strings.NewReader(logHead+`{"event":"op_end"}`+"\n"), iotest.ErrReader(fs.ErrPermission)), "log")
	events, err := rest(t, l)
	require.Len(t, events, 1)
	require.ErrorIs(t, err, fs.ErrPermission)
	for _, err := range l.Events() {
		require.EqualError(t, err, "log: is read already")
	}
	l = event.NewLog(strings.NewReader(logHead), "log")
	for _, err := range l.Events() {
		require.NoError(t, err)
		break
	}
	for _, err := range l.Events() {
		require.ErrorContains(t, err, "is read already")
	}
}

// A file that grows is read as far as its lines went at the start; one that changes in any
// other way is refused.
func TestLogOfFile(t *testing.T) {
	const one = `{"event":"op_end"}` + "\n"
	for _, c := range []struct {
		name, before string
		grow         func(t *testing.T, path string) // after the first event
		want, refuse string
	}{
		{"it stays", logHead + one + one, nil, "2:op_end 3:op_end", ""},
		{"it stays, the last line end missing", logHead + one + `{"event":"op_start"}`, nil, "2:op_end 3:op_start", ""},
		{"it stays, torn", logHead + one + `{"eve`, nil, "2:op_end 3:torn", ""},
		{"lines are added", logHead + one, appending(one + one), "2:op_end", ""},
		{"a line is finished", logHead + one + `{"eve`, appending(`nt":"op_start"}` + "\n" + one), "2:op_end", ""},
		{"a complete line grows", logHead + one + `{"event":"op_end"}`, appending("\n" + one), "2:op_end", ""},
		{"half a line is added", logHead + one, appending(`{"eve`), "2:op_end", ""},
		{"the first event is still written", logHead + `{"eve`, appending(`nt":"op_end"}` + "\n"), "", ""},
		{"many lines", logHead + strings.Repeat(one, 20_000), appending(strings.Repeat(one, 1000)), "", ""},
		{"it shrinks", logHead + one + one, func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 30)) }, "", "file changed while it was read"},
		{"it is written over", logHead + one, func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(logHead+one), 0o600))
			require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
		}, "", "file changed while it was read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(c.before), 0o600))
			f, err := os.Open(path)
			require.NoError(t, err)
			defer func() { require.NoError(t, f.Close()) }()
			info, err := f.Stat()
			require.NoError(t, err)
			var events []*event.Event
			for e, problem := range event.NewLog(f, path).OfFile(info, f.Stat).Events() {
				if err = problem; err != nil {
					break
				}
				if e.Kind == event.KindHeader {
					if c.grow != nil {
						c.grow(t, path)
					}
					continue
				}
				events = append(events, new(*e))
			}
			if c.refuse != "" {
				require.ErrorContains(t, err, c.refuse)
				require.ErrorIs(t, err, event.ErrChanged)
				return
			}
			require.NoError(t, err)
			if c.name == "many lines" {
				require.Len(t, events, 20_000)
				return
			}
			require.Equal(t, c.want, kinds(events))
		})
	}
}

func appending(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
}

// A pipe is read as it comes, whatever is said of it, and compressed files as a whole.
func TestLogOfOtherFiles(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	info, err := in.Stat()
	require.NoError(t, err)
	_, err = out.WriteString(logHead + `{"event":"op_end"}` + "\n" + `{"ev`)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	events, err := rest(t, event.NewLog(in, "pipe").OfFile(info, in.Stat))
	require.NoError(t, err)
	require.Equal(t, "2:op_end 3:torn", kinds(events))
	require.NoError(t, in.Close())

	path := filepath.Join(t.TempDir(), "log.jsonl.gz")
	require.NoError(t, os.WriteFile(path, testkit.Gzip(t, strings.NewReader(logHead+strings.Repeat(`{"event":"op_end"}`+"\n", 1000))), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	info, err = f.Stat()
	require.NoError(t, err)
	events, err = rest(t, event.NewLog(f, path).OfFile(info, f.Stat))
	require.NoError(t, err)
	require.Len(t, events, 1000)
	require.NoError(t, f.Close())

	// An input that is no regular file, or has no size at the start, is read to its end. Another
	// file with the same text and time is refused, and so is one that is gone.
	folder := t.TempDir()
	file := func(name, text string) fs.FileInfo {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)))
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info
	}
	none, err := os.Stat(folder)
	require.NoError(t, err)
	one, another := file("one", logHead), file("another", logHead)
	for _, c := range []struct {
		before, now fs.FileInfo
		gone, want  error
	}{{none, nil, nil, nil}, {file("empty", ""), nil, nil, nil}, {one, one, nil, nil}, {one, another, nil, event.ErrChanged}, {one, nil, fs.ErrNotExist, fs.ErrNotExist}} {
		text := logHead + strings.Repeat(`{"event":"op_end"}`+"\n", 1000)
		_, err = rest(t, event.NewLog(strings.NewReader(text), "log").OfFile(c.before, func() (fs.FileInfo, error) { return c.now, c.gone }))
		if require.ErrorIs(t, err, c.want); c.want != nil {
			require.ErrorContains(t, err, "log: file ")
		}
	}
}

func TestIsLog(t *testing.T) {
	for text, want := range map[string]bool{
		logHead:                       true,
		`{"event":"log","version":1}`: true,
		"\xef\xbb\xbf\r\n" + `{"tag":"x","version":99,"event":"log"}` + "\r\n{": true,
		`{"event":"device"}`:     false,
		`{"event":"log"`:         false,
		`{"graph":[]}`:           false,
		"{\n" + `"event":"log"}`: false,
		"[]":                     false,
		"":                       false,
	} {
		require.Equal(t, want, event.IsLog([]byte(text)), "%s", text)
	}
}

// The log that other implementations are tested with is read as a whole.
func TestLogConformance(t *testing.T) {
	log, err := os.ReadFile("testdata/conformance.jsonl")
	require.NoError(t, err)
	events, err := readLog(t, bytes.NewReader(log))
	require.NoError(t, err)
	require.Len(t, events, len(lines(string(log)))-1)
	asked, known := 0, 0
	for _, e := range events {
		if e.Kind == event.KindQuery {
			asked++
			require.NotNil(t, e.ID)
			require.Nil(t, e.Query.Err)
		} else if e.Kind != "teleport" {
			known++
		}
	}
	answers, err := os.ReadFile("testdata/conformance.answers.jsonl")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(lines(string(answers))), asked)
	require.Greater(t, known, 100)
}

func isInputError(err error) bool {
	_, ok := errors.AsType[*event.InputError](err)
	return ok
}

// FuzzLog reads anything: the reader never panics, reports an error in one printable line, and does
// not care how the input is cut into pieces. Its events can be written, and read again as the same.
func FuzzLog(f *testing.F) {
	conformance, err := os.ReadFile("testdata/conformance.jsonl")
	require.NoError(f, err)
	all := lines(string(conformance))
	for i := 0; i < len(all); i += 12 {
		f.Add([]byte(logHead + strings.Join(all[i:min(i+12, len(all))], "\n")))
	}
	for _, seed := range []string{
		"", "\n", logHead, logHead + `{"ev`, `{"event":"log","version":2}`, "\xef\xbb\xbf" + logHead,
		logHead + `{"event":"mesh","first":18446744073709551615,"rows":2,"cols":1,"spec":{}}`,
		logHead + sources,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(r io.Reader) (events []*event.Event, err error) {
			for e, problem := range event.NewLog(r, "fuzz.jsonl").Events() {
				if err = problem; err == nil {
					events = append(events, new(*e))
				}
			}
			return events, err
		}
		events, err := read(bytes.NewReader(data))
		again, errAgain := read(iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(data))))
		require.Equal(t, events, again)
		if err != nil || errAgain != nil {
			require.Error(t, err)
			checkError(t, err)
			require.True(t, isInputError(err))
			require.EqualError(t, errAgain, err.Error())
		}
		writesAgain(t, events)
	})
}

// writesAgain writes events that were read, and wants them back.
func writesAgain(t *testing.T, events []*event.Event) {
	var log bytes.Buffer
	w := event.NewWriter(&log)
	var want []*event.Event
	for _, e := range events {
		err := w.Write(e)
		if e.Kind == event.KindTorn || e.Query.Err != nil {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err)
		want = append(want, new(*e))
	}
	if len(want) == 0 {
		return
	}
	var have []*event.Event
	for e, err := range event.NewLog(bytes.NewReader(log.Bytes()), "again").Events() {
		require.NoError(t, err, "%s", log.String())
		have = append(have, new(*e))
	}
	if want[0].Kind != event.KindHeader {
		have = have[1:]
	}
	require.Len(t, have, len(want))
	for i := range want {
		require.Equal(t, plain(want[i]), plain(have[i]), "%s", log.String())
	}
}
