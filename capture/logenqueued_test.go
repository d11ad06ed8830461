package capture_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
)

// What a log enqueues is told as the runs of a capture are, refused programs included:
// those are what messages are about.
func TestEnqueuedOfLog(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"mesh","first":0,"rows":1,"cols":3,"spec":{"board":"n150"}}
{"event":"program","program":7,"cbs":[{"cores":"[0-0 - 7-7]","size":1048576}]}
{"event":"enqueue","program":7}
{"event":"allocate","buffer":1,"kind":"l1","devices":[1],"parts":[{"address":900000,"size":599136}]}
{"event":"enqueue","program":7}
{"event":"dispatch","program":7,"devices":[1]}
`
	type run struct {
		at, device, lowest uint64
		devices            int
	}
	var got []run
	r, err := capture.Replay(capture.NewReader(strings.NewReader(log), "run.jsonl"), capture.Options{Enqueued: func() func(capture.Enqueued) {
		return func(e capture.Enqueued) {
			require.Equal(t, "run.jsonl", e.File)
			for p := range e.Programs() {
				require.Equal(t, uint64(7), uint64(p.ID()))
			}
			one := run{at: e.At, device: e.Device.V, devices: e.Devices}
			lowest, synthesised := e.Lowest()
			require.False(t, synthesised)
			for _, b := range lowest {
				one.lowest = b.Address.V
			}
			got = append(got, one)
		}
	}})
	require.NoError(t, err)
	require.Equal(t, []run{{3, 0, 0, 3}, {5, 0, 0, 2}, {5, 1, 900_000, 1}, {6, 1, 900_000, 1}}, got)
	require.Equal(t, int64(7), r.Checks.Runs)
}
