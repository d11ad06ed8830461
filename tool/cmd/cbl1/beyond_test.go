package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// onN150 returns an event log of one device.
func onN150(lines ...string) string {
	head := []string{`{"event":"log","version":1}`, `{"event":"device","device":0,"spec":{"board":"n150"}}`}
	return strings.Join(append(head, lines...), "\n") + "\n"
}

// TestNothingBeyondL1IsGreen: what ends beyond L1 is said, and no check is green then,
// whatever it is and whether it ran or not. All laws hold.
func TestNothingBeyondL1IsGreen(t *testing.T) {
	for _, c := range []struct {
		name, input, anomaly string
		exit                 int
	}{
		{
			"a buffer of a capture",
			`[{"counter":0,"node_type":"buffer_allocate","params":{"address":1540096,"size":704512,"max_size_per_bank":704512,"type":"L1"},"connections":[]},` +
				`{"counter":1,"node_type":"circular_buffer_allocate","params":{` + goodCB + `},"connections":[]}]`,
			"buffer-beyond-l1", exitTell,
		},
		{
			"a buffer of a log",
			onN150(`{"event":"program","program":1,"cbs":[{"cores":"0-0","size":32}]}`, `{"event":"enqueue","program":1}`,
				`{"event":"allocate","buffer":1,"kind":"l1","parts":[{"cores":"0-0","address":1499000,"size":137}]}`),
			"buffer-beyond-l1", exitTell,
		},
		{
			"a scratchpad",
			strings.ReplaceAll(graph("ttnn.add", strings.ReplaceAll(goodCB, "4096", "4194304")), "circular_buffer", "scratchpad"),
			"beyond-l1", exitNo,
		},
		{
			"a program of a log that is registered and never enqueued",
			onN150(`{"event":"program","program":1,"cbs":[{"cores":"0-0","size":2000000}]}`, `{"event":"register","program":1}`,
				`{"event":"program","program":2,"cbs":[{"cores":"0-0","size":32}]}`, `{"event":"enqueue","program":2}`),
			"beyond-l1", exitTell,
		},
	} {
		in := inspect([]byte(c.input))
		require.Empty(t, in.list, c.name)
		require.Equal(t, c.exit, in.check.code, "%s: %s", c.name, in.check.out)
		var r reportAnswer
		require.NoError(t, json.Unmarshal([]byte(in.report.out), &r))
		require.True(t, r.has(c.anomaly), "%s: %s", c.name, in.report.out)
		if c.exit == exitTell {
			require.Contains(t, in.check.out, `{"code":"`+c.anomaly+`"`, c.name)
		}
	}

	fits := onN150(`{"event":"program","program":1,"cbs":[{"cores":"0-0","size":32}]}`, `{"event":"enqueue","program":1}`,
		`{"event":"allocate","buffer":1,"kind":"l1","parts":[{"cores":"0-0","address":1499000,"size":136}]}`) // up to the end
	require.Equal(t, exitOK, inspect([]byte(fits)).check.code)
}

// TestCutRunIsEnqueuedAtItsLastNode: a capture that ends in a run has no node behind it.
func TestCutRunIsEnqueuedAtItsLastNode(t *testing.T) {
	in := inspect([]byte(`[{"counter":0,"node_type":"circular_buffer_allocate","params":{` + goodCB + `},"connections":[]}]`))
	require.Empty(t, in.list)
	var c checkAnswer
	require.NoError(t, json.Unmarshal([]byte(in.check.out), &c))
	require.Zero(t, c.Tightest.Counter)
	require.EqualValues(t, 1, c.Nodes)
}

// TestNothingToJudge: where nothing ran, check gives this reason for "cannot tell".
func TestNothingToJudge(t *testing.T) {
	in := inspect([]byte(onN150(`{"event":"program","program":1,"cbs":[{"cores":"0-0","size":32}]}`, `{"event":"register","program":1}`)))
	require.Empty(t, in.list)
	require.Equal(t, exitTell, in.check.code)
	require.Contains(t, in.check.out, "the registered program is not known to have run")
}

// TestGrowthEndsWhereRoomEnds: a circular buffer may grow up to L1_SMALL, and one that
// names no core is bounded too.
func TestGrowthEndsWhereRoomEnds(t *testing.T) {
	for _, c := range []struct {
		name, input string
		want        []uint64
	}{
		{
			"no cores",
			`[{"counter":0,"node_type":"circular_buffer_allocate","params":{"address":0,"size":32,"core_range_set":"{[0-0 - 0-0]}"},"connections":[]},` +
				`{"counter":1,"node_type":"circular_buffer_allocate","params":{"address":0,"size":32,"core_range_set":"{}"},"connections":[]},` +
				`{"counter":2,"node_type":"program_execution","params":{},"connections":[]}]`,
			[]uint64{1572864 - 111616 - 32, 1572864 - 111616 - 32},
		},
		{
			"L1_SMALL",
			`{"event":"log","version":1}` + "\n" +
				`{"event":"device","device":0,"spec":{"arch":"wormhole","l1_size":1499136,"cb_base":103712,"l1_small":32768}}` + "\n" +
				`{"event":"program","program":1,"cbs":[{"cores":"0-0","size":32}]}` + "\n" + `{"event":"enqueue","program":1}` + "\n",
			[]uint64{1499136 - 32768 - 103712 - 32},
		},
		{
			"recorded below the base that is assumed",
			strings.ReplaceAll(graph("ttnn.add", goodCB), "111616", "103680"),
			[]uint64{1499136 - 4096 - 103680},
		},
	} {
		in := inspect([]byte(c.input))
		require.Empty(t, in.list, c.name)
		var a checkAnswer
		require.NoError(t, json.Unmarshal([]byte(in.check.out), &a))
		var got []uint64
		for _, g := range a.Tightest.Grow {
			got = append(got, g.Bytes)
		}
		require.Equal(t, c.want, got, c.name)
	}
}
