package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
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
		"Unregister on no devices, and nil": func() { err = f.Unregister(p.ID(), device.Set{}) },
	} {
		require.Zero(t, testing.AllocsPerRun(100, do), name)
		require.NoError(t, err)
	}
	require.NotZero(t, sum)
}

// What a change may allocate, as measured and a little more. The programs exist.
func TestAllocationBudgets(t *testing.T) {
	const devices, runs = 32, 200
	spec := l1.N150()
	warm := func() (*device.Fleet, device.Mesh, []device.Set) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 4, 8, spec)
		for i := range program.ID(50) { // a cache that is warm
			register(t, f, build(t, spec, 1000+i, cb("{[0-0 - 7-7]}", 4096+64*uint64(i))), m.Set())
		}
		var each []device.Set
		for d := range m.All() {
			each = append(each, d.Set())
		}
		return f, m, each
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	below := build(t, spec, 1, cb("{[0-0 - 7-7]}", 2048))
	above := build(t, spec, 2, cb("{[0-0 - 7-7]}", 65536))
	part := build(t, spec, 3, cb("{[0-0 - 3-3]}", 65536))

	for _, test := range []struct {
		name string
		p    *program.Program
		most float64
	}{
		{"register and unregister on 32 devices in one call, below others", below, 4},
		{"register and unregister on 32 devices in one call, above others", above, 4},
		{"register and unregister on 32 devices in one call, on part of the cores", part, 8},
	} {
		f, m, _ := warm()
		all := m.Set()
		n := testing.AllocsPerRun(runs, func() {
			_, err := f.Register(test.p, all)
			check(err)
			check(f.Unregister(test.p.ID(), all))
		})
		t.Logf("%s: %v", test.name, n)
		require.LessOrEqual(t, n, test.most, test.name)
		intact(t, f)
	}

	// Device 0 has the program; each of the others gets it and then loses it in a call
	// of its own, so that all states are known.
	for _, p := range []*program.Program{below, above, part} {
		f, _, each := warm()
		_, err := f.Register(p, each[0])
		check(err)
		follow := func() {
			for _, s := range each[1 : devices-1] { // the last one waits where they come from
				_, err := f.Register(p, s)
				check(err)
			}
			for _, s := range each[1 : devices-1] {
				check(f.Unregister(p.ID(), s))
			}
		}
		follow()
		n := testing.AllocsPerRun(runs, follow) / (2 * (devices - 2))
		t.Logf("follow to a known state, program %d: %v for each change", p.ID(), n)
		require.LessOrEqual(t, n, 0.2, "a further device")
		intact(t, f)
	}
}

// Programs that take turns, as in a model that runs from the cache, leave nothing to
// collect, beside buffers and without.
func TestTurnsAllocateNothing(t *testing.T) {
	for _, buffers := range []int{0, 1, 50} {
		for _, programs := range []int{1, 2, 200} {
			f := device.NewFleet()
			m := addMesh(t, f, 0, 4, 8, l1.N150())
			all := m.Set()
			for id := range fit.BufferID(buffers) {
				allocate(t, f, all, buffer(id, fit.KindL1, "{[0-0 - 7-7]}", 1_400_000-2048*uint64(id), 2048))
			}
			if buffers == 1 { // in a hole of a program, so that the full check runs
				allocate(t, f, all, buffer(99, fit.KindL1Small, "{[7-7 - 7-7]}", 110_000, 64))
			}
			var turns []*program.Program
			for id := range program.ID(programs) {
				turns = append(turns, build(t, m.Spec(), id, cb("{[0-0 - 6-7]}", 4096+64*uint64(id)), global(cb("{[7-0 - 7-7]}", 64))))
			}
			next := 0
			enqueue := func() {
				p := turns[next%len(turns)]
				next++
				if _, err := f.Enqueue(p, all); err != nil {
					t.Fatal(err)
				}
			}
			turn := func() {
				p := turns[next%len(turns)]
				next++
				if err := f.Dispatch(p.ID(), all); err != nil {
					t.Fatal(err)
				}
			}
			for range 2*len(turns) + 1 {
				enqueue()
			}
			round := func(do func()) func() {
				return func() {
					for range 2 * len(turns) {
						do()
					}
				}
			}
			require.Zero(t, testing.AllocsPerRun(1, round(enqueue)), "enqueue, %d programs beside %d buffers", programs, buffers)
			require.Zero(t, testing.AllocsPerRun(1, round(turn)), "dispatch, %d programs beside %d buffers", programs, buffers)
			v := uint64(0)
			require.Zero(t, testing.AllocsPerRun(100, func() { v += m.Totals().Tracked + uint64(m.Totals().Buffers.Count) }))
			intact(t, f)
		}
	}
}
