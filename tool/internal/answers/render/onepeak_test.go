package render_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// TestOnePeakIsEnoughForText: the text of an answer shows the composition of the highest peak
// alone, so that it is the same with replay.Options.OnePeak. Device 5 has the highest peak of
// the log, device 6 an equal one, and device 4 a lower one that consists of other things.
func TestOnePeakIsEnoughForText(t *testing.T) {
	texts := func(r *answer.Result) (out []string) {
		for _, d := range []render.Output{render.Peak(r), render.Report(r, render.Options{}), render.Check(r, r.Judge(answer.Terms{})).Detailed()} {
			var text strings.Builder
			require.NoError(t, d.Text(&text, 0))
			out = append(out, text.String())
		}
		return out
	}
	for _, f := range fixtures(t) {
		inputs, err := capture.Inputs(f.capture)
		require.NoError(t, err)
		one, err := replay.Run(filepath.Base(f.capture), inputs[0].Events(capture.Options{}), replay.Options{OnePeak: true})
		require.NoError(t, err)
		require.Equal(t, texts(f.replay(t)), texts(one), f.name)
		for i, d := range f.replay(t).L1 {
			require.Equal(t, d.Peak, one.L1[i].Peak.Composed(), f.name)
		}
	}

	const log = `{"event":"log","version":1}
{"event":"mesh","first":4,"rows":1,"cols":3,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"p","cbs":[{"cores":"0-0","size":2048}]}
{"event":"allocate","buffer":1,"kind":"l1","devices":[4],"parts":[{"address":900000,"size":64}]}
{"event":"enqueue","program":1,"devices":[5]}
{"event":"enqueue","program":1,"devices":[6]}
`
	run := func(opt replay.Options) *answer.Result {
		r, err := replay.Run("a.jsonl", event.NewLog(strings.NewReader(log), "a.jsonl").Events(), opt)
		require.NoError(t, err)
		return r
	}
	all, one := run(replay.Options{}), run(replay.Options{OnePeak: true})
	require.Equal(t, texts(all), texts(one))
	for i, d := range one.L1 {
		require.NotEmpty(t, all.L1[i].Peak.Residents)
		require.Equal(t, i == 1, len(d.Peak.Residents) > 0, "device %d", d.ID.V)
		require.Equal(t, all.L1[i].Peak.Bytes, d.Peak.Bytes)
	}
	require.Equal(t, all.L1[1].Peak, one.L1[1].Peak)
	for i := range all.L1 {
		require.Equal(t, all.L1[i].Peak, one.L1[i].Peak.Composed())
	}
	only := run(replay.Options{OnePeak: true, Only: answer.Filter{Device: event.Some(uint64(4))}})
	require.Equal(t, all.L1[0].Peak, only.L1[0].Peak, "the highest of the devices in the answer")
}

// TestOnePeakIsEnoughForPictures: devices are drawn and listed alike, whether their peaks are composed
// before or on demand. Some hold the same of one event, of events in operations of one
// name, of other operations, and with a program that other operations ran.
func TestOnePeakIsEnoughForPictures(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"mesh","first":0,"rows":1,"cols":8,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"p","cbs":[{"cores":"0-0","size":2048}]}
{"event":"op_start","name":"a"}
{"event":"allocate","buffer":1,"kind":"l1","devices":[0,1,2,3],"parts":[{"address":900000,"size":64}]}
{"event":"allocate","buffer":1,"kind":"l1","devices":[4],"parts":[{"address":900000,"size":64}]}
{"event":"op_end"}
{"event":"op_start","name":"b"}
{"event":"allocate","buffer":1,"kind":"l1","devices":[5],"parts":[{"address":900000,"size":64}]}
{"event":"allocate","buffer":1,"kind":"l1","devices":[6,7],"parts":[{"address":900000,"size":64,"cores":"0-0"}]}
{"event":"enqueue","program":1,"devices":[0]}
{"event":"enqueue","program":1,"devices":[1]}
{"event":"enqueue","program":1,"devices":[4]}
{"event":"enqueue","program":1,"devices":[5]}
{"event":"enqueue","program":1,"devices":[6]}
{"event":"op_end"}
{"event":"enqueue","program":1,"devices":[2]}
{"event":"enqueue","program":1,"devices":[3]}
{"event":"enqueue","program":1,"devices":[7]}
{"event":"op_start","name":"c"}
{"event":"allocate","buffer":2,"kind":"l1","parts":[{"address":800000,"size":64}]}
{"event":"op_end"}
{"event":"free","buffer":1}
{"event":"enqueue","program":1,"devices":[1,7]}
{"event":"remove","devices":[4]}
`
	type question struct {
		core event.Opt[l1.Core]
		at   event.Opt[uint64]
	}
	for _, q := range []question{
		{}, {core: event.Some(l1.Core{})}, {at: event.Some(uint64(7))}, {at: event.Some(uint64(16))},
		{event.Some(l1.Core{}), event.Some(uint64(22))}, {at: event.Some(uint64(22))}, {at: event.Some(uint64(26))},
	} {
		var said [2][]string
		for i, one := range []bool{false, true} {
			r, err := replay.Run("a.jsonl", event.NewLog(strings.NewReader(log), "a.jsonl").Events(), replay.Options{
				OnePeak: one, Groups: true, GroupsAt: q.at, Timeline: true, Moments: 100, Only: answer.Filter{Core: q.core},
			})
			require.NoError(t, err)
			for _, d := range []render.Output{render.Map(r, q.at), render.Peak(r), render.Report(r, render.Options{})} {
				var text, json, csv strings.Builder
				require.NoError(t, d.Text(&text, 0))
				require.NoError(t, d.JSON(&json))
				require.NoError(t, d.CSV(&csv, true))
				said[i] = append(said[i], text.String(), json.String(), csv.String())
			}
			var overview strings.Builder
			require.NoError(t, render.NewOverview([]*answer.Result{r}, answer.Terms{}, nil).Excerpt(100, 1000).JSON(&overview))
			said[i] = append(said[i], overview.String())
		}
		require.Equal(t, said[0], said[1])
	}
}
