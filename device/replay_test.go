package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// refusedReplay replays a trace that does not fit and returns the verdict. Nothing changes, and the
// observer is called.
func refusedReplay(t *testing.T, f *device.Fleet, trace device.TraceID) (e device.Notice) {
	t.Helper()
	still(t, f, func() {
		var seen []device.Notice
		f.Observe(func(e device.Notice) { seen = append(seen, e) })
		defer f.Observe(nil)
		err := f.Replay(trace)
		var refused fit.Verdict
		require.ErrorAs(t, err, &refused)
		require.Len(t, seen, 1)
		e = seen[0]
		require.Equal(t, device.NoticeRefused, e.Kind)
		require.Equal(t, trace, e.Trace)
		require.Same(t, refused.Program, e.Program)
		require.Equal(t, refused, e.Verdict)
	})
	return e
}

// A trace was captured beside nothing; then a tensor came to where it ends.
func TestReplayOntoALiveBuffer(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.P150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 3-3]}", 100_000))
	small := build(t, m.Spec(), 2, cb("{[0-0 - 3-3]}", 64))
	register(t, f, p, m.Set())
	register(t, f, small, m.Set())
	trace := traced(t, f, m.Set(), p, small)
	require.NoError(t, f.Replay(trace))
	dispatch(t, f, small, m.Set())

	allocate(t, f, of(t, f, 1), buffer(7, fit.KindL1, "{[2-2 - 2-2]}", 200_000, 4096))
	e := refusedReplay(t, f, trace)
	require.Equal(t, []device.ID{0, 1}, ids(e.Set))
	r := e.Verdict.Refusals[0]
	require.EqualValues(t, 211_616, r.End)
	require.EqualValues(t, 200_000, r.Limit)
	require.Equal(t, device.ID(1), r.Device)
	require.EqualError(t, r, "Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 3-3]. L1 buffer allocated at 200000 and static circular buffer region ends at 211616")
	require.EqualValues(t, 4096, e.Verdict.Clashes[0].Bytes)
	require.NoError(t, f.Replay(traced(t, f, m.Set(), small)), "what is small fits")

	free(t, f, of(t, f, 1), 7)
	require.NoError(t, f.Replay(trace))
	require.EqualValues(t, 2*16*100_000, m.Resident())
	intact(t, f)
}

// Each program of a trace runs, also one that a larger one overwrites. The recorded layout is
// judged.
func TestReplayJudgesEachProgram(t *testing.T) {
	f := device.NewFleet()
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	d := addDevice(t, f, 0, spec)
	low := build(t, spec, 1, at(0, cb("{[0-0 - 0-0]}", 300)))
	high := build(t, spec, 2, at(500, cb("{[0-0 - 0-0]}", 100)))
	for _, p := range []*program.Program{low, high} {
		register(t, f, p, d.Set())
	}
	trace := traced(t, f, d.Set(), low, high)
	allocate(t, f, d.Set(), buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 550, 50))
	require.EqualValues(t, 2, refusedReplay(t, f, trace).Program.ID())
	replace(t, f, high, build(t, spec, 2, at(300, cb("{[0-0 - 0-0]}", 100))))
	require.EqualValues(t, 2, refusedReplay(t, f, trace).Program.ID(), "the commands of a trace are those of its capture")
	require.NoError(t, f.Replay(traced(t, f, d.Set(), low, build(t, spec, 2))))
	intact(t, f)
}

// A program without CBs is a program: it has devices, and runs.
func TestProgramWithoutCBs(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	var seen []device.NoticeKind
	f.Observe(func(e device.Notice) { seen = append(seen, e.Kind) })
	p, q := build(t, m.Spec(), 1), build(t, m.Spec(), 2)
	require.Equal(t, []device.ID{1}, register(t, f, p, of(t, f, 1)))
	require.Equal(t, []device.ID{1}, ids(f.Where(1)))
	dispatch(t, f, p, of(t, f, 1))
	require.ErrorIs(t, f.Dispatch(1, m.Set()), device.ErrNotRegistered)
	added, err := f.Enqueue(q, m.Set())
	require.NoError(t, err)
	require.Equal(t, []device.ID{0, 1}, ids(added))
	trace := traced(t, f, m.Set(), q)
	require.NoError(t, f.Replay(trace))
	require.Equal(t, 3, m.Totals().Programs)
	require.Zero(t, m.Totals().Tracked)
	_, err = f.Register(build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 64)), m.Set())
	require.EqualError(t, err, "program 1 (1 CBs on 1 cores, 64 bytes): its id is taken by program 1 (0 CBs on 0 cores, 0 bytes)")
	_, err = f.Register(build(t, m.Spec(), 1, cb("{}", 64)), m.Set())
	require.EqualError(t, err, "program 1 (1 CBs on 0 cores, 0 bytes): its id is taken by program 1 (0 CBs on 0 cores, 0 bytes)")
	require.NoError(t, f.Unregister(1, of(t, f, 1)))
	require.Zero(t, f.Where(1).Len())
	require.Equal(t, []device.NoticeKind{
		device.NoticeRegistered, device.NoticeDispatched, device.NoticeRegistered, device.NoticeDispatched,
		device.NoticeTraceBegun, device.NoticeTraceRecorded, device.NoticeTraceEnded, device.NoticeTraceReplayed,
		device.NoticeUnregistered,
	}, seen)
	intact(t, f)
}
