package report_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

// TestOnePeakIsEnoughForText: the text of an answer shows the composition of the highest peak
// alone, so that it is the same with replay.Options.OnePeak. Device 5 has the highest peak of
// the log, device 6 an equal one, and device 4 a lower one that consists of other things.
func TestOnePeakIsEnoughForText(t *testing.T) {
	texts := func(r *replay.Result) (out []string) {
		for _, d := range []report.Document{report.Peak(r), report.Report(r, report.Options{}), report.Check(r, r.Judge(replay.Terms{}))} {
			var text, markdown strings.Builder
			require.NoError(t, d.Text(&text, 0))
			require.NoError(t, d.Markdown(&markdown))
			out = append(out, text.String(), markdown.String())
		}
		return out
	}
	for _, f := range fixtures(t) {
		inputs, err := capture.Inputs(f.capture)
		require.NoError(t, err)
		one, err := replay.Run(filepath.Base(f.capture), inputs[0].Events(capture.Options{}), replay.Options{OnePeak: true})
		require.NoError(t, err)
		require.Equal(t, texts(f.replay(t)), texts(one), f.name)
	}

	const log = `{"event":"log","version":1}
{"event":"mesh","first":4,"rows":1,"cols":3,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"p","cbs":[{"cores":"0-0","size":2048}]}
{"event":"allocate","buffer":1,"kind":"l1","devices":[4],"parts":[{"address":900000,"size":64}]}
{"event":"enqueue","program":1,"devices":[5]}
{"event":"enqueue","program":1,"devices":[6]}
`
	run := func(opt replay.Options) *replay.Result {
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
	only := run(replay.Options{OnePeak: true, Only: replay.Filter{Device: event.Some(uint64(4))}})
	require.Equal(t, all.L1[0].Peak, only.L1[0].Peak, "the highest of the devices in the answer")
}
