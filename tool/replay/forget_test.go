package replay_test

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// What a replay forgets, nobody misses: one that forgets after every event says the same.
func TestForgettingIsNotSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moves := gen.History(60, logOps()...)
		if rapid.Bool().Draw(t, "several specs") {
			moves = gen.MixedHistory(60, logOps()...)
		}
		n := newNaive(t, map[string]int{}, naiveQuestion{}, false)
		for _, m := range moves.Draw(t, "history") {
			n.play(m)
		}
		sameForgetful(t, func() iter.Seq2[*event.Event, error] { return events(bytes.NewReader(n.log.Bytes()), "log") })
	})
}

func TestForgettingIsNotSeenInCaptures(t *testing.T) {
	files, err := filepath.Glob("../capture/testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		sameForgetful(t, func() iter.Seq2[*event.Event, error] {
			return capture.NewReader(bytes.NewReader(text), name).Events(capture.Options{})
		})
	}
}

// A program that nobody can name any more was executed before another one that was not, or has
// one of many rows.
func TestForgettingLeaves(t *testing.T) {
	var rows strings.Builder
	for id := range 300 {
		fmt.Fprintf(&rows, `{"event":"program","program":%d,"name":"p%d","cbs":[{"cores":"0-0","size":%d}]}`+"\n", id, id, 32+32*id)
		fmt.Fprintf(&rows, `{"event":"register","program":%d,"t":%d.5}`+"\n", id, id)
	}
	const big, small = `{"event":"program","program":1,"name":"big","cbs":[{"cores":"0-0","size":4096}]}`, `{"event":"program","program":1,"name":"small","cbs":[{"cores":"0-0","size":64}]}`
	const other = `{"event":"program","program":2,"name":"other","cbs":[{"cores":"0-0","size":8192}]}`
	const beside = `{"event":"program","program":3,"cbs":[{"cores":"1-0","size":128}]}`
	const settle = `{"event":"allocate","buffer":9,"kind":"dram","size":1}` + "\n" + `{"event":"free","buffer":9}` // what the peak is made of is written down
	run := func(program, at int) string {
		return fmt.Sprintf(`{"event":"run","program":%d,"on":[{"device":0,"first":%d,"last":%d,"cb_first":%d,"cb_last":%d}]}`, program, at, at, at, at)
	}
	for name, lines := range map[string][]string{
		"executed": {
			big, run(1, 3), `{"event":"executed","devices":[0],"program":1}`, `{"event":"unregister","program":1}`, small,
			other, run(2, 8), settle, run(2, 9), beside, `{"event":"executed","devices":[0],"program":3}`,
		},
		"recorded": { // replaced by an equal one; the trace still runs the one before
			big, `{"event":"register","program":1}`, `{"event":"trace_begin","trace":1}`, `{"event":"record","trace":1,"program":1}`, `{"event":"trace_end","trace":1}`,
			`{"event":"replay","trace":1}`, other, `{"event":"register","program":2}`, big, `{"event":"replace","program":1}`, `{"event":"replay","trace":1}`,
		},
		"rows": {rows.String(), `{"event":"unregister","program":7}`, strings.ReplaceAll(big, `"program":1`, `"program":7`), `{"event":"register","program":7}`},
	} {
		t.Run(name, func(t *testing.T) {
			log := logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n" + strings.Join(lines, "\n") + "\n"
			sameForgetful(t, func() iter.Seq2[*event.Event, error] { return events(strings.NewReader(log), "log") })
		})
	}
}

// sameForgetful compares what two replays say of the same events.
func sameForgetful(t require.TestingT, events func() iter.Seq2[*event.Event, error]) {
	opt := replay.Options{
		Ask: &answer.Question{Address: 200_000}, Runs: true, Buffers: true, Timeline: true, Moments: 100, Groups: true, GroupsAt: event.Some(uint64(8)),
		Room: &answer.RoomQuestion{Size: 64},
	}
	want, err := replay.Run("x", events(), opt)
	got, again := replay.RunForgetful("x", events(), opt)
	if err != nil {
		require.EqualError(t, again, err.Error())
		return
	}
	require.NoError(t, again)
	require.Equal(t, rowsOf(want), rowsOf(got))
	require.Equal(t, unnamed(want), unnamed(got))
}

// rowsOf takes the rows of programs out of a Result: how they are kept may differ.
func rowsOf(r *answer.Result) (out [][]answer.ProgramDetail) {
	for i := range r.Devices {
		var rows []answer.ProgramDetail
		for _, row := range r.Devices[i].ProgramsDetail.All() {
			rows = append(rows, row)
		}
		r.Devices[i].ProgramsDetail = nil
		out = append(out, rows)
	}
	return out
}

// A day takes the memory of a minute: ids of programs, buffers and traces come again, and what
// they stand for, their names and times are new each time.
func TestMemoryOfADay(t *testing.T) {
	for _, runs := range []bool{false, true} {
		const spread, looks = 150, 10 // what is in use rises and falls
		before, steps := 3_000, 12_000
		var used [2]int64
		_, err := replay.Run("day", day(before+steps+spread*looks, runs, func(step int) {
			for i, from := range []int{before, before + steps} {
				if step >= from && step < from+spread*looks && (step-from)%spread == 0 {
					if now := testkit.Kept(); used[i] == 0 || now < used[i] {
						used[i] = now
					}
				}
			}
		}), replay.Options{})
		require.NoError(t, err)
		grown := (float64(used[1]) - float64(used[0])) / float64(steps)
		t.Logf("%.1f bytes a step, of %d", grown, used[0])
		require.LessOrEqual(t, grown, 64.0, "runs: %v", runs)
	}
}

// day yields the events of some steps. Each step adds a program and a buffer, and ends those of 32
// steps before. The program is registered; with runs it also runs and is in a trace.
func day(steps int, runs bool, told func(step int)) iter.Seq2[*event.Event, error] {
	const lives = 32
	return func(yield func(*event.Event, error) bool) {
		node := uint64(0)
		say := func(e event.Event) {
			e.Pos.Node, e.Node, e.T = int64(node), node, fmt.Sprint(node, ".5")
			node++
			yield(&e, nil)
		}
		say(event.Event{Kind: event.KindHeader})
		for id := range device.ID(4) {
			say(event.Event{Kind: event.KindDevice, Device: id, Spec: l1.N150()})
		}
		for step := range steps {
			told(step)
			id, on := step%lives, event.Some([]device.ID{device.ID(step % 4)})
			p, b := program.ID(id), fit.Buffer{ID: fit.BufferID(id), Kind: fit.KindL1, Size: 64, Name: fmt.Sprint("buffer ", step)}
			if step >= lives {
				say(event.Event{Kind: event.KindFree, Buffer: b, Devices: on})
				say(event.Event{Kind: event.KindUnregister, Program: p, Devices: on})
				if runs {
					say(event.Event{Kind: event.KindRelease, Trace: uint64(id)})
				}
			}
			cb := event.CB{CB: program.CB{Cores: l1.Rect(0, 0, 1, 1), Size: uint64(32 + 32*(step*7919%4096)), Address: uint64(120_000 + 32*(step*31%1000)), Fixed: true}}
			say(event.Event{Kind: event.KindProgram, Program: p, Name: fmt.Sprint("step ", step), CBs: []event.CB{cb}})
			say(event.Event{Kind: event.KindAllocate, Buffer: b, Devices: on, Parts: []event.Part{{Range: l1.Range{Start: 1_000_000, End: 1_000_064}}}})
			if !runs {
				say(event.Event{Kind: event.KindRegister, Program: p, Devices: on})
				continue
			}
			say(event.Event{Kind: event.KindEnqueue, Program: p, Devices: on})
			say(event.Event{Kind: event.KindTraceBegin, Trace: uint64(id), Devices: on})
			say(event.Event{Kind: event.KindRecord, Trace: uint64(id), Program: p})
			say(event.Event{Kind: event.KindTraceEnd, Trace: uint64(id)})
			say(event.Event{Kind: event.KindReplay, Trace: uint64(id)})
		}
	}
}

// TestForgettingKeepsOldContent: a program made the peak, and lay there after line 4. It is gone, another one has its id, and lies
// where it lay.
func TestForgettingKeepsOldContent(t *testing.T) {
	const program, gone = `{"event":"program","program":1,"name":"big","cbs":[{"cores":"0-0","size":4096}]}`, `{"event":"unregister","program":1}`
	text := logHead + strings.Join([]string{
		`{"event":"mesh","first":0,"rows":1,"cols":2,"spec":{"board":"n150"}}`, program, `{"event":"enqueue","program":1,"t":3.5}`, gone,
		strings.NewReplacer("big", "small", "4096", "64").Replace(program), `{"event":"enqueue","program":1,"devices":[0]}`, gone, gone,
	}, "\n")
	opt := replay.Options{GroupsAt: event.Some(uint64(3))}
	for _, run := range []func(string, iter.Seq2[*event.Event, error], replay.Options) (*answer.Result, error){replay.Run, replay.RunForgetful} {
		r, err := run("x", events(strings.NewReader(text), "x"), opt)
		require.NoError(t, err)
		for _, d := range r.L1 {
			require.Len(t, d.Groups, 1)
			for _, x := range [][]answer.L1Resident{d.Peak.Residents, d.Groups[0].Residents} {
				require.Len(t, x, 1)
				require.Equal(t, "big 3 3.5 4096", fmt.Sprint(x[0].Program.Op, " ", x[0].Program.At, " ", x[0].Program.T, " ", x[0].Bytes))
			}
		}
	}
}
