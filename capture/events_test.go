package capture

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// TestTeller drives the last stage of a reading alone: events come out in the order in which they go in.
func TestTeller(t *testing.T) {
	one := newEvents()
	for n := range uint64(3) {
		one.tell(&event.Event{Kind: event.KindFree, Node: n})
	}
	require.Equal(t, []uint64{0, 1, 2}, flushed(t, one))
	require.Empty(t, flushed(t, one), "comes out once")
}

func TestTellerBlocks(t *testing.T) {
	one := newEvents()
	one.pos = event.Pos{Node: 7, Line: 3}
	var want []uint64
	for n := range uint64(2*maxOut + 1) {
		one.tell(&event.Event{Node: n})
		want = append(want, n)
	}
	require.Equal(t, event.Pos{Node: 7, Line: 3}, one.out[2][0].Pos, "an event without a place has that of the reading")
	require.Equal(t, want, flushed(t, one))
	require.Len(t, one.out, 1, "one block is used again")
	one.tell(&event.Event{})
	require.ErrorIs(t, one.flush(func(*event.Event, error) bool { return false }), errStop)
}

// TestTellerNotes counts facts that are hidden only in a run. Hidden facts come before anomalies.
func TestTellerNotes(t *testing.T) {
	for _, plan := range []bool{false, true} {
		one := newEvents()
		one.notes.add(noteAborted, 1, "f")
		one.unlessPlan.add(hiddenNotShown, 2, "g")
		one.tellNotes(plan)
		want := []string{hiddenNotShown, noteAborted}
		if plan {
			want = want[1:]
		}
		var codes []string
		require.NoError(t, one.flush(func(e *event.Event, _ error) bool {
			codes = append(codes, e.Code)
			return true
		}))
		require.Equal(t, want, codes)
	}
}

func flushed(t *testing.T, one *events) (nodes []uint64) {
	t.Helper()
	require.NoError(t, one.flush(func(e *event.Event, _ error) bool {
		nodes = append(nodes, e.Node)
		return true
	}))
	return nodes
}

// TestAnnouncementsAlone drives units without the other parts: what frees announce on them.
func TestAnnouncementsAlone(t *testing.T) {
	known := newMembers()
	known.join(8, 0)
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
