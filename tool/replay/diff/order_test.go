package diff_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// onPeak is a saved report of a device with this on its fullest core. Residents are "kind op cb start size".
func onPeak(bytes uint64, residents ...string) string {
	var rows []string
	for _, r := range residents {
		var kind, op, cb string
		var start, size int
		_, err := fmt.Sscan(r, &kind, &op, &cb, &start, &size)
		if err != nil {
			panic(err)
		}
		of := fmt.Sprintf(`"cb":%s,"program":{"op":%q}`, cb, op)
		if cb == "-" {
			of = fmt.Sprintf(`"buffer":{"op":%q}`, op)
		}
		rows = append(rows, fmt.Sprintf(`{"kind":%q,"start":%d,"end":%d,%s}`, kind, start, start+size, of))
	}
	const head = `{"schema":"cbl1.report/2","checks":{"untold":[]},"l1":[{"device":0,"kind":"chip","core_peak":`
	return fmt.Sprintf(head+`{"tracked_bytes":%d,"op":"now","residents":[%s]}}]}`, bytes, strings.Join(rows, ","))
}

// said says parts as lines.
func said(parts []diff.Resident) (out []string) {
	for _, p := range parts {
		cb := "-"
		if p.CB.OK {
			cb = fmt.Sprint(p.CB.V)
		}
		out = append(out, fmt.Sprintf("%s %s %s %s %+d times %d", p.State, p.Kind.Name(), p.Op, cb, p.Change(), p.Times))
	}
	return out
}

// What changes most comes first, whichever way; of equal changes the order of kinds, operations and
// positions stays. Parts are one line if kind, operation, position and both sizes are equal.
func TestPartsInOrder(t *testing.T) {
	old := onPeak(9, "cb a 0 0 10", "cb a 1 10 10", "dataflow a 0 20 10", "cb b 0 30 10", "l1 c - 100 99", "l1 d - 200 5",
		"l1 e - 300 7", "l1 e - 310 7", "l1 e - 320 7", "l1 e - 330 7",
		"l1 g - 400 3", "l1 g - 410 4")
	new := onPeak(8, "cb a 0 0 20", "cb a 1 10 20", "dataflow a 0 20 20", "cb b 0 30 20", "l1 d - 205 5",
		"l1 e - 300 8", "l1 e - 310 8", "l1 e - 320 8", "l1 e - 330 9", "l1 f - 0 50",
		"l1 g - 400 6", "l1 g - 410 6")
	d := diff.Compare(handed(t, old), handed(t, new), diff.Terms{})
	require.Equal(t, []string{
		"gone l1 c - -99 times 1", "new l1 f - +50 times 1", "grown cb a 0 +10 times 1",
		"grown cb a 1 +10 times 1", "grown cb b 0 +10 times 1", "grown dataflow a 0 +10 times 1",
		"grown l1 g - +3 times 1", "grown l1 e - +2 times 1", "grown l1 g - +2 times 1", "grown l1 e - +1 times 3", "moved l1 d - +0 times 1",
	}, said(d.Devices[0].AtPeak))
	require.Equal(t, diff.Shrunk, d.Devices[0].State)
	require.EqualValues(t, 0, d.Devices[0].AtPeak[2].Old.Start.V)
}

// The program that grew most is that of most bytes over its buffers, less those that went; of equal
// ones the first. The grower is what grew most of all.
func TestGrower(t *testing.T) {
	budget, err := answer.ParseBudget("0")
	require.NoError(t, err)
	for _, c := range []struct {
		old, new        []string
		program, grower string
	}{
		{nil, []string{"cb a 0 0 32", "cb b 0 32 32"}, "a", "new cb a 0 +32 times 1"},
		{nil, []string{"cb a 0 0 32", "l1 c - 500 99"}, "a", "new l1 c - +99 times 1"},
		{nil, []string{"cb a 0 0 32", "cb b 0 32 40", "l1 a - 500 20"}, "b", "new cb b 0 +40 times 1"},
		{
			[]string{"cb a 0 0 10", "cb a 1 10 90", "cb b 0 200 10"}, []string{"cb a 0 0 60", "cb a 1 10 50", "cb b 0 200 30"},
			"b", "grown cb a 0 +50 times 1",
		},
		{[]string{"l1 d - 500 99", "cb a 0 0 32"}, []string{"l1 c - 500 98"}, "c", "new l1 c - +98 times 1"},
		{[]string{"cb a 0 0 32"}, []string{"cb a 0 32 32"}, "now", ""},
	} {
		g := diff.Compare(handed(t, onPeak(9, c.old...)), handed(t, onPeak(10, c.new...)), diff.Terms{MaxGrowth: &budget}).Growth
		got := ""
		if g.Grower != nil {
			got = said([]diff.Resident{*g.Grower})[0]
		}
		require.Equal(t, []string{c.program, c.grower}, []string{string(g.Program), got})
	}
	// Of two captures at the same peak the first one says what grew.
	two := handed(t, onPeak(8, "cb z 0 0 8"), onPeak(10, "cb a 0 0 32"), onPeak(10, "cb b 0 0 32"))
	require.EqualValues(t, "a", diff.Compare(handed(t, onPeak(9), onPeak(9), onPeak(9)), two, diff.Terms{MaxGrowth: &budget}).Growth.Program)
}

// onDevice0 is a saved report of circular buffers on a device.
func onDevice0(members string) string {
	return `{"schema":"cbl1.report/2","checks":{"untold":[]},"devices":{"0":{"kind":"chip",` + members + `}}}`
}

// detailed is a saved report of a device with these programs: "op logical bytes core end".
func detailed(programs ...string) string {
	var rows []string
	for i, p := range programs {
		var op string
		var logical, bytes, core, end int
		if _, err := fmt.Sscan(p, &op, &logical, &bytes, &core, &end); err != nil {
			panic(err)
		}
		rows = append(rows, fmt.Sprintf(`{"op":%q,"first_counter":%d,"local_cbs":1,"cores":4,"logical_bytes":%d,`+
			`"resident_bytes":%d,"core_max_bytes":%d,"highest_end":%d}`, op, i, logical, bytes, core, end))
	}
	return onDevice0(fmt.Sprintf(`"programs":%d,"programs_detail":[%s]`, len(rows), strings.Join(rows, ",")))
}

// A program is what its fullest core says, then what all cores, then what its buffers say. What
// changes most on the fullest core comes first, then what changes most over all.
func TestProgramsInOrder(t *testing.T) {
	old := detailed("a 90 80 70 9", "b 90 80 70 9", "c 90 80 70 9", "d 90 80 70 9", "e 90 80 70 9",
		"e 90 80 70 9", "f 90 80 70 9", "g 90 80 70 9", "e 90 80 70 9", "h 90 80 70 9")
	new := detailed("a 91 80 70 9", "b 80 82 70 9", "c 99 99 65 9", "d 90 80 70 8", "e 90 80 74 9",
		"e 90 80 74 9", "f 99 77 70 9", "g 90 80 70 9", "e 90 80 74 9", "i 90 83 75 9")
	dev := diff.Compare(handed(t, old), handed(t, new), diff.Terms{}).Devices[0]
	var got []string
	for _, p := range dev.Changes {
		got = append(got, fmt.Sprintf("%s %s %+d times %d", p.State, p.Op, p.Change(), p.Times))
	}
	require.Equal(t, []string{
		"new i +75 times 1", "gone h -70 times 1", "shrunk c -5 times 1", "grown e +4 times 3",
		"shrunk f +0 times 1", "grown b +0 times 1", "grown a +0 times 1", "moved d +0 times 1",
	}, got)
	require.Equal(t, map[diff.State]int{"new": 1, "gone": 1, "shrunk": 2, "grown": 5, "moved": 1, "same": 1}, dev.Counts)
}

// Cores are grouped by what was registered, alive at the peak, and where. What changes most
// registered bytes comes first, then what changes most alive ones.
func TestGroupsInOrder(t *testing.T) {
	group := func(y, registered, alive, end int) string {
		return fmt.Sprintf(`{"cores":"{[0-%d - 1-%d]}","registered_bytes":%d,"core_peak_bytes":%d,"registered_regions":[[0,1],[2,%d]]}`, y, y, registered, alive, end)
	}
	side := func(groups ...string) []*diff.Run {
		return handed(t, onDevice0(`"core_groups":[`+strings.Join(groups, ",")+`]`))
	}
	old := side(group(0, 50, 40, 9), group(1, 50, 40, 9), group(2, 50, 40, 9), group(3, 50, 40, 9), group(4, 50, 40, 9), group(5, 3, 3, 9))
	new := side(group(0, 50, 40, 9), group(1, 50, 40, 8), group(2, 50, 37, 9), group(3, 44, 40, 9), group(4, 54, 40, 9), group(6, 4, 5, 7))
	d := diff.Compare(old, new, diff.Terms{})
	var got []string
	for _, g := range d.Devices[0].Groups {
		got = append(got, fmt.Sprintf("%s %s %d %v %v %v", g.State, g.Cores, g.Count, g.Registered, g.AlivePeak, g.End))
	}
	require.Equal(t, []string{
		"shrunk {[0-3 - 1-3]} 2 {50 44} {40 40} {9 9}",
		"grown {[0-6 - 1-6]} 2 {0 4} {0 5} {0 7}",
		"grown {[0-4 - 1-4]} 2 {50 54} {40 40} {9 9}",
		"shrunk {[0-5 - 1-5]} 2 {3 0} {3 0} {9 0}",
		"shrunk {[0-2 - 1-2]} 2 {50 50} {40 37} {9 9}",
		"moved {[0-1 - 1-1]} 2 {50 50} {40 40} {9 8}",
	}, got)
	require.Nil(t, d.Devices[0].Laid, "no side says what lay on other cores")
}

// Programs are compared by the least that a side says of any device, in whatever order devices come.
func TestBasis(t *testing.T) {
	full, sums, figures := small().run(t), handed(t, detailed("a 1 1 1 1")), handed(t, onDevice0(`"programs":1`))
	for _, c := range []struct {
		old, new []*diff.Run
		want     diff.ProgramBasis
	}{
		{full, full, diff.ByBuffers}, {full, sums, diff.BySums}, {sums, full, diff.BySums}, {figures, sums, diff.ByFigures},
		{slices.Concat(full, figures, sums), full, diff.ByFigures}, {slices.Concat(sums, figures), full, diff.ByFigures}, {handed(t, onPeak(1)), full, diff.ByBuffers},
		{handed(t, onDevice0(`"programs":0`)), full, diff.ByBuffers},
		{handed(t, strings.Replace(onPeak(1), `"l1":`, `"devices":{"0":{"programs":1}},"l1":`, 1)), full, diff.ByFigures},
	} {
		d := diff.Compare(c.old, c.new, diff.Terms{})
		require.Equal(t, c.want, d.Basis.Programs)
		require.Equal(t, c.want != diff.ByFigures, d.Devices[0].Listed)
	}
	one := detailed("a 1 1 1 1")
	counts := diff.Compare(handed(t, one, one), handed(t, one), diff.Terms{})
	require.Equal(t, map[diff.State]int{diff.Gone: 1}, counts.Devices[1].Counts)
}

// Numbers on each side of each limit.
func TestLimitsOfReports(t *testing.T) {
	const most, above = "9223372036854775807", "9223372036854775808"
	for _, c := range []struct{ old, good, bad string }{
		{`"nodes":9`, `"nodes":` + most, `"nodes":` + above},
		{`"runs":3`, `"runs":1099511627776`, `"runs":1099511627777`},
		{`"runs":3`, `"runs":1`, `"runs":0`},
		{`"runs_failed":1`, `"runs_failed":3`, `"runs_failed":4`},
		{`"runs_failed":1`, `"runs_failed":0`, `"runs_failed":-1`},
		{`"counter":4`, `"counter":` + most, `"counter":` + above},
		{`"region_end":900`, `"region_end":` + most, `"region_end":` + above},
		{`"free_bytes":64`, `"free_bytes":` + most, `"free_bytes":` + above},
		{`"largest_gap_bytes":32`, `"largest_gap_bytes":` + most, `"largest_gap_bytes":` + above},
		{`"size_bytes":16`, `"size_bytes":` + most, `"size_bytes":` + above},
		{`"address":500`, `"address":` + most, `"address":` + above},
		{`"cols":8`, `"cols":0`, `"cols":-1`},
		{`"rows":7`, `"rows":0`, `"rows":-1`},
		{`"cores":56`, `"cores":0`, `"cores":-1`},
		{`"tracked_bytes":300`, `"tracked_bytes":` + most, `"tracked_bytes":` + above},
		{`"tracked_peak_bytes":1`, `"tracked_peak_bytes":` + most, `"tracked_peak_bytes":` + above},
		{`"end":396`, `"end":` + most, `"end":` + above},
		{`"programs":1`, `"programs":` + most, `"programs":` + above},
		{`"core_peak_bytes":300`, `"core_peak_bytes":` + most, `"core_peak_bytes":` + above},
		{`"first_counter":5`, `"first_counter":` + most, `"first_counter":` + above},
		{`"highest_end":396`, `"highest_end":` + most, `"highest_end":` + above},
		{`"local_cbs":2`, `"local_cbs":0`, `"local_cbs":-1`},
		{`"global_cbs":3`, `"global_cbs":0`, `"global_cbs":-1`},
		{`"cores":4,`, `"cores":0,`, `"cores":-1,`},
		{`"registered_bytes":303`, `"registered_bytes":` + most, `"registered_bytes":` + above},
		{`"core_peak_bytes":304`, `"core_peak_bytes":` + most, `"core_peak_bytes":` + above},
		{`[96,200]`, `[96,96]`, `[96,95]`},
		{`{"0":`, `{"none":`, `{"":`},
		{`"rank":1`, `"only":null`, `"only":{}`},
		{
			`"registered_regions":[[96,200],[300,399]]}`, `"x":[]},{"cores":"{[2-0 - 2-1]}"},{"cores":"{[3-0 - 3-1]}"}`,
			`"x":[]},{"cores":"{[2-0 - 2-1]}"},{"cores":"{[1-1 - 1-1]}"}`,
		},
	} {
		_, err := diff.Decode(strings.NewReader(strings.Replace(byHand, c.old, c.good, 1)), "x.json")
		require.NoError(t, err, c.good)
		_, err = diff.Decode(strings.NewReader(strings.Replace(byHand, c.old, c.bad, 1)), "x.json")
		_, refused := errors.AsType[*diff.DecodeError](err)
		require.True(t, refused, c.bad)
	}
	require.False(t, diff.IsReport([]byte(`{"cbl1.report/x":1}`)))
	require.False(t, diff.IsReport([]byte(`"cbl1.report/2"`)))
}

// What two logs and their saved reports say of a device: all figures, its peak, and the tightest run.
func TestWholeDevice(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"device","device":3,"spec":{"arch":"wormhole","cols":8,"rows":8,"l1_size":1048576,"cb_base":1024,"cb_align":32,"l1_small":4096}}
{"event":"allocate","buffer":1,"kind":"l1","parts":[{"cores":"0-0","address":500000,"size":640}]}
{"event":"allocate","buffer":2,"kind":"l1_small","parts":[{"cores":"0-0","address":1044480,"size":320}]}
{"event":"allocate","buffer":3,"kind":"l1_small","parts":[{"cores":"0-0","address":1044800,"size":32}]}
{"event":"free","buffer":2}
{"event":"program","program":1,"name":"p","cbs":[{"kind":"dataflow","cores":"[0-0 - 1-0]","size":96},{"kind":"scratchpad","cores":"0-0","size":128}]}
{"event":"enqueue","program":1}
{"event":"free","buffer":1}
{"event":"program","program":2,"name":"q","cbs":[{"cores":"0-0","size":32}]}
{"event":"enqueue","program":2}
{"event":"unregister","program":2}
{"event":"program","program":3,"name":"r","cbs":[{"cores":"1-0","size":64}]}
{"event":"enqueue","program":3}
`
	r := resultOf(t, log, true)
	for i, side := range [][]*diff.Run{{diff.Of(r)}, decode(t, resultOf(t, log, false))} {
		d := diff.Compare(side, side, diff.Terms{})
		var got []string
		for _, f := range d.Devices[0].Figures {
			got = append(got, fmt.Sprintf("%s %d", f.Name, f.New))
		}
		require.Equal(t, []string{
			"programs 2", "registered_core_peak_bytes 64", "core_peak_bytes 64", "registered_union_bytes 64", "resident_peak_bytes 64",
			"registered_logical_bytes 64", "highest_end 1088", "dataflow_registered_core_peak_bytes 96", "scratchpad_registered_core_peak_bytes 128",
			"tracked_core_peak_bytes 992", "tracked_peak_bytes 992", "l1_peak_bytes 640", "l1_final_bytes 0", "l1_small_peak_bytes 352", "l1_small_final_bytes 32",
		}, got)
		require.JSONEq(t, `{"rank":null,"device":3,"tracked_bytes":992,"core":"0-0","op":"","counter":4}`, text(d.Devices[0].Peak.Old))
		require.JSONEq(t, `{"rank":null,"device":3,"op":"p","counter":7,"region_end":1248,"free_bytes":498752,"largest_gap_bytes":543840}`,
			text(d.Sides.Old.Tightest))
		require.Equal(t, &diff.File{Name: "plan.jsonl", Nodes: 14, Log: i == 0, Saved: i == 1}, d.Captures[0].Old)
	}
}

// Devices come by their ids, those without one first. A device whose peak is as high with something
// else there has moved. Of a chip and a mesh the new one says the kind.
func TestDevices(t *testing.T) {
	both := handed(t, `{"schema":"cbl1.report/2","checks":{"untold":[]},"devices":{"7":{"kind":"chip"},"10":{"kind":"chip"},"none":{"kind":"chip","highest_end":1}}}`)
	d := diff.Compare(both, both, diff.Terms{})
	require.Equal(t, `[[{"capture":0,"rank":null,"old":null,"new":null}],[{"capture":0,"rank":null,"old":7,"new":7},`+
		`{"capture":0,"rank":null,"old":10,"new":10}]]`, text([]any{d.Devices[0].IDs, d.Devices[1].IDs}))
	old, new := onPeak(9, "cb a 0 0 10"), strings.Replace(onPeak(9, "cb a 0 5 10"), "chip", "mesh", 1)
	dev := diff.Compare(handed(t, old), handed(t, new), diff.Terms{}).Devices[0]
	require.Equal(t, []any{diff.Moved, answer.KindMesh}, []any{dev.State, dev.Kind})
	require.Nil(t, diff.Compare(handed(t, old), small().run(t), diff.Terms{}).Devices[0].Laid)
}
