package replay_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// executedOn is what was executed on a device, core by core.
type executedOn struct {
	cores   map[l1.Core]uint64
	figures answer.Residue
}

// executes dispatches one circular buffer on two cores, from x on.
func (on *executedOn) executes(x uint8, size uint64) {
	on.figures.Executions++
	on.cores[l1.Core{X: x}], on.cores[l1.Core{X: x + 1}] = size, size
	on.figures.Final = 0
	for _, bytes := range on.cores {
		on.figures.Final += bytes
	}
	on.figures.Peak, on.figures.CorePeak = max(on.figures.Peak, on.figures.Final), max(on.figures.CorePeak, size)
}

// What executions left is what was executed, core by core, whichever runs were: all of them,
// some, twice, late, on some of the devices, of traces and what was evicted beside them.
func TestExecutions(t *testing.T) {
	const programs = 5
	ids := []device.ID{3, 4, 5}
	rapid.Check(t, func(t *rapid.T) {
		events := []*event.Event{
			{Kind: event.KindDevice, Device: 4, Spec: l1.N150(), Role: event.RoleChip, From: event.Origins{Grid: event.FromFile}},
			{Kind: event.KindDevice, Device: 5, Spec: l1.N150(), Role: event.RoleChip, From: event.Origins{Grid: event.FromFile}},
		}
		var xs [programs]uint8
		var sizes [programs]uint64
		for p := range programs {
			xs[p], sizes[p] = rapid.Uint8Range(0, 2).Draw(t, "x"), 32*rapid.Uint64Range(1, 4).Draw(t, "size")
			events = append(events, defines(program.ID(p), l1.Rect(xs[p], 0, xs[p]+1, 0).String(), sizes[p]))
		}
		want := map[device.ID]*executedOn{}
		latest := 0
		some := func() (out []device.ID) {
			for _, id := range ids {
				if rapid.IntRange(0, 4).Draw(t, "on") > 0 {
					out = append(out, id)
				}
			}
			return out
		}
		executed := func(p int, on []device.ID, known bool) {
			if rapid.IntRange(0, 9).Draw(t, "twice") == 0 {
				on = append(on, on...)
			}
			events = append(events, &event.Event{Kind: event.KindExecuted, Node: uint64(len(events)), Devices: event.Some(on), Program: program.ID(p), Known: known})
			for _, id := range on {
				if want[id] == nil {
					want[id] = &executedOn{cores: map[l1.Core]uint64{}}
				}
				if known {
					want[id].executes(xs[p], sizes[p])
				} else {
					want[id].figures.Executions++
					want[id].figures.Unknown++
				}
			}
		}
		ran := func(p int, on []device.ID) {
			latest = p
			node := uint64(len(events))
			e := &event.Event{Kind: event.KindRun, Node: node, Op: event.Some("f"), Program: program.ID(p)}
			for _, id := range on {
				e.On = append(e.On, event.RunDevice{Device: id, First: node, Last: node, CBFirst: node, CBLast: node})
			}
			e.Continues = rapid.IntRange(0, 9).Draw(t, "goes on") == 0
			events = append(events, e)
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch p := rapid.IntRange(0, programs-1).Draw(t, "program"); rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				ran(p, some())
			case 1:
				executed(latest, some(), true)
			case 2:
				executed(p, some(), rapid.Bool().Draw(t, "known"))
			case 3:
				events = append(events, &event.Event{Kind: event.KindEvict, Program: program.ID(p), Node: uint64(len(events))})
			default:
				ran(p, ids)
				executed(p, ids, true)
			}
		}
		r, err := replay.Run("x", runEvents(event.RoleChip, append(events, ends())...), replay.Options{})
		require.NoError(t, err)
		for _, d := range r.L1 {
			if of := want[device.ID(d.ID.V)]; of == nil {
				require.Nil(t, d.Dispatched)
			} else {
				require.NotNil(t, d.Dispatched)
				require.Equal(t, of.figures, *d.Dispatched, "device %d", d.ID.V)
			}
		}
	})
}

// Runs that were not executed come after some that were: what those left stays, and their
// marks are those of what happened.
func TestExecutionsOfTheirOwn(t *testing.T) {
	emptying := defines(4, "{[0-0 - 1-0]}", 32)
	emptying.CBs = append(emptying.CBs, event.CB{CB: program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0]}"), Global: true}})
	emptying.CBs[0].Cores = l1.MustParseCoreRangeSet("{[1-0 - 1-0]}")
	defined := []*event.Event{
		defines(1, "{[0-0 - 0-0]}", 1024), defines(2, "{[0-0 - 0-0]}", 64), defines(3, "{[1-0 - 1-0]}", 1024), emptying,
	}
	for _, x := range []struct {
		runs []program.ID // negated: not executed
		want answer.Residue
	}{
		{[]program.ID{1, 2, 3, 2, ^program.ID(3), 2}, answer.Residue{Peak: 1024 + 64, Final: 1024 + 64, CorePeak: 1024, Executions: 5}},
		{[]program.ID{1, 3, ^program.ID(1), 3}, answer.Residue{Peak: 2048, Final: 2048, CorePeak: 1024, Executions: 3}},
		{[]program.ID{^program.ID(1), 3}, answer.Residue{Peak: 1024, Final: 1024, CorePeak: 1024, Executions: 1}},
		{[]program.ID{1, 4}, answer.Residue{Peak: 1024, Final: 32, CorePeak: 1024, Executions: 2}},
	} {
		events := defined
		for i, id := range x.runs {
			node := uint64(5 + 2*i)
			if int64(id) < 0 {
				events = append(slices.Clip(events), ran(^id, node))
				continue
			}
			events = append(slices.Clip(events), ran(id, node),
				&event.Event{Kind: event.KindExecuted, Node: node + 1, Devices: event.Some([]device.ID{3}), Program: id, Known: true})
		}
		r, err := replay.Run("x", runEvents(event.RoleChip, append(events, ends())...), replay.Options{})
		require.NoError(t, err)
		require.Equal(t, x.want, *r.L1[0].Dispatched)
	}
}

// Chips that execute the same programs keep what each has executed before.
func TestExecutionsOfChipsWithDifferentPasts(t *testing.T) {
	executed := func(id program.ID, node uint64, on ...device.ID) *event.Event {
		return &event.Event{Kind: event.KindExecuted, Node: node, Devices: event.Some(on), Program: id, Known: true}
	}
	both := ran(1, 4)
	both.On = append(both.On, event.RunDevice{Device: 4, First: 4, Last: 4, CBFirst: 4, CBLast: 4})
	r, err := replay.Run("x", runEvents(event.RoleChip,
		&event.Event{Kind: event.KindDevice, Device: 4, Spec: l1.N150(), Role: event.RoleChip, From: event.Origins{Grid: event.FromFile}},
		defines(1, "{[0-0 - 0-0]}", 1024), defines(2, "{[1-0 - 1-0]}", 64), both,
		executed(1, 5, 3), executed(2, 6, 3, 4), executed(2, 7, 3), ends()), replay.Options{})
	require.NoError(t, err)
	require.Len(t, r.L1, 2)
	require.Equal(t, answer.Residue{Peak: 1024 + 64, Final: 1024 + 64, CorePeak: 1024, Executions: 3}, *r.L1[0].Dispatched)
	require.Equal(t, answer.Residue{Peak: 64, Final: 64, CorePeak: 64, Executions: 1}, *r.L1[1].Dispatched)
}

// An id that is defined anew executes its new program. What the old one left stays until
// something is written over it. Two programs with one id are not alive at once.
func TestExecutionsOfRedefinedPrograms(t *testing.T) {
	executed := func(node uint64) *event.Event {
		return &event.Event{Kind: event.KindExecuted, Node: node, Devices: event.Some([]device.ID{3}), Program: 1, Known: true}
	}
	unregistered := &event.Event{Kind: event.KindUnregister, Program: 1}
	for _, x := range []struct {
		cores   string
		between []*event.Event
		want    answer.Residue
	}{
		{"{[1-0 - 1-0]}", nil, answer.Residue{Peak: 1024 + 64, Final: 1024 + 64, CorePeak: 1024, Executions: 2}},
		{"{[0-0 - 0-0]}", []*event.Event{unregistered}, answer.Residue{Peak: 1024, Final: 64, CorePeak: 1024, Executions: 2}},
	} {
		events := append([]*event.Event{defines(1, "{[0-0 - 0-0]}", 1024), ran(1, 5), ran(1, 6), executed(7), freed(8)}, x.between...)
		events = append(events, defines(1, x.cores, 64), ran(1, 9), executed(10), ends())
		r, err := replay.Run("x", runEvents(event.RoleChip, events...), replay.Options{})
		require.NoError(t, err)
		require.Equal(t, x.want, *r.L1[0].Dispatched)
	}
	events := []*event.Event{defines(1, "{[0-0 - 0-0]}", 1024), ran(1, 5), unregistered, defines(1, "{[1-0 - 1-0]}", 64), ran(1, 6), ends()}
	_, err := replay.Run("x", runEvents(event.RoleChip, events...), replay.Options{})
	require.ErrorIs(t, err, device.ErrConflict)
	require.NotContains(t, err.Error(), "sizes")
}
