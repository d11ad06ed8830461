package replay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay"
)

// Documents about many devices count the residents that they leave out. All devices list equally many.
func TestDocumentsCountWhatTheyLeaveOut(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"mesh","first":0,"rows":1,"cols":20000,"spec":{"board":"n150"}}
{"event":"allocate","buffer":0,"kind":"l1","parts":[{"address":900000,"size":64}]}
{"event":"allocate","buffer":1,"kind":"l1","parts":[{"address":900064,"size":64}]}
{"event":"allocate","buffer":2,"kind":"l1","parts":[{"address":900128,"size":64}]}
{"event":"allocate","buffer":3,"kind":"l1","parts":[{"address":900192,"size":64}]}
{"event":"allocate","buffer":4,"kind":"l1","parts":[{"address":900256,"size":64}]}
{"event":"allocate","buffer":5,"kind":"l1","parts":[{"address":900320,"size":64}]}
{"event":"allocate","buffer":6,"kind":"l1","parts":[{"address":900384,"size":64}]}
`
	r, err := replay.Run("a.jsonl", event.NewLog(strings.NewReader(log), "a.jsonl").Events(), replay.Options{OnePeak: true, Groups: true})
	require.NoError(t, err)
	report, peak, pictures := r.Report(), r.Peak(), r.Map(event.Opt[uint64]{})
	for i := range r.L1 {
		require.Len(t, report.L1[i].Peak.Residents, 5, "100,000 of 20,000 devices")
		require.Equal(t, 2, report.L1[i].Peak.More)
		require.Equal(t, report.L1[i].Peak, peak.Devices[i].Peak)
		group := pictures.Devices[i].Groups[0]
		require.Equal(t, report.L1[i].Peak.Residents, group.Residents)
		require.Equal(t, 2, group.More)
	}
	require.Equal(t, uint64(900_000), report.L1[9].Peak.Residents[0].Start, "the lowest ones")
	require.Len(t, r.L1[0].Peak.Composed().Residents, 7, "a peak by itself has all")
}
