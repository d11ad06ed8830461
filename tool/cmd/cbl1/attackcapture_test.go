package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/guard/attack"
)

// Ten times the devices cost at most twelve times the allocated memory, whatever of
// them is there for long. Both are counted, not timed.
func TestCapturesOfManyDevicesGrowLinearly(t *testing.T) {
	for _, c := range attack.Captures() {
		t.Run(c.Name, func(t *testing.T) {
			small, large := asked(t, c.Text(c.Size/100)), asked(t, c.Text(c.Size/10))
			require.LessOrEqual(t, large.Mallocs, 12*small.Mallocs, "allocations")
			require.LessOrEqual(t, large.TotalAlloc, 12*small.TotalAlloc, "bytes")
		})
	}
}

// asked returns the allocations of the report of a capture.
func asked(t *testing.T, input []byte) runtime.MemStats {
	t.Helper()
	name := filepath.Join(t.TempDir(), "capture.json")
	require.NoError(t, os.WriteFile(name, input, 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.Equal(t, exitOK, run([]string{"report", "--format", "json", name}, nil, io.Discard, io.Discard))
	runtime.ReadMemStats(&after)
	after.Mallocs -= before.Mallocs
	after.TotalAlloc -= before.TotalAlloc
	return after
}
