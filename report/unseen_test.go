package report_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/report"
)

// A program fits only if everything that is known to be in L1 was looked at; without
// bytes of its own it always does.
func TestCheckOfWhatNobodySees(t *testing.T) {
	unseen := map[string]func(r *capture.Result){
		"1 L1 buffer from before the capture": func(r *capture.Result) { r.Earlier = capture.Earlier{L1: 1, Bytes: 4096} },
		"1 free of L1 buffers from before":    func(r *capture.Result) { r.Earlier.Freed = 1 },
		"L1 buffers of device 7":              func(r *capture.Result) { r.Checks.Apart = []uint64{7} },
	}
	for text, hide := range unseen {
		t.Run(text, func(t *testing.T) {
			s := newScene(t, l1.P150())
			s.result.Checks.Runs = 1
			hide(s.result)
			require.Equal(t, report.Fits, report.NewCheck(s.result, nil).Answer, "no bytes")
			require.Equal(t, report.CannotTell, report.NewCheck(s.result, budget(t, "90%")).Answer, "a core may hold more")
			s.run(1, matmul, circular("{[0-0 - 1-1]}", 4096))
			c := report.NewCheck(s.result, nil)
			require.Equal(t, report.CannotTell, c.Answer)
			var b bytes.Buffer
			require.NoError(t, c.Text(&b))
			require.Contains(t, b.String(), "because   "+text)
		})
	}
}
