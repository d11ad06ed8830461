package capture

import (
	"github.com/cbl1/cbl1/replay"
)

// resultOf returns what replay makes of a capture.
func resultOf(in Input, opt Options) (*replay.Result, error) {
	return replay.Run(in.Path, in.Events(opt), replay.Options{Runs: true, Groups: true, Room: &replay.RoomQuestion{Size: 1000}})
}

// heldIn queries a capture for the holders of a byte.
func heldIn(in Input, q replay.Question) (*replay.Result, error) {
	return replay.Run(in.Path, in.Events(Options{At: q.At}), replay.Options{Ask: &q})
}
