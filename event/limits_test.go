package event_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Lines with the largest numbers, with nothing in lists, and with one of two fields. They are
// written as they were read.
func TestWriterKeepsLines(t *testing.T) {
	text := logHead + `{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":9223372036854775807,"address":0,"indices":[{"index":3,"page_size":1}],"alias":1}]}
{"event":"program","program":2,"ranges":[{"cores":"{[0-0 - 0-0]}","start":2,"end":1}]}
{"event":"free","buffer":0}
{"event":"free","buffer":0,"again":true}
{"event":"free","unknown":true}
{"event":"allocate","buffer":3,"kind":"system","unsized":true,"parts":[{"address":9,"size":0}]}
{"event":"allocate","buffer":4,"kind":"l1","parts":[{"cores":"{[0-0 - 0-0]}","address":0,"size":1}]}
{"event":"run","program":1,"on":[{"device":4,"first":5,"last":9,"cb_first":0,"cb_last":7},{"device":5,"first":5,"last":9,"cb_first":3,"cb_last":0}],"candidates":[1]}
{"event":"run","program":1,"on":[]}
{"event":"allocate","buffer":5,"kind":"l1"}
{"event":"upstream","upstream":{"peak_cb":1,"per_core":true}}
{"event":"upstream","upstream":{"wrapped":true}}
{"query":"cb","cb":2147483647}
{"event":"op_end","t":` + strings.Repeat("1", 64) + `}
{"event":"hidden","code":"x","count":2147483647}
{"event":"op_start","name":"` + strings.Repeat("n", event.MaxNode-len(`{"event":"op_start","name":""}`)) + `"}
`
	events, err := readLog(t, strings.NewReader(text))
	require.NoError(t, err)
	var log strings.Builder
	w := event.NewWriter(&log)
	for _, e := range events {
		require.NoError(t, w.Write(e))
	}
	want := strings.Replace(text, `"program":2,"ranges"`, `"program":2,"cbs":[],"ranges"`, 1)
	have, wanted := lines(log.String()), lines(want)
	require.Len(t, have, len(wanted))
	for i := range wanted {
		require.True(t, wanted[i] == have[i], "%.300s\n%.300s", wanted[i], have[i])
	}
}

// Events that no log can hold. Each differs from a valid one in one field.
func TestWriterRefusesEachField(t *testing.T) {
	reversed := program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0]}"), Fixed: true, Address: 2, Size: math.MaxUint64}
	cb := func(change func(cb *event.CB)) event.Event {
		one := event.CB{CB: reversed}
		change(&one)
		return event.Event{Kind: event.KindProgram, CBs: []event.CB{one}}
	}
	buffer := func(b fit.Buffer) event.Event {
		b.Kind = fit.KindL1
		return event.Event{Kind: event.KindAllocate, Buffer: b}
	}
	const size, parts = "event program: cbs.size is above 2^63-1", "event allocate: parts belong in the event, not in its buffer"
	for _, c := range []struct {
		want string
		e    event.Event
	}{
		{"", cb(func(*event.CB) {})},
		{size, cb(func(cb *event.CB) { cb.Fixed = false })},
		{size, cb(func(cb *event.CB) { cb.Kind = program.Scratchpad })},
		{size, cb(func(cb *event.CB) { cb.Indices = []program.Index{} })},
		{size, cb(func(cb *event.CB) { cb.Global = true })},
		{size, cb(func(cb *event.CB) { cb.Alias = 1 })},
		{size, cb(func(cb *event.CB) { cb.Synthesised = true })},
		{parts, buffer(fit.Buffer{Cores: l1.CoreSetOf(l1.Core{})})},
		{parts, buffer(fit.Buffer{Range: l1.Range{End: 1}})},
		{parts, buffer(fit.Buffer{Parts: []fit.Part{}})},
		{"event allocate: kind is none that a log knows", event.Event{Kind: event.KindAllocate, Buffer: fit.Buffer{Kind: fit.KindSystem + 1}}},
		{"event allocate: mode is none that a log knows", buffer(fit.Buffer{Mode: fit.RangeLockstep + 1})},
		{"event run: candidates has a workload without programs", event.Event{Kind: event.KindRun, Candidates: [][]program.ID{{}}}},
		{"event op_end: t is not a number of at most 64 characters", event.Event{Kind: event.KindOpEnd, T: strings.Repeat("1", 65)}},
		{"event op_end: t is not a number of at most 64 characters", event.Event{Kind: event.KindOpEnd, T: "true"}},
		{"event op_end: t is not a number of at most 64 characters", event.Event{Kind: event.KindOpEnd, T: `""`}},
		{"event op_start: takes a line of more than 16777216 bytes", event.Event{
			Kind: event.KindOpStart, Name: strings.Repeat("n", event.MaxNode+1-len(`{"event":"op_start","name":""}`)),
		}},
	} {
		err := event.NewWriter(new(strings.Builder)).Write(&c.e)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, c.want)
	}
}

// What a line says in a field of another event, or of two that look alike.
func TestLogReadsEachField(t *testing.T) {
	read := func(line string) *event.Event {
		events, err := readLog(t, strings.NewReader(logHead+line))
		require.NoError(t, err)
		require.Len(t, events, 1)
		return events[0]
	}
	require.False(t, read(`{"event":"register","program":1,"leaked":true}`).Leaked, "only what is unregistered has an owner that died")
	require.True(t, read(`{"event":"unregister","program":1,"leaked":true}`).Leaked)
	require.Equal(t, event.AnomalyDuplicateKey, read(`{"event":"evict","program":1,"program":1}`).Anomaly)
	require.Zero(t, read(`{"event":"evict","program":1}`).Anomaly)
	require.Equal(t, event.KindQuery, read(`{"query":"totals","event":"op_end"}`).Kind)
	require.Equal(t, uint64(math.MaxInt32), read(`{"query":"cb","cb":2147483647}`).Query.CB.V)
	require.NotNil(t, read(`{"query":"cb","cb":2147483648}`).Query.Err)
	require.Equal(t, l1.Blackhole, read(`{"event":"device","device":0,"spec":{"arch":"blackhole","board":"n150"}}`).Spec.Arch)
	cbs := read(`{"event":"program","program":1,"cbs":[{"cores":"[0-0 - 1-1]","size":1,"address":0,"kind":"cb"},{"cores":"[0-0 - 1-2]","size":1}]}`).CBs
	require.Equal(t, []int{4, 6}, []int{cbs[0].Cores.Cores().Len(), cbs[1].Cores.Cores().Len()})
	require.Equal(t, []bool{true, false}, []bool{cbs[0].Fixed, cbs[1].Fixed})
	require.Equal(t, strings.Repeat("1", 64), read(`{"event":"op_end","t":`+strings.Repeat("1", 64)+`}`).T)
	_, err := readLog(t, strings.NewReader(logHead+`{"event":"op_end","t":`+strings.Repeat("1", 65)+"}\n"))
	require.ErrorContains(t, err, "is not a number of at most 64 characters")

	events, err := readLog(t, strings.NewReader(`{"event":"log","version":1,"process":"p","tag":"g"}`+"\n"+`{"event":"op_end"}`+"\n"+`{"eve`))
	require.NoError(t, err)
	require.Equal(t, []any{event.KindTorn, "p", "g", uint64(2)}, []any{events[1].Kind, events[1].Process, events[1].Tag, events[1].Node})
}

// A log with more sets of cores than are kept is read, too.
func TestLogOfManySets(t *testing.T) {
	var b strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&b, `{"event":"program","program":%d,"cbs":[{"cores":"[0-0 - %d-%d]","size":1}]}`+"\n", i, i%200, i/200)
	}
	events, err := readLog(t, strings.NewReader(logHead+b.String()))
	require.NoError(t, err)
	for i, e := range events {
		require.Equal(t, (i%200+1)*(i/200+1), e.CBs[0].Cores.Cores().Len())
	}
}

// A byte order mark begins the first line alone, what looks like another file is said of the first
// line alone, and frames without data may stand before compressed data.
func TestLogBegins(t *testing.T) {
	_, err := readLog(t, strings.NewReader(logHead+"\xef\xbb\xbf"+`{"event":"op_end"}`+"\n"))
	require.Error(t, err)
	_, err = readLog(t, strings.NewReader(logHead+"<html>\n{}\n"))
	require.NotErrorIs(t, err, event.ErrNotCapture)
	for _, magic := range []string{"\x50", "\x5f"} {
		packed := magic + "\x2a\x4d\x18\x01\x00\x00\x00x" + string(testkit.Zstd(t, strings.NewReader(logHead+`{"event":"op_end"}`)))
		events, err := readLog(t, strings.NewReader(packed))
		require.NoError(t, err)
		require.Equal(t, "2:op_end", kinds(events))
	}
}

// A program is written again where the log may not have it any more, and not where it has.
func TestWriterRepeatsPrograms(t *testing.T) {
	spec := l1.N150()
	fleet := device.NewFleet()
	d, err := fleet.AddDevice(0, spec)
	require.NoError(t, err)
	build := func(id program.ID, aliases ...int) *program.Program {
		b := program.NewBuilder(id)
		for _, alias := range aliases {
			b.CB(program.CB{Kind: program.DataflowBuffer, Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0]}"), Size: 8, Alias: alias})
		}
		p, err := b.Build(spec)
		require.NoError(t, err)
		return p
	}
	p, same, q, empty := build(1, 0), build(1, 7, -4, 7, -4), build(2, 0), build(1)
	var log strings.Builder
	w := event.NewWriter(&log)
	w.T, w.Process, w.Tag = "7", "p", "g"
	for _, e := range []device.Notice{
		{Kind: device.NoticeRegistered, Program: p}, {Kind: device.NoticeRegistered, Program: p},
		{Kind: device.NoticeRegistered, Program: same},
		{Kind: device.NoticeRefused, Program: q}, {Kind: device.NoticeRefused, Program: q},
		{Kind: device.NoticeReplaced, Old: same, Program: q}, {Kind: device.NoticeRegistered, Program: same},
		{Kind: device.NoticeReplaced, Old: same, Program: empty}, {Kind: device.NoticeReplaced, Old: same, Program: empty},
		{Kind: device.NoticeEvicted, Program: q},
		{Kind: device.NoticeHybridSet, Hybrid: true}, {Kind: device.NoticeHybridSet},
		{Kind: device.NoticeRegistered, Program: same}, {Kind: device.NoticeRegistered, Program: p}, {Kind: device.NoticeRegistered, Program: p},
		{Kind: device.NoticeReplaced, Old: p, Program: q}, {Kind: device.NoticeRegistered, Program: q},
		{Kind: device.NoticeTraceBegun, Trace: 3}, {Kind: device.NoticeTraceRecorded, Trace: 3, Program: q}, {Kind: device.NoticeTraceEnded, Trace: 3},
		{Kind: device.NoticeTraceReplayed, Trace: 3}, {Kind: device.NoticeRefused, Trace: 4}, {Kind: device.NoticeTraceReleased, Trace: 3},
		{Kind: device.NoticePeaksReset}, {Kind: device.NoticeDeviceAdded, Spec: l1.Spec{Name: "x", Arch: l1.Wormhole, Cols: 2, Rows: 3}},
	} {
		e.Set = d.Set()
		w.Observe(e)
	}
	require.NoError(t, w.Err())
	var got []string
	for _, line := range lines(log.String())[1:] {
		line, said := strings.CutPrefix(line, `{"event":`)
		require.True(t, said)
		rest := strings.Replace(line, `"t":7,"process":"p","tag":"g",`, "", 1)
		require.NotEqual(t, rest, line, "each line has its time, process and tag")
		got = append(got, strings.ReplaceAll(rest, `"kind":"dataflow","cores":"{[0-0 - 0-0]}","size":8`, ""))
	}
	const first, second, other = `"program","program":1,"cbs":[{}]}`, `"program","program":1,"cbs":[{,"alias":1},{,"alias":2},{,"alias":1},{,"alias":2}]}`, `"program","program":2,"cbs":[{}]}`
	require.Equal(t, []string{
		first, `"register","program":1,"devices":[0]}`, `"register","program":1,"devices":[0]}`,
		second, `"register","program":1,"devices":[0]}`,
		other, `"enqueue","program":2,"devices":[0],"refused":true}`, other, `"enqueue","program":2,"devices":[0],"refused":true}`,
		other, `"replace","program":1,"with":2}`, second, `"register","program":1,"devices":[0]}`,
		`"program","program":1,"cbs":[]}`, `"replace","program":1}`, `"program","program":1,"cbs":[]}`, `"replace","program":1}`,
		`"evict","program":2,"devices":[0]}`, `"hybrid","devices":[0]}`, `"lockstep","devices":[0]}`,
		second, `"register","program":1,"devices":[0]}`, first, `"register","program":1,"devices":[0]}`, `"register","program":1,"devices":[0]}`,
		`"replace","program":1,"with":2}`, `"register","program":2,"devices":[0]}`,
		`"trace_begin","trace":3,"devices":[0]}`, `"record","trace":3,"program":2}`, `"trace_end","trace":3}`,
		`"replay","trace":3}`, `"replay","trace":4,"refused":true}`, `"release","trace":3}`,
		`"reset_peaks","devices":[0]}`,
		`"device","device":0,"spec":{"name":"x","arch":"wormhole","cols":2,"rows":3,"l1_size":0,"cb_base":0,"cb_align":0,"l1_align":0,"l1_small":0,"cb_indices":0}}`,
	}, got)
}

// Where an input is wrong, by all that an error may name.
func TestInputErrorText(t *testing.T) {
	for _, c := range []struct {
		want string
		e    event.InputError
	}{
		{"a: x", event.InputError{File: "a", Node: -1, Reason: "x"}},
		{"a:1: byte 0: node 0: x", event.InputError{File: "a", Line: 1, Reason: "x"}},
		{"a: table t: row 1: column c: f: 12 x", event.InputError{File: "a", Node: -1, Table: "t", Row: 1, Column: "c", Field: "f", Value: "12", Reason: "x"}},
		{"x", event.InputError{Node: -1, Reason: "x"}},
	} {
		require.Equal(t, c.want, c.e.Error())
	}
	require.Equal(t, []string{"duplicate key", "malformed device_tensors"}, []string{event.AnomalyDuplicateKey.String(), event.AnomalyDeviceTensors.String()})
	require.Equal(t, "duplicate key, malformed device_tensors", (event.AnomalyDuplicateKey | event.AnomalyDeviceTensors).String())
}
