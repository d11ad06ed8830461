package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// In HYBRID mode a program is held against the tensors of all devices, and not only of its own.
// A program that fitted in one mode is checked again in the other.
func TestHybridMode(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.Spec{Cols: 2, Rows: 1, L1Size: 1000})
	p := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 300))
	left := of(t, f, 0)
	b := buffer(1, fit.KindL1, "{[1-0 - 1-0]}", 250, 50)
	b.Mode = fit.PerCore
	allocate(t, f, m.Set(), b)
	allocate(t, f, of(t, f, 1), buffer(2, fit.KindL1, "{[1-0 - 1-0]}", 280, 10))
	var seen []device.Notice
	f.Observe(func(e device.Notice) { seen = append(seen, e) })
	enqueue := func(s device.Set) error { _, err := f.Enqueue(p, s); return err }
	require.NoError(t, enqueue(left), "the tensor was allocated per core, on the other one")
	require.ErrorAs(t, enqueue(m.Set()), new(fit.Verdict))
	require.Equal(t, 1, check(t, f, p, m.Set()).Refusals[0].Devices)

	changed, err := f.SetHybrid(left, true)
	require.NoError(t, err)
	require.Equal(t, []device.ID{0}, ids(changed))
	require.Len(t, check(t, f, p, m.Set()).Refusals, 2, "each device in its mode")
	require.NoError(t, enqueue(left))
	changed, err = f.SetHybrid(m.Set(), true)
	require.NoError(t, err)
	require.Equal(t, []device.ID{1}, ids(changed), "the other one is in it")
	trace := traced(t, f, left, p)
	require.NoError(t, f.Replay(trace))
	for d := range m.All() {
		require.True(t, d.Hybrid())
	}

	_, err = f.SetHybrid(m.Set(), false)
	require.NoError(t, err)
	require.NoError(t, f.Replay(trace))
	changed, err = f.SetHybrid(m.Set(), false)
	require.NoError(t, err)
	require.Zero(t, changed.Len())
	told := []bool{}
	for _, e := range seen {
		if e.Kind == device.NoticeHybridSet {
			told = append(told, e.Hybrid)
		}
	}
	require.Equal(t, []bool{true, true, false}, told)

	foreign := addDevice(t, device.NewFleet(), 0, l1.N150())
	_, err = f.SetHybrid(foreign.Set(), true)
	require.ErrorIs(t, err, device.ErrForeignSet)
	require.False(t, device.Device{}.Hybrid())
	intact(t, f)
}

// A program in doubt is neither enqueued nor declared unfit; buffers that differ in known
// properties are different ones.
func TestBuffersOfAllModes(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.Spec{Cols: 2, Rows: 1, L1Size: 1000})
	p := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 300))
	ranged := buffer(1, fit.KindL1, "{[1-0 - 1-0]}", 250, 50)
	ranged.Size = 50
	hidden := ranged
	ranged.Mode = fit.RangeLockstep
	hidden.Mode, hidden.Hidden = fit.PerCore, cores("{[0-0 - 0-0]}").Cores()
	for _, b := range []fit.Buffer{ranged, hidden} {
		allocate(t, f, m.Set(), b)
		got, ok := of(t, f, 0).All(), false
		for id := range got {
			d, err := f.Device(id)
			require.NoError(t, err)
			var kept fit.Buffer
			kept, ok = d.Buffer(1)
			require.Equal(t, b, kept)
		}
		require.True(t, ok)
		still(t, f, func() {
			_, err := f.Enqueue(p, m.Set())
			var refused fit.Verdict
			require.ErrorAs(t, err, &refused)
			require.True(t, refused.CannotTell())
			require.ErrorContains(t, err, "cannot tell whether program 1 fits")
		})
		intact(t, f)
		free(t, f, m.Set(), 1)
	}
	far := buffer(1, fit.KindL1, "{[1-0 - 1-0]}", 900, 50) // above the program, at an unknown address on 0-0
	far.Mode, far.Hidden = hidden.Mode, hidden.Hidden
	allocate(t, f, m.Set(), far)
	require.True(t, check(t, f, p, m.Set()).CannotTell())
	free(t, f, m.Set(), 1)
	alone := ranged
	alone.Mode = fit.PerCore
	allocate(t, f, of(t, f, 0), ranged)
	allocate(t, f, of(t, f, 1), alone)
	require.False(t, check(t, f, p, of(t, f, 0)).Fits())
	require.True(t, check(t, f, p, of(t, f, 1)).Fits(), "it lies where the other one does, and counts elsewhere")
	free(t, f, of(t, f, 1), 1)
	allocate(t, f, of(t, f, 1), hidden)
	require.Equal(t, []fit.DoubtKind{fit.DoubtRange, fit.DoubtHidden}, func() (kinds []fit.DoubtKind) {
		for _, d := range check(t, f, p, m.Set()).Doubts {
			kinds = append(kinds, d.Kind)
		}
		return kinds
	}())
	intact(t, f)
	for _, test := range []struct {
		change func(b *fit.Buffer)
		text   string
	}{
		{func(b *fit.Buffer) { b.Mode = 3 }, "buffer 2: illegal field Mode: there is no mode 3"},
		{func(b *fit.Buffer) { b.Hidden = cores("{[1-0 - 1-0]}").Cores() }, "buffer 2: illegal field Hidden: the address on [1-0 - 1-0] is known"},
		{func(b *fit.Buffer) { b.Hidden = cores("{[2-0 - 2-0]}").Cores() }, "buffer 2: illegal field Hidden: core 2-0 lies outside the grid of 2x1 of device 0"},
	} {
		b := hidden
		b.ID = 2
		test.change(&b)
		still(t, f, func() { require.EqualError(t, f.Allocate(b, m.Set()), test.text) })
	}
}
