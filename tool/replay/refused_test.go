package replay_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// refusedHead fills every field of a Session: devices, an operation, programs, dispatches, traces, buffers of each
// kind that differ by device, a mode, and marks that are higher than what lives.
const refusedHead = `program 1 64
program 2 128 0-0
program 3 3072
{"event":"program","program":4,"name":"p4","cbs":[{"kind":"dataflow","cores":"{[1-0 - 1-0]}","size":32}]}
program 5 64 9-9
program 6 64 1-0
{"event":"op_start","name":"outer"}
{"event":"op_start","name":"inner"}
enqueue 1
enqueue 2 1
register 4 2
alloc 1 l1 3584 64 - 1
alloc 1 l1 3520 96 0-0 2
alloc 2 l1_small 4032 64 1-0
{"event":"allocate","buffer":3,"kind":"dram","size":640}
alloc 4 l1 2048 1024 - 2
free 4
{"event":"trace_begin","trace":1}
{"event":"record","trace":1,"program":1}
{"event":"trace_end","trace":1}
{"event":"trace_begin","trace":2,"devices":[1]}
{"event":"record","trace":2,"program":2}
{"event":"lockstep","devices":[1]}
{"event":"hybrid","devices":[2]}
evict 1 2`

// refusedTail queries the whole state of a Session, and changes each part of it so that the rest shows.
const refusedTail = `{"query":"totals","device":1}
{"query":"totals","device":2}
{"query":"usage","device":1}
{"query":"usage","device":2}
{"query":"core","device":1,"core":"0-0"}
{"query":"core","device":2,"core":"1-0"}
{"query":"who","device":1,"core":"0-0","address":3590}
{"query":"who","device":2,"core":"0-0","address":3590}
{"query":"check","program":1,"devices":[1,2]}
{"query":"check","program":3,"devices":[1,2]}
{"query":"headroom","program":2,"cb":0,"devices":[1]}
{"event":"replay","trace":1}
{"event":"record","trace":2,"program":2}
{"event":"trace_end","trace":2}
{"event":"replay","trace":2}
{"query":"totals","device":1}
enqueue 3
{"event":"op_end"}
enqueue 7
{"event":"op_end"}
enqueue 7
{"event":"op_end"}
free 1
{"query":"totals","device":1}
{"query":"totals","device":2}
enqueue 3
free 2
free 3
{"event":"release","trace":1}
{"event":"release","trace":2}
unregister 1
unregister 2
unregister 3
unregister 4
{"event":"reset_peaks"}
{"query":"totals","device":1}
{"query":"totals","device":2}
{"event":"remove"}
{"event":"device","device":9,"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_indices":8,"l1_size":4096,"cb_base":1024,"cb_align":16,"l1_align":16}}
{"query":"totals","device":9}`

// refusedEvents are events of each kind that something refuses, for each reason.
func refusedEvents() []string {
	const spec = `"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_indices":8,"l1_size":%d,"cb_base":1024,"cb_align":16,"l1_align":16}}`
	return []string{
		`{"event":"no_such","program":1}`,
		`{"event":"log","version":1,"source":"capture"}`,
		`{"event":"device","device":1,` + fmt.Sprintf(spec, 4096),
		`{"event":"device","device":7,"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_base":4096,"l1_size":1024}}`,
		`{"event":"device","device":2,"role":"chip",` + fmt.Sprintf(spec, 2048),
		`{"event":"device","device":2,"role":"chip","from":{"grid":"file"},"spec":{"arch":"wormhole","cols":1,"rows":1,"l1_size":2048}}`,
		`{"event":"mesh","first":0,"rows":1,"cols":3,` + fmt.Sprintf(spec, 4096),
		`{"event":"mesh","first":5,"rows":300,"cols":300,` + fmt.Sprintf(spec, 4096),
		`{"event":"remove","devices":[1,7]}`,
		`register 7`, `register 5`, `register 5 1`, `register 1 7`, `register 1 1,7`,
		`enqueue 7`, `enqueue 5`, `enqueue 1 1,7`, `enqueue 3 1`, `enqueue 3`,
		`dispatch 7`, `dispatch 2`, `dispatch 4`, `dispatch 6`, `dispatch 1 1,7`,
		`evict 1 7`, `evict 1 1,7`,
		`unregister 7`, `unregister 2 1,2`, `unregister 6`, `unregister 1 1,7`,
		`replace 7`, `replace 6`, `{"event":"replace","program":1,"with":2}`, `{"event":"replace","program":1,"with":5}`,
		`{"event":"replace","program":1,"with":7}`,
		`alloc 1 l1 3000 64 - 1`, `alloc 1 l1 3000 64`, `alloc 5 l1 3000 64 9-9`, `alloc 5 l1 3000 64 - 1,7`,
		`alloc 5 l1 3000 9223372036854775807`, `{"event":"allocate","buffer":5,"kind":"dram","size":9223372036854775807}`,
		correctedTo(`alloc 1 l1 3000 64 9-9`), correctedTo(`alloc 1 l1 3000 64 9-9 1`), correctedTo(`alloc 1 l1 3000 64 9-9 2`),
		correctedTo(`alloc 1 l1 3000 64 - 1,7`), correctedTo(`alloc 5 l1 3000 64`), correctedTo(`alloc 3 l1 3000 9223372036854774000`),
		correctedTo(`alloc 2 l1_small 4032 64 1-9`),
		`free 5`, `free 4`, `free 1 1,7`, `free 2 7`,
		`{"event":"trace_begin","trace":1}`, `{"event":"trace_begin","trace":2}`, `{"event":"trace_begin","trace":3,"devices":[7]}`,
		`{"event":"record","trace":1,"program":1}`, `{"event":"record","trace":2,"program":7}`, `{"event":"record","trace":2,"program":6}`,
		`{"event":"record","trace":3,"program":1}`, `{"event":"trace_end","trace":1}`, `{"event":"trace_end","trace":3}`,
		`{"event":"replay","trace":2}`, `{"event":"replay","trace":3}`, `{"event":"release","trace":3}`,
		`{"event":"hybrid","devices":[1,7]}`, `{"event":"lockstep","devices":[2,7]}`, `{"event":"reset_peaks","devices":[1,7]}`,
	}
}

// A refused line changes nothing: the answers to the lines behind it are the same as without it.
func TestRefusedChangesNothing(t *testing.T) {
	asked := refusedAnswers(t, `{"query":"totals","device":77}`)
	for _, line := range refusedEvents() {
		got := refusedAnswers(t, line)
		require.True(t, strings.HasPrefix(got[0], `{"answer":"anomaly",`), "%s: %s", line, got[0])
		require.Equal(t, asked[1:], got[1:], line)
	}
}

// What is refused changes no Result either, but for its anomalies. A program that does not fit is judged.
func TestRefusedChangesNoResult(t *testing.T) {
	for _, tail := range []string{"", refusedTail} {
		want := refusedResult(t, `{"query":"totals","device":77}`, tail)
		for _, line := range refusedEvents() {
			if !strings.HasPrefix(line, "enqueue") {
				require.Equal(t, want, refusedResult(t, line, tail), line)
			}
		}
	}
}

// The same of what ran on chips: of runs, and of buffers.
func TestRefusedRunChangesNothing(t *testing.T) {
	of := func(line string) (string, bool) {
		log := strings.Split(`program 1 64@1024
program 2 128@1024
program 3 64@2048
{"event":"program","program":4,"cbs":[{"cores":"{[0-0 - 0-0]}","size":16,"address":9223372036854775800}]}
run 1
run 2 1
alloc 1 l1 3584 64 - 1
alloc 1 l1 3520 96 - 2
`+line+`
run 3 1 continues
executed 3 1
run 1 2 continues
freed
run 2`, "\n")
		r, err := replay.Run("few", fewRuns(t, log), replay.Options{Runs: true, Buffers: true, Groups: true, Ask: &answer.Question{Address: 3590}})
		require.NoError(t, err, line)
		refused := slices.ContainsFunc(r.Anomalies, func(a answer.AnomalyCount) bool { return a.First == 9 })
		r.Anomalies = nil
		return said(r), refused
	}
	want, _ := of(`{"query":"anomalies"}`)
	for _, line := range []string{
		"run 7", "run 7 1 inferred", "run 7 1 continues", "run 1 7", "run 1 1,7", "run 2 1 or=7", "run 2 1 or=1+7,3", "run 4", "run 4 2 continues",
		"alloc 1 l1 3000 64", "alloc 2 l1 3000 64 - 1,7", "free 2", "free 1 1,7",
	} {
		got, refused := of(line)
		require.True(t, refused, line)
		require.Equal(t, want, got, line)
	}
}

// refusedResult returns what a Result says behind a line, its anomalies left out.
func refusedResult(t *testing.T, line, tail string) string {
	t.Helper()
	opt := replay.Options{
		Ask: &answer.Question{Address: 3590}, Runs: true, Buffers: true, Groups: true, Timeline: true, Moments: 100,
		Scarce: []answer.Scarcity{{Free: 2000, Block: 2000}}, Room: &answer.RoomQuestion{Size: 64},
	}
	r, err := replay.Run("few", events(strings.NewReader(refusedLog(t, line, tail)), "few"), opt)
	require.NoError(t, err, line)
	r.Anomalies = nil
	return said(r)
}

// correctedTo is an allocation that corrects a buffer.
func correctedTo(line string) string { return "corrects " + line }

// refusedAnswers returns the answers to a line and to all that follow it.
func refusedAnswers(t *testing.T, line string) []string {
	t.Helper()
	var s session.Session
	var out bytes.Buffer
	require.NoError(t, s.Stream(events(strings.NewReader(refusedLog(t, line, refusedTail)), "few"), &out), line)
	require.NoError(t, s.Fleet().CheckInvariants(), line)
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// refusedLog is a log with a line between the others.
func refusedLog(t *testing.T, line, tail string) string {
	t.Helper()
	log := fewDevices
	for one := range strings.SplitSeq(strings.TrimSpace(refusedHead+"\n"+line+"\n"+tail), "\n") {
		text, corrects := strings.CutPrefix(one, "corrects ")
		text = lineOf(t, text)
		if corrects {
			text = strings.TrimSuffix(text, "}") + `,"corrects":true}`
		}
		log += text + "\n"
	}
	return log
}
