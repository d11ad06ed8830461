package render_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

const logHead = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"p150b"}}
{"event":"program","program":1,"name":"first","cbs":[{"cores":"[0-0 - 0-0]","size":4096}]}
{"event":"program","program":2,"name":"second","cbs":[{"cores":"[0-0 - 0-0]","size":2048}]}
`

// logged returns the Result of a log.
func logged(t *testing.T, text string, opt replay.Options) *answer.Result {
	t.Helper()
	r, err := replay.Run("run.jsonl", event.NewLog(strings.NewReader(text), "run.jsonl").Events(), opt)
	require.NoError(t, err)
	return r
}

// What the schema says of each figure of a log: of the end, or a high-water mark; by id,
// not by run.
func TestLogFiguresByEndAndPeak(t *testing.T) {
	r := logged(t, logHead+`{"event":"register","program":1}
{"event":"unregister","program":1}
{"event":"register","program":1}
{"event":"unregister","program":1}
{"event":"register","program":2}
`, replay.Options{})
	_, strict := compileSchema(t, "cbl1.report-2.schema.json")
	text := jsonText(t, r)
	validate(t, strict, text)
	type group struct {
		Cores      string      `json:"cores"`
		Registered uint64      `json:"registered_bytes"`
		Peak       uint64      `json:"core_peak_bytes"`
		Programs   int         `json:"programs"`
		Regions    [][2]uint64 `json:"registered_regions"`
	}
	type row struct {
		First uint64 `json:"first_counter"`
		Op    string `json:"op"`
	}
	type dev struct {
		Programs   int     `json:"programs"`
		CBNodes    int     `json:"cb_nodes"`
		Peak       uint64  `json:"resident_peak_bytes"`
		Final      uint64  `json:"resident_final_bytes"`
		CorePeak   uint64  `json:"core_peak_bytes"`
		Registered uint64  `json:"registered_union_bytes"`
		Core       uint64  `json:"registered_core_peak_bytes"`
		CoreFinal  uint64  `json:"registered_core_final_bytes"`
		Logical    uint64  `json:"registered_logical_bytes"`
		Reserved   uint64  `json:"registered_range_granular_bytes"`
		Details    []row   `json:"programs_detail"`
		Groups     []group `json:"core_groups"`
	}
	var got struct {
		Fullest struct {
			Bytes   uint64 `json:"bytes"`
			Program row    `json:"program"`
		} `json:"fullest"`
		Devices map[string]dev `json:"devices"`
	}
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, dev{
		Programs: 2, CBNodes: 3, Peak: 4096, Final: 2048, CorePeak: 4096,
		Registered: 2048, Core: 4096, CoreFinal: 2048, Logical: 2048, Reserved: 2048,
		Details: []row{{6, "first"}, {8, "second"}},
		Groups:  []group{{"{[0-0 - 0-0]}", 2048, 4096, 1, [][2]uint64{{111616, 113664}}}},
	}, got.Devices["0"])
	require.Equal(t, uint64(2048), got.Fullest.Bytes)
	require.Equal(t, row{8, "second"}, got.Fullest.Program)

	// A core on which nothing is registered any more is in no group.
	r = logged(t, logHead+`{"event":"register","program":1}
{"event":"unregister","program":1}
`, replay.Options{})
	require.NoError(t, json.Unmarshal(jsonText(t, r), &got))
	require.Empty(t, got.Devices["0"].Groups)
	require.Equal(t, uint64(4096), got.Devices["0"].CorePeak)
}

const timed = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"p150b"}}
{"event":"program","program":134,"name":"matmul","cbs":[{"cores":"[0-0 - 7-7]","size":524288}]}
{"event":"enqueue","program":134,"t":1200}
{"event":"allocate","buffer":1,"kind":"l1","name":"old","size":1000,"parts":[{"address":1400000,"size":1000}],"t":1.5e3}
{"event":"allocate","buffer":2,"kind":"l1","name":"new","size":1000,"parts":[{"address":1300000,"size":1000}],"t":1501}
{"event":"free","buffer":1,"t":1502}
{"event":"allocate","buffer":3,"kind":"l1","name":"low","size":1000,"parts":[{"address":600000,"size":1000}],"t":1505}
{"event":"enqueue","program":134,"t":1510}
{"event":"frobnicate","t":1511}
{"event":"op_end","t":1512}
`

// The time of a log stands beside the numbers of its events, in text and in JSON.
func TestLogTimes(t *testing.T) {
	r := logged(t, timed, replay.Options{Ask: &answer.Question{Address: 600000}})
	j := r.Judge(answer.Terms{})
	q := answer.Question{Address: 600000}
	texts := map[string][]string{"check": {
		"matmul (event 8, t 1510), enqueued at event 8 (t 1510) on device 0",
		"L1 buffer  low (event 7, t 1505)",
		"t 1511, line 10: frobnicate",
	}, "peak": {
		"at the peak, new (event 5, t 1501)",
		"CB 0 matmul (event 3, t 1200)",
		"freed at event 6 (t 1502)",
		"allocated by old (event 4, t 1.5e3)",
	}, "who": {
		"L1 buffer low (event 7, t 1505)",
	}, "report": {
		"(event 3, t 1200)",
		"3 (t 1200)",
	}}
	schemas := map[string]string{"check": "check-1", "peak": "peak-1", "who": "who-1", "report": "report-2"}
	for verb, write := range map[string][2]func(*bytes.Buffer) error{
		"check":  {func(b *bytes.Buffer) error { return render.Check(r, j).Detailed().Text(b, 0) }, func(b *bytes.Buffer) error { return render.Check(r, j).Detailed().JSON(b) }},
		"peak":   {func(b *bytes.Buffer) error { return render.Peak(r).Text(b, 0) }, func(b *bytes.Buffer) error { return render.Peak(r).JSON(b) }},
		"who":    {func(b *bytes.Buffer) error { return render.Who(r, r.Who(q, answer.Filter{})).Text(b, 0) }, func(b *bytes.Buffer) error { return render.Who(r, r.Who(q, answer.Filter{})).JSON(b) }},
		"report": {func(b *bytes.Buffer) error { return render.Report(r, render.Options{Programs: true}).Text(b, 0) }, func(b *bytes.Buffer) error { return render.Report(r, render.Options{}).JSON(b) }},
	} {
		var text, doc bytes.Buffer
		require.NoError(t, write[0](&text))
		for _, want := range texts[verb] {
			require.Contains(t, strings.Join(strings.Fields(text.String()), " "), strings.Join(strings.Fields(want), " "), verb)
		}
		require.NotContains(t, strings.ReplaceAll(text.String(), "circular buffers in program 134 clash", ""), "program 134", verb)
		require.NoError(t, write[1](&doc))
		_, strict := compileSchema(t, "cbl1."+schemas[verb]+".schema.json")
		validate(t, strict, doc.Bytes())
		timesBeside(t, verb, decode(t, doc.Bytes()), map[string]string{"3": "1200", "4": "1.5e3", "5": "1501", "6": "1502", "7": "1505", "8": "1510", "9": "1511", "10": "1512"})
	}
}

func decode(t *testing.T, doc []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
}

// timesBeside requires that each event number of a document has its time beside it.
func timesBeside(t *testing.T, path string, v any, times map[string]string) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			timesBeside(t, path, one, times)
		}
	case map[string]any:
		for name, one := range v {
			beside := "t"
			if name == "freed_counter" {
				beside = "freed_t"
			}
			if number, ok := one.(json.Number); ok && strings.HasSuffix(name, "counter") {
				require.Equal(t, json.Number(times[number.String()]), v[beside], "%s/%s %s", path, name, number)
			}
			timesBeside(t, path+"/"+name, one, times)
		}
	}
}

// The first line says why a log has nothing to show: its programs were refused.
func TestRefusedProgramsAreTheAnswer(t *testing.T) {
	const device = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"p150b"}}
`
	for _, c := range []struct{ name, log, want string }{
		{"too large", `{"event":"program","program":1,"cbs":[{"cores":"[0-0 - 0-0]","size":4000000}]}
{"event":"enqueue","program":1}
`, "does not fit  run.jsonl  refused 1 of 1 program run, nothing is registered"},
		{"outside the grid", `{"event":"program","program":1,"cbs":[{"cores":"[0-0 - 99-99]","size":4096}]}
{"event":"register","program":1}
{"event":"register","program":1}
`, "cannot tell  run.jsonl  nothing is registered; refused 2 events of the log"},
		{"no program", "", "cannot tell  run.jsonl  the log places no circular buffer"},
	} {
		var b bytes.Buffer
		require.NoError(t, render.Report(logged(t, device+c.log, replay.Options{}), render.Options{}).Text(&b, 0))
		first, _, _ := strings.Cut(b.String(), "\n")
		require.Equal(t, c.want, first, c.name)
		require.NotContains(t, b.String(), "capture", "%s: what was read is a log", c.name)
	}
}

// A core that the device does not have is no empty core.
func TestWhoOutsideTheGrid(t *testing.T) {
	r := logged(t, logHead, replay.Options{})
	for core, want := range map[l1.Core]bool{{X: 10, Y: 9}: false, {X: 11, Y: 9}: true, {X: 99, Y: 99}: true} {
		var b bytes.Buffer
		q := r.Who(answer.Question{Address: 200_000}, answer.Filter{Core: event.Some(core)})
		require.NoError(t, render.Who(r, q).Text(&b, 0))
		require.Equal(t, want, strings.Contains(b.String(), "lies outside the compute grid of device 0, 11x10\n"), b.String())
	}
}

// A log whose only enqueue was refused registers nothing. Its programs were judged: nothing is hidden.
func TestCheckOfARefusedEnqueue(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"a","cbs":[{"cores":"0-0","size":1490000,"address":103712}]}
{"event":"enqueue","program":1,"devices":[0]}
`
	r := logged(t, log, replay.Options{})
	j := r.Judge(answer.Terms{})
	require.Equal(t, answer.DoesNotFit, j.Answer)
	require.Empty(t, j.Untold)
	require.Equal(t, "does not fit  run.jsonl  refused 1 of 1 program run, nothing is registered\n"+
		"\n"+
		"  check     1 of 1 program run does not fit beside the L1 buffers of that time: cbl1 check says why\n",
		text(t, r, render.Options{}))
	idle, _, _ := strings.Cut(log, `{"event":"enqueue"`)
	require.Equal(t, []answer.Code{answer.CodeNoCBs, answer.CodeNothingRan}, answer.CodesOf(logged(t, idle, replay.Options{}).Judge(answer.Terms{}).Untold))
}
