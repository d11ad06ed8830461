package device_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Whatever meshes and devices come and go, and take ids that were free again, each id is
// found, and no other.
func TestDevicesAreFound(t *testing.T) {
	const ids = 24
	rapid.Check(t, func(t *rapid.T) {
		var f device.Fleet
		there := map[device.ID]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			first := device.ID(rapid.IntRange(0, ids-1).Draw(t, "first"))
			n := rapid.IntRange(1, 8).Draw(t, "devices")
			var span []device.ID
			for i := range n {
				span = append(span, first+device.ID(i))
			}
			switch rapid.SampledFrom([]string{"mesh", "device", "remove"}).Draw(t, "step") {
			case "mesh":
				_, err := f.AddMesh(first, 1, n, l1.P150())
				require.Equal(t, slices.ContainsFunc(span, func(id device.ID) bool { return there[id] }), err != nil)
				if err == nil {
					for _, id := range span {
						there[id] = true
					}
				}
			case "device":
				_, err := f.AddDevice(first, l1.P150())
				require.Equal(t, there[first], err != nil)
				there[first] = true
			case "remove":
				set, err := f.Of(first)
				require.Equal(t, there[first], err == nil)
				if err == nil {
					require.NoError(t, f.Remove(set))
					delete(there, first)
				}
			}
			for id := range device.ID(ids + 8) {
				_, err := f.Device(id)
				require.Equal(t, there[id], err == nil, id)
			}
			all := f.Set()
			require.Equal(t, len(there), all.Len())
			require.True(t, all == f.Set(), "the same one while none comes or goes")
			require.True(t, slices.IsSorted(slices.Collect(all.All())))
			require.NoError(t, f.CheckInvariants())
		}
	})
}

func TestSetsCompare(t *testing.T) {
	var f device.Fleet
	_, err := f.AddMesh(0, 1, 100, l1.P150())
	require.NoError(t, err)
	_, err = f.AddDevice(200, l1.N150())
	require.NoError(t, err)
	of := func(ids ...device.ID) device.Set {
		s, err := f.Of(ids...)
		require.NoError(t, err)
		return s
	}
	require.True(t, of(1, 2).Equal(of(2, 1)))
	require.True(t, device.Set{}.Equal(of()))
	require.False(t, of(1, 2).Equal(of(1)))
	require.False(t, of(1).Equal(of(2)))
	require.False(t, of(1).Equal(of(99)))
	require.False(t, of(99).Equal(of(1)))
	require.False(t, of(1).Equal(device.Set{}))
	var other device.Fleet
	_, err = other.AddMesh(0, 1, 100, l1.P150())
	require.NoError(t, err)
	foreign, err := other.Of(1)
	require.NoError(t, err)
	require.False(t, foreign.Equal(of(1)), "of another fleet")

	spec, ok := of(3, 99).Spec()
	require.True(t, ok)
	require.Equal(t, l1.P150(), spec)
	_, ok = of(3, 200).Spec()
	require.False(t, ok, "they differ")
	_, ok = device.Set{}.Spec()
	require.False(t, ok)
}

func TestHolding(t *testing.T) {
	var f device.Fleet
	_, err := f.AddMesh(0, 1, 4, l1.P150())
	require.NoError(t, err)
	put := func(id fit.BufferID, size uint64, devices ...device.ID) {
		s, err := f.Of(devices...)
		require.NoError(t, err)
		require.NoError(t, f.Allocate(fit.Buffer{ID: id, Kind: fit.KindDRAM, Size: size}, s))
	}
	put(1, 32, 0, 3)
	put(1, 64, 2) // another one with the same id
	put(2, 32, 0, 1, 2, 3)
	ids := func(s device.Set) []device.ID { return slices.Collect(s.All()) }
	require.Equal(t, []device.ID{0, 2, 3}, ids(f.Holding(1)))
	require.Equal(t, []device.ID{0, 1, 2, 3}, ids(f.Holding(2)))
	require.True(t, f.Set() == f.Holding(2), "no set of its own for all devices")
	require.Zero(t, f.Holding(3).Len())
	_, err = f.Free(1, f.Holding(1))
	require.NoError(t, err)
	require.Zero(t, f.Holding(1).Len())
}
