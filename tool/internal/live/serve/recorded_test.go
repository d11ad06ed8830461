package serve_test

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// watched returns the snapshot of a viewer of a recording.
func watched(t *testing.T, log string) (now watch.Snapshot) {
	t.Helper()
	var s session.Session
	var notes watch.Notes
	for e, err := range event.NewLog(strings.NewReader(log), "log").Events() {
		require.NoError(t, err)
		notes.Take(e, s.Apply(e))
	}
	notes.Add(&now, "", s.Fleet(), 1000)
	require.Empty(t, now.Refused)
	return now
}

// drawn is a record of few things, so that processes have them together.
func drawn(random *rand.Rand) wire.Record {
	types := []wire.Type{wire.TypeAlloc, wire.TypeAlloc, wire.TypeAlloc, wire.TypeFree, wire.TypeCBAlloc, wire.TypeCBAlloc, wire.TypeCBFree, wire.TypeKernelLoad, wire.TypeKernelUnload}
	r := wire.Record{
		Type: types[random.IntN(len(types))], Device: []int32{0, 0, 1, 7}[random.IntN(4)], ID: 64 * (1 + random.Uint64N(4)), Size: 1 + random.Uint64N(3), Kind: uint8(random.IntN(5)),
	}
	if r.Type == wire.TypeCBFree || r.Type == wire.TypeKernelUnload {
		r.Size = 0
	}
	return r
}

// A viewer of a recording sees the processes that the server shows, also in a recording that began
// late; and the leaks since it began.
func TestRecordingNamesProcesses(t *testing.T) {
	for _, most := range []int64{0, 4000} {
		synctest.Test(t, func(t *testing.T) {
			var logs []*file
			s := newPipedServer(t, serve.Config{
				Dialect: wire.Newest(), Devices: []wire.DeclaredDevice{{ID: 0, Spec: l1.N150(), DRAM: 5000}, {ID: 1, Chips: []int32{0}, Spec: l1.Spec{Cols: 1, Rows: 1}}},
				Record: &serve.Recorder{Most: most, Open: func() (io.WriteCloser, error) { logs = append(logs, &file{}); return logs[len(logs)-1], nil }},
			})
			random := rand.New(rand.NewPCG(1, uint64(most)))
			others, shared := s.connect(11), 0
			for range 20 {
				doomed := s.connect(10)
				for range 30 {
					send(t, others, wire.Newest(), drawn(random))
					send(t, doomed, wire.Newest(), drawn(random))
				}
				s.Sweep()
				now := watched(t, logs[len(logs)-1].String())
				require.Equal(t, s.Snapshot().Processes, now.Processes)
				require.EqualValues(t, 5000, *now.Devices[0].DRAMSize)
				require.Equal(t, now.Devices[0].DRAMSize, s.Snapshot().Devices[0].DRAMSize)
				if len(now.Processes) == 6 {
					shared++
				}
				require.NoError(t, doomed.Close())
				s.kill()
				synctest.Wait()
				s.Sweep()
				want, now := s.Snapshot(), watched(t, logs[len(logs)-1].String())
				require.Equal(t, want.Processes, now.Processes)
				if most == 0 {
					require.Equal(t, want.Leaked, now.Leaked)
					require.Equal(t, want.Leaks, now.Leaks)
				}
			}
			require.Greater(t, shared, 10, "both have something everywhere")
			require.Equal(t, most > 0, len(logs) > 10, "%d logs", len(logs))
			s.shut(t)
		})
	}
}
