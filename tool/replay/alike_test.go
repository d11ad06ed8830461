package replay_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Devices that share a row have the figures that each of them has for itself.
func TestDevicesAlikeAndApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNaive(t, map[string]int{}, naiveQuestion{}, false)
		for _, m := range gen.MixedHistory(60, logOps()...).Draw(t, "history") {
			n.play(m)
		}
		opt := replay.Options{Timeline: true, Groups: true, GroupsAt: event.Some(uint64(40)), Runs: true, Moments: 1 << 10, Ask: &answer.Question{Address: 64, At: event.Some(uint64(40))}}
		alike, err := replay.Run("log", events(bytes.NewReader(n.log.Bytes()), "log"), opt)
		apart, errApart := replay.RunApart("log", events(bytes.NewReader(n.log.Bytes()), "log"), opt)
		if err != nil {
			require.EqualError(t, errApart, err.Error())
			return
		}
		require.NoError(t, errApart)
		require.Equal(t, unnamed(apart), unnamed(alike), n.log.String())
	})
}

// Anomalies of programs are counted on each device, whatever devices share a row.
func TestAnomaliesOfDevicesAlike(t *testing.T) {
	const log = logHead + `{"event":"mesh","first":0,"rows":1,"cols":3,"spec":{"board":"n150"}}
{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":64,"address":200000},{"cores":"{[0-0 - 0-0]}","size":64,"address":200032}]}
{"event":"program","program":2,"cbs":[{"cores":"{[1-0 - 1-0]}","size":64,"address":4000000}]}
{"event":"register","program":1}
{"event":"register","program":2,"devices":[0,2]}
{"event":"register","program":2,"devices":[1]}
`
	count := map[answer.Code]int64{}
	for _, a := range replayLog(t, log, replay.Options{}).Anomalies {
		count[a.Code] = a.Count
	}
	require.Equal(t, map[answer.Code]int64{answer.CodeOverlap: 3, answer.CodeBeyondL1: 3}, count)
}
