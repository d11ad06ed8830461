package replay_test

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/replay"
)

// told are events of a source that saw what ran, on one chip.
func told(role event.Role, more ...*event.Event) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		head := []*event.Event{
			{Kind: event.KindHeader, Source: "capture"},
			{Kind: event.KindDevice, Device: 3, Spec: l1.N150(), Role: role, From: event.From{Grid: event.FromFile}},
		}
		for i, e := range append(head, more...) {
			e.Pos.Node = int64(i)
			if !yield(e, nil) {
				return
			}
		}
	}
}

func defines(id program.ID, cores string, sizes ...uint64) *event.Event {
	e := &event.Event{Kind: event.KindProgram, Program: id}
	at := l1.N150().CBBase
	for _, size := range sizes {
		e.CBs = append(e.CBs, event.CB{CB: program.CB{Cores: l1.MustParseCoreRangeSet(cores), Size: size, Address: at, Fixed: true}})
		at += size
	}
	return e
}

func ran(id program.ID, node uint64) *event.Event {
	on := event.RunOn{Device: 3, First: node, Last: node, CBFirst: node, CBLast: node}
	return &event.Event{Kind: event.KindRun, Node: node, Op: event.Some("f"), Program: id, On: []event.RunOn{on}}
}

func freed(node uint64) *event.Event {
	return &event.Event{Kind: event.KindCBsFreed, Node: node, Devices: event.Some([]device.ID{3})}
}

func ends() *event.Event {
	return &event.Event{Kind: event.KindEnd, Nodes: 40, Spec: l1.ArchSpec(l1.Wormhole), From: event.From{Arch: event.FromFile, Base: event.FromFile}}
}

// What ran stays registered, and is alive until it is freed; a run that goes on takes the
// place of what it was; one that is inferred has no row of its own.
func TestRuns(t *testing.T) {
	goesOn, again := ran(2, 5), ran(2, 20)
	goesOn.Continues = true
	again.Inferred, again.On[0].CBFirst = true, 5
	r, err := replay.Run("x", told(event.RoleChip,
		defines(1, "{[0-0 - 0-0]}", 1024), defines(2, "{[0-0 - 0-0]}", 1024, 2048), defines(3, "{[0-0 - 0-0]}", 512),
		ran(1, 5), goesOn, freed(9), ran(3, 12), freed(13), again,
		&event.Event{Kind: event.KindExecuted, Node: 21, Devices: event.Some([]device.ID{3}), Program: 2, Known: true},
		&event.Event{Kind: event.KindExecuted, Node: 22, Devices: event.Some([]device.ID{7})},
		ends(),
	), replay.Options{Runs: true})
	require.NoError(t, err)
	d := r.Devices[0]
	require.EqualValues(t, 3072, d.Registered)
	require.EqualValues(t, 3072+512, d.RegisteredLogical) // what the run was before it went on is gone
	require.EqualValues(t, 3072, d.ResidentPeak)
	require.Zero(t, d.ResidentFinal)
	require.EqualValues(t, 2, d.Programs)
	require.EqualValues(t, 2, d.CoreGroups[0].Programs)
	require.EqualValues(t, replay.HighLow{Peak: 3072, Final: 3072}, r.L1[0].Total)
	require.EqualValues(t, 4, r.Checks.Runs)
	require.EqualValues(t, 1, r.Checks.Inferred)
	require.EqualValues(t, replay.Dispatched{Peak: 3072, Final: 3072, CorePeak: 3072, Executions: 1}, *r.L1[0].Dispatched)
	require.Len(t, r.Runs, 3)
	require.EqualValues(t, 2, r.Runs[1].Times) // as it went on, and from the cache
	require.Empty(t, r.Untold())
}

// What a source hides, or a source that is cut, is never green.
func TestRunsHidden(t *testing.T) {
	run := []*event.Event{defines(1, "{[0-0 - 0-0]}", 1024), ran(1, 5)}
	r, err := replay.Run("x", told(event.RoleChip, run...), replay.Options{})
	require.NoError(t, err)
	require.Equal(t, []replay.Code{replay.CodeUnfinished}, r.Untold())

	hidden := &event.Event{Kind: event.KindHidden, Code: "not-shown", Node: 7, Count: 2, Detail: "g"}
	r, err = replay.Run("x", told(event.RoleChip, append(run, hidden, ends())...), replay.Options{})
	require.NoError(t, err)
	require.Equal(t, []replay.Code{"not-shown"}, r.Untold())
	require.Equal(t, []replay.AnomalyCount{{Code: "not-shown", Count: 2, First: 7, Detail: "g", Hidden: true}}, r.Anomalies)

	unknown := &event.Event{Kind: "later", Node: 8}
	r, err = replay.Run("x", told(event.RoleChip, append(run, unknown, ends())...), replay.Options{})
	require.NoError(t, err)
	require.Equal(t, []replay.Code{replay.CodeUnknownType}, r.Untold())

	r, err = replay.Run("x", told(event.RoleChip, append(run, &event.Event{Kind: event.KindAgain}, &event.Event{Kind: event.KindHeader, Source: "capture"}, ends())...), replay.Options{})
	require.NoError(t, err)
	require.Empty(t, r.Devices) // what was told before is void
}

// A run outside the grid of its device is judged, and not registered. The grid of a
// device with a role is none yet.
func TestRunsOutsideTheGrid(t *testing.T) {
	r, err := replay.Run("x", told("", defines(1, "{[0-0 - 8-0]}", 1024), ran(1, 5), ends()), replay.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 1, r.Checks.Failed)
	require.Contains(t, r.Checks.List[0].Verdict.String(), "exceeds device compute grid (8x8)")
	require.Zero(t, r.Devices[0].Registered)
	require.Contains(t, r.Untold(), replay.CodeEventRefused) // that it is not registered is said

	r, err = replay.Run("x", told(event.RoleChip, defines(1, "{[0-0 - 8-0]}", 1024), ran(1, 5), ends()), replay.Options{})
	require.NoError(t, err)
	require.Zero(t, r.Checks.Failed)
	require.EqualValues(t, 9*1024, r.Devices[0].Registered)
}
