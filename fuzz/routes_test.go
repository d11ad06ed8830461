package fuzz_test

import (
	"slices"
	"testing"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The same state reached in different ways looks the same. These tests need no oracle:
// they would find an error that the oracle shares.

// A view is everything that can be seen of one device but its high-water marks.
type view struct {
	Totals   model.Totals
	Programs []program.ID
	Cores    map[l1.Core]model.CoreTotals
	Regions  map[l1.Core][]l1.Range
	Buffers  []model.Buffer
	Usage    [2]model.Usage // resident, and registered
}

func viewOf(f suite.Tracker, id uint64, spec l1.Spec) view {
	v := view{Programs: f.ProgramsOn(id), Cores: map[l1.Core]model.CoreTotals{}, Regions: map[l1.Core][]l1.Range{}}
	v.Totals, _ = f.Totals(id)
	v.Totals.Peak = model.Peaks{}
	v.Buffers, v.Usage = f.Buffers(id), [2]model.Usage{f.Usage(id, false), f.Usage(id, true)}
	for c := range spec.Grid().Cores().All() {
		t := f.Core(id, c)
		t.Peak = 0
		v.Cores[c], v.Regions[c] = t, f.Regions(id, c)
	}
	return v
}

// fleetOf returns a fleet with lone devices 0 to n-1.
func fleetOf(t *rapid.T, spec l1.Spec, n int) suite.Tracker {
	f := newFleet()
	for id := range uint64(n) {
		require.NoError(t, f.AddDevice(id, spec))
	}
	return f
}

// programs draws a few programs that can all be registered together.
func programs(spec l1.Spec) *rapid.Generator[[]*program.Program] {
	return rapid.Custom(func(t *rapid.T) []*program.Program {
		var out []*program.Program
		for id := range program.ID(rapid.IntRange(1, 6).Draw(t, "programs")) {
			b := program.NewBuilder(id)
			for _, cb := range rapid.SliceOfN(gen.CB(spec), 0, 4).Draw(t, "CBs") {
				b.CB(cb)
			}
			p, err := b.Build(spec)
			require.NoError(t, err)
			out = append(out, p)
		}
		return out
	})
}

func register(t *rapid.T, f suite.Tracker, ids []uint64, programs ...*program.Program) {
	for _, p := range programs {
		_, err := f.Register(p, ids)
		require.NoError(t, err)
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	many(t, func(t *rapid.T) {
		spec := gen.ToySpec().Draw(t, "spec")
		all := programs(spec).Draw(t, "programs")
		shuffled := rapid.Permutation(all).Draw(t, "shuffled")
		a, b := fleetOf(t, spec, 1), fleetOf(t, spec, 1)
		register(t, a, []uint64{0}, all...)
		register(t, b, []uint64{0}, shuffled...)
		require.Equal(t, viewOf(a, 0, spec), viewOf(b, 0, spec))
		for i := range all { // and they leave in different orders
			a.UnregisterAll(shuffled[i].ID())
			b.UnregisterAll(all[i].ID())
		}
		require.Equal(t, viewOf(fleetOf(t, spec, 1), 0, spec), viewOf(a, 0, spec))
		require.Equal(t, viewOf(a, 0, spec), viewOf(b, 0, spec))
	})
}

func TestNoiseLeavesNothing(t *testing.T) {
	many(t, func(t *rapid.T) {
		spec := gen.ToySpec().Draw(t, "spec")
		all := programs(spec).Draw(t, "programs")
		stay := rapid.IntRange(0, len(all)).Draw(t, "stay")
		f := fleetOf(t, spec, 2)
		register(t, f, []uint64{0, 1}, all[:stay]...)
		before := [2]view{viewOf(f, 0, spec), viewOf(f, 1, spec)}
		register(t, f, []uint64{1}, all[stay:]...)
		for _, p := range rapid.Permutation(all[stay:]).Draw(t, "leave") {
			f.UnregisterAll(p.ID())
		}
		require.Equal(t, before, [2]view{viewOf(f, 0, spec), viewOf(f, 1, spec)})
	})
}

// history draws lives in which no devices come and go.
func history() *rapid.Generator[[]gen.Move] {
	return gen.History(25,
		gen.Register, gen.Register, gen.Unregister, gen.UnregisterAll, gen.Replace, gen.ResetPeaks,
		gen.Dispatch, gen.Dispatch, gen.Evict, gen.BeginTrace, gen.Record, gen.EndTrace, gen.Replay, gen.ReleaseTrace,
		gen.Allocate, gen.Allocate, gen.Free, gen.Enqueue)
}

func TestMeshOfOneIsADevice(t *testing.T) {
	many(t, func(t *rapid.T) {
		moves := history().Draw(t, "history")
		spec := moves[0].Spec
		lone, mesh := newFleet(), newFleet()
		require.NoError(t, lone.AddDevice(0, spec))
		require.NoError(t, mesh.AddMesh(0, 1, 1, spec))
		reset := false
		for _, m := range moves[len((&gen.World{}).Start()):] {
			reset = reset || m.Op == gen.ResetPeaks
			if m.Devices != nil {
				m.Devices = []uint64{0}
			}
			_, errA := m.Play(lone)
			_, errB := m.Play(mesh)
			require.Equal(t, errA, errB)
			a, err := lone.Totals(0)
			require.NoError(t, err)
			b, err := mesh.Totals(0)
			require.NoError(t, err)
			require.Equal(t, a, b, "%v", m)
			sums, err := mesh.MeshTotals(0)
			require.NoError(t, err)
			if reset { // of the device, not of the mesh
				a.Peak, sums.Peak = model.Peaks{}, model.Peaks{}
			}
			require.Equal(t, a, sums, "%v", m)
		}
	})
}

// One call for many devices gives each of them what as many calls give.
func TestOneCallOrMany(t *testing.T) {
	many(t, func(t *rapid.T) {
		moves := history().Draw(t, "history")
		at, single := newFleet(), newFleet()
		for _, m := range moves {
			_, err := m.Play(at)
			switch {
			case err != nil:
				continue // refused as a whole; alone, some would not be
			case slices.Contains([]gen.Op{gen.Register, gen.Unregister, gen.Dispatch, gen.Allocate, gen.Free, gen.Enqueue}, m.Op):
				for i, id := range m.Devices {
					if slices.Contains(m.Devices[:i], id) {
						continue
					}
					one := m
					one.Devices = []uint64{id}
					_, err := one.Play(single)
					require.NoError(t, err, "%v", one)
				}
			default:
				_, err := m.Play(single)
				require.NoError(t, err, "%v", m)
			}
			for _, id := range at.Devices() {
				a, _ := at.Totals(id)
				b, _ := single.Totals(id)
				require.Equal(t, a, b, "device %d after %v", id, m)
				require.Equal(t, viewOf(at, id, moves[0].Spec), viewOf(single, id, moves[0].Spec))
			}
		}
	})
}

// Sets of devices of another fleet are refused, and so is a set with a device that has
// gone, also after its id was given to another. (The state machine keeps sets while
// devices go; this one says it in one place.)
func TestSetsAreOfDevicesNotOfIDs(t *testing.T) {
	spec := l1.Spec{Name: "toy", Cols: 1, Rows: 1, L1Size: 64}
	cores := l1.MustParseCoreRangeSet("{[0-0 - 0-0]}")
	p, err := program.NewBuilder(1).Range(cores, l1.Range{End: 8}).Build(spec)
	require.NoError(t, err)
	f, other := device.NewFleet(), device.NewFleet()
	d, err := f.AddDevice(0, spec)
	require.NoError(t, err)
	_, err = other.AddDevice(0, spec)
	require.NoError(t, err)

	_, err = other.Register(p, d.Set())
	require.ErrorIs(t, err, device.ErrForeignSet)
	require.ErrorIs(t, other.Unregister(p.ID(), d.Set()), device.ErrForeignSet)
	require.ErrorIs(t, other.Remove(d.Set()), device.ErrForeignSet)
	require.ErrorIs(t, other.Allocate(fit.Buffer{Kind: fit.KindDRAM}, d.Set()), device.ErrForeignSet)
	_, err = other.Free(0, d.Set())
	require.ErrorIs(t, err, device.ErrForeignSet)
	_, err = other.Enqueue(p, d.Set())
	require.ErrorIs(t, err, device.ErrForeignSet)
	_, err = other.Check(p, d.Set())
	require.ErrorIs(t, err, device.ErrForeignSet)
	_, err = other.Headroom(nil, d.Set())
	require.ErrorIs(t, err, device.ErrForeignSet)
	_, _, err = other.MayGrow(p, 0, d.Set())
	require.ErrorIs(t, err, device.ErrForeignSet)

	old := d.Set()
	require.NoError(t, f.Remove(old))
	again, err := f.AddDevice(0, spec)
	require.NoError(t, err)
	_, err = f.Register(p, old)
	require.ErrorIs(t, err, device.ErrNoDevice)
	require.ErrorIs(t, f.Unregister(p.ID(), old), device.ErrNoDevice)
	require.ErrorIs(t, f.Remove(old), device.ErrNoDevice)
	require.ErrorIs(t, f.Allocate(fit.Buffer{Kind: fit.KindDRAM}, old), device.ErrNoDevice)
	_, err = f.Enqueue(p, old)
	require.ErrorIs(t, err, device.ErrNoDevice)
	_, err = f.Register(p, again.Set())
	require.NoError(t, err)
	require.Zero(t, d.Registered(), "the old handle")
	require.EqualValues(t, 8, again.Registered())
	require.NoError(t, f.CheckInvariants())
}
