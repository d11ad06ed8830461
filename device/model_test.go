package device_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The toy world: 3x3 cores of 64 bytes; devices 0 and 1 are a mesh, 2 and 3 lone.
const (
	toySide  = 3
	toyBytes = 64
	toyFleet = 4
)

// A plain is one device without any sharing: the list of its programs, and peaks.
type plain struct {
	programs map[program.ID]*program.Program
	peak     device.Peaks
	peaks    map[l1.Core]uint64
}

func newPlain() *plain {
	return &plain{programs: map[program.ID]*program.Program{}, peaks: map[l1.Core]uint64{}}
}

// on counts one core byte by byte.
func (d *plain) on(c l1.Core) device.CoreTotals {
	var occupied, reserved [toyBytes]bool
	var t device.CoreTotals
	for _, p := range d.programs {
		here := false
		for _, cb := range p.CBs() {
			if cb.Global || !cb.Cores.Cores().Has(c) {
				continue
			}
			t.Logical += cb.Size
			for a := cb.Range.Start; a < cb.Range.End; a++ {
				occupied[a], here = true, true
			}
		}
		if here {
			t.Programs++
		}
		if g, ok := p.Reserved(program.CircularBuffer).On(c); ok { // package program's to know
			for r := range g.Ranges() {
				for a := r.Start; a < r.End; a++ {
					reserved[a] = true
				}
			}
		}
	}
	for a := range toyBytes {
		if occupied[a] {
			t.Registered++
		}
		if reserved[a] {
			t.Reserved++
		}
	}
	t.Peak = d.peaks[c]
	return t
}

func toyCores(yield func(l1.Core) bool) {
	for x := range uint8(toySide) {
		for y := range uint8(toySide) {
			if !yield(core(x, y)) {
				return
			}
		}
	}
}

func (d *plain) totals() device.Totals {
	t := device.Totals{Programs: len(d.programs)}
	for c := range toyCores {
		on := d.on(c)
		t.Registered += on.Registered
		t.Reserved += on.Reserved
		t.Logical += on.Logical
		t.Core = max(t.Core, on.Registered)
	}
	t.Peak = d.peak
	return t
}

func (d *plain) commit() {
	d.peak = raised(d.peak, d.totals())
	for c := range toyCores {
		d.peaks[c] = max(d.peaks[c], d.on(c).Registered)
	}
}

func raised(p device.Peaks, t device.Totals) device.Peaks {
	return device.Peaks{
		Registered: max(p.Registered, t.Registered), Reserved: max(p.Reserved, t.Reserved),
		Logical: max(p.Logical, t.Logical), Core: max(p.Core, t.Core),
	}
}

// sharedAndPlain leads a random life twice: with classes, lazily kept reserved
// figures and running sums, and with neither.
func sharedAndPlain(t *rapid.T, prepare func(*device.Fleet)) {
	spec := l1.Spec{Cols: toySide, Rows: toySide}
	f := device.NewFleet()
	prepare(f)
	mesh := addMesh(t, f, 0, 1, 2, spec)
	devices := slices.Collect(mesh.All())
	devices = append(devices, addDevice(t, f, 2, spec), addDevice(t, f, 3, spec))
	var model [toyFleet]*plain
	for i := range model {
		model[i] = newPlain()
	}
	registered := map[program.ID]*program.Program{}
	var meshPeak device.Peaks
	commit := func() {
		var sum device.Totals
		for i, d := range model {
			d.commit()
			if i < 2 {
				now := d.totals()
				sum.Registered += now.Registered
				sum.Reserved += now.Reserved
				sum.Logical += now.Logical
				sum.Core = max(sum.Core, now.Core)
			}
		}
		meshPeak = raised(meshPeak, sum)
		for id := range registered {
			if !slices.ContainsFunc(model[:], func(d *plain) bool { return d.programs[id] != nil }) {
				delete(registered, id)
			}
		}
	}

	drawProgram := func(t *rapid.T) *program.Program {
		b := program.NewBuilder(program.ID(rapid.IntRange(0, 5).Draw(t, "id")))
		for range rapid.IntRange(0, 4).Draw(t, "CBs") {
			x0, y0 := rapid.Uint8Range(0, toySide-1).Draw(t, "x0"), rapid.Uint8Range(0, toySide-1).Draw(t, "y0")
			x1, y1 := rapid.Uint8Range(x0, toySide-1).Draw(t, "x1"), rapid.Uint8Range(y0, toySide-1).Draw(t, "y1")
			set, err := l1.NewCoreRangeSet(l1.CoreRange{Start: core(x0, y0), End: core(x1, y1)})
			require.NoError(t, err)
			c := program.CB{Cores: set, Size: rapid.SampledFrom([]uint64{0, 1, 4, 8, 8}).Draw(t, "size")}
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0:
				c.Global = true
			case 1, 2, 3: // few addresses, so that ranges meet and repeat
				c = at(rapid.SampledFrom([]uint64{0, 8, 8, 16, 21}).Draw(t, "address"), c)
			}
			b.CB(c)
		}
		p, err := b.Build(spec)
		require.NoError(t, err)
		return p
	}
	drawSet := func(t *rapid.T) []device.ID {
		return rapid.SliceOfNDistinct(rapid.SampledFrom([]device.ID{0, 1, 2, 3}), 0, toyFleet, rapid.ID).Draw(t, "devices")
	}
	setOf := func(t *rapid.T, on []device.ID) device.Set {
		var now []device.ID
		for _, id := range on {
			now = append(now, devices[id].ID())
		}
		return of(t, f, now...)
	}

	t.Repeat(map[string]func(*rapid.T){
		"register": func(t *rapid.T) {
			p, on := drawProgram(t), drawSet(t)
			added, err := f.Register(p, setOf(t, on))
			if len(on) > 0 && registered[p.ID()] != nil && !registered[p.ID()].Equal(p) {
				require.ErrorIs(t, err, device.ErrConflict)
				return
			}
			require.NoError(t, err)
			var want []device.ID
			for _, id := range on {
				if model[id].programs[p.ID()] == nil {
					model[id].programs[p.ID()] = p
					registered[p.ID()] = p
					want = append(want, id)
				}
			}
			slices.Sort(want)
			require.Equal(t, want, ids(added))
			commit()
		},
		"unregister": func(t *rapid.T) {
			p, on := drawProgram(t), drawSet(t)
			err := f.Unregister(p.ID(), setOf(t, on))
			for _, id := range on {
				if model[id].programs[p.ID()] == nil {
					require.ErrorIs(t, err, device.ErrNotRegistered)
					return
				}
			}
			require.NoError(t, err)
			for _, id := range on {
				delete(model[id].programs, p.ID())
			}
			commit()
		},
		"unregister all": func(t *rapid.T) {
			p := drawProgram(t)
			removed := f.UnregisterAll(p.ID())
			for id, d := range model {
				require.Equal(t, d.programs[p.ID()] != nil, removed.Has(device.ID(id)))
				delete(d.programs, p.ID())
			}
			commit()
		},
		"replace": func(t *rapid.T) {
			old, new := drawProgram(t), drawProgram(t)
			on, err := f.Replace(old.ID(), new)
			if registered[old.ID()] == nil {
				require.ErrorIs(t, err, device.ErrNotRegistered)
				return
			}
			if old.ID() != new.ID() && registered[new.ID()] != nil {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			delete(registered, old.ID())
			for id, d := range model {
				require.Equal(t, d.programs[old.ID()] != nil, on.Has(device.ID(id)))
				if d.programs[old.ID()] == nil {
					continue
				}
				delete(d.programs, old.ID())
				d.programs[new.ID()] = new
				registered[new.ID()] = new
			}
			commit()
		},
		"remove and add again": func(t *rapid.T) {
			id := rapid.SampledFrom([]device.ID{2, 3}).Draw(t, "device")
			require.NoError(t, f.Remove(devices[id].Set()))
			require.Zero(t, devices[id].Totals())
			devices[id] = addDevice(t, f, id, spec)
			model[id] = newPlain()
			commit()
		},
		"reset peaks": func(t *rapid.T) {
			id := rapid.SampledFrom([]device.ID{0, 1, 2, 3}).Draw(t, "device")
			devices[id].ResetPeaks()
			model[id].peak, model[id].peaks = device.Peaks{}, map[l1.Core]uint64{}
			commit()
		},
		"": func(t *rapid.T) {
			sum := device.Totals{Peak: meshPeak}
			s := f.Snapshot()
			for i, d := range devices {
				want := model[i].totals()
				require.Equal(t, want, d.Totals(), "device %d", i)
				require.Equal(t, want.Registered, d.Registered())
				seen, _ := s.Device(device.ID(i))
				require.Equal(t, want, seen.Totals())
				for c := range toyCores {
					on := model[i].on(c)
					require.Equal(t, on, d.Core(c), "device %d, core %v", i, c)
					n := uint64(0)
					for _, r := range regionsOn(seen, c) {
						n += r.Len()
					}
					require.Equal(t, on.Registered, n)
				}
				if i < 2 {
					sum.Registered += want.Registered
					sum.Reserved += want.Reserved
					sum.Logical += want.Logical
					sum.Programs += want.Programs
					sum.Core = max(sum.Core, want.Core)
				}
			}
			require.Equal(t, sum, mesh.Totals())
			require.Equal(t, sum.Registered, mesh.Registered())
			require.Len(t, programIDs(f.Programs()), len(registered))
			intact(t, f)
		},
	})
}

func TestSharedAndPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { sharedAndPlain(t, func(*device.Fleet) {}) })
}

func TestSharedAndPlainWithOneHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { sharedAndPlain(t, device.ZeroHashes) })
}
