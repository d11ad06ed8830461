package capture

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Asked about any byte after the last node, Held has what the peak's composition has
// where the capture ends at its peak; after each node it has what is there then, each
// core once.
func TestHeldAfterEveryNode(t *testing.T) {
	in := Input{Path: filepath.Join("testdata", "matmul_normal.json")}
	whole, err := resultOf(in, Options{})
	require.NoError(t, err)
	const inBuffer, inCB = 1_450_000, 112_000 // the buffer lives from node 6 to 18, the CBs from 13 on
	for at := range uint64(whole.Nodes) {
		for addr, from := range map[uint64][2]uint64{inBuffer: {6, 18}, inCB: {10, 99}} {
			r, err := heldIn(in, answer.Question{Address: addr, At: event.Some(at)})
			require.NoError(t, err)
			seen := l1.CoreSet{}
			for _, h := range r.Held {
				require.False(t, seen.Overlaps(h.Cores))
				seen = seen.Union(h.Cores)
				require.NotEmpty(t, append(h.Resident, h.Registered...))
			}
			require.Equal(t, from[0] <= at && at < from[1], len(r.Held) > 0, "byte %d after node %d", addr, at)
		}
	}
	end, err := heldIn(in, answer.Question{Address: inCB})
	require.NoError(t, err)
	require.Len(t, end.Held, 1)
	require.Equal(t, 64, end.Held[0].Cores.Len())
	require.Len(t, end.Held[0].Resident, 1)
	require.Equal(t, end.Held[0].Resident, end.Held[0].Registered)
	require.Nil(t, whole.Held)
}

// The buffers of the tightest program may grow by what is free above it, where they
// all lie below each other on the same cores and what is free is aligned.
func TestTightestMayGrow(t *testing.T) {
	for file, buffers := range map[string]int{"matmul_normal.json": 4, "report_v1.json": 0} {
		r, err := resultOf(Input{Path: filepath.Join("testdata", file)}, Options{Arch: l1.Wormhole})
		require.NoError(t, err)
		require.NotNil(t, r.Checks.Tightest)
		for _, g := range r.Checks.Tightest.Grow {
			require.LessOrEqual(t, g.Bytes, r.Checks.Tightest.Headroom.Free)
			require.Greater(t, g.Bytes+64, r.Checks.Tightest.Headroom.Free)
		}
		if buffers > 0 {
			require.Len(t, r.Checks.Tightest.Grow, buffers, file)
		}
	}
}
