package replay_test

import (
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/guard/large"
	"github.com/cbl1/cbl1/tool/replay"
)

// TestMemoryOfRuns counts what is in use at the last run of a capture, and of a longer one with the same programs.
// Each run adds its row alone.
func TestMemoryOfRuns(t *testing.T) {
	const most = 32 // bytes
	all := []large.Plan{
		{Programs: 81},
		{Programs: 81, Chips: 4},
		{Programs: 81, Buffers: large.SameBuffers},
		{Programs: 81, Bare: true},
	}
	few, many := int64(4_000), int64(14_000)
	if testkit.Nightly() {
		few, many = 20_000, 120_000 // both have more moments than are remembered
		all = append(all, large.Plan{Programs: 81, Buffers: large.VaryBuffers})
	}
	for _, c := range all {
		less, more := usedBy(t, c, few), usedBy(t, c, many)
		require.LessOrEqual(t, (more-less)/float64(many-few), float64(most), "%+v", c)
	}
}

// usedBy returns how many bytes are in use at the last run of a capture with so many runs on its devices.
func usedBy(t *testing.T, c large.Plan, runs int64) float64 {
	t.Helper()
	first, err := c.Write(io.Discard)
	require.NoError(t, err)
	chips := int64(max(c.Chips, 1))
	c.Size = first.Bytes / first.Ops * (runs / chips)
	path := filepath.Join(t.TempDir(), "large.json")
	file, err := os.Create(path)
	require.NoError(t, err)
	wrote, err := c.Write(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.InEpsilon(t, runs, wrote.Ops*chips, 0.02)
	var used int64
	r, err := replay.Run("large", atRun(capture.Input{Path: path}.Events(capture.Options{}), wrote.Ops*chips, func() { used = testkit.Kept() }), replay.Options{})
	require.NoError(t, err)
	require.Equal(t, wrote.Ops*chips, r.Checks.Runs)
	return float64(used)
}

// atRun passes events on, and calls do behind the run with a number, on all devices.
func atRun(events iter.Seq2[*event.Event, error], number int64, do func()) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		n := int64(0)
		for e, err := range events {
			before := n
			if err == nil && e.Kind == event.KindRun {
				n += int64(len(e.On))
			}
			if !yield(e, err) {
				return
			}
			if before < number && n >= number {
				do()
			}
		}
	}
}
