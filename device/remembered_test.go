package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
)

// A set that was remembered by its ids does not name devices that were removed, nor the new ones of these ids.
func TestRememberedSetOfRemovedDevices(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 20, 25, l1.N150())
	all := ids(m.Set())
	before := of(t, f, all...)
	require.True(t, before.Equal(of(t, f, all...)))
	require.NoError(t, f.Remove(before))
	_, err := f.Of(all...)
	require.EqualError(t, err, "device 0 (+499 more): no such device")
	require.Zero(t, f.Set().Len())
	addMesh(t, f, 0, 20, 25, l1.N150())
	after := of(t, f, all...)
	require.Equal(t, 500, after.Len())
	require.False(t, after.Equal(before))
	require.ErrorIs(t, f.Remove(before), device.ErrNoDevice)
	require.NoError(t, f.Remove(after))
}
