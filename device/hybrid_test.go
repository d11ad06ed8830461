package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
)

// A tensor on other cores is in the way in lockstep, and not in HYBRID mode. What fitted
// in one mode is looked at again in the other.
func TestHybridMode(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.Spec{Cols: 2, Rows: 1, L1Size: 1000})
	p := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 300))
	allocate(t, f, m.Set(), buffer(1, device.KindL1, "{[1-0 - 1-0]}", 250, 50))
	var seen []device.Event
	f.Observe(func(e device.Event) { seen = append(seen, e) })
	enqueue := func() error { _, err := f.Enqueue(p, m.Set()); return err }
	require.ErrorAs(t, enqueue(), new(*device.FitError))

	changed, err := f.SetHybrid(of(t, f, 1), true)
	require.NoError(t, err)
	require.Equal(t, []device.ID{1}, ids(changed))
	v := check(t, f, p, m.Set())
	require.Len(t, v.Refusals, 1, "each device in its mode")
	require.Equal(t, 1, v.Refusals[0].Devices)
	require.ErrorAs(t, enqueue(), new(*device.FitError))
	changed, err = f.SetHybrid(m.Set(), true)
	require.NoError(t, err)
	require.Equal(t, []device.ID{0}, ids(changed), "the other one is in it")
	require.NoError(t, enqueue())
	trace := traced(t, f, m.Set(), p)
	require.NoError(t, f.Replay(trace))
	for d := range m.All() {
		require.True(t, d.Hybrid())
	}

	_, err = f.SetHybrid(m.Set(), false)
	require.NoError(t, err)
	require.ErrorAs(t, enqueue(), new(*device.FitError), "it fitted beside the same buffers")
	require.ErrorAs(t, f.Replay(trace), new(*device.FitError))
	changed, err = f.SetHybrid(m.Set(), false)
	require.NoError(t, err)
	require.Zero(t, changed.Len())
	told := []bool{}
	for _, e := range seen {
		if e.Kind == device.EventHybridSet {
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
