package device_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// unshared counts without sharing anything: a tree for each core of each device.
type unshared map[device.ID]map[l1.Core]*cbregion.Counter

func (m unshared) change(t require.TestingT, id device.ID, p *program.Program, add bool) {
	if m[id] == nil {
		m[id] = map[l1.Core]*cbregion.Counter{}
	}
	for _, cb := range p.CBs() {
		for core := range cb.Cores.Cores().All() {
			c := m[id][core]
			if c == nil {
				c = new(cbregion.Counter)
				m[id][core] = c
			}
			var err error
			if owner := cbregion.Owner(p.ID()); add {
				_, err = c.Add(owner, cb.Range)
			} else {
				_, err = c.Remove(owner, cb.Range)
			}
			require.NoError(t, err)
		}
	}
}

// TestSharing compares devices and cores that share their trees with separate ones, while programs
// reach the devices together, one by one, and on some only, so that states part and meet. Snapshots
// taken on the way must not change.
func TestSharing(t *testing.T) { rapid.Check(t, sharing) }

func FuzzSharing(f *testing.F) { f.Fuzz(rapid.MakeFuzz(sharing)) }

func sharing(t *rapid.T) {
	spec := l1.Spec{Name: "toy", Cols: 4, Rows: 3, L1Size: 128}
	fleet, model := device.NewFleet(), unshared{}
	mesh, err := fleet.AddMesh(0, 2, 3, spec)
	require.NoError(t, err)
	ids := slices.Collect(mesh.Set().All())

	var programs []*program.Program
	for id := range program.ID(6) {
		programs = append(programs, randomProgram(t, id, spec))
	}
	type frozen struct {
		snapshot *device.Snapshot
		regions  map[device.ID]map[l1.Core][]l1.Range
	}
	var kept []frozen

	anyProgram := rapid.IntRange(0, len(programs)-1)
	anyIDs := rapid.OneOf(
		rapid.Just(ids),
		rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, 1, rapid.ID[device.ID]),
		rapid.SliceOfDistinct(rapid.SampledFrom(ids), rapid.ID[device.ID]),
	)
	has := func(id device.ID, p *program.Program) bool { return fleet.Where(p.ID()).Has(id) }
	t.Repeat(map[string]func(*rapid.T){
		"register": func(t *rapid.T) {
			p, on := programs[anyProgram.Draw(t, "p")], anyIDs.Draw(t, "on")
			for _, id := range on {
				if !has(id, p) {
					model.change(t, id, p, true)
				}
			}
			set, err := fleet.Of(on...)
			require.NoError(t, err)
			_, err = fleet.Register(p, set)
			require.NoError(t, err)
		},
		"unregister": func(t *rapid.T) {
			p, on := programs[anyProgram.Draw(t, "p")], anyIDs.Draw(t, "on")
			set, err := fleet.Of(on...)
			require.NoError(t, err)
			if slices.ContainsFunc(on, func(id device.ID) bool { return !has(id, p) }) {
				require.ErrorIs(t, fleet.Unregister(p.ID(), set), device.ErrNotRegistered)
				return
			}
			require.NoError(t, fleet.Unregister(p.ID(), set))
			for _, id := range on {
				model.change(t, id, p, false)
			}
		},
		"device by device": func(t *rapid.T) {
			add := rapid.Bool().Draw(t, "add")
			for _, id := range anyIDs.Draw(t, "on") {
				for _, p := range programs {
					set, err := fleet.Of(id)
					require.NoError(t, err)
					switch has := has(id, p); {
					case add && !has:
						_, err := fleet.Register(p, set)
						require.NoError(t, err)
						model.change(t, id, p, true)
					case !add && has:
						require.NoError(t, fleet.Unregister(p.ID(), set))
						model.change(t, id, p, false)
					}
				}
			}
		},
		"replace": func(t *rapid.T) {
			i := anyProgram.Draw(t, "p")
			old, next := programs[i], randomProgram(t, programs[i].ID(), spec)
			where := slices.Collect(fleet.Where(old.ID()).All())
			if len(where) == 0 {
				_, err := fleet.Replace(old.ID(), next)
				require.ErrorIs(t, err, device.ErrNotRegistered)
				return
			}
			_, err := fleet.Replace(old.ID(), next)
			require.NoError(t, err)
			for _, id := range where {
				model.change(t, id, old, false)
				model.change(t, id, next, true)
			}
			programs[i] = next
		},
		"reset peaks": func(t *rapid.T) {
			d, err := fleet.Device(rapid.SampledFrom(ids).Draw(t, "id"))
			require.NoError(t, err)
			d.ResetPeaks()
			require.Equal(t, d.Registered(), d.Totals().Peak.Registered)
		},
		"snapshot": func(t *rapid.T) {
			f := frozen{fleet.Snapshot(), map[device.ID]map[l1.Core][]l1.Range{}}
			for d := range f.snapshot.All() {
				f.regions[d.ID()] = map[l1.Core][]l1.Range{}
				for core := range spec.Grid().Cores().All() {
					f.regions[d.ID()][core] = regionsOn(d, core)
				}
			}
			kept = append(kept, f)
		},
		"": func(t *rapid.T) {
			require.NoError(t, fleet.CheckInvariants())
			sum := uint64(0)
			for d := range mesh.All() {
				want := uint64(0)
				for core := range spec.Grid().Cores().All() {
					c := model[d.ID()][core]
					if c == nil {
						c = new(cbregion.Counter)
					}
					want += c.Bytes()
					require.Equal(t, slices.Collect(c.Regions()), slices.Collect(d.Regions(core)), "device %d core %v", d.ID(), core)
					require.LessOrEqual(t, c.Bytes(), d.Core(core).Peak)
					require.Equal(t, c.Bytes(), d.Core(core).Registered)
				}
				require.Equal(t, want, d.Registered(), "device %d", d.ID())
				sum += want
			}
			require.Equal(t, sum, mesh.Registered())
			for _, f := range kept {
				for d := range f.snapshot.All() {
					for core, regions := range f.regions[d.ID()] {
						require.Equal(t, regions, regionsOn(d, core))
					}
				}
			}
		},
	})
}

func randomProgram(t *rapid.T, id program.ID, spec l1.Spec) *program.Program {
	b := program.NewBuilder(id)
	for range rapid.IntRange(1, 3).Draw(t, "cbs") {
		x, y := rapid.Uint8Range(0, 3).Draw(t, "x"), rapid.Uint8Range(0, 2).Draw(t, "y")
		cores, err := l1.NewCoreRangeSet(l1.CoreRange{
			Start: l1.Core{X: x, Y: y},
			End:   l1.Core{X: rapid.Uint8Range(x, 3).Draw(t, "x1"), Y: rapid.Uint8Range(y, 2).Draw(t, "y1")},
		})
		require.NoError(t, err)
		b.CB(program.CB{Cores: cores, Size: uint64(rapid.IntRange(0, 4).Draw(t, "size")) * 8})
	}
	p, err := b.Build(spec)
	require.NoError(t, err)
	return p
}
