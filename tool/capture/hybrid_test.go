package capture

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// The mode of a device comes before its programs, though a tensor behind them says it.
func TestHybridIsReportedFirst(t *testing.T) {
	const file = "testdata/right/08_said_later.json"
	position := func(events []*event.Event, kind event.Kind) int {
		return slices.IndexFunc(events, func(e *event.Event) bool { return e.Kind == kind })
	}
	events := eventsOf(t, file, Options{})
	at := position(events, event.KindHybrid)
	require.Positive(t, at)
	require.Less(t, at, position(events, event.KindRun))
	require.Equal(t, []device.ID{events[at-1].Device}, events[at].Devices.V)
}

// A capture has the address of a buffer that was allocated per core on its first core alone. The
// tensor may say so late.
func TestModesAreReportedWithBuffers(t *testing.T) {
	for file, want := range map[string]struct {
		mode           fit.Mode
		cores, further string
	}{
		"08_hidden":       {fit.PerCore, "{[4-0 - 4-0]}", "{[4-1 - 7-3], [5-0 - 7-0]}"},
		"08_range_beside": {fit.RangeLockstep, "{[4-0 - 7-3]}", "{}"},
		"08_other_device": {fit.Lockstep, "{[4-0 - 7-3]}", "{}"},
	} {
		events := eventsOf(t, "testdata/right/"+file+".json", Options{})
		at := slices.IndexFunc(events, func(e *event.Event) bool { return e.Kind == event.KindAllocate && e.Address.V == 150000 })
		require.GreaterOrEqual(t, at, 0, file)
		e := events[at]
		require.Equal(t, want.mode, e.Buffer.Mode, file)
		require.Equal(t, []string{want.cores, want.further}, []string{e.Parts[0].Cores.V.String(), e.Buffer.Hidden.String()}, file)
	}
}
