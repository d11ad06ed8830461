package device

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// cohorts returns the number of cohorts. Each device is found in one, and states count their
// cohorts.
func cohorts(t require.TestingT, f *Fleet) (n int) {
	states, heaps := map[*state]int{}, map[*heap.BufferSet]int{}
	for slot, c := range f.slots {
		if c == nil {
			continue
		}
		at := f.at(slot)
		require.True(t, at.slot <= slot && slot < at.slot+at.n, "slot %d in %d slots from %d on", slot, at.n, at.slot)
		if slot > at.slot {
			require.Same(t, f.at(slot-1), at)
			require.Less(t, f.ids[slot-1], f.ids[slot])
			continue
		}
		n++
		states[at.state]++
		if s := at.buffers(); s != nil {
			heaps[s]++
		}
	}
	for s, users := range states {
		require.Equal(t, users, s.Users)
	}
	for s, users := range heaps {
		require.Equal(t, users, s.Users)
	}
	return n
}

func bufferOn(id fit.BufferID, addr uint64) fit.Buffer {
	return fit.Buffer{ID: id, Kind: fit.KindL1, Cores: l1.Rect(0, 0, 2, 0).Cores(), Range: l1.Range{Start: addr, End: addr + 64}}
}

// Cohorts are divided by calls on some of their devices, and each call on all costs one cohort.
func TestCohorts(t *testing.T) {
	f := NewFleet()
	m, err := f.AddMesh(0, 1, 4096, l1.N150())
	require.NoError(t, err)
	for id := range ID(4096) { // lone devices with ids that ascend
		_, err := f.AddDevice(10_000+2*id, l1.N150())
		require.NoError(t, err)
	}
	require.Equal(t, 2, cohorts(t, f))
	_, err = f.AddDevice(9_000, l1.N150())
	require.NoError(t, err)
	require.Equal(t, 3, cohorts(t, f), "an id below that of the device before")
	p := programOn(t, 1, "{[0-0 - 3-3]}", 0, 4096)
	mustRegister(t, f, p, f.Set())
	require.NoError(t, f.Dispatch(p.ID(), f.Set()))
	require.NoError(t, f.Allocate(bufferOn(1, 1_000_000), f.Set()))
	require.Equal(t, 3, cohorts(t, f))
	_, err = f.AddDevice(40_000, l1.N150())
	require.NoError(t, err)
	require.Equal(t, 4, cohorts(t, f), "the one before holds something")

	middle, err := m.Sub(0, 1000, 1, 3)
	require.NoError(t, err)
	for _, call := range []struct {
		name string
		do   func() error
	}{
		{"refused", func() error { _, err := f.Free(7, middle); require.ErrorIs(t, err, ErrNotAllocated); return nil }},
		{"checked", func() error { _, err := f.Check(p, middle); return err }},
		{"evicted: nothing", func() error { _, err := f.Evict(7, middle); return err }},
		{"as it is", func() error { _, err := f.SetHybrid(middle, false); return err }},
	} {
		require.NoError(t, call.do())
		require.Equal(t, 4, cohorts(t, f), call.name)
	}
	_, err = f.SetHybrid(middle, true)
	require.NoError(t, err)
	require.Equal(t, 6, cohorts(t, f), "before, some, and behind")
	require.NoError(t, f.Remove(middle))
	require.Equal(t, 5, cohorts(t, f))
	d, err := f.Device(3)
	require.NoError(t, err)
	d.ResetPeaks()
	require.Equal(t, 7, cohorts(t, f))
	require.NoError(t, f.CheckInvariants())
}

// Whatever calls divide, a device is in one cohort, and a fleet of one mesh has the figures of lone devices in the
// order of their ids backwards, which are alone from the beginning.
func TestCohortsAnswerAsDevices(t *testing.T) {
	programs := []*program.Program{programOn(t, 1, "{[0-0 - 1-1]}", 4096, 64), programOn(t, 2, "{[1-1 - 2-2]}", 4128, 128)}
	rapid.Check(t, func(t *rapid.T) {
		const devices = 9
		f, alone := NewFleet(), NewFleet()
		_, err := f.AddMesh(0, 1, devices, l1.N150())
		require.NoError(t, err)
		for id := range ID(devices) {
			_, err := alone.AddDevice(devices-1-id, l1.N150())
			require.NoError(t, err)
		}
		some := rapid.SliceOfNDistinct(rapid.Uint64Range(0, devices-1), 1, devices, rapid.ID[uint64])
		id := rapid.IntRange(0, 1)
		t.Repeat(map[string]func(*rapid.T){
			"call": func(t *rapid.T) {
				ids, i := some.Draw(t, "devices"), id.Draw(t, "id")
				if rapid.Bool().Draw(t, "all") {
					ids = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8}
				}
				call := rapid.IntRange(0, 7).Draw(t, "call")
				result := [2]error{}
				for k, f := range []*Fleet{f, alone} {
					var of []ID
					for _, id := range ids {
						of = append(of, ID(id))
					}
					s, err := f.Of(of...)
					require.NoError(t, err)
					p := programs[i]
					switch call {
					case 0:
						_, result[k] = f.Register(p, s)
					case 1:
						result[k] = f.Unregister(p.ID(), s)
					case 2:
						result[k] = f.Dispatch(p.ID(), s)
					case 3:
						result[k] = f.Allocate(bufferOn(fit.BufferID(i), 4096+uint64(32*i)), s)
					case 4:
						_, result[k] = f.Free(fit.BufferID(i), s)
					case 5:
						_, result[k] = f.Evict(p.ID(), s)
					case 6:
						_, result[k] = f.SetHybrid(s, i == 0)
					case 7:
						d, err := f.Device(ID(ids[0]))
						require.NoError(t, err)
						d.ResetPeaks()
					}
				}
				require.Equal(t, result[0] == nil, result[1] == nil, "%v, %v", result[0], result[1])
			},
			"": func(t *rapid.T) {
				cohorts(t, f)
				for id := range ID(devices) {
					d, err := f.Device(id)
					require.NoError(t, err)
					other, err := alone.Device(id)
					require.NoError(t, err)
					require.Equal(t, other.Totals(), d.Totals())
					require.Equal(t, other.Hybrid(), d.Hybrid())
					require.Equal(t, other.Registered(), d.Registered())
					require.Equal(t, other.Resident(), d.Resident())
					require.Equal(t, other.Core(l1.Core{X: 1, Y: 1}), d.Core(l1.Core{X: 1, Y: 1}))
				}
				require.NoError(t, f.CheckInvariants())
			},
		})
	})
}

// A total that is read without the lock belongs to the device, also while its cohort is divided.
func TestReadWhileCohortIsDivided(t *testing.T) {
	f := NewFleet()
	m, err := f.AddMesh(0, 1, 3, l1.N150())
	require.NoError(t, err)
	p := programOn(t, 1, "{[0-0 - 3-3]}", 0, 4096)
	d := f.slots[0]
	tries := 0
	total := d.published(func(at *cohort) uint64 {
		if tries++; tries == 1 {
			others, err := m.Sub(0, 1, 1, 2)
			require.NoError(t, err)
			mustRegister(t, f, p, others)
		}
		return at.registered.Load()
	})
	require.Zero(t, total, "the program is on the others")
	require.Equal(t, 2, tries)
}
