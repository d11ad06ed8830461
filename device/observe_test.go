package device_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Each operation that changes something is observed once, with its arguments; one that failed, or
// changed nothing, is not.
func TestObserve(t *testing.T) {
	f := device.NewFleet()
	var seen []device.Notice
	f.Observe(func(e device.Notice) { seen = append(seen, e) })
	type event struct {
		kind    device.NoticeKind
		on      []device.ID
		program *program.Program
		old     *program.Program
		trace   device.TraceID
		buffer  fit.BufferID
	}
	told := func(what string, do func(), want ...event) {
		t.Helper()
		seen = nil
		do()
		var got []event
		for _, e := range seen {
			got = append(got, event{e.Kind, ids(e.Set), e.Program, e.Old, e.Trace, e.Buffer.ID})
		}
		require.Equal(t, want, got, what)
	}
	no := func(err error) { t.Helper(); require.NoError(t, err) }
	bad := func(err error) { t.Helper(); require.Error(t, err) }

	var m device.Mesh
	both, all := []device.ID{0, 1}, []device.ID{0, 1, 7}
	told("a mesh", func() { m = addMesh(t, f, 0, 1, 2, l1.N150()) }, event{kind: device.NoticeMeshAdded, on: both})
	require.Equal(t, []int{1, 2}, []int{seen[0].Rows, seen[0].Cols})
	told("a device", func() { addDevice(t, f, 7, l1.N150()) }, event{kind: device.NoticeDeviceAdded, on: []device.ID{7}})
	told("refused", func() {
		_, err := f.AddDevice(7, l1.N150())
		bad(err)
		_, err = f.AddMesh(7, 1, 1, l1.N150())
		bad(err)
	})

	p := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 8))
	larger := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 16))
	q := build(t, m.Spec(), 2, cb("{[0-0 - 0-0]}", 32))
	huge := build(t, m.Spec(), 3, cb("{[0-0 - 0-0]}", 1<<30))
	told("register", func() { register(t, f, p, m.Set()) }, event{kind: device.NoticeRegistered, on: both, program: p})
	told("on one more", func() { register(t, f, p, f.Set()) }, event{kind: device.NoticeRegistered, on: []device.ID{7}, program: p})
	told("nothing new", func() {
		register(t, f, p, f.Set())
		_, err := f.Register(larger, m.Set())
		bad(err)
		bad(f.Unregister(q.ID(), m.Set()))
		require.Zero(t, f.UnregisterAll(q.ID()).Len())
		_, err = f.Replace(q.ID(), larger)
		bad(err)
		bad(f.Dispatch(q.ID(), m.Set()))
	})
	told("dispatch", func() { dispatch(t, f, p, m.Set()) }, event{kind: device.NoticeDispatched, on: both, program: p})
	told("replace", func() { replace(t, f, p, larger) }, event{kind: device.NoticeReplaced, on: all, program: larger, old: p})
	told("enqueue what is new", func() {
		_, err := f.Enqueue(q, m.Set())
		no(err)
	}, event{kind: device.NoticeRegistered, on: both, program: q}, event{kind: device.NoticeDispatched, on: both, program: q})
	told("enqueue from the cache", func() {
		_, err := f.Enqueue(q, m.Set())
		no(err)
	}, event{kind: device.NoticeDispatched, on: both, program: q})
	told("enqueue what does not fit", func() {
		_, err := f.Enqueue(huge, m.Set())
		bad(err)
	}, event{kind: device.NoticeRefused, on: both, program: huge})
	require.False(t, seen[0].Verdict.Fits())
	told("checks", func() {
		_, err := f.Check(huge, m.Set())
		no(err)
		_, err = f.Headroom(nil, f.Set())
		no(err)
	})
	told("evict", func() {
		_, err := f.Evict(q.ID(), f.Set())
		no(err)
		_, err = f.Evict(q.ID(), f.Set()) // nothing is left
		no(err)
	}, event{kind: device.NoticeEvicted, on: both, program: q})

	var trace device.TraceID
	told("a trace", func() { trace = traced(t, f, m.Set(), q) },
		event{kind: device.NoticeTraceBegun, on: both, trace: 1}, event{kind: device.NoticeTraceRecorded, trace: 1, program: q}, event{kind: device.NoticeTraceEnded, trace: 1})
	told("replay", func() { no(f.Replay(trace)) }, event{kind: device.NoticeTraceReplayed, on: both, trace: trace})
	told("wrong traces", func() {
		bad(f.Replay(99))
		bad(f.EndTrace(trace))
		bad(f.Record(trace, q.ID()))
		bad(f.ReleaseTrace(99))
	})
	told("release", func() { no(f.ReleaseTrace(trace)) }, event{kind: device.NoticeTraceReleased, trace: trace})

	b := buffer(5, fit.KindL1, "{[0-0 - 1-0]}", 1_000_000, 64)
	told("allocate", func() { allocate(t, f, m.Set(), b) }, event{kind: device.NoticeAllocated, on: both, buffer: 5})
	require.EqualValues(t, 128, seen[0].Buffer.Size, "as it counts")
	require.Equal(t, slices.Collect(b.All()), slices.Collect(seen[0].Buffer.All()))
	told("free", func() { free(t, f, sub(t, m, 0, 0, 1, 1), 5) }, event{kind: device.NoticeFreed, on: []device.ID{0}, buffer: 5})
	require.EqualValues(t, 128, seen[0].Buffer.Size)
	told("wrong buffers", func() {
		_, err := f.Free(5, m.Set())
		bad(err)
		bad(f.Allocate(b, f.Set()))
		no(f.Allocate(b, device.Set{}))
	})
	told("peaks", firstOf(m).ResetPeaks, event{kind: device.NoticePeaksReset, on: []device.ID{0}})

	told("unregister", func() { no(f.Unregister(larger.ID(), sub(t, m, 0, 0, 1, 1))) }, event{kind: device.NoticeUnregistered, on: []device.ID{0}, program: larger})
	told("unregister everywhere", func() { f.UnregisterAll(larger.ID()) }, event{kind: device.NoticeUnregistered, on: []device.ID{1, 7}, program: larger})
	told("remove", func() { no(f.Remove(f.Set())) }, event{kind: device.NoticeDeviceRemoved, on: all})
	told("what is gone", func() {
		firstOf(m).ResetPeaks()
		bad(f.Remove(m.Set()))
	})

	f.Observe(nil)
	told("nobody looks", func() { addDevice(t, f, 8, l1.N150()) })
}

// Notices are complete: a fleet that repeats them reaches the same content.
func TestObservedFleetCanBeFollowed(t *testing.T) {
	f, copied := device.NewFleet(), device.NewFleet()
	traces := map[device.TraceID]device.TraceID{}
	again := 0 // refused
	f.Observe(func(e device.Notice) {
		here, err := copied.Of(ids(e.Set)...)
		if e.Kind > device.NoticeMeshAdded {
			require.NoError(t, err)
		}
		switch first := append(ids(e.Set), 0)[0]; e.Kind {
		case device.NoticeDeviceAdded:
			_, err = copied.AddDevice(first, e.Spec)
		case device.NoticeMeshAdded:
			_, err = copied.AddMesh(first, e.Rows, e.Cols, e.Spec)
		case device.NoticeDeviceRemoved:
			err = copied.Remove(here)
		case device.NoticeRegistered:
			_, err = copied.Register(e.Program, here)
		case device.NoticeUnregistered:
			err = copied.Unregister(e.Program.ID(), here)
		case device.NoticeReplaced:
			_, err = copied.Replace(e.Old.ID(), e.Program)
		case device.NoticeDispatched:
			err = copied.Dispatch(e.Program.ID(), here)
		case device.NoticeEvicted:
			_, err = copied.Evict(e.Program.ID(), here)
		case device.NoticeTraceBegun:
			traces[e.Trace], err = copied.BeginTrace(here)
		case device.NoticeTraceRecorded:
			err = copied.Record(traces[e.Trace], e.Program.ID())
		case device.NoticeTraceEnded:
			err = copied.EndTrace(traces[e.Trace])
		case device.NoticeTraceReplayed:
			err = copied.Replay(traces[e.Trace])
		case device.NoticeTraceReleased:
			err = copied.ReleaseTrace(traces[e.Trace])
		case device.NoticeAllocated:
			err = copied.Allocate(e.Buffer, here)
		case device.NoticeFreed:
			_, err = copied.Free(e.Buffer.ID, here)
		case device.NoticeRefused:
			if e.Trace != 0 {
				err = copied.Replay(traces[e.Trace])
			} else {
				_, err = copied.Enqueue(e.Program, here)
			}
			var refused fit.Verdict
			require.ErrorAs(t, err, &refused)
			require.Equal(t, e.Verdict.String(), refused.Error())
			again++
			err = nil
		case device.NoticePeaksReset:
			d, _ := copied.Device(first)
			d.ResetPeaks()
			err = nil
		}
		require.NoError(t, err)
	})
	m := addMesh(t, f, 0, 2, 2, l1.N150())
	addDevice(t, f, 9, l1.P150())
	for i := range uint64(40) {
		on := sub(t, m, int(i)%2, 0, 1, 1+int(i)%2)
		p := build(t, m.Spec(), program.ID(i%7), cb("{[0-0 - 3-3]}", 64*(1+i%7)))
		_, err := f.Enqueue(p, on)
		require.NoError(t, err)
		_ = f.Allocate(buffer(fit.BufferID(i%5), fit.KindL1, "{[0-0 - 1-1]}", 1_000_000+i*64, 64), on)
		switch i % 6 {
		case 2:
			_, _ = f.Free(fit.BufferID(i%5), m.Set())
		case 3:
			_, err = f.Evict(p.ID(), f.Set())
		case 4:
			err = f.Replay(traced(t, f, on, p))
		case 5:
			f.UnregisterAll(p.ID())
		}
		require.NoError(t, err)
	}
	firstOf(m).ResetPeaks()
	last := build(t, m.Spec(), 70, cb("{[0-0 - 3-3]}", 64))
	register(t, f, last, m.Set())
	trace := traced(t, f, m.Set(), last)
	allocate(t, f, of(t, f, 2), buffer(9, fit.KindL1, "{[0-0 - 0-0]}", m.Spec().CBBase, 8))
	require.Error(t, f.Replay(trace))
	_, err := f.Enqueue(last, m.Set())
	require.Error(t, err)
	_, err = f.Enqueue(build(t, m.Spec(), 71, cb("{[0-0 - 0-0]}", 8)), m.Set())
	require.Error(t, err)
	require.Equal(t, 3, again, "what was refused is told, and refused again")
	require.NoError(t, f.Remove(of(t, f, 3)))
	require.Equal(t, picture(f), picture(copied))
	intact(t, f)
	intact(t, copied)
}

// An observer that panics leaves nothing half done: each operation has happened as a whole,
// and the next one can be called.
func TestObserverThatPanics(t *testing.T) {
	spec := l1.N150()
	p, q := build(t, spec, 1, cb("{[0-0 - 3-3]}", 4096)), build(t, spec, 2, cb("{[2-2 - 5-5]}", 8192))
	wide := build(t, spec, 1, cb("{[0-0 - 7-7]}", 2048))
	huge := build(t, spec, 3, cb("{[0-0 - 0-0]}", 1<<30))
	var trace device.TraceID
	steps := []func(f *device.Fleet){
		func(f *device.Fleet) { _, _ = f.AddMesh(0, 1, 2, spec) },
		func(f *device.Fleet) { _, _ = f.AddDevice(2, spec) },
		func(f *device.Fleet) { _, _ = f.Register(p, f.Set()) },
		func(f *device.Fleet) { _, _ = f.Enqueue(q, f.Set()) },
		func(f *device.Fleet) { _, _ = f.Enqueue(huge, f.Set()) },
		func(f *device.Fleet) { _ = f.Dispatch(1, f.Set()) },
		func(f *device.Fleet) { trace = 1; _, _ = f.BeginTrace(f.Set()) },
		func(f *device.Fleet) { _ = f.Record(trace, 2) },
		func(f *device.Fleet) { _ = f.EndTrace(trace) },
		func(f *device.Fleet) { _, _ = f.Replace(1, wide) },
		func(f *device.Fleet) { _ = f.Replay(trace) },
		func(f *device.Fleet) { _ = f.Allocate(buffer(1, fit.KindL1, "{[0-0 - 7-7]}", 105_000, 64), f.Set()) },
		func(f *device.Fleet) { _ = f.Replay(trace) }, // is refused
		func(f *device.Fleet) { _, _ = f.SetHybrid(f.Set(), true) },
		func(f *device.Fleet) { _, _ = f.Free(1, f.Set()) },
		func(f *device.Fleet) { _ = f.ReleaseTrace(trace) },
		func(f *device.Fleet) { _ = f.Unregister(2, f.Set()) },
		func(f *device.Fleet) { f.UnregisterAll(1) },
		func(f *device.Fleet) { _, _ = f.Evict(2, f.Set()) },
		func(f *device.Fleet) { d, _ := f.Device(2); d.ResetPeaks() },
		func(f *device.Fleet) { d, _ := f.Device(2); _ = f.Remove(d.Set()) },
	}
	calm, upset := device.NewFleet(), device.NewFleet()
	upset.Observe(func(device.Notice) { panic("observer") })
	for i, step := range steps {
		step(calm)
		require.PanicsWithValue(t, "observer", func() { step(upset) }, "step %d", i)
		intact(t, upset)
		var want, have []device.Totals
		for d := range calm.Devices() {
			want = append(want, d.Totals())
		}
		for d := range upset.Devices() {
			have = append(have, d.Totals())
		}
		require.Equal(t, want, have, "step %d", i)
	}
}
