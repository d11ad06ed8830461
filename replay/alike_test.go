package replay_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/replay"
)

// Devices that share a row have the figures that each of them has for itself.
func TestDevicesAlikeAndApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNaive(t, map[string]int{}, naiveQuestion{}, false)
		for _, m := range gen.MixedHistory(60, logOps()...).Draw(t, "history") {
			n.play(m)
		}
		opt := replay.Options{Timeline: true, Groups: true, GroupsAt: event.Some(uint64(40)), Runs: true, Ask: &replay.Question{Address: 64, At: event.Some(uint64(40))}}
		alike, err := replay.Run("log", events(bytes.NewReader(n.log.Bytes()), "log"), opt)
		apart, errApart := replay.RunApart("log", events(bytes.NewReader(n.log.Bytes()), "log"), opt)
		if err != nil {
			require.EqualError(t, errApart, err.Error())
			return
		}
		require.NoError(t, errApart)
		require.Equal(t, apart, alike, n.log.String())
	})
}
