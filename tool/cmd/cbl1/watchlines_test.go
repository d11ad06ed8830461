package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/watch"
)

// An outages gives one answer after the other: a reason, or "" for a snapshot.
type outages []string

func (o *outages) look(watch.DeviceKey, bool) (watch.Snapshot, error) {
	next := (*o)[0]
	*o = (*o)[1:]
	if next != "" {
		return watch.Snapshot{}, errors.New(next)
	}
	return snapshot(watch.FeedLog), nil
}

func (*outages) close() {}

// A leaving is an output whose reader goes at the last of some writes.
type leaving int

func (l *leaving) Write(b []byte) (int, error) {
	if *l--; *l == 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// Why there is no answer is said once for each time that it stays away.
func TestEachOutageIsReported(t *testing.T) {
	var errw bytes.Buffer
	looks, answers := outages{"down", "down", "", "down", "slow", "slow", "down", ""}, leaving(2)
	in := watching{streams: streams{out: &answers, err: &errw}, every: time.Millisecond, format: "json"}
	require.NoError(t, in.lines(&looks))
	require.Empty(t, looks)
	require.Equal(t, "down down slow down", strings.Join(strings.Fields(strings.ReplaceAll(errw.String(), "cbl1:", "")), " "))
}
