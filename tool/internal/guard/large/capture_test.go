package large_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/guard/large"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// TestCapture reads written captures back, in all forms, and compares their content.
func TestCapture(t *testing.T) {
	for _, bare := range []bool{false, true} {
		for _, buffers := range []large.Buffering{large.NoBuffers, large.SameBuffers, large.VaryBuffers} {
			for _, programs := range []int{0, 7} {
				for _, chips := range []int{1, 3} {
					c := large.Plan{Size: 60_000, Chips: chips, Bare: bare, Programs: programs, Buffers: buffers}
					t.Run(fmt.Sprintf("bare=%v/buffers=%d/programs=%d/chips=%d", bare, buffers, programs, chips), func(t *testing.T) {
						requireMeant(t, c)
					})
				}
			}
		}
	}
}

func requireMeant(t *testing.T, c large.Plan) {
	var b bytes.Buffer
	made, err := c.Write(&b)
	require.NoError(t, err)
	require.Equal(t, int64(b.Len()), made.Bytes)
	require.InDelta(t, c.Size, made.Bytes, 10_000)
	require.True(t, json.Valid(b.Bytes()))

	r, err := replay.Run("large", capture.NewReader(&b, "large").Events(capture.Options{}), replay.Options{})
	require.NoError(t, err)
	require.Equal(t, made.Nodes, r.Nodes)
	runs, distinct, chips := made.Ops, made.Ops, int64(c.Chips)
	if c.Bare { // which has no ids: CBs placed on all chips are one program
		chips = 1
	}
	if c.Programs > 0 {
		distinct = int64(c.Programs)
	}
	require.Equal(t, runs*chips, r.Checks.Runs)
	require.Zero(t, r.Checks.Failed)
	sizes := map[uint64]bool{}
	for _, d := range r.Devices {
		require.Equal(t, int(runs), d.ProgramsDetail.Len())
		for _, p := range d.ProgramsDetail.All() {
			sizes[p.Bytes] = true
		}
	}
	require.LessOrEqual(t, len(sizes), int(distinct))
	for _, d := range r.L1 {
		if c.Buffers == large.NoBuffers || c.Bare {
			continue
		}
		require.Equal(t, uint64(min(large.Live, made.Ops)), d.BuffersPeak, "device %d", d.ID.V)
	}
	if !c.Bare {
		require.Equal(t, answer.Fits, r.Judge(answer.Terms{}).Answer, "%+v %+v", r.Judge(answer.Terms{}).Untold, r.Anomalies)
	}
}

// TestShare writes a report whose graph is a small part.
func TestShare(t *testing.T) {
	var all, graph bytes.Buffer
	_, err := large.Plan{Size: 1 << 20, Share: 0.05, Programs: 81}.Write(&all)
	require.NoError(t, err)
	require.True(t, json.Valid(all.Bytes()))
	var report struct{ Graph json.RawMessage }
	require.NoError(t, json.Unmarshal(all.Bytes(), &report))
	require.InDelta(t, 0.05, float64(len(report.Graph))/float64(all.Len()), 0.005)
	_, err = large.Plan{Size: 1 << 20 / 20, Programs: 81}.Write(&graph)
	require.NoError(t, err)
	require.Contains(t, all.String(), string(graph.Bytes()[:graph.Len()-3]), "the graph is that of a smaller report")
}

// TestSame writes the same bytes each time. Figures that were measured once stay comparable: after
// a change of the sum, measure again.
func TestSame(t *testing.T) {
	sum := crc32.NewIEEE()
	for _, bare := range []bool{false, true} {
		_, err := large.Plan{Size: 100_000, Chips: 2, Bare: bare, Programs: 9, Buffers: large.VaryBuffers}.Write(sum)
		require.NoError(t, err)
	}
	require.Equal(t, uint32(0x733bd170), sum.Sum32())
}

// The error of a writer is returned.
func TestFull(t *testing.T) {
	full := errors.New("the disk is full")
	_, err := large.Plan{Size: 1 << 20}.Write(failing{full})
	require.ErrorIs(t, err, full)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
