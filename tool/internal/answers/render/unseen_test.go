package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
)

// A program fits only if all known bytes of L1 were compared; without bytes of its own it
// always does.
func TestCheckOfUnseenBuffers(t *testing.T) {
	unseen := map[string]func(r *replay.Result){
		"1 L1 buffer from before the capture": func(r *replay.Result) { r.Earlier = replay.EarlierBuffers{L1: 1, Bytes: 4096} },
		"1 free of L1 buffers from before":    func(r *replay.Result) { r.Earlier.Freed = 1 },
		"L1 buffers of device 7":              func(r *replay.Result) { r.Checks.Apart = []uint64{7} },
	}
	for text, hide := range unseen {
		t.Run(text, func(t *testing.T) {
			s := newScene(t, l1.P150())
			s.result.Checks.Runs = 1
			hide(s.result)
			require.Equal(t, replay.Fits, s.result.Judge(replay.Terms{}).Answer, "no bytes")
			require.Equal(t, replay.CannotTell, s.result.Judge(replay.Terms{Budget: budget(t, "90%")}).Answer, "a core may hold more")
			s.run(1, matmul, circular("{[0-0 - 1-1]}", 4096))
			c := judged(s.result, nil)
			require.Equal(t, replay.CannotTell, s.result.Judge(replay.Terms{}).Answer)
			var b bytes.Buffer
			require.NoError(t, c.Text(&b, 0))
			require.Contains(t, b.String(), "because   "+text)
		})
	}
}

// A chip that is only assumed is not enough where another one has less L1.
func TestCheckOfAnAssumedChip(t *testing.T) {
	check := func(size string, arch l1.Arch) replay.Answer {
		graph := `[{"counter":0,"node_type":"circular_buffer_allocate","params":{"address":111616,"size":` + size + `,"core_range_set":"{[0-0 - 0-0]}"}}]`
		r, err := replay.Run("x.json", capture.NewReader(strings.NewReader(graph), "x.json").Events(capture.Options{Arch: arch}), replay.Options{})
		require.NoError(t, err)
		return r.Judge(replay.Terms{}).Answer
	}
	require.Equal(t, replay.Fits, check("1387520", ""), "ends where the L1 of a Wormhole ends")
	require.Equal(t, replay.CannotTell, check("1387521", ""))
	require.Equal(t, replay.Fits, check("1387521", l1.Blackhole))
	require.Equal(t, replay.DoesNotFit, check("1387521", l1.Wormhole))
}

// Where nothing ran, this is the reason for "cannot tell".
func TestCheckOfNothing(t *testing.T) {
	s := newScene(t, l1.P150())
	check := s.result.Judge(replay.Terms{})
	require.Equal(t, replay.CannotTell, check.Answer)
	require.Contains(t, check.Untold, s.result.Reason(replay.CodeNothingRan))
	accepted := s.result.Judge(replay.Terms{Accept: []replay.Code{replay.CodeNothingRan, replay.CodeNoCBs, replay.CodeNoNodes}})
	require.Equal(t, replay.Fits, accepted.Answer)
	require.NotEmpty(t, accepted.Accepted)
}
