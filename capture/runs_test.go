package capture_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
)

// Every run that is checked is told, once in each reading, with what it was checked
// against: where a check fails at tt-metal's lowest address, that is the address told.
func TestEnqueued(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	more, err := filepath.Glob("../cmd/cbl1/testdata/clashing*.json")
	require.NoError(t, err)
	readings, failures := map[int]bool{}, 0
	for _, file := range append(files, more...) {
		inputs, err := capture.Inputs(file)
		if err != nil || len(inputs) != 1 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			type moment struct{ run, at uint64 }
			var lowest map[moment]uint64
			var runs, inferred int64
			read := 0
			result, err := inputs[0].Replay(capture.Options{Enqueued: func() func(capture.Enqueued) {
				read++
				lowest, runs, inferred = map[moment]uint64{}, 0, 0
				return func(e capture.Enqueued) {
					runs += int64(e.Devices)
					if e.Run.Inferred {
						inferred += int64(e.Devices)
					}
					for p := range e.Programs() {
						require.Positive(t, p.Len())
					}
					at := moment{e.Run.At, e.At}
					buffers, _ := e.Lowest()
					for _, b := range buffers {
						require.Equal(t, buffers[0].Address, b.Address)
						if lowest[at] == 0 || b.Address.V < lowest[at] {
							lowest[at] = b.Address.V
						}
					}
				}
			}})
			if err != nil { // not a capture
				return
			}
			require.Equal(t, result.Checks.Runs, runs)
			require.Equal(t, result.Checks.Inferred, inferred)
			readings[read] = true
			for _, failed := range result.Checks.List {
				for _, r := range failed.Verdict.Refusals {
					if r.Kind == fit.RefusedClash && r.What == program.CircularBuffer {
						require.Equal(t, r.Limit, lowest[moment{failed.Run.At, failed.Enqueue}])
						failures++
					}
				}
			}
		})
	}
	require.Equal(t, map[int]bool{1: true, 2: true}, readings)
	require.Positive(t, failures)
}
