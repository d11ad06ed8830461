package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// byHand is a saved report of two devices of which all the same is to be said. What a case
// replaces in it, it replaces on device 0.
const byHand = `{"schema":"cbl1.report/2","file":"a","rank":1,"nodes":9,"basis":{"arch":"wormhole","arch_from":"file","cb_base":96,` +
	`"base_from":"file","cb_align":32,"l1_size_bytes":999,"l1_small_bytes":8,"l1_small_from":"file"},"checks":{"runs":3,"runs_failed":1,` +
	`"untold":["torn-line","not-shown","torn-line"],"tightest":{"program":{"op":"sub"},"counter":4,"device":0,"headroom":` +
	`{"region_end":900,"free_bytes":64,"largest_gap_bytes":32}}},"live_at_end":{"list":[{"op":"neg","device":0,"kind":"l1",` +
	`"size_bytes":16,"address":500}],"more":0},"l1":[` + onDevice + `0` + laid + `,` + onDevice + `1` + laid + `],` +
	`"devices":{"0":{` + detail + `,"1":{` + detail + `}}`

const (
	onDevice = `{"kind":"chip","device":`
	laid     = `,"cols":8,"rows":7,"cores":56,"cores_from":"file","tracked_peak_bytes":1,"core_peak":{"tracked_bytes":300,"core":"1-2",` +
		`"op":"mul","counter":7,"residents":[{"kind":"cb","start":96,"end":396,"cb":0,"program":{"op":"max"}}]}}`
	detail = `"kind":"chip","programs":1,"core_peak_bytes":300,"programs_detail":[{"op":"exp","first_counter":5,"local_cbs":2,"global_cbs":3,` +
		`"cores":4,"logical_bytes":310,"resident_bytes":301,"core_max_bytes":302,"highest_end":396,"cbs_overlap":false}],` +
		`"core_groups":[{"cores":"{[0-0 - 1-1]}","registered_bytes":303,"core_peak_bytes":304,"programs":6,"registered_regions":[[96,200],[300,399]]}]}`
)

func handed(t require.TestingT, texts ...string) []*diff.Run {
	runs, err := diff.Decode(strings.NewReader(strings.Join(texts, "\n")), "x.json")
	require.NoError(t, err)
	return runs
}

// A buffer that lives at the end on another device is another one, unless each side has one device.
func TestLeftOnAnotherDevice(t *testing.T) {
	log := func(id int, devices ...int) (out string) {
		out = `{"event":"log","version":1}` + "\n"
		for _, device := range devices {
			out += fmt.Sprintf(`{"event":"device","device":%d,"spec":{"arch":"wormhole","cols":2,"rows":1,"l1_size":4096,"cb_base":1024}}`+"\n", device)
		}
		return out + fmt.Sprintf(`{"event":"allocate","buffer":1,"kind":"l1","name":"t","devices":[%d],"parts":[{"address":3840,"size":64}]}`+"\n", id)
	}
	left := func(old, new string) int {
		return len(diff.Compare(runOf(t, old), runOf(t, new), diff.Terms{}).Captures[0].Left)
	}
	require.Equal(t, 0, left(log(0, 0), log(1, 1)))
	require.Equal(t, 1, left(log(0, 0), log(1, 0, 1)))
	require.Equal(t, 1, left(log(1, 0, 1), log(0, 0)))
}

// One thing is said otherwise of the first device or of the whole. It is a difference or none, and
// the two devices are one row or two.
func TestEachDifference(t *testing.T) {
	for _, c := range []struct {
		old, new string
		equal    bool
		rows     int
	}{
		{`"file":"a"`, `"file":"b"`, true, 1},
		{`"rank":1`, `"rank":2`, true, 1},
		{`"nodes":9`, `"nodes":8`, true, 1},
		{`"arch":"wormhole"`, `"arch":"blackhole"`, false, 1},
		{`"arch_from":"file"`, `"arch_from":"option"`, true, 1},
		{`"cb_base":96`, `"cb_base":97`, false, 1},
		{`"base_from":"file"`, `"base_from":"option"`, true, 1},
		{`"cb_align":32`, `"cb_align":64`, false, 1},
		{`"l1_size_bytes":999`, `"l1_size_bytes":998`, false, 1},
		{`"l1_small_bytes":8`, `"l1_small_bytes":9`, false, 1},
		{`"l1_small_from":"file"`, `"l1_small_from":"option"`, true, 1},
		{`"runs":3`, `"runs":4`, false, 1},
		{`"runs_failed":1`, `"runs_failed":2`, false, 1},
		{`"untold":["torn-line",`, `"untold":["unfinished",`, false, 1},
		{`"op":"sub"`, `"op":"x"`, false, 1},
		{`"counter":4,"device":0`, `"counter":5,"device":1`, true, 1},
		{`"region_end":900`, `"region_end":901`, false, 1},
		{`"free_bytes":64`, `"free_bytes":65`, false, 1},
		{`"largest_gap_bytes":32`, `"largest_gap_bytes":33`, false, 1},
		{`"op":"neg"`, `"op":"x"`, false, 1},
		{`"op":"neg","device":0`, `"op":"neg","device":1`, false, 1},
		{`"kind":"l1"`, `"kind":"global_cb"`, false, 1},
		{`"kind":"l1"`, `"kind":"dram"`, false, 1},
		{`"size_bytes":16`, `"size_bytes":17`, false, 1},
		{`"address":500`, `"address":501`, false, 1},
		{`"address":500`, `"address":null`, false, 1},
		{`"list":[`, `"list":[{"op":"x","kind":"dram","size_bytes":1},`, true, 1},
		{`"more":0`, `"more":1`, true, 1},
		{`"kind":"chip"`, `"kind":"mesh"`, true, 2},
		{`"cols":8`, `"cols":9`, false, 2},
		{`"rows":7`, `"rows":8`, false, 2},
		{`"cores":56`, `"cores":55`, false, 2},
		{`"cores_from":"file"`, `"cores_from":"assumed"`, true, 2},
		{`"tracked_peak_bytes":1`, `"tracked_peak_bytes":2`, false, 2},
		{`"tracked_bytes":300`, `"tracked_bytes":301`, false, 2},
		{`"core":"1-2"`, `"core":"1-3"`, false, 2},
		{`"op":"mul"`, `"op":"x"`, false, 2},
		{`"counter":7`, `"counter":8`, true, 1},
		{`"kind":"cb"`, `"kind":"dataflow"`, false, 2},
		{`"start":96`, `"start":97`, false, 2},
		{`"end":396`, `"end":397`, false, 2},
		{`"cb":0`, `"cb":1`, false, 2},
		{`"op":"max"`, `"op":"x"`, false, 2},
		{`"core_peak_bytes":300`, `"core_peak_bytes":299`, false, 2},
		{`"op":"exp"`, `"op":"x"`, false, 2},
		{`"first_counter":5`, `"first_counter":6`, true, 1},
		{`"local_cbs":2`, `"local_cbs":1`, false, 2},
		{`"global_cbs":3`, `"global_cbs":2`, false, 2},
		{`"cores":4`, `"cores":5`, false, 2},
		{`"logical_bytes":310`, `"logical_bytes":309`, false, 2},
		{`"resident_bytes":301`, `"resident_bytes":309`, false, 2},
		{`"core_max_bytes":302`, `"core_max_bytes":309`, false, 2},
		{`"highest_end":396`, `"highest_end":309`, false, 2},
		{`"cbs_overlap":false`, `"cbs_overlap":true`, false, 2},
		{`"cores":"{[0-0 - 1-1]}"`, `"cores":"{[0-0 - 1-0]}"`, false, 2},
		{`"registered_bytes":303`, `"registered_bytes":304`, false, 2},
		{`"core_peak_bytes":304`, `"core_peak_bytes":305`, false, 2},
		{`"programs":6`, `"programs":7`, true, 2},
		{`[96,200]`, `[96,201]`, false, 2},
	} {
		text := strings.Replace(byHand, c.old, c.new, 1)
		require.NotEqual(t, byHand, text)
		there := diff.Compare(handed(t, byHand), handed(t, text), diff.Terms{})
		back := diff.Compare(handed(t, text), handed(t, byHand), diff.Terms{})
		same := diff.Compare(handed(t, text), handed(t, text), diff.Terms{})
		require.Equal(t, []any{c.equal, c.equal, true}, []any{there.Equal, back.Equal, same.Equal}, c.new)
		require.Equal(t, []int{c.rows, c.rows, c.rows}, []int{len(there.Devices), len(back.Devices), len(same.Devices)}, c.new)
		require.Equal(t, diff.BySums, there.Basis.Programs)
		require.True(t, there.Devices[0].Listed)
		more := c.old == `"more":0`
		require.Equal(t, []bool{more, more, more}, []bool{there.Basis.LeftMore, back.Basis.LeftMore, same.Basis.LeftMore}, c.new)
	}
	more := handed(t, strings.Replace(byHand, `"more":0`, `"more":1`, 1), strings.Replace(byHand, `"rank":1`, `"rank":2`, 1))
	require.True(t, diff.Compare(more, more, diff.Terms{}).Basis.LeftMore, "of one capture that is not the last one")
	meshes := handed(t, strings.ReplaceAll(byHand, "chip", "mesh"))
	require.Len(t, diff.Compare(handed(t, byHand), meshes, diff.Terms{}).Devices, 2, "meshes are never one row")
	require.Len(t, diff.Compare(meshes, handed(t, byHand), diff.Terms{}).Devices, 2)
}

// What is absent on one side and 0 on the other is a difference where it says something; two of a kind are none.
func TestAbsentIsNotZero(t *testing.T) {
	const tightest = `"tightest":{"program":{"op":"sub"},"counter":4,"device":0,"headroom":{"region_end":900,"free_bytes":64,"largest_gap_bytes":32}}`
	for _, c := range []struct {
		text, zero, none  string
		equal             bool
		there, zeros, non int // rows of devices
	}{
		{`"rank":1`, `"rank":0`, `"rank":null`, true, 1, 1, 1},
		{`"counter":4,"device":0`, `"counter":4,"device":0`, `"counter":4`, true, 1, 1, 1},
		{`"op":"neg","device":0`, `"op":"neg","device":0`, `"op":"neg"`, false, 1, 1, 1},
		{`"address":500`, `"address":0`, `"address":null`, false, 1, 1, 1},
		{`"cb":0`, `"cb":0`, `"cb":null`, false, 2, 1, 2},
		{`"core_peak":{"tracked_bytes":300`, `"core_peak":{"tracked_bytes":0`, `"none":{"tracked_bytes":300`, false, 2, 2, 2},
		{tightest, `"tightest":{"program":{},"counter":0,"headroom":{"region_end":0,"free_bytes":0,"largest_gap_bytes":0}}`, `"tightest":null`, false, 1, 1, 1},
		{onDevice + `0`, onDevice + `0`, `{"kind":"none","device":null`, false, 3, 1, 3},
		{`"devices":{"0":`, `"devices":{"0":`, `"devices":{"none":`, false, 3, 1, 3},
	} {
		zero, none := strings.Replace(byHand, c.text, c.zero, 1), strings.Replace(byHand, c.text, c.none, 1)
		require.NotEqual(t, zero, none, c.text)
		there := diff.Compare(handed(t, zero), handed(t, none), diff.Terms{})
		back := diff.Compare(handed(t, none), handed(t, zero), diff.Terms{})
		zeros := diff.Compare(handed(t, zero), handed(t, zero), diff.Terms{})
		nones := diff.Compare(handed(t, none), handed(t, none), diff.Terms{})
		require.Equal(t, []bool{c.equal, c.equal, true, true}, []bool{there.Equal, back.Equal, zeros.Equal, nones.Equal}, c.none)
		require.Equal(t, []int{c.there, c.there, c.zeros, c.non}, []int{len(there.Devices), len(back.Devices), len(zeros.Devices), len(nones.Devices)}, c.none)
	}
}

// A side is all its captures: sums, the worst answer, each code once, and of equal peaks and equal
// rooms the first one.
func TestWholeSide(t *testing.T) {
	next := strings.NewReplacer(`"rank":1`, `"rank":7`, `"largest_gap_bytes":32`, `"largest_gap_bytes":31`).Replace(byHand)
	tight := strings.NewReplacer(`"rank":1`, `"rank":3`, `"runs_failed":1`, `"runs_failed":0`, `"torn-line"`, `"aborted"`,
		`"free_bytes":64,"largest_gap_bytes":32`,
		`"free_bytes":63,"largest_gap_bytes":63`, `"device":0,"headroom"`, `"device":5,"headroom"`).Replace(byHand)
	last := strings.NewReplacer(`"rank":1`, `"rank":4`, `"counter":4,"device":0`, `"counter":6,"device":2`,
		`"free_bytes":64`, `"free_bytes":63`,
		`"tracked_bytes":300`, `"tracked_bytes":299`).Replace(byHand)
	d := diff.Compare(handed(t, byHand, next), handed(t, last, tight, next), diff.Terms{Accept: []answer.Code{"torn-line", "aborted"}})
	const peak = `"peak":{"rank":%d,"device":0,"tracked_bytes":300,"core":"1-2","op":"mul","counter":7}`
	require.JSONEq(t, `{"files":2,"answer":"does_not_fit","runs":6,"runs_failed":2,"untold":["not-shown"],"accepted":["torn-line"],`+
		fmt.Sprintf(peak, 1)+`,"tightest":{"rank":1,"device":0,"op":"sub","counter":4,"region_end":900,"free_bytes":64,`+
		`"largest_gap_bytes":32}}`, text(d.Sides.Old))
	require.JSONEq(t, `{"files":3,"answer":"does_not_fit","runs":9,"runs_failed":2,"untold":["not-shown"],"accepted":["aborted","torn-line"],`+
		fmt.Sprintf(peak, 3)+`,"tightest":{"rank":4,"device":2,"op":"sub","counter":6,"region_end":900,"free_bytes":63,`+
		`"largest_gap_bytes":32}}`, text(d.Sides.New))
	d = diff.Compare(handed(t, tight), handed(t, byHand), diff.Terms{})
	require.Equal(t, []answer.Code{"not-shown", "torn-line"}, d.Sides.New.Untold)
	require.Equal(t, []answer.Answer{answer.CannotTell, answer.DoesNotFit}, []answer.Answer{d.Sides.Old.Answer, d.Sides.New.Answer})
}

// Captures are pairs by their ranks if these are distinct, else in their order. A pair has the rank of the
// new one, a missing one the chip of the other.
func TestPairsOfCaptures(t *testing.T) {
	side := func(name string, ranks []string) (out []*diff.Run) {
		for i, rank := range ranks {
			out = append(out, handed(t, strings.NewReplacer(`"rank":1`, `"rank":`+rank, `"file":"a"`,
				fmt.Sprintf(`"file":"%s%d"`, name, i)).Replace(byHand))...)
		}
		return out
	}
	for _, c := range []struct {
		old, new []string
		want     string
	}{
		{[]string{"2", "1"}, []string{"1", "2"}, "1:o1-n0 2:o0-n1"},
		{[]string{"10", "2"}, []string{"9"}, "2:o1- 9:-n0 10:o0-"},
		{[]string{"2", "2"}, []string{"1", "2"}, "1:o0-n0 2:o1-n1"},
		{[]string{"2", "1"}, []string{"1", "1"}, "1:o0-n0 1:o1-n1"},
		{[]string{"2", "null"}, []string{"null", "null", "3"}, "2:o0-n0 nil:o1-n1 3:-n2"},
		{[]string{"2", "null"}, []string{"null", "2"}, "2:o0-n0 2:o1-n1"},
		{[]string{"4"}, []string{"5"}, "5:o0-n0"},
	} {
		d := diff.Compare(side("o", c.old), side("n", c.new), diff.Terms{})
		var got []string
		for _, one := range d.Captures {
			rank, old, new := "nil", "", ""
			if one.Rank.OK {
				rank = fmt.Sprint(one.Rank.V)
			}
			if one.Old != nil {
				old = one.Old.Name
			}
			if one.New != nil {
				new = one.New.Name
			}
			got = append(got, rank+":"+old+"-"+new)
			require.Equal(t, one.Chip.Old, one.Chip.New)
			require.Equal(t, one.Old != nil && one.New != nil, one.Equal)
		}
		require.Equal(t, c.want, strings.Join(got, " "))
	}
}
