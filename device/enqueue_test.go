package device_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Enqueue is Register where the program is new, Check and Dispatch.
func TestEnqueue(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 3, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096))
	register(t, f, p, sub(t, m, 0, 1, 1, 1))
	added, err := f.Enqueue(p, m.Set())
	require.NoError(t, err)
	require.Equal(t, []device.ID{0, 2}, ids(added), "where it was new")
	require.EqualValues(t, 3*64*4096, m.Resident())
	require.Equal(t, 3, m.Totals().Programs)
	intact(t, f)
	still(t, f, func() { // again
		added, err := f.Enqueue(build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096)), m.Set())
		require.NoError(t, err)
		require.Zero(t, added.Len())
		added, err = f.Enqueue(p, device.Set{})
		require.NoError(t, err)
		require.Zero(t, added.Len())
		_, err = f.Enqueue(build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 64)), m.Set())
		require.ErrorIs(t, err, device.ErrConflict)
	})
	q := build(t, m.Spec(), 3, cb("{[0-0 - 0-0]}", 64))
	_, err = f.Enqueue(q, sub(t, m, 0, 0, 1, 1))
	require.NoError(t, err)
	require.EqualValues(t, 3*64*4096-4096+64, m.Resident(), "the last writer of a core")
	intact(t, f)
}

// A cached program fits when it first runs and clashes after a tensor has grown down:
// tt-metal's issue 53537. It is found where it happens, and nothing has changed then.
func TestEnqueueOfACachedProgram(t *testing.T) {
	for _, where := range []struct {
		name string
		on   func(t *testing.T, m device.Mesh) device.Set // where the tensor grows
	}{
		{"on all devices", func(_ *testing.T, m device.Mesh) device.Set { return m.Set() }},
		{"on the last one", func(t *testing.T, m device.Mesh) device.Set { return sub(t, m, 0, 3, 1, 1) }},
	} {
		t.Run(where.name, func(t *testing.T) {
			f := device.NewFleet()
			m := addMesh(t, f, 0, 1, 4, l1.N150())
			spec := m.Spec()
			p := build(t, spec, 1, cb("{[0-0 - 7-7]}", 1_000_000))
			other := build(t, spec, 2, cb("{[0-0 - 7-7]}", 64))
			top := spec.L1Size
			allocate(t, f, m.Set(), buffer(1, fit.KindL1, "{[0-0 - 7-7]}", top-65_536, 65_536))
			for range 3 {
				for _, p := range []*program.Program{p, other} {
					_, err := f.Enqueue(p, m.Set())
					require.NoError(t, err)
				}
			}
			grown := where.on(t, m)
			lowest := spec.CBBase + 999_936
			allocate(t, f, grown, buffer(2, fit.KindL1, "{[0-0 - 7-7]}", lowest, top-65_536-lowest))
			still(t, f, func() {
				added, err := f.Enqueue(p, m.Set())
				require.Zero(t, added.Len())
				var fit fit.Verdict
				require.ErrorAs(t, err, &fit)
				require.EqualError(t, err, fit.Refusals[0].Error())
				require.EqualValues(t, 64, fit.Refusals[0].Over())
				require.Equal(t, grown.Len(), fit.Refusals[0].Devices)
				require.Equal(t, check(t, f, p, m.Set()), fit)
			})
			require.Equal(t, "2: 64", residents(firstOf(m))[core(0, 0)])
			_, err := f.Enqueue(other, m.Set())
			require.NoError(t, err, "a smaller one still fits")
			free(t, f, grown, 2)
			_, err = f.Enqueue(p, m.Set())
			require.NoError(t, err, "and so does the first, once the tensor is gone")
			intact(t, f)
		})
	}
}

func firstOf(m device.Mesh) device.Device {
	for d := range m.All() {
		return d
	}
	return device.Device{}
}

// A program that does not fit is not registered by trying.
func TestEnqueueRegistersNothingThatDoesNotFit(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 2_000_000))
	for range 1000 { // it takes no number either
		still1(t, f, func() {
			_, err := f.Enqueue(p, m.Set())
			require.ErrorAs(t, err, new(fit.Verdict))
		})
	}
	still(t, f, func() {
		_, err := f.Enqueue(p, m.Set())
		require.ErrorAs(t, err, new(fit.Verdict))
	})
	_, known := f.Program(1)
	require.False(t, known)
	// What tt-metal does not see is refused as well.
	spec := l1.Spec{Cols: 1, Rows: 1, L1Size: 1000, L1Small: 100}
	small := addDevice(t, f, 9, spec)
	allocate(t, f, small.Set(), buffer(1, fit.KindL1Small, "{[0-0 - 0-0]}", 900, 100))
	_, err := f.Enqueue(build(t, spec, 2, cb("{[0-0 - 0-0]}", 901)), small.Set())
	require.EqualError(t, err, "program 2 ends at 901 on [0-0 - 0-0]: L1_SMALL buffer 1 is in the way, which starts at 900; 1 B too many")
	_, err = f.Enqueue(build(t, spec, 3, cb("{[0-0 - 0-0]}", 900)), small.Set())
	require.NoError(t, err)
}

// The advice of a refusal belongs to its moment. Many goroutines may query
// it at once while the fleet changes.
func TestAdviceOfARefusal(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, grid(2, 1))
	allocate(t, f, d.Set(), buffer(1, fit.KindL1, "{[0-0 - 1-0]}", 600, 100))
	_, err := f.Enqueue(build(t, d.Spec(), 1, cb("{[0-0 - 0-0]}", 550)), d.Set())
	var refused fit.Verdict
	require.ErrorAs(t, err, &refused)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 50 {
				if got := refused.Advice(); got != "free or move L1 buffer 1, or take 50 bytes off CB 0, which has 550" {
					t.Error(got)
				}
			}
		})
	}
	for id := range fit.BufferID(50) {
		free(t, f, d.Set(), 1+id)
		allocate(t, f, d.Set(), buffer(2+id, fit.KindL1, "{[0-0 - 1-0]}", 200, 100))
	}
	all.Wait()
	require.NoError(t, f.Remove(d.Set()))
	require.Contains(t, refused.Advice(), "L1 buffer 1,")
}

func still1(t require.TestingT, f *device.Fleet, do func()) {
	see := func() (out []device.Totals) {
		for d := range f.Devices() {
			out = append(out, d.Totals())
		}
		return out
	}
	before := see()
	do()
	require.Equal(t, before, see())
}

// Programs are checked against buffers, not against each other: they share addresses.
func TestEnqueueOverOthers(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	for id := range program.ID(5) {
		_, err := f.Enqueue(build(t, d.Spec(), id, cb("{[0-0 - 7-7]}", 1_000_000+uint64(id))), d.Set())
		require.NoError(t, err)
	}
	require.EqualValues(t, 64*1_000_004, d.Resident())
	require.EqualValues(t, 64*1_000_004, d.Registered())
}
