package diff_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

var update = flag.Bool("update", false, "rewrite the golden files; review the difference")

// everyFigure is a saved report in which each figure is another number.
const everyFigure = `{"schema":"cbl1.report/2","file":"a","rank":1,"nodes":2,"basis":{"arch":"wormhole","arch_from":"file","cb_base":3,"base_from":"option",` +
	`"cb_align":4,"l1_size_bytes":5,"l1_small_bytes":6,"l1_small_from":"arch"},"checks":{"runs":8,"runs_failed":7,"untold":["torn-line","not-shown"],` +
	`"tightest":{"program":{"op":"sub"},"counter":9,"device":10,"headroom":{"region_end":11,"free_bytes":12,"largest_gap_bytes":13}}},` +
	`"live_at_end":{"list":[{"op":"neg","device":10,"kind":"l1","size_bytes":14,"address":15,"layout":"tile"}],"more":16},` +
	`"l1":[{"kind":"mesh","device":10,"chips":[17,18],"cols":19,"rows":20,"cores":21,"cores_from":"assumed","tracked_peak_bytes":22,"l1_peak_bytes":23,"l1_final_bytes":24,` +
	`"l1_small_peak_bytes":25,"l1_small_final_bytes":26,"core_peak":{"tracked_bytes":27,"core":"1-2","op":"mul","counter":28,"residents":[` +
	`{"kind":"cb","start":29,"end":30,"cb":31,"program":{"op":"max"}},{"kind":"l1","start":32,"end":34,"buffer":{"op":"ones","layout":"row"}}]}}],` +
	`"devices":{"10":{"kind":"mesh","chips":[17,18],"programs":35,"registered_core_peak_bytes":36,"core_peak_bytes":37,"registered_union_bytes":38,"resident_peak_bytes":39,` +
	`"registered_logical_bytes":40,"highest_end":41,"dataflow_registered_core_peak_bytes":42,"scratchpad_registered_core_peak_bytes":43,"programs_detail":[` +
	`{"op":"exp","first_counter":44,"local_cbs":45,"global_cbs":46,"cores":47,"logical_bytes":48,"resident_bytes":49,"core_max_bytes":50,"highest_end":51,"cbs_overlap":true}],` +
	`"core_groups":[{"cores":"{[0-0 - 1-1]}","registered_bytes":52,"core_peak_bytes":53,"programs":54,"registered_regions":[[55,56],[57,58]]}]}}}`

const (
	aHead   = `{"event":"log","version":1}` + "\n"
	aDevice = `{"event":"device","device":%d,"spec":{"arch":"wormhole","cols":2,"rows":2,"l1_size":100000,"cb_base":1024,"cb_align":32%s}}` + "\n"
)

func aProgram(id int, op, cbs string) string {
	return fmt.Sprintf(`{"event":"program","program":%d,"name":"%s","cbs":[%s]}`+"\n"+`{"event":"enqueue","program":%[1]d}`+"\n", id, op, cbs)
}

func aBuffer(id int, name, kind string, at, size int) string {
	return fmt.Sprintf(`{"event":"allocate","buffer":%d,"kind":"%s","name":"%s","parts":[{"address":%d,"size":%d}]}`+"\n", id, kind, name, at, size)
}

func aCB(cores string, size int, more string) string {
	return fmt.Sprintf(`{"cores":"%s","size":%d%s}`, cores, size, more)
}

// aLog has two of everything.
func aLog() string {
	return aHead + fmt.Sprintf(aDevice, 0, "") + fmt.Sprintf(aDevice, 1, "") +
		aBuffer(1, "ones", "l1", 90_000, 512) + aBuffer(2, "zeros", "l1", 80_000, 256) + aBuffer(3, "kept", "l1", 70_000, 128) +
		`{"event":"allocate","buffer":9,"kind":"dram","name":"weights","size":77}` + "\n" +
		aProgram(1, "add", aCB("{[0-0 - 1-0]}", 64, "")+","+aCB("{[0-0 - 0-0]}", 128, "")) +
		aProgram(2, "mul", aCB("{[1-1 - 1-1]}", 4096, `,"indices":[{"index":0,"page_size":32}]`)+","+aCB("{[1-1 - 1-1]}", 32, `,"kind":"scratchpad"`)+","+aCB("{[0-0 - 0-0]}", 8, `,"global":true`)) +
		aProgram(3, "sub", aCB("{[0-1 - 0-1]}", 96, `,"kind":"dataflow"`)) + aProgram(4, "add", aCB("{[0-0 - 1-0]}", 64, "")+","+aCB("{[0-0 - 0-0]}", 128, "")) +
		`{"event":"free","buffer":1}` + "\n"
}

// unlike is a log of two devices with a program each: of the same name and the same sums, the larger CB above or
// below the smaller one.
func unlike() string {
	text := aHead + fmt.Sprintf(aDevice, 0, "") + fmt.Sprintf(aDevice, 1, "")
	for i, cbs := range []string{aCB("{[0-0 - 0-0]}", 64, "") + "," + aCB("{[0-0 - 0-0]}", 128, ""), aCB("{[0-0 - 0-0]}", 128, "") + "," + aCB("{[0-0 - 0-0]}", 64, "")} {
		text += strings.Replace(aProgram(i, "add", cbs), `"enqueue",`, fmt.Sprintf(`"enqueue","devices":[%d],`, i), 1)
	}
	return text
}

// placed is a log of programs of one name and one size, on these cores.
func placed(places ...string) string {
	text := aHead + fmt.Sprintf(aDevice, 0, "")
	for i, at := range places {
		text += aProgram(i, "add", aCB("{["+at+" - "+at+"]}", 64, ""))
	}
	return text
}

// Two sides, and the whole report on them. -update writes it anew: review the difference.
func TestWholeDiffs(t *testing.T) {
	budget, err := answer.ParseBudget("100")
	require.NoError(t, err)
	otherFigures := strings.Replace(regexp.MustCompile(`":(\d)`).ReplaceAllString(everyFigure, `":1$1`), `"10":{`, `"110":{`, 1)
	changed := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(aLog()) }
	var got strings.Builder
	for _, c := range []struct {
		name     string
		old, new []*diff.Run
		terms    diff.Terms
	}{
		{"reports that differ in each figure", handed(t, everyFigure), handed(t, otherFigures), diff.Terms{MaxGrowth: &budget, Accept: []answer.Code{"not-shown"}}},
		{"a report and nothing", handed(t, everyFigure), nil, diff.Terms{}},
		{"logs that are alike", runOf(t, aLog()), runOf(t, aLog()), diff.Terms{MaxGrowth: &budget}},
		{"a report and a log", handed(t, everyFigure), runOf(t, aLog()), diff.Terms{}},
		{"a buffer that is kept elsewhere, and a larger one", runOf(t, aLog()), runOf(t, changed("70000", "71000", `"size":256`, `"size":300`)), diff.Terms{MaxGrowth: &budget}},
		{"other CBs: sizes, cores, kinds, places", runOf(t, aLog()), runOf(t, changed(
			`"size":4096`, `"size":5000`, "{[1-1 - 1-1]}", "{[0-1 - 1-1]}", `,"global":true`, "", `"{[0-0 - 0-0]}","size":128}`, `"{[0-0 - 0-0]}","size":128,"address":4096}`)), diff.Terms{}},
		{"a program that is gone, and one that is new", runOf(t, aLog()), runOf(t, changed(`"name":"mul"`, `"name":"div"`)), diff.Terms{}},
		{"a device that is gone, and one that does not fit", runOf(t, aLog()),
			runOf(t, changed(fmt.Sprintf(aDevice, 1, ""), "", `"size":4096`, `"size":98000`)), diff.Terms{}},
		{"other devices", runOf(t, aLog()), runOf(t, changed(fmt.Sprintf(aDevice, 1, ""), fmt.Sprintf(aDevice, 5, `,"l1_small":1024`))), diff.Terms{}},
		{"a report without a tightest run, a peak, places and the source of L1_SMALL", handed(t, everyFigure), handed(t, strings.NewReplacer(
			`"tightest":{`, `"x":{`, `"core_peak":{`, `"x":{`, `"address":15`, `"address":null`, `"l1_small_from":"arch"`, `"x":1`).Replace(everyFigure)), diff.Terms{MaxGrowth: &budget}},
		{"a report of before L1_SMALL, and a CB of no program", handed(t, strings.NewReplacer(`"l1_small_bytes":6,"l1_small_from":"arch"`, `"x":1`, `"cb":31,`, "").Replace(everyFigure)),
			handed(t, everyFigure), diff.Terms{}},
		{"devices with the same sums, and with CBs in other places", runOf(t, unlike()), runOf(t, unlike()), diff.Terms{}},
		{"programs that differ in their cores alone, and one that stays", runOf(t, placed("0-0", "1-0", "0-1")), runOf(t, placed("1-0", "1-1")), diff.Terms{}},
		{"something hidden on one side", runOf(t, aLog()), runOf(t, aLog()+`{"event":"hidden","code":"x","count":2,"devices":[1]}`+"\n"), diff.Terms{}},
	} {
		text, err := json.Marshal(diff.Compare(c.old, c.new, c.terms))
		require.NoError(t, err)
		again, err := json.Marshal(diff.Compare(c.old, c.new, c.terms))
		require.NoError(t, err)
		require.Equal(t, string(text), string(again), "no side has changed")
		lines := strings.NewReplacer(`},{`, "},\n   {", `],"`, "],\n \"", `},"`, "},\n  \"").Replace(string(text))
		fmt.Fprintf(&got, "== %s\n%s\n", c.name, lines)
	}
	testkit.Golden(t, *update, "testdata/diffs.golden", got.String())
	require.EqualValues(t, -4, diff.Figure{Old: 5, New: 1}.Change())
}

// A report that an older cbl1 saved, without the source of L1_SMALL, says the same as its log today.
func TestSavedBefore(t *testing.T) {
	file, err := os.Open("testdata/saved_before.json")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	runs, err := diff.Decode(file, "saved_before.json")
	require.NoError(t, err)
	d := diff.Compare(runs, runOf(t, aLog()), diff.Terms{})
	require.True(t, d.Equal)
	require.Equal(t, diff.BySums, d.Basis.Programs)
	require.Len(t, d.Devices, len(diff.Compare(nil, runOf(t, aLog()), diff.Terms{}).Devices))
}

// Each number of a report has its limits, and what is beyond them is named with its field. -update writes
// the answers anew: review the difference.
func TestEachNumber(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("some numbers end at 2^31-1 here")
	}
	handed(t, everyFigure)
	var doc map[string]any
	d := json.NewDecoder(strings.NewReader(everyFigure))
	d.UseNumber()
	require.NoError(t, d.Decode(&doc))
	var got strings.Builder
	numbers(doc, "", func(path string, set func(any)) {
		because := map[string][]string{}
		for _, v := range [][2]string{{"-1", "-1"}, {"0", "0"}, {"2^31", "2147483648"}, {"2^63-1", "9223372036854775807"}, {"2^63", "9223372036854775808"}, {"2^64", "18446744073709551616"}} {
			set(json.Number(v[1]))
			again, err := json.Marshal(doc)
			require.NoError(t, err)
			_, err = diff.Decode(strings.NewReader("\n"+strings.Replace(string(again), `{"`, `{"schema":"cbl1.report/2","`, 1)), "x")
			why := "ok"
			if wrong, ok := errors.AsType[*diff.DecodeError](err); ok {
				require.Equal(t, 2, wrong.Line)
				why = fmt.Sprintf("%s: %s", wrong.Field, strings.ReplaceAll(wrong.Reason, v[1], "N"))
			} else {
				require.NoError(t, err)
			}
			because[why] = append(because[why], v[0])
		}
		for _, why := range slices.Sorted(maps.Keys(because)) {
			fmt.Fprintf(&got, "%s = %s: %s\n", path, strings.Join(because[why], ", "), why)
		}
	})
	testkit.Golden(t, *update, "testdata/numbers.golden", got.String())
}

// numbers calls f for each number in a document, with what sets it.
func numbers(v any, path string, f func(path string, set func(any))) {
	visit := func(key string, x any, set func(any)) {
		if _, ok := x.(json.Number); ok {
			f(strings.TrimPrefix(path+key, "."), set)
			set(x)
		}
		numbers(x, path+key, f)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visit("."+key, v[key], func(x any) { v[key] = x })
		}
	case []any:
		for i := range v {
			visit(fmt.Sprintf("[%d]", i), v[i], func(x any) { v[i] = x })
		}
	}
}
