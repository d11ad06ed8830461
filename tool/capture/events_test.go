package capture

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// TestEvents drives the last stage of a reading alone: events come out in the order in which they go in.
func TestEvents(t *testing.T) {
	one, got := newEvents(), []event.Event(nil)
	one.pos = event.Pos{Node: 7, Line: 3}
	one.yield = func(e *event.Event, _ error) bool {
		got = append(got, *e)
		return len(got) < 3
	}
	for n := range uint64(5) {
		one.emit(&event.Event{Kind: event.KindFree, Node: n, Pos: event.Pos{Node: int64(n)}})
	}
	require.Equal(t, []event.Event{
		{Kind: event.KindFree, Pos: one.pos},
		{Kind: event.KindFree, Node: 1, Pos: event.Pos{Node: 1}},
		{Kind: event.KindFree, Node: 2, Pos: event.Pos{Node: 2}},
	}, got, "an event without a place has that of the reading, and the caller wants three")
	require.ErrorIs(t, one.err, graph.ErrStop)
}

// TestEventNotes counts facts that are hidden only in a run. Hidden facts come before anomalies.
func TestEventNotes(t *testing.T) {
	for _, plan := range []bool{false, true} {
		one, codes := newEvents(), []string(nil)
		one.yield = func(e *event.Event, _ error) bool {
			codes = append(codes, e.Code)
			return true
		}
		one.notes.add(noteAborted, 1, "f")
		one.unlessPlan.add(hiddenNotShown, 2, "g")
		one.emitNotes(plan)
		want := []string{hiddenNotShown, noteAborted}
		if plan {
			want = want[1:]
		}
		require.Equal(t, want, codes)
	}
}

// TestAnnouncementsAlone drives units without the other parts: what frees announce on them.
func TestAnnouncementsAlone(t *testing.T) {
	known := survey.NewMembers()
	known.Join(8, 0)
	u := newUnits(known)
	for _, id := range []device.ID{0, 1, 8} {
		u.add(&unit{id: id})
	}
	of, chip, other := u.announcement(8), u.byID[0], u.byID[1]
	of.at, of.programs = 4, 2
	chip.now().begin(firstRun{7, 5}, false)
	require.Equal(t, announced{programs: []firstRun{{7, 5}}, workload: workload{of: of, at: 4, found: 1}}, *chip.now(), "two programs of its mesh")
	require.Equal(t, 2, chip.now().most())
	require.Equal(t, announced{}, *other.now(), "no chip of the mesh")
	of.at, of.programs = 9, 1
	require.Equal(t, announced{programs: []firstRun{}, workload: workload{of: of, at: 9, found: 1}}, *chip.now(), "nothing began since")
}
