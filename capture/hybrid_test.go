package capture

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// The mode of a device is told before its programs, for which a file is read again. What
// can be read once says that it came too late.
func TestHybridIsToldFirst(t *testing.T) {
	const file = "testdata/right/08_said_later.json"
	position := func(events []*event.Event, kind event.Kind) int {
		return slices.IndexFunc(events, func(e *event.Event) bool { return e.Kind == kind })
	}
	events, void := toldBy(t, file, Options{})
	require.NotEmpty(t, void)
	at := position(events, event.KindHybrid)
	require.Positive(t, at)
	require.Less(t, at, position(events, event.KindRun))
	require.Equal(t, []device.ID{events[at-1].Device}, events[at].Devices.V)
	late := func(e *event.Event) bool { return e.Kind == event.KindAnomaly && e.Code == noteModeLate }
	require.False(t, slices.ContainsFunc(events, late))

	data, err := os.ReadFile(file)
	require.NoError(t, err)
	events, err = told(data, Options{})
	require.NoError(t, err)
	require.Greater(t, position(events, event.KindHybrid), position(events, event.KindRun))
	require.True(t, slices.ContainsFunc(events, late))
}
