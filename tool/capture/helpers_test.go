package capture

import (
	"bytes"
	"io"
	"iter"
	"os"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A pipe is a source that cannot seek.
type pipe struct{ io.Reader }

// piped returns the events of a capture on a pipe.
func piped(data []byte, opt Options) iter.Seq2[*event.Event, error] {
	opt.TempDir = os.TempDir()
	return NewReader(pipe{bytes.NewReader(data)}, "pipe.json").Events(opt)
}

// copied returns copies of events, up to the error if there is one.
func copied(events iter.Seq2[*event.Event, error]) (out []*event.Event, err error) {
	for e, err := range events {
		if err != nil {
			return out, err
		}
		out = append(out, new(*e))
	}
	return out, nil
}

// eventsOf returns the events of a file.
func eventsOf(t require.TestingT, path string, opt Options) []*event.Event {
	events, err := copied(Input{Path: path}.Events(opt))
	require.NoError(t, err)
	return events
}

// resultOf returns what replay makes of a capture.
func resultOf(in Input, opt Options) (*answer.Result, error) {
	return replay.Run(in.Path, in.Events(opt), replay.Options{Runs: true, Groups: true, Room: &answer.RoomQuestion{Size: 1000}})
}

// bothWays replays a file, and its bytes on a pipe. Both have the same Result.
func bothWays(t require.TestingT, path string, opt Options) *answer.Result {
	of := replay.Options{Runs: true, Groups: true, Room: &answer.RoomQuestion{Size: 1000}}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	file, err := replay.Run(path, Input{Path: path}.Events(opt), of)
	require.NoError(t, err)
	onPipe, err := replay.Run(path, piped(data, opt), of)
	require.NoError(t, err)
	require.Equal(t, file, onPipe)
	return file
}

// heldIn queries a capture for the holders of a byte.
func heldIn(in Input, q answer.Question) (*answer.Result, error) {
	return replay.Run(in.Path, in.Events(Options{At: q.At}), replay.Options{Ask: &q})
}
