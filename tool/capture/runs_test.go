package capture

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Every run that is checked is listed, with what it was checked against: where a check
// fails at tt-metal's lowest address, that is the address listed.
func TestRuns(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	more, err := filepath.Glob("../cmd/cbl1/testdata/clashing*.json")
	require.NoError(t, err)
	failures := 0
	for _, file := range append(files, more...) {
		if strings.Count(filepath.Base(file), ".") > 1 { // what is expected of one
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			result, err := resultOf(Input{Path: file}, Options{})
			require.NoError(t, err)
			times := int64(0)
			for _, run := range result.Runs {
				times += run.Times
				for _, p := range run.Programs {
					require.Positive(t, p.Len())
				}
				for _, b := range run.Lowest {
					require.Equal(t, run.Lowest[0].Address, b.Address)
				}
			}
			require.LessOrEqual(t, times, result.Checks.Runs, "a run on several devices is one")
			require.Equal(t, result.Checks.Runs > 0, times > 0)
			for _, failed := range result.Checks.List {
				for _, r := range failed.Verdict.Refusals {
					if r.Kind == fit.RefusedClash && r.What == program.CircularBuffer {
						failures++
						require.True(t, slices.ContainsFunc(result.Runs, func(run answer.EnqueuedProgram) bool {
							return run.Run.Op == failed.Run.Op && len(run.Lowest) > 0 && run.Lowest[0].Address.V == r.Limit
						}))
					}
				}
			}
		})
	}
	require.Positive(t, failures)
}
