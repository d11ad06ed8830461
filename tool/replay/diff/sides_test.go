package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// ranked is a saved report of a rank.
func ranked(t *testing.T, p plan, rank string) *diff.Run {
	t.Helper()
	runs, err := diff.Decode(strings.NewReader(strings.Replace(saved(t, p), `"rank":null`, `"rank":`+rank, 1)), "x.json")
	require.NoError(t, err)
	return runs[0]
}

// Captures are pairs by their ranks, in whatever order they come; a rank without partner is
// gone or new as a whole.
func TestRanksArePairs(t *testing.T) {
	a, b, c := small(), small(), small()
	b.programs[1].sizes = []uint64{16384}
	c.devices = 3
	d := diff.Compare([]*diff.Run{ranked(t, a, "0"), ranked(t, b, "1"), ranked(t, c, "2")}, []*diff.Run{ranked(t, b, "1"), ranked(t, a, "0")}, diff.Terms{})
	require.Len(t, d.Captures, 3)
	require.True(t, d.Captures[0].Equal && d.Captures[1].Equal)
	require.False(t, d.Captures[2].Equal || d.Equal)
	require.Nil(t, d.Captures[2].New)
	var equal, gone int
	for _, dev := range d.Devices {
		switch {
		case dev.State == diff.Gone:
			gone += len(dev.IDs)
		case dev.Equal():
			equal += len(dev.IDs)
		}
	}
	require.Equal(t, []int{4, 3}, []int{equal, gone})
}

// Two captures of one device are compared whatever the ids; more are pairs by id.
func TestDevicesArePairs(t *testing.T) {
	one := small()
	one.devices = 1
	text := strings.Replace(one.log(), `"first":0`, `"first":9`, 1)
	d := diff.Compare(one.run(t), runOf(t, text), diff.Terms{})
	require.True(t, d.Equal)
	require.Equal(t, uint64(0), d.Devices[0].IDs[0].Old.V)
	require.Equal(t, uint64(9), d.Devices[0].IDs[0].New.V)

	two, three := small(), small()
	three.devices = 3
	d = diff.Compare(two.run(t), three.run(t), diff.Terms{})
	require.Len(t, d.Devices, 2)
	require.True(t, d.Devices[0].Equal())
	require.Len(t, d.Devices[0].IDs, 2)
	require.Equal(t, diff.New, d.Devices[1].State)
	require.Equal(t, map[diff.State]int{diff.New: 2}, d.Devices[1].Counts)
	require.False(t, d.Equal)
}

// Devices that differ otherwise are rows of their own, though their figures are the same.
func TestFoldComparesPrograms(t *testing.T) {
	const head = `{"event":"log","version":1}
{"event":"mesh","first":0,"rows":1,"cols":3,"spec":{"board":"n150"}}
`
	text := head
	for i, name := range []string{"add", "sub", "add"} {
		text += fmt.Sprintf(`{"event":"program","program":%d,"name":%q,"cbs":[{"cores":"0-0","size":64}]}
{"event":"enqueue","program":%d,"devices":[%d]}
`, i, name, i, i)
	}
	d := diff.Compare(runOf(t, head), runOf(t, text), diff.Terms{})
	var ids [][]uint64
	for _, dev := range d.Devices {
		var row []uint64
		for _, id := range dev.IDs {
			row = append(row, id.New.V)
		}
		ids = append(ids, row)
	}
	require.Equal(t, [][]uint64{{0, 2}, {1}}, ids)
}

func TestGrowth(t *testing.T) {
	old, grown := small(), small()
	grown.programs[1].sizes = []uint64{8192, 1000}
	peak := old.peak()
	require.Equal(t, peak+1000, grown.peak())
	for _, c := range []struct {
		text    string
		allowed uint64
		passed  bool
	}{
		{"999", 999, true}, {"1000", 1000, false}, {"0", 0, true}, {"8%", peak * 8 / 100, true}, {"9%", peak * 9 / 100, false}, {"100%", peak, false},
	} {
		budget, err := answer.ParseBudget(c.text)
		require.NoError(t, err)
		g := diff.Compare(old.run(t), grown.run(t), diff.Terms{MaxGrowth: &budget}).Growth
		require.Equal(t, []any{c.allowed, int64(1000), c.passed, "ttnn.matmul"}, []any{g.Allowed, g.Bytes, g.Exceeded, string(g.Program)}, c.text)
		require.Equal(t, int64(1000), g.Grower.Change())
		g = diff.Compare(grown.run(t), old.run(t), diff.Terms{MaxGrowth: &budget}).Growth
		require.False(t, g.Exceeded)
		require.Nil(t, g.Grower)
	}
	// A share of nothing is nothing.
	budget, err := answer.ParseBudget("100%")
	require.NoError(t, err)
	empty := plan{devices: 2, base: old.base}
	require.True(t, diff.Compare(empty.run(t), old.run(t), diff.Terms{MaxGrowth: &budget}).Growth.Exceeded)
}

// A hidden fact of one side is reported until it is accepted; what does not fit stays so.
func TestHiddenSide(t *testing.T) {
	p := small()
	hidden := runOf(t, p.log()+`{"event":"hidden","code":"not-shown","count":1}`+"\n")
	d := diff.Compare(p.run(t), hidden, diff.Terms{})
	require.Equal(t, []answer.Answer{answer.Fits, answer.CannotTell}, []answer.Answer{d.Sides.Old.Answer, d.Sides.New.Answer})
	require.Equal(t, []answer.Code{answer.CodeNotShown}, d.Sides.New.Untold)
	d = diff.Compare(p.run(t), hidden, diff.Terms{Accept: []answer.Code{answer.CodeNotShown}})
	require.Equal(t, answer.Fits, d.Sides.New.Answer)
	require.Equal(t, []answer.Code{answer.CodeNotShown}, d.Sides.New.Accepted)
	require.False(t, d.Equal)
}

// Two runs differ also if nothing but what lay on other cores than the fullest at its peak does, and
// all of that is gone at the end.
func TestOtherCoresAtThePeak(t *testing.T) {
	run := func(core string) []*diff.Run {
		return runOf(t, `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"allocate","buffer":1,"kind":"l1","parts":[{"cores":"`+core+`","address":1000000,"size":1024}]}
{"event":"allocate","buffer":2,"kind":"l1","parts":[{"cores":"0-0","address":1000000,"size":65536}]}
{"event":"free","buffer":1}
{"event":"free","buffer":2}
`)
	}
	require.True(t, diff.Compare(run("1-1"), run("1-1"), diff.Terms{}).Equal)
	d := diff.Compare(run("1-1"), run("2-2"), diff.Terms{})
	require.False(t, d.Equal)
	require.False(t, d.Devices[0].Equal())
	require.Equal(t, []diff.LaidGroup{
		{Cores: l1.CoreSetOf(l1.Core{X: 1, Y: 1}), Count: 1, Tracked: diff.Pair[uint64]{Old: 1024}},
		{Cores: l1.CoreSetOf(l1.Core{X: 2, Y: 2}), Count: 1, Tracked: diff.Pair[uint64]{New: 1024}},
	}, d.Devices[0].Laid)
}
