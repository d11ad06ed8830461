package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A program fits only if all known bytes of L1 were compared; without bytes of its own it
// always does.
func TestCheckOfUnseenBuffers(t *testing.T) {
	unseen := map[string]func(r *answer.Result){
		"1 L1 buffer from before the capture": func(r *answer.Result) { r.Earlier = answer.EarlierBuffers{L1: 1, Bytes: 4096} },
		"1 free of L1 buffers from before":    func(r *answer.Result) { r.Earlier.Freed = 1 },
		"L1 buffers of device 7":              func(r *answer.Result) { r.Checks.Apart = []uint64{7} },
	}
	for text, hide := range unseen {
		t.Run(text, func(t *testing.T) {
			s := newScene(t, l1.P150())
			s.result.Checks.Runs = 1
			hide(s.result)
			require.Equal(t, answer.Fits, s.result.Judge(answer.Terms{}).Answer, "no bytes")
			require.Equal(t, answer.CannotTell, s.result.Judge(answer.Terms{Budget: budget(t, "90%")}).Answer, "a core may hold more")
			s.run(1, matmul, circular("{[0-0 - 1-1]}", 4096))
			c := judged(s.result, nil)
			require.Equal(t, answer.CannotTell, s.result.Judge(answer.Terms{}).Answer)
			var b bytes.Buffer
			require.NoError(t, c.Text(&b, 0))
			require.Contains(t, b.String(), "because   "+text)
		})
	}
}

// A chip that is only assumed is not enough where another one has less L1.
func TestCheckOfAnAssumedChip(t *testing.T) {
	check := func(size string, arch l1.Arch) answer.Answer {
		graph := `[{"counter":0,"node_type":"circular_buffer_allocate","params":{"address":111616,"size":` + size + `,"core_range_set":"{[0-0 - 0-0]}"}}]`
		r, err := replay.Run("x.json", capture.NewReader(strings.NewReader(graph), "x.json").Events(capture.Options{Arch: arch}), replay.Options{})
		require.NoError(t, err)
		return r.Judge(answer.Terms{}).Answer
	}
	require.Equal(t, answer.Fits, check("1387520", ""), "ends where the L1 of a Wormhole ends")
	require.Equal(t, answer.CannotTell, check("1387521", ""))
	require.Equal(t, answer.Fits, check("1387521", l1.Blackhole))
	require.Equal(t, answer.DoesNotFit, check("1387521", l1.Wormhole))
}

// Where nothing ran, this is the reason for "cannot tell".
func TestCheckOfNothing(t *testing.T) {
	s := newScene(t, l1.P150())
	check := s.result.Judge(answer.Terms{})
	require.Equal(t, answer.CannotTell, check.Answer)
	require.Contains(t, check.Untold, s.result.Reason(answer.CodeNothingRan))
	accepted := s.result.Judge(answer.Terms{Accept: []answer.Code{answer.CodeNothingRan, answer.CodeNoCBs, answer.CodeNoNodes}})
	require.Equal(t, answer.Fits, accepted.Answer)
	require.NotEmpty(t, accepted.Accepted)
}
