package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
)

// What a simulator calls for every op must not leave anything to collect.
func TestNoAllocations(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 4, 8, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096), cb("{[0-0 - 3-3]}", 4096))
	equal := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096), cb("{[0-0 - 3-3]}", 4096))
	empty := build(t, m.Spec(), 2)
	register(t, f, p, m.Set())
	d, err := f.Device(31)
	require.NoError(t, err)
	part := sub(t, m, 1, 1, 2, 2)
	sum := uint64(0)
	for name, do := range map[string]func(){
		"Device.Registered":                 func() { sum += d.Registered() },
		"Mesh.Registered":                   func() { sum += m.Registered() },
		"Device.Totals":                     func() { sum += d.Totals().Registered },
		"Mesh.Totals":                       func() { sum += m.Totals().Registered },
		"Device.Core":                       func() { sum += d.Core(core(7, 7)).Registered },
		"Mesh.Set":                          func() { sum += uint64(m.Set().Len()) },
		"Set.Has":                           func() { part.Has(18) },
		"Fleet.Device":                      func() { d, _ = f.Device(31) },
		"Fleet.Program":                     func() { _, _ = f.Program(1) },
		"Register again":                    func() { _, err = f.Register(p, m.Set()) },
		"Register again, on some":           func() { _, err = f.Register(p, part) },
		"Register again, an equal program":  func() { _, err = f.Register(equal, m.Set()) },
		"Register a program without any CB": func() { _, err = f.Register(empty, m.Set()) },
		"loop over the mesh": func() {
			for d := range m.All() {
				sum += d.Registered()
			}
		},
		"Unregister on no devices, and nil": func() { err = f.Unregister(p, device.Set{}) },
	} {
		require.Zero(t, testing.AllocsPerRun(100, do), name)
		require.NoError(t, err)
	}
	require.NotZero(t, sum)
}
