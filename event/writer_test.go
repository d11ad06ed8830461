package event_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/internal/asciijson"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// sources is a log with lines that a source of captures may write.
const sources = `{"event":"device","device":4,"spec":{"arch":"blackhole","cols":11,"rows":10},"role":"mesh","chips":[0,1],"from":{"arch":"file","base":"arch","grid":"assumed"},"node":2}
{"event":"program","program":0,"cbs":[{"cores":"{[0-0 - 0-0], [1-0 - 1-0]}","size":64,"address":111616,"synthesised":true}],"as_written":true,"node":9,"op":"ttnn::add > launch"}
{"event":"run","program":0,"on":[{"device":4,"first":5,"last":9,"cb_first":6,"cb_last":7},{"device":5,"first":5,"last":5}],"inferred":true,"candidates":[1,[2,1]],"candidates_unsettled":true,"continues":true,"unsettled":true,"aborted":true,"node":9}
{"event":"cbs_freed","devices":[4],"node":10}
{"event":"executed","devices":[0],"node":11}
{"event":"executed","devices":[0],"program":0,"node":11}
{"event":"allocate","buffer":1,"kind":"l1","size":2048,"named":4,"per_core":1024,"address":1000000,"layout":"INTERLEAVED","cores_from":"assumed","corrects":true,"parts":[{"address":1000000,"size":1024,"cores":"0-0","synthesised":true}]}
{"event":"allocate","buffer":2,"kind":"l1","size":2048,"unplaced":"before the capture","earlier":true}
{"event":"free","unknown":true,"kind":"l1"}
{"event":"free","buffer":1,"again":true}
{"event":"hidden","code":"cache-hit","count":3,"node":4,"detail":"ttnn::add","devices":[4]}
{"event":"anomaly","code":"inferred","anomalies":["duplicate-key","bad-device-tensors"]}
{"event":"upstream","upstream":{"peak_cb":18446744073709551615,"peak_l1":1,"peak_dataflow_buffer":0,"peak_scratchpad":2,"peak_total":3,"wrapped":true,"causes":[{"code":"cores","figure":"peak_cb","upstream_bytes":8,"exact_bytes":4,"count":2}]}}
{"event":"program","program":1,"ranges":[{"cores":"0-0","start":1,"end":2},{"cores":"0-0","start":2,"end":1},{"cores":"0-0","start":9223372036854775807,"end":0}]}
{"event":"end","nodes":12,"rank":0,"spec":{"arch":"blackhole"},"from":{"arch":"option"}}
`

// plain returns an event without its place, and with its id as it is written.
func plain(e *event.Event) event.Event {
	out := *e
	out.Pos = event.Pos{Node: min(out.Pos.Node, 0)}
	for _, raw := range []*[]byte{&out.ID, &out.Tensor} {
		var b bytes.Buffer
		if json.Compact(&b, *raw) == nil {
			*raw = asciijson.Escape(b.Bytes())
		}
	}
	return out
}

// Draws of things that events have.
func ids[T ~uint64](t *rapid.T) T {
	return T(rapid.SampledFrom([]uint64{0, 1, 2, 7, 1<<32 - 1, 1 << 32, math.MaxInt64, math.MaxUint64}).Draw(t, "id"))
}

func whole(t *rapid.T) uint64 {
	return rapid.OneOf(rapid.Uint64Range(0, 9), rapid.Uint64Range(0, math.MaxInt64), rapid.Just[uint64](math.MaxInt64)).Draw(t, "whole")
}

func small(t *rapid.T) int { return rapid.IntRange(0, math.MaxInt32).Draw(t, "small") }

func words(t *rapid.T) string {
	return rapid.OneOf(rapid.Just(""), rapid.SampledFrom([]string{"a > b", "w\u00e9 \"\\\n\t\x00\x7f\u202e\U0001f600<&>"}), rapid.String()).Draw(t, "words")
}

func yes(t *rapid.T) bool { return rapid.Bool().Draw(t, "yes") }

func opt[T any](t *rapid.T, draw func(*rapid.T) T) event.Opt[T] {
	if !yes(t) {
		return event.Opt[T]{}
	}
	return event.Some(draw(t))
}

func list[T any](t *rapid.T, draw func(*rapid.T) T) (out []T) {
	for range rapid.IntRange(0, 3).Draw(t, "len") {
		out = append(out, draw(t))
	}
	return out
}

func someIDs[T ~uint64](t *rapid.T) []T { return list(t, ids[T]) }

func cores(t *rapid.T) l1.CoreRangeSet {
	if s := gen.CoreRangeSet(20, 20).Draw(t, "cores"); s.Len() > 0 {
		return s
	}
	return l1.CoreRangeSet{} // which is empty in one way
}

func span(t *rapid.T) l1.Range {
	start := whole(t)
	return l1.Range{Start: start, End: start + whole(t)}
}

func specs(t *rapid.T) l1.Spec {
	return l1.Spec{
		Name: words(t), Arch: rapid.SampledFrom([]l1.Arch{"", l1.Grayskull, l1.Wormhole, l1.Blackhole}).Draw(t, "arch"),
		Cols: small(t), Rows: small(t), L1Size: whole(t), CBBase: whole(t), CBAlign: whole(t), L1Align: whole(t), L1Small: whole(t), CBIndices: small(t),
	}
}

func origin(t *rapid.T) event.Source {
	return rapid.SampledFrom([]event.Source{"", event.FromOption, event.FromFile, event.FromArch, event.FromAssumed}).Draw(t, "source")
}

func origins(t *rapid.T) event.Origins {
	return event.Origins{Arch: origin(t), Base: origin(t), Small: origin(t), Grid: origin(t)}
}

func cbs(t *rapid.T) event.CB {
	cb := event.CB{Synthesised: yes(t), CB: program.CB{
		Kind:  rapid.SampledFrom([]program.Kind{program.CircularBuffer, program.DataflowBuffer, program.Scratchpad}).Draw(t, "kind"),
		Cores: cores(t), Size: whole(t), Global: yes(t), Alias: small(t),
		Indices: list(t, func(t *rapid.T) program.Index { return program.Index{Number: small(t), PageSize: whole(t)} }),
	}}
	if cb.Fixed = yes(t); cb.Fixed {
		cb.Address = whole(t)
	}
	return cb
}

func buffers(t *rapid.T, e *event.Event) {
	e.Buffer = fit.Buffer{
		ID: ids[fit.BufferID](t), Kind: fit.Kind(rapid.IntRange(int(fit.KindL1), int(fit.KindSystem)).Draw(t, "kind")),
		Size: whole(t), Unsized: yes(t), Backing: yes(t), Name: words(t), Mode: fit.Mode(rapid.IntRange(0, 2).Draw(t, "mode")),
	}
	if yes(t) {
		e.Buffer.Hidden = cores(t).Cores()
	}
	e.Parts = list(t, part)
	e.Named, e.PerCore, e.Address = opt(t, ids[device.ID]), opt(t, whole), opt(t, whole)
	e.Layout, e.Unplaced, e.CoresFrom = words(t), words(t), origin(t)
	if yes(t) {
		e.Tensor = rapid.SampledFrom([][]byte{[]byte(`{ "shape" : "[1,\u00e9]" }`), []byte("7"), []byte(`"é"`)}).Draw(t, "tensor")
	}
	e.Earlier, e.Corrects = yes(t), yes(t)
}

func coreSet(t *rapid.T) l1.CoreSet { return cores(t).Cores() }

func part(t *rapid.T) event.Part {
	return event.Part{Cores: opt(t, coreSet), Range: span(t), Synthesised: yes(t)}
}

func frees(t *rapid.T, e *event.Event) {
	e.Buffer.ID, e.Unknown, e.Again, e.Earlier, e.Leaked = ids[fit.BufferID](t), yes(t), yes(t), yes(t), yes(t)
	if yes(t) {
		e.Buffer.Kind = fit.Kind(rapid.IntRange(int(fit.KindL1), int(fit.KindSystem)).Draw(t, "kind"))
	}
}

func runs(t *rapid.T, e *event.Event) {
	e.Program = ids[program.ID](t)
	e.On = list(t, func(t *rapid.T) event.RunDevice {
		return event.RunDevice{Device: ids[device.ID](t), First: whole(t), Last: whole(t), CBFirst: whole(t), CBLast: whole(t), CBOp: opt(t, words)}
	})
	e.Unsettled, e.Persistent = yes(t), yes(t)
	e.Inferred, e.Continues, e.Aborted, e.CandidatesUnsettled = yes(t), yes(t), yes(t), yes(t)
	e.Candidates = list(t, func(t *rapid.T) []program.ID { return append(someIDs[program.ID](t), ids[program.ID](t)) })
}

func figures(t *rapid.T) event.Upstream {
	u := event.Upstream{Wrapped: yes(t), PerCore: yes(t)}
	for _, f := range []*event.Opt[uint64]{&u.PeakCB, &u.PeakL1, &u.PeakDataflow, &u.PeakScratchpad, &u.PeakTotal} {
		*f = opt(t, ids[uint64])
	}
	u.Causes = list(t, func(t *rapid.T) event.UpstreamCause {
		return event.UpstreamCause{Code: event.CauseCode(words(t)), Figure: words(t), Upstream: ids[uint64](t), Exact: ids[uint64](t), Count: small(t)}
	})
	return u
}

func questions(t *rapid.T, e *event.Event) {
	q := event.Query{Name: words(t), Device: opt(t, ids[device.ID]), Program: opt(t, ids[program.ID]), Address: opt(t, whole)}
	q.Buffer, q.Size, q.Cores = opt(t, ids[fit.BufferID]), opt(t, whole), opt(t, coreSet)
	if yes(t) {
		q.CB = event.Some(uint64(small(t)))
	}
	if yes(t) {
		q.Core = event.Some(l1.Core{X: rapid.Uint8().Draw(t, "x"), Y: rapid.Uint8().Draw(t, "y")})
	}
	e.Query = q
	var b event.Event
	if buffers(t, &b); yes(t) {
		e.Buffer = fit.Buffer{Kind: b.Buffer.Kind, Mode: b.Buffer.Mode, Hidden: b.Buffer.Hidden, Unsized: b.Buffer.Unsized}
		e.Parts = b.Parts
	}
}

// fills has, for each kind, how its fields are drawn.
func fills() map[event.Kind]func(*rapid.T, *event.Event) {
	named := func(t *rapid.T, e *event.Event) {
		e.Program, e.Devices = ids[program.ID](t), opt(t, someIDs[device.ID])
	}
	devices := func(t *rapid.T, e *event.Event) { e.Devices = opt(t, someIDs[device.ID]) }
	trace := func(t *rapid.T, e *event.Event) { e.Trace = ids[uint64](t) }
	told := func(t *rapid.T, e *event.Event) {
		e.Code, e.Detail, e.Count, e.Devices = words(t), words(t), int64(small(t)), opt(t, someIDs[device.ID])
		if yes(t) {
			e.Node, e.Pos = 0, event.Pos{Node: -1}
		}
	}
	return map[event.Kind]func(*rapid.T, *event.Event){
		event.KindHeader: func(t *rapid.T, e *event.Event) { e.Source, e.Fleet = words(t), words(t) },
		event.KindDevice: func(t *rapid.T, e *event.Event) {
			e.Device, e.Spec, e.From, e.Chips = ids[device.ID](t), specs(t), origins(t), someIDs[device.ID](t)
			e.DRAM = whole(t)
			e.Role = rapid.SampledFrom([]event.Role{"", event.RoleChip, event.RoleMesh, event.RoleNone}).Draw(t, "role")
		},
		event.KindMesh: func(t *rapid.T, e *event.Event) {
			e.Device, e.Spec, e.Rows, e.Cols, e.DRAM = ids[device.ID](t), specs(t), small(t), small(t), whole(t)
		},
		event.KindRemove: devices,
		event.KindProgram: func(t *rapid.T, e *event.Event) {
			e.Program, e.Name, e.AsWritten, e.CBs = ids[program.ID](t), words(t), yes(t), list(t, cbs)
			e.Bases = list(t, func(t *rapid.T) program.Base { return program.Base{Cores: cores(t), Address: whole(t)} })
		},
		event.KindRegister:   named,
		event.KindReplace:    func(t *rapid.T, e *event.Event) { e.Program, e.With = ids[program.ID](t), opt(t, ids[program.ID]) },
		event.KindUnregister: func(t *rapid.T, e *event.Event) { named(t, e); e.Leaked = yes(t) },
		event.KindDispatch:   named,
		event.KindEnqueue:    func(t *rapid.T, e *event.Event) { named(t, e); e.Refused = yes(t) },
		event.KindEvict:      named,
		event.KindTraceBegin: func(t *rapid.T, e *event.Event) { trace(t, e); devices(t, e) },
		event.KindRecord:     func(t *rapid.T, e *event.Event) { trace(t, e); e.Program = ids[program.ID](t) },
		event.KindTraceEnd:   trace,
		event.KindReplay:     func(t *rapid.T, e *event.Event) { trace(t, e); e.Refused = yes(t) },
		event.KindRelease:    trace,
		event.KindAllocate:   func(t *rapid.T, e *event.Event) { buffers(t, e); devices(t, e) },
		event.KindFree:       func(t *rapid.T, e *event.Event) { frees(t, e); devices(t, e) },
		event.KindResetPeaks: devices,
		event.KindHybrid:     devices,
		event.KindLockstep:   devices,
		event.KindOpStart:    func(t *rapid.T, e *event.Event) { e.Name = words(t) },
		event.KindOpEnd:      func(*rapid.T, *event.Event) {},
		event.KindRun:        runs,
		event.KindCBsFreed:   devices,
		event.KindExecuted: func(t *rapid.T, e *event.Event) {
			if devices(t, e); yes(t) {
				e.Known, e.Program = true, ids[program.ID](t)
			}
		},
		event.KindHidden:   told,
		event.KindAnomaly:  told,
		event.KindUpstream: func(t *rapid.T, e *event.Event) { e.Upstream = figures(t) },
		event.KindEnd: func(t *rapid.T, e *event.Event) {
			e.Nodes, e.Rank, e.From = int64(whole(t)), opt(t, whole), origins(t)
			if yes(t) {
				e.Spec = specs(t)
			}
		},
		event.KindQuery: func(t *rapid.T, e *event.Event) { questions(t, e); devices(t, e) },
		"teleport":      func(*rapid.T, *event.Event) {},
		`"torn"`:        func(*rapid.T, *event.Event) {},
	}
}

// anEvent draws an event of any kind, with any of its fields.
func anEvent(t *rapid.T, kind event.Kind) *event.Event {
	e := &event.Event{
		Pos: event.Pos{Line: 1}, Node: whole(t), Kind: kind, Process: words(t), Tag: words(t), Op: opt(t, words),
		T:  rapid.SampledFrom([]string{"", "0", "-1.50e3", "12345678901234567890"}).Draw(t, "t"),
		ID: rapid.SampledFrom([][]byte{nil, []byte("7"), []byte(`{"a":[1,"\u00e9"]}`), []byte("null7")[:4]}).Draw(t, "id"),
	}
	if string(e.ID) == "null" { // which is no id
		e.ID = nil
	}
	e.Anomaly = event.Anomaly(rapid.IntRange(0, 3).Draw(t, "anomaly"))
	fills()[kind](t, e)
	return e
}

// A written event is read as an equal one: of every kind, with every field.
func TestWriterAndLog(t *testing.T) {
	schema, _ := compileLogSchema(t, true)
	kinds := slices.Sorted(maps.Keys(fills()))
	seen := map[string]bool{}
	property := func(t *rapid.T) {
		var log bytes.Buffer
		w := event.NewWriter(&log)
		want := []*event.Event{anEvent(t, event.KindHeader)}
		for _, kind := range rapid.Permutation(kinds).Draw(t, "kinds") {
			want = append(want, anEvent(t, kind))
		}
		for i, e := range want {
			before := log.Len()
			require.NoError(t, w.Write(e))
			text := log.String()[before:]
			require.Equal(t, len(text)-1, strings.IndexByte(text, '\n'))
			require.False(t, strings.ContainsFunc(text[:len(text)-1], func(r rune) bool { return r < ' ' || r > '~' }), "%q", text)
			mark(seen, string(e.Kind), reflect.ValueOf(*e))
			if _, ok := fills()[e.Kind]; ok && e.Kind != "teleport" && e.Kind != `"torn"` && fitsSchema(e) {
				require.NoError(t, validate(schema, text), "event %d: %s", i, text)
			}
		}
		var have []*event.Event
		for e, err := range event.NewLog(bytes.NewReader(log.Bytes()), "log").Events() {
			require.NoError(t, err, "%s", log.String())
			have = append(have, new(*e))
		}
		require.Len(t, have, len(want))
		for i := range want {
			require.Equal(t, plain(want[i]), plain(have[i]), "%s", log.String())
		}
	}
	rapid.Check(t, property)
	if testing.Short() {
		return
	}
	// The draws are not dull.
	clear(seen) // luck had a part in them
	defer testkit.SameDraws(1, 100)()
	rapid.Check(t, property)
	all := map[string]bool{}
	everyField(all, "", reflect.TypeFor[event.Event]())
	for field := range all {
		require.True(t, seen[field], "no event was drawn with %s", field)
	}
	source, err := os.ReadFile("event.go")
	require.NoError(t, err)
	found := regexp.MustCompile(`\tKind\w+\s+Kind = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, found, 32)
	for _, kind := range found {
		if kind[1] != string(event.KindTorn) {
			require.Contains(t, kinds, event.Kind(kind[1]))
			require.True(t, seen["kind "+kind[1]], kind[1])
		}
	}
}

// fitsSchema reports whether the schema has nothing against an event: it knows queries by
// name, and grids of at most 256x256 cores.
func fitsSchema(e *event.Event) bool {
	return e.Kind != event.KindQuery && e.Spec.Cols <= 256 && e.Spec.Rows <= 256
}

// opaque are types whose insides are not fields of an event.
func opaque(t reflect.Type) bool {
	return t == reflect.TypeFor[l1.CoreSet]() || t == reflect.TypeFor[l1.CoreRangeSet]() || t == reflect.TypeFor[event.Pos]() ||
		t == reflect.TypeFor[*event.InputError]()
}

// mark notes which fields of a value are not zero.
func mark(seen map[string]bool, kind string, v reflect.Value) {
	seen["kind "+kind] = true
	markField(seen, "", v)
}

func markField(seen map[string]bool, path string, v reflect.Value) {
	switch {
	case v.IsZero():
		return
	case opaque(v.Type()):
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			markField(seen, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			markField(seen, path, v.Index(i))
		}
	}
	seen[path] = true
}

// everyField lists the fields that markField would note.
func everyField(all map[string]bool, path string, t reflect.Type) {
	switch {
	case t == reflect.TypeFor[event.Pos](), t == reflect.TypeFor[*event.InputError](), slices.Contains([]string{".Buffer.Parts", ".Buffer.Cores", ".Buffer.Range"}, path):
		return
	case opaque(t):
	case t.Kind() == reflect.Struct:
		for field := range t.Fields() {
			everyField(all, path+"."+field.Name, field.Type)
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		everyField(all, path, t.Elem())
	}
	all[path] = true
}

// An event that no log can hold is an error with the field in it; nothing is written, and the next
// event may be.
func TestWriterRefuses(t *testing.T) {
	const big = math.MaxInt64 + 1
	grid := l1.N150().Grid()
	for want, e := range map[string]event.Event{
		"event torn: stands for no line of a log":                   {Kind: event.KindTorn},
		"event query: is a query that makes no sense":               {Kind: event.KindQuery, Query: event.Query{Err: &event.InputError{}}},
		"event query: cb 2147483648 is above 2^31-1":                {Kind: event.KindQuery, Query: event.Query{CB: event.Some[uint64](1 << 31)}},
		"event op_end: t is not a number of at most 64 characters":  {Kind: event.KindOpEnd, T: "now"},
		"event op_end: t is not a number of at most 64 characters ": {Kind: event.KindOpEnd, T: "1,"},
		"event op_end: id is not JSON":                              {Kind: event.KindOpEnd, ID: []byte("x")},
		"event op_end: node 9223372036854775808 is above 2^63-1":    {Kind: event.KindOpEnd, Node: big},
		"event op_end: id line 1: byte 1022: arrays and objects nest more than 1000 deep": {
			Kind: event.KindOpEnd, ID: []byte(strings.Repeat("[", 1000) + strings.Repeat("]", 1000))},
		"event mesh: rows -1 is negative":                          {Kind: event.KindMesh, Rows: -1},
		"event device: spec.arch is none that a log knows":         {Kind: event.KindDevice, Spec: l1.Spec{Arch: "other"}},
		"event device: cols -2 is negative":                        {Kind: event.KindDevice, Spec: l1.Spec{Cols: -2}},
		"event device: role is none that a log knows":              {Kind: event.KindDevice, Role: "rack"},
		"event end: base is none that a log knows":                 {Kind: event.KindEnd, From: event.Origins{Base: "hearsay"}},
		"event end: nodes -1 is negative":                          {Kind: event.KindEnd, Nodes: -1},
		"event hidden: count -1 is negative":                       {Kind: event.KindHidden, Count: -1},
		"event hidden: count 2147483648 is above 2^31-1":           {Kind: event.KindHidden, Count: 1 << 31},
		"event allocate: kind is none that a log knows":            {Kind: event.KindAllocate},
		"event free: kind is none that a log knows":                {Kind: event.KindFree, Buffer: fit.Buffer{Kind: fit.KindScratchpad}},
		"event allocate: size 9223372036854775808 is above 2^63-1": {Kind: event.KindAllocate, Buffer: fit.Buffer{Kind: fit.KindL1, Size: big}},
		"event allocate: parts.size is negative":                   {Kind: event.KindAllocate, Buffer: fit.Buffer{Kind: fit.KindL1}, Parts: []event.Part{{Range: l1.Range{Start: 1}}}},
		"event allocate: parts belong in the event, not in its buffer": {
			Kind: event.KindAllocate, Buffer: fit.Buffer{Kind: fit.KindL1, Parts: []fit.Part{{}}}},
		"event program: cbs.size is above 2^63-1":                  {Kind: event.KindProgram, CBs: []event.CB{{CB: program.CB{Cores: grid, Size: big}}}},
		"event program: alias -1 is negative":                      {Kind: event.KindProgram, CBs: []event.CB{{CB: program.CB{Cores: grid, Alias: -1}}}},
		"event program: index -1 is negative":                      {Kind: event.KindProgram, CBs: []event.CB{{CB: program.CB{Indices: []program.Index{{Number: -1}}}}}},
		"event program: cbs.kind is none that a log knows":         {Kind: event.KindProgram, CBs: []event.CB{{CB: program.CB{Kind: 7}}}},
		"event op_start: takes a line of more than 16777216 bytes": {Kind: event.KindOpStart, Name: strings.Repeat("x", event.MaxNode)},
	} {
		var log strings.Builder
		w := event.NewWriter(&log)
		err := w.Write(&e)
		require.EqualError(t, err, strings.TrimSpace(want))
		var wrong *event.WriteError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, e.Kind, wrong.Kind)
		require.NoError(t, w.Err())
		require.NoError(t, w.Write(&event.Event{Kind: event.KindOpEnd}))
		require.Equal(t, logHead+`{"event":"op_end"}`+"\n", log.String(), want)
	}
}

// A node is written where it is set and differs from the line.
func TestWriterNodes(t *testing.T) {
	var log strings.Builder
	w := event.NewWriter(&log)
	for _, e := range []event.Event{
		{Kind: event.KindOpEnd},
		{Kind: event.KindOpEnd, Node: 2},
		{Kind: event.KindOpEnd, Node: 2},
		{Kind: event.KindOpEnd, Pos: event.Pos{Line: 1}},
		{Kind: event.KindHidden, Code: "x", Count: 1, Node: 5},
		{Kind: event.KindHidden, Code: "x", Count: 1, Pos: event.Pos{Node: -1}},
	} {
		require.NoError(t, w.Write(&e))
	}
	require.Equal(t, logHead+`{"event":"op_end"}
{"event":"op_end"}
{"event":"op_end","node":2}
{"event":"op_end","node":0}
{"event":"hidden","node":5,"code":"x","count":1}
{"event":"hidden","code":"x","count":1}
`, log.String())

	log.Reset()
	w = event.NewWriter(&log)
	require.NoError(t, w.Write(&event.Event{Kind: event.KindHeader, Source: "capture", Process: "p"}))
	require.NoError(t, w.Write(&event.Event{Kind: event.KindOpEnd, Process: "p"}))
	require.NoError(t, w.Write(&event.Event{Kind: event.KindOpEnd}))
	require.Equal(t, `{"event":"log","version":1,"source":"capture","process":"p"}
{"event":"op_end","node":0}
{"event":"op_end","process":"","node":0}
`, log.String())
}

// The events of a source are written as they were read, line by line.
func TestWriterCopies(t *testing.T) {
	events, err := readLog(t, strings.NewReader(logHead+sources))
	require.NoError(t, err)
	require.Len(t, events, len(lines(sources)))
	writesAgain(t, events)
}

// The lines of one small life, as they are written.
func TestWriterObserves(t *testing.T) {
	var log strings.Builder
	w := event.NewWriter(&log)
	w.Process = "sim"
	fleet := device.NewFleet()
	fleet.Observe(w.Observe)
	spec := l1.ArchSpec(l1.Wormhole)
	spec.Name = ""
	m, err := fleet.AddMesh(4, 1, 2, spec)
	require.NoError(t, err)
	p, err := program.NewBuilder(9).Name("mm").
		CB(program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 1-0]}"), Size: 64, Indices: []program.Index{{Number: 3, PageSize: 32}, {Number: 4}}}).
		Range(l1.MustParseCoreRangeSet("{[0-0 - 0-0]}"), l1.Range{Start: 0, End: 8}).
		Build(spec)
	require.NoError(t, err)
	dfb := program.CB{Kind: program.DataflowBuffer, Cores: l1.MustParseCoreRangeSet("{[2-0 - 2-0]}"), Size: 8, Alias: -5}
	q, err := program.NewBuilder(10).AsWritten().Base(l1.Rect(2, 0, 3, 0), 104_000).CB(dfb).CB(dfb).Build(spec)
	require.NoError(t, err)

	w.T = "1.5e3"
	_, err = fleet.Register(p, m.Set())
	require.NoError(t, err)
	_, err = fleet.Register(p, m.Set()) // changes nothing
	require.NoError(t, err)
	w.T, w.Tag = "", "after"
	require.NoError(t, fleet.Unregister(p.ID(), m.Set()))
	_, err = fleet.Register(q, m.Set())
	require.NoError(t, err)
	_, err = fleet.Replace(q.ID(), p)
	require.NoError(t, err)
	require.NoError(t, fleet.Allocate(fit.Buffer{ID: 1, Kind: fit.KindGlobalCB, Name: "g\u00e9", Parts: []fit.Part{
		{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-1]}").Cores(), Range: l1.Range{Start: 16, End: 32}},
		{Cores: l1.MustParseCoreRangeSet("{[3-0 - 3-0]}").Cores(), Range: l1.Range{Start: 48, End: 56}},
	}}, m.Set()))
	_, err = fleet.Free(1, m.Set())
	require.NoError(t, err)
	require.NoError(t, fleet.Remove(m.Set()))
	require.NoError(t, w.Err())
	require.Equal(t, `{"event":"log","version":1}
{"event":"mesh","process":"sim","first":4,"rows":1,"cols":2,"spec":{"name":"","arch":"wormhole","cols":0,"rows":0,"l1_size":1499136,"cb_base":103712,"cb_align":32,"l1_align":16,"l1_small":0,"cb_indices":32}}
{"event":"program","t":1.5e3,"process":"sim","program":9,"name":"mm","cbs":[{"cores":"{[0-0 - 1-0]}","size":64,"indices":[{"index":3,"page_size":32},{"index":4}]},{"cores":"{[0-0 - 0-0]}","size":8,"address":0}]}
{"event":"register","t":1.5e3,"process":"sim","program":9,"devices":[4,5]}
{"event":"unregister","process":"sim","tag":"after","program":9,"devices":[4,5]}
{"event":"program","process":"sim","tag":"after","program":10,"as_written":true,"bases":[{"cores":"{[2-0 - 3-0]}","address":104000}],"cbs":[{"kind":"dataflow","cores":"{[2-0 - 2-0]}","size":8,"alias":1},{"kind":"dataflow","cores":"{[2-0 - 2-0]}","size":8,"alias":1}]}
{"event":"register","process":"sim","tag":"after","program":10,"devices":[4,5]}
{"event":"program","process":"sim","tag":"after","program":9,"name":"mm","cbs":[{"cores":"{[0-0 - 1-0]}","size":64,"indices":[{"index":3,"page_size":32},{"index":4}]},{"cores":"{[0-0 - 0-0]}","size":8,"address":0}]}
{"event":"replace","process":"sim","tag":"after","program":10,"with":9}
{"event":"allocate","process":"sim","tag":"after","buffer":1,"kind":"global_cb","name":"g\u00e9","devices":[4,5],"size":40,"parts":[{"cores":"{[0-0 - 0-1]}","address":16,"size":16},{"cores":"{[3-0 - 3-0]}","address":48,"size":8}]}
{"event":"free","process":"sim","tag":"after","buffer":1,"devices":[4,5]}
{"event":"remove","process":"sim","tag":"after","devices":[4,5]}
`, log.String())
}

// A refusal of a fleet is written as the refused call: a program as an enqueue, a trace as a
// replay.
func TestWriterObservesRefusals(t *testing.T) {
	var log strings.Builder
	w := event.NewWriter(&log)
	fleet := device.NewFleet()
	spec := l1.N150()
	d, err := fleet.AddDevice(0, spec)
	require.NoError(t, err)
	cores := l1.MustParseCoreRangeSet("{[0-0 - 0-0]}")
	p, err := program.NewBuilder(9).CB(program.CB{Cores: cores, Size: 100_000}).Build(spec)
	require.NoError(t, err)
	_, err = fleet.Enqueue(p, d.Set())
	require.NoError(t, err)
	trace, err := fleet.BeginTrace(d.Set())
	require.NoError(t, err)
	require.NoError(t, fleet.Record(trace, 9))
	require.NoError(t, fleet.EndTrace(trace))
	require.NoError(t, fleet.Allocate(fit.Buffer{ID: 1, Kind: fit.KindL1, Cores: cores.Cores(), Range: l1.Range{Start: 200_000, End: 200_032}}, d.Set()))
	fleet.Observe(w.Observe)
	var refused fit.Verdict
	_, err = fleet.Enqueue(p, d.Set())
	require.ErrorAs(t, err, &refused)
	require.ErrorAs(t, fleet.Replay(trace), &refused)
	require.NoError(t, w.Err())
	require.Equal(t, `{"event":"log","version":1}
{"event":"program","program":9,"cbs":[{"cores":"{[0-0 - 0-0]}","size":100000}]}
{"event":"enqueue","program":9,"devices":[0],"refused":true}
{"event":"replay","trace":1,"refused":true}
`, log.String())
}

// The first error stays: of the writer, of a time that is no number, of an architecture
// that no reader knows, of an event of a later version of a fleet.
func TestWriterFails(t *testing.T) {
	in, out := io.Pipe()
	require.NoError(t, in.CloseWithError(fs.ErrPermission))
	w := event.NewWriter(out)
	require.ErrorIs(t, w.Write(&event.Event{Kind: event.KindOpEnd}), fs.ErrPermission)
	require.ErrorIs(t, w.Write(&event.Event{Kind: event.KindTorn}), fs.ErrPermission)
	require.ErrorIs(t, w.Err(), fs.ErrPermission)

	for _, c := range []struct {
		name, t, log string
		spec         l1.Spec
	}{
		{"time", "now", logHead, l1.Spec{}},
		{"architecture", "", logHead, l1.Spec{Arch: "other"}},
	} {
		var log strings.Builder
		w := event.NewWriter(&log)
		w.T = c.t
		fleet := device.NewFleet()
		fleet.Observe(w.Observe)
		_, err := fleet.AddDevice(1, c.spec)
		require.NoError(t, err)
		require.Error(t, w.Err(), c.name)
		_, err = fleet.AddDevice(2, l1.Spec{})
		require.NoError(t, err)
		require.Equal(t, c.log, log.String(), c.name)
	}
	w = event.NewWriter(io.Discard)
	w.Observe(device.Notice{Kind: 200})
	require.ErrorContains(t, w.Err(), "event of kind 200 is not known")
}

// A line is written with one call.
func TestWriterWritesLines(t *testing.T) {
	var calls counter
	w := event.NewWriter(&calls)
	e := event.Event{Kind: event.KindDispatch, Program: 1, Devices: event.Some([]device.ID{1, 2, 3})}
	require.NoError(t, w.Write(&e))
	require.EqualValues(t, 2, calls) // the header, and the event
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = w.Write(&e) }))
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c++
	return len(b), nil
}

// A fleet reports its operations to a Writer.
func ExampleWriter_Observe() {
	var log bytes.Buffer
	w := event.NewWriter(&log)
	fleet := device.NewFleet()
	fleet.Observe(w.Observe)

	d, err := fleet.AddDevice(0, l1.N150())
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := program.NewBuilder(1).CB(program.CB{Cores: l1.N150().Grid(), Size: 2048}).Build(l1.N150())
	if err != nil {
		fmt.Println(err)
		return
	}
	w.T = "120.5"
	if _, err := fleet.Enqueue(p, d.Set()); err != nil || w.Err() != nil {
		fmt.Println(err, w.Err())
		return
	}
	for line := range strings.Lines(log.String()) {
		if !strings.Contains(line, "spec") {
			fmt.Print(line)
		}
	}
	// Output:
	// {"event":"log","version":1}
	// {"event":"program","t":120.5,"program":1,"cbs":[{"cores":"{[0-0 - 7-7]}","size":2048}]}
	// {"event":"register","t":120.5,"program":1,"devices":[0]}
	// {"event":"dispatch","t":120.5,"program":1,"devices":[0]}
}
