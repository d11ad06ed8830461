package replay_test

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// runEvents returns the events of a source with runs, on one chip.
func runEvents(role event.Role, more ...*event.Event) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		head := []*event.Event{
			{Kind: event.KindHeader, Source: "capture"},
			{Kind: event.KindDevice, Device: 3, Spec: l1.N150(), Role: role, From: event.Origins{Grid: event.FromFile}},
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
	on := event.RunDevice{Device: 3, First: node, Last: node, CBFirst: node, CBLast: node}
	return &event.Event{Kind: event.KindRun, Node: node, Op: event.Some("f"), Program: id, On: []event.RunDevice{on}}
}

func freed(node uint64) *event.Event {
	return &event.Event{Kind: event.KindCBsFreed, Node: node, Devices: event.Some([]device.ID{3})}
}

func ends() *event.Event {
	return &event.Event{Kind: event.KindEnd, Nodes: 40, Spec: l1.ArchSpec(l1.Wormhole), From: event.Origins{Arch: event.FromFile, Base: event.FromFile}}
}

// What ran stays registered, and is alive until it is freed; a run that goes on takes the
// place of what it was; one that is inferred has no row of its own.
func TestRuns(t *testing.T) {
	goesOn, again := ran(2, 5), ran(2, 20)
	goesOn.Continues = true
	again.Inferred, again.On[0].CBFirst = true, 5
	r, err := replay.Run("x", runEvents(event.RoleChip,
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
	require.EqualValues(t, [2]uint64{3072, 3072}, [2]uint64{r.L1[0].TotalPeak, r.L1[0].TotalFinal})
	require.EqualValues(t, 4, r.Checks.Runs)
	require.EqualValues(t, 1, r.Checks.Inferred)
	require.EqualValues(t, answer.Residue{Peak: 3072, Final: 3072, CorePeak: 3072, Executions: 1}, *r.L1[0].Dispatched)
	require.Len(t, r.Runs, 3)
	require.EqualValues(t, 2, r.Runs[1].Times) // as it went on, and from the cache
	require.Empty(t, r.Undecided())
}

// What is alive beside programs that were registered is more than what it is alone, also
// when it ran alone before, and comes again alone.
func TestRunsBesideRegisteredPrograms(t *testing.T) {
	calls := func(kind event.Kind, id program.ID, node uint64) *event.Event {
		return &event.Event{Kind: kind, Program: id, Node: node, Devices: event.Some([]device.ID{3})}
	}
	besides := []*event.Event{calls(event.KindRegister, 2, 8), ran(1, 9), freed(10), calls(event.KindUnregister, 2, 11)}
	events := []*event.Event{defines(1, "{[0-0 - 1-0]}", 1024), defines(2, "{[1-0 - 1-0]}", 1024, 2048), ran(1, 5), freed(6)}
	events = append(append(events, besides...), ran(1, 15))
	r, err := replay.Run("x", runEvents(event.RoleChip, append(events, ends())...), replay.Options{})
	require.NoError(t, err)
	d := r.Devices[0]
	require.EqualValues(t, 2*1024+3072, d.LogicalPeak)
	require.EqualValues(t, 1024+3072, d.ResidentPeak) // both begin at one address
	require.EqualValues(t, 3072, d.CorePeak)
	require.EqualValues(t, 2*1024, d.ResidentFinal)
	require.Len(t, d.CoreGroups, 2)
	require.EqualValues(t, 1024, d.CoreGroups[0].AlivePeak)
	require.EqualValues(t, 3072, d.CoreGroups[1].AlivePeak)
}

// What was alive on a device is its own, also where another one ran the same.
func TestRunsOfTwoDevices(t *testing.T) {
	on4 := func(e *event.Event) *event.Event {
		for i := range e.On {
			e.On[i].Device = 4
		}
		if e.Devices.OK {
			e.Devices.V[0] = 4
		}
		return e
	}
	second := &event.Event{Kind: event.KindDevice, Device: 4, Spec: l1.N150(), Role: event.RoleChip, From: event.Origins{Grid: event.FromFile}}
	r, err := replay.Run("x", runEvents(event.RoleChip, second, defines(1, "{[0-0 - 1-0]}", 1024), defines(2, "{[1-0 - 1-0]}", 2048),
		ran(2, 5), freed(6), ran(1, 7), freed(8), on4(ran(1, 9)), on4(freed(10)), on4(ran(2, 11)), on4(freed(12)), ran(2, 13), on4(ran(1, 14)), ends(),
	), replay.Options{})
	require.NoError(t, err)
	for i, final := range []uint64{2048, 2 * 1024} {
		d := r.Devices[i]
		require.Equal(t, final, d.ResidentFinal)
		require.Len(t, d.CoreGroups, 2)
		require.EqualValues(t, 1024, d.CoreGroups[0].AlivePeak)
		require.EqualValues(t, 2048, d.CoreGroups[1].AlivePeak)
	}

	r, err = replay.Run("x", runEvents(event.RoleChip, second, defines(1, "{[0-0 - 1-0]}", 1024), defines(2, "{[1-0 - 1-0]}", 2048),
		ran(2, 5), freed(6), ran(1, 7), freed(8), on4(ran(1, 9)), on4(freed(10)), ends(),
	), replay.Options{})
	require.NoError(t, err)
	require.Len(t, r.Devices[1].CoreGroups, 1)
	require.EqualValues(t, 1024, r.Devices[1].CoreGroups[0].AlivePeak)
}

// A source without a header is a log.
func TestRunWithoutHeader(t *testing.T) {
	events := []*event.Event{
		{Kind: event.KindDevice, Device: 3, Spec: l1.N150()}, defines(1, "{[0-0 - 0-0]}", 1024),
		{Kind: event.KindEnqueue, Program: 1, Node: 4},
	}
	r, err := replay.Run("x", func(yield func(*event.Event, error) bool) {
		for i, e := range events {
			if e.Pos.Node = int64(i + 1); !yield(e, nil) {
				return
			}
		}
	}, replay.Options{})
	require.NoError(t, err)
	require.True(t, r.Log)
	require.EqualValues(t, 1, r.Checks.Runs)
	require.EqualValues(t, 1024, r.Devices[0].Registered)
}

// What a source hides, or a source that is cut, is never green.
func TestRunsHidden(t *testing.T) {
	run := []*event.Event{defines(1, "{[0-0 - 0-0]}", 1024), ran(1, 5)}
	r, err := replay.Run("x", runEvents(event.RoleChip, run...), replay.Options{})
	require.NoError(t, err)
	require.Equal(t, []answer.Code{answer.CodeUnfinished}, r.Undecided())

	hidden := &event.Event{Kind: event.KindHidden, Code: "not-shown", Node: 7, Count: 2, Detail: "g"}
	r, err = replay.Run("x", runEvents(event.RoleChip, append(run, hidden, ends())...), replay.Options{})
	require.NoError(t, err)
	require.Equal(t, []answer.Code{"not-shown"}, r.Undecided())
	require.Equal(t, []answer.AnomalyCount{{Code: "not-shown", Count: 2, First: 7, Detail: "g", Hidden: true}}, r.Anomalies)

	unknown := &event.Event{Kind: "later", Node: 8}
	r, err = replay.Run("x", runEvents(event.RoleChip, append(run, unknown, ends())...), replay.Options{})
	require.NoError(t, err)
	require.Equal(t, []answer.Code{answer.CodeUnknownType}, r.Undecided())
}

// A run outside the grid of its device is judged, and not registered, whoever knows the
// grid. One that is assumed refuses nothing.
func TestRunsOutsideTheGrid(t *testing.T) {
	for _, role := range []event.Role{"", event.RoleChip} {
		goesOn := ran(2, 5)
		goesOn.Continues = true
		r, err := replay.Run("x", runEvents(role,
			defines(1, "{[0-0 - 7-0]}", 1024), defines(2, "{[0-0 - 8-0]}", 1024, 2048), ran(1, 5), goesOn,
			&event.Event{Kind: event.KindExecuted, Node: 6, Devices: event.Some([]device.ID{3}), Program: 2, Known: true}, freed(9), ends(),
		), replay.Options{})
		require.NoError(t, err)
		require.EqualValues(t, 1, r.Checks.Failed)
		require.Contains(t, r.Checks.List[0].Verdict.String(), "exceeds device compute grid (8x8)")
		d := r.Devices[0]
		require.Zero(t, d.Registered) // what it was before it went on neither
		require.Zero(t, d.RegisteredLogical)
		require.EqualValues(t, 1, d.Programs)
		require.EqualValues(t, 9*3072, d.ResidentPeak) // its CBs were alive
		require.EqualValues(t, 1, r.L1[0].Dispatched.Unknown)
		require.Equal(t, []answer.AnomalyCount{{
			Code: answer.CodeOutsideGrid, Count: 1, First: 5, Detail: "core 8-0 lies outside the grid of 8x8",
		}}, r.Anomalies)
		require.Empty(t, r.Undecided()) // it does not fit
	}

	assumed := &event.Event{Kind: event.KindDevice, Device: 3, Spec: l1.N150(), Role: event.RoleChip, From: event.Origins{Grid: event.FromAssumed}}
	r, err := replay.Run("x", func(yield func(*event.Event, error) bool) {
		for _, e := range []*event.Event{{Kind: event.KindHeader, Source: "capture"}, assumed, defines(1, "{[0-0 - 8-0]}", 1024), ran(1, 5), ends()} {
			if !yield(e, nil) {
				return
			}
		}
	}, replay.Options{})
	require.NoError(t, err)
	require.Zero(t, r.Checks.Failed)
	require.EqualValues(t, 9*1024, r.Devices[0].Registered)
}

// The query check says what the verb says: of what a log enqueues, and of what a source
// saw run, whose grids the fleet does not have.
func TestChecksAgreeOnGrids(t *testing.T) {
	device3 := func(role event.Role) *event.Event {
		return &event.Event{Kind: event.KindDevice, Device: 3, Spec: l1.N150(), Role: role, From: event.Origins{Grid: event.FromFile}}
	}
	enqueue := &event.Event{Kind: event.KindEnqueue, Program: 1, Node: 4}
	for name, events := range map[string][]*event.Event{
		"log":    {{Kind: event.KindHeader}, device3(""), defines(1, "{[0-0 - 8-0]}", 1024), enqueue},
		"source": {{Kind: event.KindHeader, Source: "capture"}, device3(event.RoleChip), defines(1, "{[0-0 - 8-0]}", 1024), ran(1, 4)},
	} {
		var s session.Session
		for i, e := range events {
			err := s.Apply(e)
			require.Equal(t, i == len(events)-1, err != nil, "%s: %v", name, err)
		}
		require.Zero(t, s.Fleet().Where(1).Len(), name)
		query := &event.Event{Kind: event.KindQuery, Query: event.Query{Name: "check", Program: event.Some(program.ID(1))}}
		require.Contains(t, string(s.Answer(query)), "exceeds device compute grid (8x8)", name)

		r, err := replay.Run("x", func(yield func(*event.Event, error) bool) {
			for _, e := range append(events, ends()) {
				if !yield(e, nil) {
					return
				}
			}
		}, replay.Options{})
		require.NoError(t, err)
		require.EqualValues(t, 1, r.Checks.Failed, name)
		require.Contains(t, r.Checks.List[0].Verdict.String(), "exceeds device compute grid (8x8)", name)
		require.True(t, slices.ContainsFunc(r.Anomalies, func(a answer.AnomalyCount) bool { return a.Code == answer.CodeOutsideGrid }), name)
	}
}

// A run that may be of several programs is judged as each of them: they all fit, they all
// fail, or the answer is "cannot tell". Figures follow the one that the source takes it for.
func TestRunsAmbiguous(t *testing.T) {
	low := &event.Event{
		Kind: event.KindAllocate, Node: 2, Devices: event.Some([]device.ID{3}), Buffer: fit.Buffer{ID: 1, Kind: fit.KindL1, Size: 64},
		Parts: []event.Part{{Cores: event.Some(l1.CoreSetOf(l1.Core{})), Range: l1.Range{Start: 500_000, End: 500_064}}},
	}
	many := []*event.Event{low}
	for id := range 66 {
		many = append(many, defines(program.ID(id), "{[0-0 - 0-0]}", 1024+32*uint64(id)))
	}
	many = append(many, defines(100, "{[0-0 - 0-0]}", 500_000), defines(101, "{[0-0 - 0-0]}", 600_000))
	for _, c := range []struct {
		name           string
		taken          program.ID
		others         []program.ID
		failed, marked int64
		untold         bool
	}{
		{"one", 1, nil, 0, 0, false},
		{"all fit", 1, []program.ID{2}, 0, 1, false},
		{"all fail", 100, []program.ID{101}, 1, 1, false},
		{"the last fits", 1, []program.ID{100, 2}, 0, 1, true},
		{"the last fails", 100, []program.ID{1}, 0, 1, true},
		{"64 fit", 0, upTo(64), 0, 1, false},
		{"65 fit", 0, upTo(65), 0, 1, true},
	} {
		e := ran(c.taken, 5)
		e.Inferred, e.Candidates = true, alone(c.others...)
		first := ran(c.taken, 1) // beside nothing, since it comes first
		r, err := replay.Run("x", runEvents(event.RoleChip, append(append(slices.Clone(many[1:]), first, freed(2)), low, e, ends())...), replay.Options{})
		require.NoError(t, err)
		require.EqualValues(t, 2, r.Checks.Runs, c.name)
		require.EqualValues(t, 1, r.Checks.Inferred, c.name)
		require.Equal(t, c.failed, r.Checks.Failed, c.name)
		require.Equal(t, c.untold, slices.Contains(r.Undecided(), answer.CodeAmbiguous), c.name)
		i := slices.IndexFunc(r.Anomalies, func(a answer.AnomalyCount) bool { return a.Code == answer.CodeAmbiguous })
		require.Equal(t, c.marked > 0, i >= 0, c.name)
	}

	e := ran(1, 5)
	e.Candidates = alone(77)
	r, err := replay.Run("x", runEvents(event.RoleChip, defines(1, "{[0-0 - 0-0]}", 1024), e, ends()), replay.Options{})
	require.NoError(t, err)
	require.Contains(t, r.Undecided(), answer.CodeEventRefused) // nothing says what 77 is
}

// A workload of several programs that may be another one is judged as a whole, and so is
// each that it may be.
func TestWorkloadsAmbiguous(t *testing.T) {
	const fits, too, fails, longer, over = 1, 2, 100, 101, 102
	type workloads = [][]program.ID
	for _, c := range []struct {
		name   string
		taken  []program.ID
		others workloads
		failed int64
		untold bool
	}{
		{"it is the other one, which fits", []program.ID{fails, longer}, workloads{{fits, too}}, 0, true},
		{"the first of the other one fits, the second does not", []program.ID{fails, longer}, workloads{{fits, over}}, 2, false},
		{"the other one fails", []program.ID{fails, longer}, workloads{{over, over}}, 2, false},
		{"the second alone differs", []program.ID{fits, fails}, workloads{{fits, too}}, 0, true},
		{"both begin alike and fail", []program.ID{fits, fails}, workloads{{fits, over}}, 1, false},
		{"both fit", []program.ID{fits, too}, workloads{{too, fits}}, 0, false},
		{"a shorter one fits", []program.ID{fits, fails}, workloads{{fits}}, 0, true},
		{"a longer one fails", []program.ID{fits}, workloads{{fits, fails}}, 0, true},
		{"each fails, though each program fits somewhere", []program.ID{fits, fails}, workloads{{longer, too}, {too, over}}, 1, false},
		{"one of several fits", []program.ID{fits, fails}, workloads{{longer, too}, {too}, {over}}, 0, true},
	} {
		events := workloadOf(c.taken...)
		events[0].Candidates = c.others
		r := ranBesideLow(t, events...)
		require.EqualValues(t, len(c.taken), r.Checks.Runs, c.name)
		require.EqualValues(t, len(c.taken), r.Checks.Inferred, c.name)
		require.Equal(t, c.failed, r.Checks.Failed, c.name)
		require.Equal(t, c.untold, slices.Contains(r.Undecided(), answer.CodeAmbiguous), c.name)
		require.True(t, marked(r), c.name)

		// Some of them may be more programs than they list: then what they do not fit says nothing.
		events[0].CandidatesUnsettled = true
		r = ranBesideLow(t, events...)
		require.Zero(t, r.Checks.Failed, c.name)
		require.Equal(t, c.name != "both fit", slices.Contains(r.Undecided(), answer.CodeAmbiguous), c.name)
	}
}

// Each device has its own candidates, and each is judged beside what lives on its device.
func TestCandidatesOfDevices(t *testing.T) {
	other := &event.Event{Kind: event.KindDevice, Device: 4, Spec: l1.N150(), Role: event.RoleChip, From: event.Origins{Grid: event.FromFile}}
	events := workloadOf(100, 1)
	events[0].Candidates = [][]program.ID{{101, 2}}
	events[0].On = append(events[0].On, events[0].On[0])
	events[0].On[1].Device = 4 // where nothing is in the way
	r := ranBesideLow(t, append([]*event.Event{other}, events...)...)
	require.EqualValues(t, 3, r.Checks.Runs)
	require.EqualValues(t, 1, r.Checks.Failed)
	require.Equal(t, event.Some[uint64](3), r.Checks.List[0].Device)
	require.NotContains(t, r.Undecided(), answer.CodeAmbiguous)
}

// Equal devices count apart where the answer is "cannot tell", and the first reason is named.
func TestCandidatesOfDevicesAlike(t *testing.T) {
	other := &event.Event{Kind: event.KindDevice, Device: 4, Spec: l1.N150(), Role: event.RoleChip, From: event.Origins{Grid: event.FromFile}}
	low := &event.Event{
		Kind: event.KindAllocate, Node: 2, Devices: event.Some([]device.ID{3, 4}), Buffer: fit.Buffer{ID: 1, Kind: fit.KindL1, Size: 64},
		Parts: []event.Part{{Cores: event.Some(l1.CoreSetOf(l1.Core{})), Range: l1.Range{Start: 500_000, End: 500_064}}},
	}
	one := func(programs int, node uint64) *event.Event {
		e := ran(1, node)
		e.Inferred, e.Candidates = true, [][]program.ID{slices.Repeat([]program.ID{100}, programs)}
		e.On = append(e.On, e.On[0])
		e.On[1].Device = 4
		return e
	}
	for _, c := range []struct {
		programs int
		detail   string
	}{{1, "some fit and some do not"}, {1 << 12, "some fit and some do not"}, {1<<12 + 1, "candidates of more than 4096 programs"}} {
		all := slices.Concat([]*event.Event{other}, programs(), []*event.Event{low, one(c.programs, 5), freed(6), one(5000, 7), freed(8), one(1, 9), ends()})
		r, err := replay.Run("x", runEvents(event.RoleChip, all...), replay.Options{})
		require.NoError(t, err)
		require.EqualValues(t, 6, r.Checks.Runs)
		require.EqualValues(t, 6, r.Checks.Inferred)
		require.Zero(t, r.Checks.Failed)
		i := slices.IndexFunc(r.Anomalies, func(a answer.AnomalyCount) bool { return a.Code == answer.CodeAmbiguous })
		require.Equal(t, c.detail, r.Anomalies[i].Detail)
		require.EqualValues(t, 5, r.Anomalies[i].First)
		require.EqualValues(t, 6, r.Anomalies[i].Count)
	}
}

// A log that was written before gives each run of a workload candidates of its own, one
// program each: red where all fail, never green where one does.
func TestCandidatesOfEachRun(t *testing.T) {
	for _, c := range []struct {
		taken  []program.ID
		others [2][]program.ID
		failed int64
		untold bool
	}{
		{[]program.ID{100, 101}, [2][]program.ID{{1}, {1}}, 0, true},
		{[]program.ID{100, 101}, [2][]program.ID{{102}, {102}}, 2, false},
		{[]program.ID{1, 100}, [2][]program.ID{nil, {2}}, 0, true},
		{[]program.ID{1, 100}, [2][]program.ID{nil, {102}}, 1, false},
		{[]program.ID{1, 2}, [2][]program.ID{{2}, {1}}, 0, false},
		{[]program.ID{1, 2}, [2][]program.ID{{2}, {100}}, 0, true},
	} {
		events := workloadOf(c.taken...)
		for i, e := range events {
			e.Candidates = alone(c.others[i]...)
		}
		r := ranBesideLow(t, events...)
		require.Equal(t, c.failed, r.Checks.Failed)
		require.Equal(t, c.untold, slices.Contains(r.Undecided(), answer.CodeAmbiguous))
	}
}

// Each program that may have run is listed, once, as one of so many; behind what is taken to
// have run.
func TestRunsListCandidates(t *testing.T) {
	type listed struct {
		program        program.ID
		devices, oneOf int
		times          int64
	}
	both := func(e *event.Event) {
		e.On = append(e.On, e.On[0])
		e.On[1].Device = 4
	}
	events := workloadOf(100, 1)
	for _, e := range events {
		both(e)
	}
	events[0].Candidates = [][]program.ID{{2}, {101, 2}, {1, 102}}
	apart := ran(2, 9)
	other := &event.Event{Kind: event.KindDevice, Device: 4, Spec: l1.N150(), Role: event.RoleChip, From: event.Origins{Grid: event.FromFile}}
	low := &event.Event{
		Kind: event.KindAllocate, Node: 2, Devices: event.Some([]device.ID{4}), Buffer: fit.Buffer{ID: 1, Kind: fit.KindL1, Size: 64},
		Parts: []event.Part{{Cores: event.Some(l1.CoreSetOf(l1.Core{})), Range: l1.Range{Start: 500_000, End: 500_064}}},
	}
	for _, c := range []struct {
		name string
		low  []*event.Event
		want []listed
	}{
		{"alike", nil, []listed{{100, 2, 4, 1}, {1, 2, 4, 1}, {2, 2, 4, 1}, {101, 2, 4, 1}, {102, 2, 4, 1}, {2, 1, 0, 1}}},
		{"not alike", []*event.Event{low}, []listed{
			{100, 1, 4, 1}, {100, 1, 4, 1}, {1, 1, 4, 1}, {1, 1, 4, 1},
			{2, 1, 4, 1}, {101, 1, 4, 1}, {102, 1, 4, 1}, {2, 1, 4, 1}, {101, 1, 4, 1}, {102, 1, 4, 1}, {2, 1, 0, 1},
		}},
	} {
		all := slices.Concat([]*event.Event{other}, programs(), c.low, events, []*event.Event{apart, ends()})
		r, err := replay.Run("x", runEvents(event.RoleChip, all...), replay.Options{Runs: true})
		require.NoError(t, err)
		var got []listed
		for _, e := range r.Runs {
			got = append(got, listed{e.Programs[0].ID(), e.Devices, e.OneOf, e.Times})
		}
		require.ElementsMatch(t, c.want, got, c.name)
		require.Equal(t, c.want[len(c.want)-1], got[len(got)-1], c.name)
		require.EqualValues(t, 5, r.Checks.Runs, "candidates are not counted as runs")
	}
}

// programs defines 1 and 2, which fit beside a buffer at 500,000, and 100 to 102, which do not.
func programs() []*event.Event {
	const core = "{[0-0 - 0-0]}"
	return []*event.Event{
		defines(1, core, 1024), defines(2, core, 2048), defines(100, core, 500_000), defines(101, core, 600_000), defines(102, core, 700_000),
	}
}

// workloadOf returns inferred runs of one workload.
func workloadOf(ids ...program.ID) (events []*event.Event) {
	for _, id := range ids {
		e := ran(id, 5)
		e.Inferred = true
		events = append(events, e)
	}
	return events
}

// ranBesideLow replays runs of programs 1 and 2, which fit, and 100 to 102, which do not fit
// beside a buffer on device 3.
func ranBesideLow(t *testing.T, events ...*event.Event) *answer.Result {
	t.Helper()
	low := &event.Event{
		Kind: event.KindAllocate, Node: 2, Devices: event.Some([]device.ID{3}), Buffer: fit.Buffer{ID: 1, Kind: fit.KindL1, Size: 64},
		Parts: []event.Part{{Cores: event.Some(l1.CoreSetOf(l1.Core{})), Range: l1.Range{Start: 500_000, End: 500_064}}},
	}
	all := slices.Concat(programs(), []*event.Event{low}, events, []*event.Event{ends()})
	r, err := replay.Run("x", runEvents(event.RoleChip, all...), replay.Options{})
	require.NoError(t, err)
	return r
}

func marked(r *answer.Result) bool {
	return slices.ContainsFunc(r.Anomalies, func(a answer.AnomalyCount) bool { return a.Code == answer.CodeAmbiguous })
}

// alone returns workloads of one program each.
func alone(ids ...program.ID) (all [][]program.ID) {
	for _, id := range ids {
		all = append(all, []program.ID{id})
	}
	return all
}

// Dataflow buffers go by the id of the program that has them, in what tt-metal says and in
// answers, though they are registered apart from its circular buffers.
func TestDataflowBuffersNameTheirProgram(t *testing.T) {
	low := &event.Event{
		Kind: event.KindAllocate, Devices: event.Some([]device.ID{3}), Buffer: fit.Buffer{ID: 1, Kind: fit.KindL1, Size: 64},
		Parts: []event.Part{{Cores: event.Some(l1.CoreSetOf(l1.Core{})), Range: l1.Range{Start: 500_000, End: 500_064}}},
	}
	mixed := defines(7, "{[0-0 - 0-0]}", 1024, 400_000)
	mixed.CBs[1].Kind = program.DataflowBuffer
	mixed.Name = "both"
	r, err := replay.Run("x", runEvents(event.RoleChip, mixed, low, ran(7, 5), ends()), replay.Options{})
	require.NoError(t, err)
	require.Len(t, r.Checks.List, 1)
	v := r.Checks.List[0].Verdict
	require.Contains(t, v.String(), "Statically allocated dataflow buffers in program 7 clash")
	require.EqualValues(t, 7, v.Program.ID())

	var s session.Session
	base := l1.N150().CBBase
	query := func(name string) *event.Event {
		return &event.Event{Kind: event.KindQuery, Query: event.Query{
			Name: name, Device: event.Some(device.ID(3)), Core: event.Some(l1.Core{}), Address: event.Some(base + 2000),
		}}
	}
	var out bytes.Buffer
	require.NoError(t, s.Stream(runEvents(event.RoleChip, mixed, ran(7, 5), query("who"), query("core")), &out))
	require.Contains(t, out.String(), `"program":7,"cb":0,"name":"both"`)
	require.Contains(t, out.String(), `"dispatched_program":7`)
	require.NotContains(t, out.String(), fmt.Sprint(^uint64(7)))
}

// upTo returns the ids from 1 on of so many programs, with program 0.
func upTo(n int) (ids []program.ID) {
	for id := 1; id < n; id++ {
		ids = append(ids, program.ID(id))
	}
	return ids
}

// In a log of its own a run is registered, and counts as alive as long as it is: beside others
// that ran, once, and after its end.
func TestRunsOfALogOfItsOwn(t *testing.T) {
	log := func(more ...*event.Event) answer.Device {
		head := []*event.Event{
			{Kind: event.KindHeader}, {Kind: event.KindDevice, Device: 3, Spec: l1.N150()},
			defines(1, "{[0-0 - 1-0]}", 1024), defines(2, "{[0-0 - 1-0]}", 512),
			ran(2, 0), freed(0),
		}
		r, err := replay.Run("x", func(yield func(*event.Event, error) bool) {
			for i, e := range append(head, more...) {
				e.Node, e.Pos.Node = uint64(i), int64(i)
				if !yield(e, nil) {
					return
				}
			}
		}, replay.Options{})
		require.NoError(t, err)
		require.Len(t, r.Devices, 1)
		return r.Devices[0]
	}
	for name, d := range map[string]answer.Device{
		"alive": log(ran(1, 0)), "freed": log(ran(1, 0), freed(0)), "again": log(ran(1, 0), freed(0), ran(1, 0)),
	} {
		require.EqualValues(t, 2048, d.Registered, name)
		require.EqualValues(t, 2048, d.ResidentFinal, name)
		require.EqualValues(t, 2048, d.ResidentPeak, name)
		require.EqualValues(t, 1024, d.CorePeak, name)
	}
}
