package event_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

var update = flag.Bool("update", false, "rewrite the golden files; review the difference")

const aSpec = `{"arch":"wormhole","name":"n","cols":2,"rows":3,"l1_size":4,"cb_base":5,"cb_align":6,"l1_align":7,"l1_small":8,"cb_indices":9}`

// everyLine has a line of each kind with each field that it may have.
func everyLine() []string {
	return []string{
		`{"event":"log","version":1,"source":"s","fleet":"f","process":"p","tag":"g"}`,
		`{"event":"op_end","t":1,"process":"p","tag":"g","id":1,"node":3,"op":"o","anomalies":["duplicate-key"]}`,
		`{"event":"op_start","name":"n"}`,
		`{"event":"device","device":1,"spec":` + aSpec + `,"dram_bytes":2,"role":"mesh","chips":[3],"from":{"arch":"option","base":"file","l1_small":"arch","grid":"assumed"}}`,
		`{"event":"device","device":1,"spec":{"board":"n150"}}`,
		`{"event":"mesh","first":1,"rows":2,"cols":3,"spec":` + aSpec + `,"dram_bytes":4}`,
		`{"event":"remove","devices":[1]}`,
		`{"event":"program","program":1,"name":"n","as_written":true,"cbs":[{"kind":"scratchpad","cores":"{[0-0 - 0-0]}","size":1,"address":2,"alias":3,"global":true,"synthesised":true,` +
			`"indices":[{"index":4,"page_size":5}]}],"ranges":[{"cores":"{[0-0 - 0-0]}","start":1,"end":2}]}`,
		`{"event":"replace","program":1,"with":2}`,
		`{"event":"unregister","program":1,"devices":[2],"leaked":true}`,
		`{"event":"trace_begin","trace":1,"devices":[2]}`,
		`{"event":"record","trace":1,"program":2}`,
		`{"event":"release","trace":1}`,
		`{"event":"allocate","buffer":1,"kind":"l1","name":"n","size":2,"backing":true,"unsized":true,"devices":[3],"mode":"range_lockstep","hidden":"{[0-0 - 0-0]}",` +
			`"parts":[{"cores":"{[0-0 - 0-0]}","address":4,"size":5,"synthesised":true}],"named":6,"per_core":7,"address":8,"layout":"l","tensor":{"shape":"[1]"},"unplaced":"u","cores_from":"assumed","earlier":true,"corrects":true}`,
		`{"event":"free","buffer":1,"kind":"l1","devices":[2],"unknown":true,"again":true,"earlier":true,"leaked":true}`,
		`{"event":"free","buffer":1}`,
		`{"event":"run","program":1,"on":[{"device":2,"first":3,"last":4,"cb_first":5,"cb_last":6,"cb_op":"o"}],"inferred":true,"candidates":[7,[8,9]],` +
			`"candidates_unsettled":true,"continues":true,"unsettled":true,"aborted":true}`,
		`{"event":"executed","program":1,"devices":[2]}`,
		`{"event":"hidden","code":"c","count":1,"detail":"d","devices":[2]}`,
		`{"event":"upstream","upstream":{"peak_cb":1,"peak_l1":2,"peak_dataflow_buffer":3,"peak_scratchpad":4,"peak_total":5,"wrapped":true,"per_core":true,` +
			`"causes":[{"code":"copies","figure":"f","upstream_bytes":6,"exact_bytes":7,"count":8}]}}`,
		`{"event":"end","nodes":1,"rank":2,"spec":` + aSpec + `,"from":{"arch":"option"}}`,
		`{"query":"q","id":1,"device":2,"program":3,"core":"4-5","address":6,"cb":7,"devices":[8],"buffer":9,"kind":"l1","mode":"per_core","hidden":"{[0-0 - 0-0]}",` +
			`"size":10,"cores":"{[0-0 - 0-0]}","parts":[{"cores":"{[0-0 - 0-0]}","address":4,"size":5}],"unsized":true}`,
	}
}

// verdict is why a line cannot be read; "" if it can. A query keeps its reason for the answer.
func verdict(line string) string {
	text := logHead + line + "\n"
	if strings.HasPrefix(line, `{"event":"log"`) {
		text = line + "\n"
	}
	for e, err := range event.NewLog(strings.NewReader(text), "log").Events() {
		if err == nil && e.Query.Err != nil {
			err = e.Query.Err
		}
		if wrong, ok := errors.AsType[*event.InputError](err); ok {
			return fmt.Sprintf("%s: %s %s", wrong.Field, wrong.Value, wrong.Reason)
		}
	}
	return ""
}

// Each field of each line, missing and with values on both sides of all limits. -update writes the
// answers anew: review the difference.
func TestEachField(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("some numbers end at 2^31-1 here")
	}
	values := [][2]string{
		{"nothing", ""}, {"text", `"?"`}, {"-1", "-1"}, {"0", "0"}, {"2^31-1", "2147483647"}, {"2^31", "2147483648"}, {"2^63-1", "9223372036854775807"}, {"2^63", "9223372036854775808"},
		{"2^64-1", "18446744073709551615"}, {"2^64", "18446744073709551616"}, {"true", "true"}, {"[]", "[]"}, {"{}", "{}"}, {"null", "null"},
	}
	var got strings.Builder
	for _, line := range everyLine() {
		require.Empty(t, verdict(line), line)
		fmt.Fprintf(&got, "%s\n", line)
		var doc map[string]any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		require.NoError(t, d.Decode(&doc))
		members(doc, "", func(name string, set func(json.RawMessage)) {
			because := map[string][]string{}
			for _, value := range values {
				set(json.RawMessage(value[1]))
				again, err := json.Marshal(doc)
				require.NoError(t, err)
				why := strings.Join(strings.Fields(strings.ReplaceAll(verdict(lead(again)), " "+value[1]+" ", " ")), " ")
				because[why] = append(because[why], value[0])
			}
			for _, why := range slices.Sorted(maps.Keys(because)) {
				fmt.Fprintf(&got, "  %s = %s: %s\n", name, strings.Join(because[why], ", "), map[bool]string{true: "ok", false: why}[why == ""])
			}
		})
	}
	testkit.Golden(t, *update, "testdata/fields.golden", got.String())
}

// lead puts what says the kind of a line in front.
func lead(line []byte) string {
	for _, first := range []string{`"event":"log"`, `"event":"op_end"`} {
		if bytes.Contains(line, []byte(first)) {
			return strings.Replace("{"+first+","+strings.Replace(string(line[1:]), first, `"x":0`, 1), "{,", "{", 1)
		}
	}
	return string(line)
}

// members calls f for each member of an object and of those in it: with the path, and what sets or, with
// nothing, takes away its value.
func members(o map[string]any, path string, f func(path string, set func(json.RawMessage))) {
	for _, key := range slices.Sorted(maps.Keys(o)) {
		was := o[key]
		if key == "event" || key == "query" {
			continue
		}
		f(path+key, func(value json.RawMessage) {
			if o[key] = value; len(value) == 0 {
				delete(o, key)
			}
		})
		o[key] = was
		if list, ok := was.([]any); ok && len(list) > 0 {
			was = list[0]
		}
		if in, ok := was.(map[string]any); ok {
			members(in, path+key+".", f)
		}
	}
}

// Each word that a field and the schema know, and the next one, which the field does not.
func TestEachWord(t *testing.T) {
	schema, _ := compileLogSchema(t, true)
	var boards []string
	for _, board := range l1.Boards() {
		boards = append(boards, board.Name)
	}
	for _, c := range []struct {
		line     string // with % for the word
		yes, not string
	}{
		{`{"event":"allocate","buffer":1,"kind":"%"}`, "l1 l1_small global_cb service kernel reserved dram trace system", "cb dataflow scratchpad L1"},
		{`{"event":"free","buffer":1,"kind":"%"}`, "l1 l1_small global_cb service kernel reserved dram trace system", "cb"},
		{`{"event":"allocate","buffer":1,"kind":"l1","mode":"%"}`, "lockstep per_core range_lockstep", "hybrid"},
		{`{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":1,"kind":"%"}]}`, "cb dataflow scratchpad", "l1 system"},
		{`{"event":"device","device":1,"spec":{"board":"n150"},"role":"%"}`, "chip mesh none", "host"},
		{`{"event":"device","device":1,"spec":{"board":"n150"},"from":{"grid":"%"}}`, "option file arch assumed", "guess"},
		{`{"event":"device","device":1,"spec":{"board":"%"}}`, strings.Join(boards, " "), "n151"},
		{`{"event":"device","device":1,"spec":{"arch":"%"}}`, "wormhole blackhole grayskull quasar", "quasar2"},
		{`{"event":"remove","devices":[1],"anomalies":["%"]}`, "duplicate-key bad-device-tensors what-comes-later", ""},
	} {
		for word := range strings.FieldsSeq(c.yes) {
			line := strings.Replace(c.line, "%", word, 1)
			require.Empty(t, verdict(line))
			require.NoError(t, validate(schema, line))
		}
		for word := range strings.FieldsSeq(c.not) {
			require.NotEmpty(t, verdict(strings.Replace(c.line, "%", word, 1)), word)
		}
	}
}

// What each word of a buffer means.
func TestWordsOfBuffers(t *testing.T) {
	var kinds, modes []string
	for _, kind := range []string{"l1", "l1_small", "global_cb", "service", "kernel", "reserved", "dram", "trace", "system"} {
		for _, mode := range []string{"lockstep", "per_core", "range_lockstep"} {
			events, err := readLog(t, strings.NewReader(logHead+`{"event":"allocate","buffer":1,"kind":"`+kind+`","mode":"`+mode+`"}`))
			require.NoError(t, err)
			kinds, modes = append(kinds, events[0].Buffer.Kind.Name()), append(modes, events[0].Buffer.Mode.String())
			require.Equal(t, []string{kind, mode}, []string{kinds[len(kinds)-1], modes[len(modes)-1]})
		}
	}
	require.Equal(t, "duplicate key, malformed device_tensors", (event.AnomalyDuplicateKey | event.AnomalyDeviceTensors).String())
	events, err := readLog(t, strings.NewReader(logHead+`{"event":"op_end","anomalies":["bad-device-tensors","duplicate-key","x"]}`))
	require.NoError(t, err)
	require.Equal(t, event.AnomalyDuplicateKey|event.AnomalyDeviceTensors, events[0].Anomaly)
}

// A program is built of the buffers of an event as given; a range that ends before it starts is
// refused with its given values.
func TestAddTo(t *testing.T) {
	cores := l1.MustParseCoreRangeSet("{[0-0 - 0-0]}")
	build := func(cbs ...event.CB) (*program.Program, error) {
		b := program.NewBuilder(1)
		for _, cb := range cbs {
			cb.AddTo(b)
		}
		return b.Build(l1.N150())
	}
	p, err := build(event.CB{CB: program.CB{Cores: cores, Size: 64}}, event.CB{CB: program.CB{Cores: cores, Size: 32, Address: 200_000, Fixed: true}})
	require.NoError(t, err)
	require.Equal(t, 2, p.Len())
	dfb, err := build(event.CB{CB: program.CB{Kind: program.DataflowBuffer, Cores: cores, Size: 32, Address: 200_000, Fixed: true}})
	require.NoError(t, err)
	for _, cb := range dfb.CBs() {
		require.Equal(t, program.DataflowBuffer, cb.Kind)
	}
	for i, cb := range p.CBs() {
		require.EqualValues(t, []uint64{64, 32}[i], cb.Size)
		require.Equal(t, i == 1, cb.Fixed)
	}
	_, err = build(event.CB{CB: program.CB{Cores: cores, Size: 1<<64 - 1, Address: 5, Fixed: true}})
	require.ErrorContains(t, err, "5")
	require.ErrorContains(t, err, "4")
	_, err = build(event.CB{CB: program.CB{Cores: cores, Size: 1<<63 - 1, Address: 5, Fixed: true}})
	require.Error(t, err)
}

// A Writer that has failed writes nothing that a fleet does, and keeps its first error; so does one with
// an event of an unknown kind.
func TestObserveAfterAnError(t *testing.T) {
	var log bytes.Buffer
	w := event.NewWriter(&log)
	w.Observe(device.Notice{Kind: 200})
	require.EqualError(t, w.Err(), "event of kind 200 is not known to this version of the event log")
	w.Observe(device.Notice{Kind: 201})
	w.Observe(device.Notice{Kind: device.NoticePeaksReset})
	require.EqualError(t, w.Err(), "event of kind 200 is not known to this version of the event log")
	require.Error(t, w.Write(&event.Event{Kind: event.KindOpEnd}))
	require.Empty(t, log.String())
}

// The errors of another log's header, and of an input that is no log, in whole sentences.
func TestHeaderErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                            `log:1: byte 0: has no header, which is a line like {"event":"log","version":1}`,
		"\n" + `{"event":"x"}`:        `log:2: byte 1: event: {"event":"x"} is not the header of an event log, which is a line like {"event":"log","version":1}`,
		`{"event":"log","version":2}`: "log:1: byte 25: version: 2 is later than 1, the version that is known here",
		"[1,":                         `log:1: byte 3: [1, is no JSON: input ends where a value belongs; this begins as a graph capture does; an event log begins with a line like {"event":"log","version":1}`,
		logHead + "\n\n" + `{"event":"run"}` + "\n": "log:4: byte 30: program: missing",
	} {
		var last error
		for _, err := range event.NewLog(strings.NewReader(text), "log").Events() {
			last = err
		}
		require.EqualError(t, last, want)
	}
}
