package capture_test

import (
	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/replay"
)

// resultOf returns what replay makes of a capture.
func resultOf(in capture.Input, opt capture.Options) (*replay.Result, error) {
	return replay.Run(in.Path, in.Events(opt), replay.Options{Runs: true})
}

// heldIn asks a capture what holds a byte.
func heldIn(in capture.Input, q replay.Question) (*replay.Result, error) {
	return replay.Run(in.Path, in.Events(capture.Options{At: q.At}), replay.Options{Ask: &q})
}
