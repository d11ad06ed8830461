package replay_test

import (
	"io"
	"iter"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/large"
	"github.com/cbl1/cbl1/internal/testkit"
	"github.com/cbl1/cbl1/replay"
)

// TestMemoryOfRuns counts what is in use while a capture is read, once when all its
// programs are known and once after more runs. Each run adds its row alone.
func TestMemoryOfRuns(t *testing.T) {
	const most = 32 // bytes
	all := []large.Plan{
		{Programs: 81},
		{Programs: 81, Chips: 4},
		{Programs: 81, Buffers: large.SameBuffers},
		{Programs: 81, Form: large.Strings},
	}
	before, runs := 8_000, 20_000
	if testkit.Nightly() {
		before, runs = 20_000, 100_000 // as many moments as are remembered come before
		all = append(all, large.Plan{Programs: 81, Buffers: large.VaryBuffers})
	}
	for _, c := range all {
		require.LessOrEqual(t, growth(t, c, before, runs), float64(most), "%+v", c)
	}
}

// growth returns by how many bytes each of so many runs on a device lets memory grow.
func growth(t *testing.T, c large.Plan, before, runs int) float64 {
	c.Size = 1 << 40
	in, out := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = c.Write(out) // ends when nobody reads any more
	}()
	defer func() {
		_ = in.Close()
		<-ended
	}()
	var used [2]uint64
	_, err := replay.Run("large", until(capture.NewReader(in, "large").Events(capture.Options{}), before+runs, func(n int) {
		switch n {
		case before:
			used[0] = live()
		case before + runs:
			used[1] = live()
		}
	}), replay.Options{})
	require.NoError(t, err)
	return (float64(used[1]) - float64(used[0])) / float64(runs)
}

// until passes events on up to the run with a number, on all devices. It reports the number of
// each run to its last argument.
func until(events iter.Seq2[*event.Event, error], last int, told func(n int)) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		n := 0
		for e, err := range events {
			if !yield(e, err) {
				return
			}
			if err == nil && e.Kind == event.KindRun {
				for range e.On {
					n++
					told(n)
				}
			}
			if n >= last {
				return
			}
		}
	}
}

// live returns how many bytes are in use.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
