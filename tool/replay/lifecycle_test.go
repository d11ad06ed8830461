package replay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// lifeHead is a log with two programs of 4,096 and 2,048 bytes on one core.
const lifeHead = logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"first","cbs":[{"cores":"{[0-0 - 0-0]}","size":4096}]}
{"event":"program","program":2,"name":"second","cbs":[{"cores":"{[0-0 - 0-0]}","size":2048}]}
{"event":"register","program":1}
`

// What is unregistered, replaced or removed is not registered; its high-water mark stays
// until it is reset.
func TestLogLifecycle(t *testing.T) {
	type want struct{ registered, logical, reserved, high, programs uint64 }
	for name, c := range map[string]struct {
		log  string
		want want
	}{
		"registered":           {"", want{4096, 4096, 4096, 4096, 1}},
		"unregistered":         {`{"event":"unregister","program":1}`, want{0, 0, 0, 4096, 1}},
		"then another":         {`{"event":"unregister","program":1}` + "\n" + `{"event":"register","program":2}`, want{2048, 2048, 2048, 4096, 2}},
		"replaced by another":  {`{"event":"replace","program":1,"with":2}`, want{2048, 2048, 2048, 4096, 2}},
		"peaks reset":          {`{"event":"replace","program":1,"with":2}` + "\n" + `{"event":"reset_peaks"}`, want{2048, 2048, 2048, 2048, 2}},
		"removed":              {`{"event":"remove","devices":[0]}`, want{0, 0, 0, 4096, 1}},
		"the same again":       {`{"event":"unregister","program":1}` + "\n" + `{"event":"register","program":1}`, want{4096, 4096, 4096, 4096, 1}},
		"redefined and placed": {`{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":1024}]}` + "\n" + `{"event":"replace","program":1}`, want{1024, 1024, 1024, 4096, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			d := replayLog(t, lifeHead+c.log+"\n", replay.Options{}).Devices[0]
			require.Equal(t, c.want, want{d.Registered, d.RegisteredLogical, d.RegisteredRangeGranular, d.ResidentPeak, uint64(d.Programs)})
			require.Equal(t, d.Registered, d.ResidentFinal)
			require.EqualValues(t, d.Programs, d.ProgramsDetail.Len())
			require.Equal(t, d.Registered > 0, d.Fullest != nil)
		})
	}
}

// Dataflow buffers are replaced on all devices at once, as circular buffers are, also where
// something else makes the devices differ.
func TestReplaceOfDataflowBuffers(t *testing.T) {
	r := replayLog(t, logHead+`{"event":"mesh","first":0,"rows":1,"cols":2,"spec":{"board":"n150"}}
{"event":"allocate","buffer":1,"kind":"l1_small","size":64,"devices":[1]}
{"event":"program","program":1,"cbs":[{"kind":"dataflow","cores":"{[0-0 - 0-0]}","size":4096}]}
{"event":"register","program":1}
{"event":"program","program":1,"cbs":[{"kind":"dataflow","cores":"{[0-0 - 0-0]}","size":1024}]}
{"event":"replace","program":1}
`, replay.Options{})
	for _, d := range r.Devices {
		require.EqualValues(t, 1024, d.Dataflow.Registered)
		require.EqualValues(t, 4096, d.Dataflow.ResidentPeak)
	}
}

// Who holds a byte as registered is what is registered then.
func TestLogLifecycleWho(t *testing.T) {
	ask := func(log string) (held []string) {
		r := replayLog(t, lifeHead+log+"\n", replay.Options{Ask: &answer.Question{Address: 103712}})
		for _, h := range r.Held {
			for _, on := range h.Registered {
				held = append(held, string(on.Program.Op))
			}
		}
		return held
	}
	require.Equal(t, []string{"first"}, ask(""))
	require.Equal(t, []string{"first", "second"}, ask(`{"event":"register","program":2}`))
	require.Equal(t, []string{"second"}, ask(`{"event":"replace","program":1,"with":2}`))
	require.Empty(t, ask(`{"event":"unregister","program":1}`))
	require.Empty(t, ask(`{"event":"remove","devices":[0]}`))
}

// A trace that is replayed onto a live buffer is judged, and so is an enqueue that the
// fleet refuses.
func TestLogTraceIsJudged(t *testing.T) {
	const log = logHead + `{"event":"device","device":0,"spec":{"board":"p150"}}
{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":100000}]}
{"event":"enqueue","program":1}
{"event":"trace_begin","trace":7}
{"event":"record","trace":7,"program":1}
{"event":"trace_end","trace":7}
{"event":"allocate","buffer":1,"kind":"l1","size":1024,"parts":[{"cores":"{[0-0 - 0-0]}","address":200000,"size":1024}]}
`
	for _, last := range []string{`{"event":"replay","trace":7}`, `{"event":"enqueue","program":1}`} {
		r := replayLog(t, log+last+"\n", replay.Options{})
		require.EqualValues(t, 2, r.Checks.Runs)
		require.EqualValues(t, 1, r.Checks.Failed)
		require.Contains(t, r.Checks.List[0].Verdict.String(), "L1 buffer allocated at 200000 and static circular buffer region ends at 211616")
		require.EqualValues(t, 8, r.Checks.List[0].Enqueue)
	}
}

// TestSumsAreNotCut: a sum that no figure can hold ends the reading, with its line.
func TestSumsAreNotCut(t *testing.T) {
	const half = `4611686018427387904`
	head := `{"event":"log","version":1}` + "\n" + `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n" +
		`{"event":"device","device":1,"spec":{"board":"n150"}}` + "\n"
	for name, lines := range map[string]string{
		"programs without cores": `{"event":"program","program":1,"cbs":[{"cores":"{}","size":` + half + `}]}` + "\n" +
			`{"event":"program","program":2,"cbs":[{"cores":"{}","size":` + half + `}]}` + "\n" +
			`{"event":"register","program":1,"devices":[0]}` + "\n" + `{"event":"register","program":2,"devices":[0]}`,
		"buffers of two devices": `{"event":"allocate","buffer":1,"kind":"dram","size":` + half + `,"devices":[0]}` + "\n" +
			`{"event":"allocate","buffer":2,"kind":"dram","size":` + half + `,"devices":[1]}`,
	} {
		_, err := replay.Run("log", event.NewLog(strings.NewReader(head+lines+"\n"), "log").Events(), replay.Options{})
		require.ErrorContains(t, err, "more than 2^63-1 bytes", name)
	}
	// A program of its own that is too much cannot be placed.
	one := `{"event":"program","program":1,"cbs":[{"cores":"{}","size":` + half + `},{"cores":"{}","size":` + half + `}]}` + "\n" +
		`{"event":"register","program":1,"devices":[0]}` + "\n"
	r, err := replay.Run("log", event.NewLog(strings.NewReader(head+one), "log").Events(), replay.Options{})
	require.NoError(t, err)
	require.Contains(t, r.Undecided(), answer.CodeEventRefused)
}

// A peak names the buffer that lay there, and not a later one with the same id.
func TestPeakNamesItsOwnBuffers(t *testing.T) {
	r := replayLog(t, logHead+`{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"allocate","buffer":1,"name":"first","kind":"l1","parts":[{"address":1000000,"size":4096,"cores":"0-0"}]}
{"event":"free","buffer":1}
{"event":"allocate","buffer":1,"name":"second","kind":"l1","parts":[{"address":1000000,"size":64,"cores":"0-0"}]}
{"event":"free","buffer":1}
{"event":"allocate","buffer":1,"name":"third","kind":"l1","parts":[{"address":1000000,"size":32,"cores":"0-0"}]}
`, replay.Options{})
	peak := r.L1[0].Peak
	require.EqualValues(t, 4096, peak.Bytes)
	require.Len(t, peak.Residents, 1)
	require.EqualValues(t, "first", peak.Residents[0].Buffer.Op)
	require.EqualValues(t, 2, peak.Residents[0].Buffer.At)
}
