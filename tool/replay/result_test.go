package replay_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

func replayLog(t *testing.T, text string, opt replay.Options) *answer.Result {
	t.Helper()
	r, err := replay.Run("log.jsonl", events(strings.NewReader(text), "log.jsonl"), opt)
	require.NoError(t, err)
	return r
}

// The worked examples of the conformance log, as a Result has them: registered is what
// is registered at the end, alive the same with its high-water mark.
func TestReplayOfLog(t *testing.T) {
	log, err := os.ReadFile("../../event/testdata/conformance.jsonl")
	require.NoError(t, err)
	r := replayLog(t, string(log), replay.Options{})
	rows := map[uint64]answer.Device{}
	for _, d := range r.Devices {
		require.Equal(t, answer.KindChip, d.Kind)
		rows[d.ID.V] = d
	}
	h := rows[0] // example H, three programs: all were unregistered, and the high-water marks reset then
	require.Zero(t, h.Registered)
	require.Zero(t, h.RegisteredLogical)
	require.Zero(t, h.ResidentPeak)
	require.Zero(t, h.LogicalPeak)
	require.Zero(t, h.CorePeak)
	require.EqualValues(t, 3, h.Programs)
	require.EqualValues(t, "example H > P1", h.ProgramsDetail.At(0).Op)

	unreset := strings.Replace(string(log), `{"event":"reset_peaks","devices":[0]}`, "", 1)
	h = replayLog(t, unreset, replay.Options{}).Devices[0]
	require.Zero(t, h.Registered)
	require.EqualValues(t, 16384, h.ResidentPeak)
	require.EqualValues(t, 8192+8192+12288, h.LogicalPeak)
	require.EqualValues(t, 6144, h.CorePeak)
	require.Zero(t, h.ResidentFinal)

	on := map[uint64]answer.DeviceL1{}
	for _, row := range r.L1 {
		on[row.ID.V] = row
	}
	require.Len(t, on, len(rows))
	require.EqualValues(t, 2097152, on[5].Dispatched.Peak) // 4.2, scenario 4
	require.EqualValues(t, 32768, on[5].Dispatched.CorePeak)
	peak := on[9].Peak
	require.EqualValues(t, 1253376, peak.Bytes)
	require.Equal(t, "0-0", peak.Core.String())
	require.Equal(t, map[fit.Kind]uint64{fit.KindCB: 1048576, fit.KindL1: 204800}, peak.Kinds)
	require.EqualValues(t, [2]uint64{2226176, 2226176}, [2]uint64{on[9].TotalPeak, on[9].TotalFinal})
	require.EqualValues(t, 1540096, on[10].Peak.Residents[1].Start)
	require.EqualValues(t, [2]uint64{65536, 0}, [2]uint64{on[101].DRAMPeak, on[101].DRAMFinal})

	require.EqualValues(t, 2, r.Checks.Failed) // the same program, before and after it fitted
	require.Contains(t, r.Checks.List[0].Verdict.String(), "in program 2282 clash with L1 buffers on core range [0-0 - 10-9]. L1 buffer allocated at 1563072")
	require.EqualValues(t, 2, r.Checks.List[0].Times)

	codes := map[answer.Code]int64{}
	for _, a := range r.Anomalies {
		codes[a.Code] = a.Count
	}
	require.EqualValues(t, 1, codes[answer.CodeDuplicateKey])
	require.EqualValues(t, 1, codes[answer.CodeUnknownType])
	require.EqualValues(t, 2, codes[answer.CodeFreeUnknown])
	require.EqualValues(t, 1, codes[answer.CodeEndWithoutStart])
	require.Positive(t, codes[answer.CodeEventRefused])
	require.Equal(t, []answer.Code{answer.CodeBuffersOverlap, answer.CodeEventRefused, answer.CodeUnknownType}, r.Undecided()) // an unknown event may be anything
}

// What holds a byte, after any line; the header is number 0.
func TestHoldersAtEachLine(t *testing.T) {
	demo, err := os.ReadFile("../../examples/events.jsonl")
	require.NoError(t, err)
	for _, c := range []struct {
		at      event.Opt[uint64]
		address uint64
		want    []string
	}{
		{event.Opt[uint64]{}, 704512, []string{"CB 1"}},
		{event.Opt[uint64]{V: 3, OK: true}, 704512, nil},
		{event.Opt[uint64]{V: 7, OK: true}, 704512, []string{"CB 1", `a "large" tensor`, `a "large" tensor`}},
		{event.Opt[uint64]{V: 10, OK: true}, 704512, []string{"CB 1", `a "large" tensor`, `a "large" tensor`}},
		{event.Opt[uint64]{V: 12, OK: true}, 704512, []string{"CB 1"}},
	} {
		r := replayLog(t, string(demo), replay.Options{Ask: &answer.Question{Address: c.address, At: c.at}})
		var have []string
		for _, h := range r.Held {
			for _, held := range h.Resident {
				if held.Buffer != nil {
					have = append(have, string(held.Buffer.Op))
				} else {
					have = append(have, "CB "+string(rune('0'+held.CB.V)))
				}
			}
		}
		require.Equal(t, c.want, have, "at %v", c.at)
	}
}

// Two programs alike on two cores hold a byte apart; a program on both holds it in one row.
func TestHoldersOfEqualPrograms(t *testing.T) {
	program := func(id int, cores string) string {
		return fmt.Sprintf(`{"event":"program","program":%d,"name":"p%d","cbs":[{"cores":"%s","size":64}]}`+"\n"+`{"event":"enqueue","program":%d}`+"\n", id, id, cores, id)
	}
	for log, want := range map[string][]string{
		program(1, "0-0") + program(2, "1-0"):         {"{[0-0 - 0-0]} p1 p1", "{[1-0 - 1-0]} p2 p2"},
		program(1, "[0-0 - 1-0]"):                     {"{[0-0 - 1-0]} p1 p1"},
		program(1, "0-0") + program(2, "0-0"):         {"{[0-0 - 0-0]} p2 p1 p2"},
		program(1, "[0-0 - 1-0]") + program(2, "1-0"): {"{[0-0 - 0-0]} p1 p1", "{[1-0 - 1-0]} p2 p1 p2"},
	} {
		r := replayLog(t, logHead+`{"event":"device","device":0,"spec":{"board":"n150"}}`+"\n"+log, replay.Options{Ask: &answer.Question{Address: 103_712}})
		var have []string
		for _, h := range r.Held {
			text := h.Cores.String()
			for _, held := range slices.Concat(h.Resident, h.Registered) {
				text += " " + string(held.Program.Op)
			}
			have = append(have, text)
		}
		require.Equal(t, want, have, log)
	}
}

// One free may end different buffers of one id: each device loses its own.
func TestReplayOfLogFreesItsOwn(t *testing.T) {
	r := replayLog(t, logHead+`{"event":"mesh","first":0,"rows":1,"cols":2,"spec":{"board":"n150"}}
{"event":"allocate","buffer":2,"kind":"dram","devices":[1],"size":4096}
{"event":"allocate","buffer":2,"kind":"l1","devices":[0],"size":8,"parts":[{"cores":"{[0-0 - 0-0]}","address":200000,"size":8}]}
{"event":"free","buffer":2,"devices":[0,1]}
{"event":"allocate","buffer":2,"kind":"l1","size":8,"parts":[{"cores":"{[0-0 - 0-0]}","address":200016,"size":8}]}
`, replay.Options{})
	for _, on := range r.L1 {
		require.EqualValues(t, 8, on.Peak.Bytes)
	}
}

// A torn line, and a compressed log.
func TestReplayOfLogTorn(t *testing.T) {
	text := logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n" + `{"event":"dis`
	r := replayLog(t, text, replay.Options{})
	require.Equal(t, "n150", r.Spec.Name)
	require.Equal(t, []answer.AnomalyCount{
		{Code: answer.CodeNoCBs, Count: 1, First: -1},
		{Code: answer.CodeTornLine, Count: 1, First: 2, Detail: "line 3: torn: the last line is cut"},
	}, r.Anomalies)
	_, err := replay.Run("log", events(strings.NewReader(logHead+"{\n"), "log"), replay.Options{})
	require.Error(t, err)
}

// Layouts are those of meshes that a log declares, and of no others. Groups are there
// with Options.Groups.
func TestLayoutsAndGroups(t *testing.T) {
	log := logHead + `{"event":"mesh","first":8,"rows":2,"cols":3,"spec":{"board":"n150"}}
{"event":"mesh","first":9,"rows":1,"cols":1,"spec":{"board":"n150"}}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"allocate","buffer":1,"kind":"l1","devices":[8],"parts":[{"cores":"1-0","address":200000,"size":64},{"cores":"2-0","address":200000,"size":32}]}
`
	r := replayLog(t, log, replay.Options{Groups: true})
	require.Equal(t, []answer.MeshLayout{{First: 8, Rows: 2, Cols: 3}}, r.Layouts)
	var groups []string
	for _, row := range r.L1 {
		if row.Peak != nil {
			for _, g := range row.Peak.Groups {
				groups = append(groups, fmt.Sprint(row.ID.V, g.Cores, g.Bytes, len(g.Residents)))
			}
		}
	}
	require.Equal(t, []string{"8 {[1-0 - 1-0]} 64 1", "8 {[2-0 - 2-0]} 32 1"}, groups)
	for _, row := range replayLog(t, log, replay.Options{}).L1 {
		require.True(t, row.Peak == nil || row.Peak.Groups == nil)
	}
}

// The text of an anomaly says how often it was seen, and where first: of a log the detail names the line.
func TestAnomalyTexts(t *testing.T) {
	for _, c := range []struct {
		log  bool
		of   answer.AnomalyCount
		want string
	}{
		{false, answer.AnomalyCount{Count: 1}, "1 program has CBs that share bytes (node 0)"},
		{false, answer.AnomalyCount{Count: 2000}, "2,000 programs have CBs that share bytes (first at node 0)"},
		{false, answer.AnomalyCount{Count: 2, First: -1}, "2 programs have CBs that share bytes"},
		{false, answer.AnomalyCount{Count: 1, First: 7, Detail: "op"}, "1 program has CBs that share bytes (node 7, op)"},
		{true, answer.AnomalyCount{Count: 2, First: 7, T: "3.5"}, "2 programs have CBs that share bytes (first at event 7, t 3.5)"},
		{true, answer.AnomalyCount{Count: 1, First: 7, T: "3.5", Detail: "line 8"}, "1 program has CBs that share bytes (t 3.5, line 8)"},
		{true, answer.AnomalyCount{Count: 1, First: 7, Detail: "line 8"}, "1 program has CBs that share bytes (line 8)"},
	} {
		c.of.Code = answer.CodeOverlap
		odd, grave := answer.AnomalyCount{Code: "new", Count: 1, First: 3}, answer.AnomalyCount{Code: answer.CodeBeyondL1, Count: 3, First: 4}
		r := answer.Result{Log: c.log, Anomalies: []answer.AnomalyCount{odd, c.of, grave}}
		texts := r.AnomalyTexts(answer.Reason{Code: "other"})
		require.Len(t, texts, 3)
		require.Equal(t, c.want+": shared bytes count once; if it is not meant, one CB overwrites another", texts[1])
		require.Equal(t, fmt.Sprintf("1 new (%s 3): see the documentation", r.NodeWord()), texts[2])
		require.Equal(t, texts[1:], r.AnomalyTexts(r.Reason(answer.CodeBeyondL1)))
	}
}

// The fullest device is the first of equals; without CBs there is none.
func TestFullestDevice(t *testing.T) {
	r := answer.Result{Devices: []answer.Device{{}, {Fullest: &answer.FullestCore{Bytes: 32}}, {Fullest: &answer.FullestCore{Bytes: 64}}, {Fullest: &answer.FullestCore{Bytes: 64}}}}
	require.Same(t, &r.Devices[2], r.FullestDevice())
	r.Devices = r.Devices[:1]
	require.Nil(t, r.FullestDevice())
}

// A picture of one core has the groups of that core alone, and the clash there.
func TestMapOfACore(t *testing.T) {
	log := fewDevices + `{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 1-0]}","size":2500}]}
{"event":"allocate","buffer":1,"kind":"l1","devices":[2],"parts":[{"cores":"{[0-0 - 1-0]}","address":3200,"size":64}]}
{"event":"allocate","buffer":2,"kind":"l1","devices":[2],"parts":[{"cores":"{[1-0 - 1-0]}","address":3600,"size":32}]}
{"event":"free","buffer":2}
{"event":"enqueue","program":1,"devices":[2]}
`
	for core, want := range map[string]string{"": "0-0 324 2 [64 96]", "0-0": "0-0 324 2 [64]", "1-0": "1-0 324 2 [96]"} {
		opt := replay.Options{Groups: true}
		if core != "" {
			one, err := l1.ParseCore(core)
			require.NoError(t, err)
			opt.Only.Core = event.Some(one)
		}
		doc := replayLog(t, log, opt).Map(event.Opt[uint64]{})
		var bytes []uint64
		for _, g := range doc.Devices[1].Groups {
			bytes = append(bytes, g.Bytes)
		}
		require.Empty(t, doc.Devices[0].Groups)
		require.Equal(t, want, fmt.Sprint(doc.Clash.Core, doc.Clash.Over, " ", len(doc.Clash.Residents), bytes), core)
	}
}

// Each count of a check has its own field, and a report of some operations has their programs alone.
func TestCountsOfDocuments(t *testing.T) {
	r := answer.Result{Checks: answer.Checks{Runs: 11, Inferred: 5, Failed: 2, More: 3}, Anomalies: []answer.AnomalyCount{
		{Code: answer.CodeOverlap, Count: 17, First: 19}, {Code: answer.CodeAborted, Count: 7, First: 13, Detail: "why"},
	}}
	doc := r.Check(answer.Judgement{})
	require.Equal(t, []int64{11, 5, 2, 3}, []int64{doc.Runs, doc.Inferred, doc.Failed, doc.More})
	require.Equal(t, &answer.AbortedRuns{Count: 7, First: 13, Detail: "why"}, doc.Aborted)

	log := fewDevices + lineOf(t, "program 1 64") + "\n" + lineOf(t, "program 2 32 1-0") + "\n" + lineOf(t, "enqueue 1") + "\n" + lineOf(t, "enqueue 2 2") + "\n"
	some := replayLog(t, log, replay.Options{Only: answer.Filter{Op: "p2"}}).Report().Devices
	require.Equal(t, []int{0, 1}, []int{some["1"].ProgramsDetail.Len(), some["2"].ProgramsDetail.Len()})
}

// Of equal needs the first one is named, and of the two readings of L1_SMALL the one by addresses.
func TestNeedsOfEquals(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 4096, CBBase: 1024, CBAlign: 16, L1Align: 16, CBIndices: 8}
	small := answer.Need{Value: 3072, At: 7}
	for kept, all := range map[uint64]bool{1024: false, 1040: true} {
		bytes, by, together := answer.Needs{Small: small, Kept: answer.Need{Value: kept, At: 8}}.SmallBank(spec)
		require.Equal(t, []any{kept, all}, []any{bytes, together})
		require.Equal(t, all, by.At == 8)
	}
	log := fewDevices
	for i, kind := range []string{"trace", "trace", "l1", "l1_small"} { // each twice, one after the other
		for range 2 {
			parts := `,"parts":[{"cores":"{[0-0 - 0-0]}","address":2048,"size":64}]`
			if kind == "trace" {
				parts = fmt.Sprintf(`,"size":%d`, 64-i)
			}
			log += fmt.Sprintf(`{"event":"allocate","buffer":1,"kind":%q%s}`+"\n"+`{"event":"free","buffer":1}`+"\n", kind, parts)
		}
	}
	needs := replayLog(t, log, replay.Options{}).L1[0].Needs
	require.Equal(t, []uint64{3, 64, 11, 2048, 15, 2048}, []uint64{needs.Trace.At, needs.Trace.Value, needs.Lowest.At, needs.Lowest.Value, needs.Small.At, needs.Small.Value})
}

// TestSmallBank rounds what lay in L1_SMALL up to whole steps of the alignment, beside buffers without addresses of as
// many bytes, of more and of fewer.
func TestSmallBank(t *testing.T) {
	spec := l1.Spec{L1Size: 4096, CBAlign: 64, L1Align: 16}
	type want struct {
		bytes, by uint64
		all       bool
	}
	for _, test := range []struct {
		small, kept uint64
		want        want
	}{
		{0, 0, want{}},
		{4096, 0, want{}},
		{4095, 0, want{64, 5, false}},
		{4032, 0, want{64, 5, false}},
		{4031, 0, want{128, 5, false}},
		{4031, 64, want{128, 5, false}},
		{4031, 128, want{128, 5, false}},
		{4031, 192, want{192, 6, true}},
		{0, 64, want{64, 6, true}},
	} {
		needs := answer.Needs{Small: answer.Need{Value: test.small, At: 5}, Kept: answer.Need{Value: test.kept, At: 6}}
		bytes, by, all := needs.SmallBank(spec)
		require.Equal(t, test.want, want{bytes, by.At, all}, "%d, %d", test.small, test.kept)
	}
}

// A buffer strays if it lies elsewhere than the allocator puts it, from the top, in the highest gap that holds it.
func TestStrays(t *testing.T) {
	const top = 1_499_136
	buffer := func(id int, kind string, at, size uint64, more string) string {
		return fmt.Sprintf(`{"event":"allocate","buffer":%d,"kind":%q,"parts":[{"address":%d,"size":%d%s}]}`+"\n", id, kind, at, size, more)
	}
	head := `{"event":"log","version":1}` + "\n" + `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n"
	full := head + buffer(1, "l1", top-4096, 4096, "") + buffer(2, "l1", top-4096-2048, 2032, "")
	free := func(id int) string { return fmt.Sprintf(`{"event":"free","buffer":%d}`+"\n", id) }
	for name, c := range map[string]struct {
		log  string
		want answer.Need
	}{
		"one below the other, in whole steps":      {full, answer.Need{}},
		"the highest gap":                          {full + free(1) + buffer(3, "l1", top-64, 64, "") + buffer(4, "global_cb", top-4096-2048-8192, 8192, ""), answer.Need{}},
		"a gap above that is large enough":         {full + free(1) + buffer(3, "l1", top-4096-2048-64, 64, ""), answer.Need{Value: top - 4096 - 2048 - 64, At: 5}},
		"the first of two, and one that went away": {head + buffer(1, "l1", 200_000, 64, "") + free(1) + buffer(2, "l1", 300_000, 64, ""), answer.Need{Value: 200_000, At: 2}},
		"two addresses":                            {head + strings.Replace(buffer(1, "l1", top-64, 64, `,"cores":"[0-0 - 0-0]"`), "}]", `},{"address":1499008,"size":64,"cores":"[1-0 - 1-0]"}]`, 1), answer.Need{Value: 1_499_008, At: 2}},
		"no room in our reading":                   {head + buffer(1, "l1", top-64, 64, "") + buffer(2, "l1", 200_000, 1_400_000, ""), answer.Need{Value: 200_000, At: 3}},
		"another kind, and a place by the source":  {head + buffer(1, "l1_small", 200_000, 64, "") + buffer(2, "l1", 300_000, 64, `,"synthesised":true`), answer.Need{}},
		"a buffer that backs another one":          {head + strings.Replace(buffer(1, "l1", 200_000, 64, ""), `"kind"`, `"backing":true,"kind"`, 1), answer.Need{}},
	} {
		require.Equal(t, c.want, replayLog(t, c.log, replay.Options{Strays: true}).L1[0].Needs.Stray, name)
		require.Zero(t, replayLog(t, c.log, replay.Options{}).L1[0].Needs.Stray, name)
	}
}
