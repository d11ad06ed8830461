package device_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Recently made sets cost no allocation, until a device comes or goes.
func TestOfRemembersSets(t *testing.T) {
	f := device.NewFleet()
	mesh, err := f.AddMesh(0, 10, 10, l1.P150())
	require.NoError(t, err)
	of := func(ids ...device.ID) device.Set {
		s, err := f.Of(ids...)
		require.NoError(t, err)
		return s
	}
	asked := [][]device.ID{{0}, {1}, {0, 1, 2}, {2, 1, 0}, {3, 3}, {}}
	allocations := testing.AllocsPerRun(10, func() {
		for _, ids := range asked {
			if s, err := f.Of(ids...); err != nil || s.Len() > len(ids) {
				panic(err)
			}
		}
	})
	require.Zero(t, allocations)
	require.Equal(t, of(0), of(0))
	for id := range mesh.Set().All() { // more sets than are remembered
		require.True(t, of(id).Has(id))
	}
	require.True(t, of(0, 1, 2).Equal(of(2, 1, 0)))
	require.Equal(t, 1, of(3, 3).Len())

	before := of(1)
	require.NoError(t, f.Remove(before))
	_, err = f.Of(1)
	require.ErrorIs(t, err, device.ErrNoDevice)
	_, err = f.AddDevice(1, l1.P150())
	require.NoError(t, err)
	require.False(t, of(1).Equal(before), "another device has the id")
}

// The totals of a set are the totals of its devices, by id.
func TestTotalsOfASet(t *testing.T) {
	f := device.NewFleet()
	_, err := f.AddMesh(4, 1, 4, l1.P150())
	require.NoError(t, err)
	_, err = f.AddDevice(1, l1.P150())
	require.NoError(t, err)
	one, err := f.Of(5)
	require.NoError(t, err)
	p := build(t, l1.P150(), 7, program.CB{Cores: l1.Rect(0, 0, 1, 0), Size: 2048})
	_, err = f.Enqueue(p, one)
	require.NoError(t, err)

	all, err := f.Totals(f.Set())
	require.NoError(t, err)
	var ids []device.ID
	for id, totals := range all {
		d, err := f.Device(id)
		require.NoError(t, err)
		require.Equal(t, d.Totals(), totals)
		ids = append(ids, id)
	}
	require.Equal(t, []device.ID{1, 4, 5, 6, 7}, ids)
	none, err := f.Totals(device.Set{})
	require.NoError(t, err)
	require.Empty(t, maps.Collect(none))

	require.NoError(t, f.Remove(one))
	_, err = f.Totals(one)
	require.ErrorIs(t, err, device.ErrNoDevice)
	_, err = device.NewFleet().Totals(f.Set())
	require.ErrorIs(t, err, device.ErrForeignSet)
}

// A program that is registered anywhere is checked and enqueued by its id.
func TestProgramsByID(t *testing.T) {
	f := device.NewFleet()
	mesh, err := f.AddMesh(0, 1, 2, l1.P150())
	require.NoError(t, err)
	first, err := f.Of(0)
	require.NoError(t, err)
	p := build(t, mesh.Spec(), 7, program.CB{Cores: l1.Rect(0, 0, 1, 0), Size: 1 << 20})
	for name, call := range map[string]func(program.ID) error{
		"CheckID":   func(id program.ID) error { _, err := f.CheckID(id, mesh.Set()); return err },
		"EnqueueID": func(id program.ID) error { _, err := f.EnqueueID(id, mesh.Set()); return err },
	} {
		err := call(7)
		require.ErrorIs(t, err, device.ErrNotRegistered)
		require.Equal(t, &device.Error{Op: name, About: device.AboutProgram, Program: 7, Err: device.ErrNotRegistered}, err)
	}
	_, err = f.Register(p, first)
	require.NoError(t, err)
	v, err := f.CheckID(7, mesh.Set())
	require.NoError(t, err)
	require.True(t, v.Fits())
	added, err := f.EnqueueID(7, mesh.Set())
	require.NoError(t, err)
	require.Equal(t, []device.ID{1}, slices.Collect(added.All()))
	require.EqualValues(t, 4<<20, mesh.Resident())

	tensor := fit.Buffer{ID: 1, Kind: fit.KindL1, Cores: l1.CoreSetOf(l1.Core{}), Range: l1.Range{Start: 1 << 20, End: 1<<20 + 64}}
	require.NoError(t, f.Allocate(tensor, first))
	v, err = f.CheckID(7, mesh.Set())
	require.NoError(t, err)
	require.False(t, v.Fits())
	_, err = f.EnqueueID(7, mesh.Set())
	require.ErrorAs(t, err, &v)
}
