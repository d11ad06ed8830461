package replay_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/replay"
)

// The answers are those of the Session that package capture had.
func TestAnswersAsBefore(t *testing.T) {
	for _, file := range []string{"../capture/testdata/log/conformance.jsonl", "../examples/events.jsonl"} {
		log, err := os.ReadFile(file)
		require.NoError(t, err)
		var old, now bytes.Buffer
		var before capture.Session
		require.NoError(t, before.Stream(capture.NewLog(bytes.NewReader(log), "log"), &old))
		var s replay.Session
		require.NoError(t, s.Stream(events(bytes.NewReader(log), "log"), &now))
		require.Equal(t, lines(old.String()), lines(now.String()))
	}
}
