package device_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A tool showed 1.73 MiB for a core that has 1.5: it added circular buffers of 1 MiB on
// one core and 750 KiB on another, and a tensor on both.
func TestUsageOfTwoCores(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.P150())
	p := build(t, d.Spec(), 1, cb("{[0-0 - 0-0]}", 1<<20), cb("{[1-0 - 1-0]}", 750<<10))
	ran(t, f, d.Set(), p)
	allocate(t, f, d.Set(), buffer(1, fit.KindL1, "{[0-0 - 1-0]}", d.Spec().L1Size-200<<10, 200<<10))
	require.EqualValues(t, 1_253_376, groupOn(d, core(0, 0), device.BasisResident).Usage.Tracked)
	require.EqualValues(t, 972_800, groupOn(d, core(1, 0), device.BasisResident).Usage.Tracked)
	require.Zero(t, groupOn(d, core(2, 0), device.BasisResident).Usage)
	u := d.Usage(device.BasisResident)
	require.EqualValues(t, 1_253_376+972_800, u.Tracked)
	require.Equal(t, u.Tracked, d.Totals().Tracked)
	require.EqualValues(t, 1<<20+750<<10, u.Of(fit.KindCB))
	require.EqualValues(t, 2*200<<10, u.Of(fit.KindL1))
	require.Empty(t, slices.Collect(u.Shared()), "they do not overlap")
	intact(t, f)
}

// The same CB on eight chips is 4 KiB on each core of each, not 32.
func TestUsageOfEightChips(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 2, 4, l1.N150())
	ran(t, f, m.Set(), build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096)))
	for d := range m.All() {
		require.EqualValues(t, 4096, groupOn(d, core(3, 3), device.BasisResident).Usage.Tracked)
		require.EqualValues(t, 64*4096, d.Totals().Tracked)
	}
	require.EqualValues(t, 8*64*4096, m.Totals().Tracked)
}

// Nothing is counted twice, and nothing is added that lies on other cores.
func TestUsage(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000, CBBase: 100}
	for _, test := range []struct {
		name      string
		cbs       []program.CB
		buffers   []fit.Buffer
		want      device.Usage // without kinds
		kinds     map[fit.Kind]uint64
		shared    []device.Sharing
		fullest   uint64 // of the tracked bytes of core 0-0
		onCoreOne uint64
	}{
		{
			name: "nothing",
		},
		{
			name:    "a CB that lives in a tensor",
			cbs:     []program.CB{global(cb("{[0-0 - 1-0]}", 50))},
			buffers: []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 1-0]}", 900, 100)},
			want:    device.Usage{Tracked: 200, WithKernels: 200},
			kinds:   map[fit.Kind]uint64{fit.KindL1: 200},
			fullest: 100, onCoreOne: 100,
		},
		{
			name:    "disjoint cores at one address",
			cbs:     []program.CB{at(100, cb("{[0-0 - 0-0]}", 50)), at(100, cb("{[1-0 - 1-0]}", 70))},
			want:    device.Usage{Tracked: 120, WithKernels: 120},
			kinds:   map[fit.Kind]uint64{fit.KindCB: 120},
			fullest: 50, onCoreOne: 70,
		},
		{
			name: "kernels and the reserved area",
			cbs:  []program.CB{cb("{[0-0 - 0-0]}", 50)},
			buffers: []fit.Buffer{
				buffer(1, fit.KindKernel, "{[0-0 - 1-0]}", 40, 60), buffer(2, fit.KindReserved, "{[0-0 - 1-0]}", 0, 50),
			},
			want:    device.Usage{Tracked: 50, WithKernels: 250},
			kinds:   map[fit.Kind]uint64{fit.KindCB: 50, fit.KindKernel: 120, fit.KindReserved: 100},
			shared:  []device.Sharing{{Kinds: []fit.Kind{fit.KindKernel, fit.KindReserved}, Bytes: 20}},
			fullest: 50,
		},
		{
			name: "a CB over a kernel is tracked",
			cbs:  []program.CB{at(90, cb("{[0-0 - 0-0]}", 20))},
			buffers: []fit.Buffer{
				buffer(1, fit.KindKernel, "{[0-0 - 0-0]}", 80, 20),
			},
			want:    device.Usage{Tracked: 20, WithKernels: 30},
			kinds:   map[fit.Kind]uint64{fit.KindCB: 20, fit.KindKernel: 20},
			shared:  []device.Sharing{{Kinds: []fit.Kind{fit.KindCB, fit.KindKernel}, Bytes: 10}},
			fullest: 20,
		},
		{
			name: "three kinds on one byte",
			cbs:  []program.CB{at(100, cb("{[0-0 - 1-0]}", 100))},
			buffers: []fit.Buffer{
				buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 150, 100), buffer(2, fit.KindGlobalCB, "{[0-0 - 0-0]}", 190, 20),
				buffer(3, fit.KindL1, "{[0-0 - 0-0]}", 150, 10), // inside the first, of the same kind
			},
			want:  device.Usage{Tracked: 250, WithKernels: 250},
			kinds: map[fit.Kind]uint64{fit.KindCB: 200, fit.KindL1: 100, fit.KindGlobalCB: 20},
			shared: []device.Sharing{
				{Kinds: []fit.Kind{fit.KindCB, fit.KindL1}, Bytes: 40},
				{Kinds: []fit.Kind{fit.KindL1, fit.KindGlobalCB}, Bytes: 10},
				{Kinds: []fit.Kind{fit.KindCB, fit.KindL1, fit.KindGlobalCB}, Bytes: 10},
			},
			fullest: 150, onCoreOne: 100,
		},
		{
			name: "dataflow buffers and scratchpads",
			cbs: []program.CB{
				{Kind: program.DataflowBuffer, Cores: cores("{[0-0 - 0-0]}"), Size: 60},
				{Kind: program.Scratchpad, Cores: cores("{[0-0 - 1-0]}"), Size: 40},
			},
			want:    device.Usage{Tracked: 140, WithKernels: 140},
			kinds:   map[fit.Kind]uint64{fit.KindDataflow: 60, fit.KindScratchpad: 80},
			fullest: 100, onCoreOne: 40,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := device.NewFleet()
			d := addDevice(t, f, 0, spec)
			p := build(t, spec, 1, test.cbs...)
			register(t, f, p, d.Set())
			allocate(t, f, d.Set(), test.buffers...)
			if len(test.cbs) > 0 {
				dispatch(t, f, p, d.Set())
			}
			for _, basis := range []device.Basis{device.BasisResident, device.BasisRegistered} {
				u := d.Usage(basis)
				require.Equal(t, test.want.Tracked, u.Tracked)
				require.Equal(t, test.want.WithKernels, u.WithKernels)
				kinds := map[fit.Kind]uint64{}
				for k := fit.KindCB; k <= fit.KindReserved; k++ {
					if n := u.Of(k); n > 0 {
						kinds[k] = n
					}
				}
				if test.kinds == nil {
					test.kinds = kinds
					require.Empty(t, kinds)
				}
				require.Equal(t, test.kinds, kinds)
				require.ElementsMatch(t, test.shared, slices.Collect(u.Shared()))
				require.Equal(t, test.fullest, groupOn(d, core(0, 0), basis).Usage.Tracked)
				require.Equal(t, test.onCoreOne, groupOn(d, core(1, 0), basis).Usage.Tracked)
				identity(t, u)
			}
			require.Equal(t, test.want.Tracked, d.Totals().Tracked)
			intact(t, f)
		})
	}
	require.Zero(t, device.Usage{}.Of(fit.KindDRAM))
	require.Zero(t, device.Device{}.Usage(device.BasisResident))
	require.Zero(t, groupOn(device.Device{}, core(0, 0), device.BasisRegistered).Usage)
	require.Empty(t, slices.Collect(groupOn(device.Device{}, core(0, 0), device.BasisRegistered).Residents()))
}

// identity checks the equation in the doc of Shared.
func identity(t require.TestingT, u device.Usage) {
	sum := uint64(0)
	for k := fit.KindCB; k <= fit.KindReserved; k++ {
		sum += u.Of(k)
	}
	for s := range u.Shared() {
		require.GreaterOrEqual(t, len(s.Kinds), 2)
		require.True(t, slices.IsSorted(s.Kinds))
		sum -= uint64(len(s.Kinds)-1) * s.Bytes
	}
	require.Equal(t, u.WithKernels, sum)
}

// Resident and registered bytes differ where programs share addresses.
func TestUsageByBasis(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	small := build(t, d.Spec(), 1, cb("{[0-0 - 0-0]}", 100))
	large := build(t, d.Spec(), 2, cb("{[0-0 - 0-0]}", 300))
	register(t, f, large, d.Set())
	ran(t, f, d.Set(), small)
	require.EqualValues(t, 100, d.Usage(device.BasisResident).Tracked)
	require.EqualValues(t, 300, d.Usage(device.BasisRegistered).Tracked)
	f.UnregisterAll(small.ID())
	f.UnregisterAll(large.ID())
	require.EqualValues(t, 100, d.Usage(device.BasisResident).Tracked, "L1 still holds it")
	require.Zero(t, d.Usage(device.BasisRegistered))
}

// Residents by address, then kind, each circular buffer for itself; groups by first core.
func TestResidentsAndGroups(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	base := d.Spec().CBBase
	p := build(t, d.Spec(), 7, cb("{[0-0 - 1-0]}", 64), cb("{[0-0 - 0-0]}", 32), global(cb("{[0-0 - 0-0]}", 64)), cb("{[0-0 - 0-0]}", 0))
	ran(t, f, d.Set(), p)
	tensor, kernel := buffer(1, fit.KindL1, "{[0-0 - 0-0]}", base+64, 8), buffer(2, fit.KindKernel, "{[0-0 - 2-0]}", base-64, 64)
	tensor.Name = "weights"
	allocate(t, f, d.Set(), tensor, kernel, fit.Buffer{ID: 3, Kind: fit.KindDRAM, Size: 5})
	tensor.Size, kernel.Size = 8, 3*64
	at := func(start, n uint64) l1.Range { return l1.Range{Start: start, End: start + n} }
	want := []fit.Resident{
		{Kind: fit.KindKernel, Range: at(base-64, 64), CB: -1, Buffer: kernel},
		{Kind: fit.KindCB, Range: at(base, 64), Program: p, CB: 0},
		{Kind: fit.KindL1, Range: at(base+64, 8), CB: -1, Buffer: tensor},
		{Kind: fit.KindCB, Range: at(base+64, 32), Program: p, CB: 1},
	}
	for _, basis := range []device.Basis{device.BasisResident, device.BasisRegistered} {
		require.Equal(t, want, slices.Collect(groupOn(d, core(0, 0), basis).Residents()))
		require.Empty(t, slices.Collect(groupOn(d, core(5, 5), basis).Residents()))
		groups := slices.Collect(d.UsageGroups(basis))
		require.Len(t, groups, 3)
		require.Equal(t, want, slices.Collect(groups[0].Residents()))
		for i, g := range []struct {
			cores                string
			tracked, withKernels uint64
			regions              []l1.Range
		}{
			{"{[0-0 - 0-0]}", 96, 160, []l1.Range{at(base, 96)}},
			{"{[1-0 - 1-0]}", 64, 128, []l1.Range{at(base, 64)}},
			{"{[2-0 - 2-0]}", 0, 64, nil},
		} {
			require.Equal(t, g.cores, groups[i].Cores.String())
			require.Equal(t, g.tracked, groups[i].Usage.Tracked)
			require.Equal(t, g.withKernels, groups[i].Usage.WithKernels)
			require.ElementsMatch(t, g.regions, groups[i].Regions)
			require.Equal(t, groups[i].Usage, groupOn(d, slices.Collect(groups[i].Cores.All())[0], basis).Usage)
		}
	}
}

// A memoryLife leads a random life of buffers and dispatches on a mesh and two lone
// devices, beside one map for each device from a byte to the kinds that hold it.
func memoryLife(t *rapid.T) {
	spec := l1.Spec{Cols: toySide, Rows: toySide}
	f := device.NewFleet()
	mesh := addMesh(t, f, 0, 1, 2, spec)
	devices := slices.Collect(mesh.All())
	devices = append(devices, addDevice(t, f, 2, spec), addDevice(t, f, 3, spec))
	type world struct {
		left    map[spot][]l1.Range
		buffers map[fit.BufferID]fit.Buffer
		peak    device.Peaks
	}
	var model [toyFleet]world
	for i := range model {
		model[i] = world{map[spot][]l1.Range{}, map[fit.BufferID]fit.Buffer{}, device.Peaks{}}
	}
	type byteAt struct {
		core l1.Core
		addr uint64
	}
	bytes := func(w world) map[byteAt]uint {
		out := map[byteAt]uint{}
		paint := func(k fit.Kind, c l1.Core, r l1.Range) {
			for a := r.Start; a < r.End; a++ {
				out[byteAt{c, a}] |= 1 << k
			}
		}
		for s, ranges := range w.left {
			for _, r := range ranges {
				paint(fit.Kind(s.kind), s.core, r)
			}
		}
		for _, b := range w.buffers {
			for p := range b.All() {
				for c := range p.Cores.All() {
					if !b.Backing {
						paint(b.Kind, c, p.Range)
					}
				}
			}
		}
		return out
	}
	const below = uint(1<<fit.KindKernel | 1<<fit.KindReserved)
	usage := func(w world) (tracked, all uint64, kinds map[fit.Kind]uint64) {
		kinds = map[fit.Kind]uint64{}
		for _, held := range bytes(w) {
			if all++; held&^below != 0 {
				tracked++
			}
			for k := fit.KindCB; k <= fit.KindReserved; k++ {
				if held>>k&1 != 0 {
					kinds[k]++
				}
			}
		}
		return tracked, all, kinds
	}
	buffers := func(w world) (out fit.BufferTotals) {
		for _, b := range w.buffers {
			switch {
			case b.Backing:
				out.Backings++
				out.Backing += b.Size
				continue
			case b.Kind == fit.KindDRAM:
				out.DRAM += b.Size
			case b.Kind == fit.KindL1Small:
				out.L1Small += b.Size
			case b.Kind == fit.KindKernel || b.Kind == fit.KindReserved:
				out.Kernels += b.Size
			default:
				out.L1 += b.Size
			}
			out.Count++
		}
		return out
	}
	var meshPeak device.Peaks
	commit := func() {
		var tracked, l1Bytes, dram uint64
		for i := range model {
			w := &model[i]
			n, _, _ := usage(*w)
			b := buffers(*w)
			w.peak.Tracked, w.peak.L1, w.peak.DRAM = max(w.peak.Tracked, n), max(w.peak.L1, b.L1), max(w.peak.DRAM, b.DRAM)
			if i < 2 {
				tracked, l1Bytes, dram = tracked+n, l1Bytes+b.L1, dram+b.DRAM
			}
		}
		meshPeak.Tracked, meshPeak.L1, meshPeak.DRAM = max(meshPeak.Tracked, tracked), max(meshPeak.L1, l1Bytes), max(meshPeak.DRAM, dram)
	}
	drawCores := func(t *rapid.T) l1.CoreRangeSet {
		x0, y0 := rapid.Uint8Range(0, toySide-1).Draw(t, "x0"), rapid.Uint8Range(0, toySide-1).Draw(t, "y0")
		x1, y1 := rapid.Uint8Range(x0, toySide-1).Draw(t, "x1"), rapid.Uint8Range(y0, toySide-1).Draw(t, "y1")
		set, err := l1.NewCoreRangeSet(l1.CoreRange{Start: core(x0, y0), End: core(x1, y1)})
		require.NoError(t, err)
		return set
	}
	var known []*program.Program
	for id := range program.ID(5) {
		b := program.NewBuilder(id)
		for range rapid.IntRange(1, 3).Draw(t, "CBs") {
			kind := program.CircularBuffer
			if id > 2 {
				kind = rapid.SampledFrom([]program.Kind{program.DataflowBuffer, program.Scratchpad}).Draw(t, "kind")
			}
			c := program.CB{Kind: kind, Cores: drawCores(t), Size: rapid.Uint64Range(0, 9).Draw(t, "size"), Global: rapid.IntRange(0, 5).Draw(t, "global") == 0}
			if rapid.Bool().Draw(t, "fixed") {
				c = at(rapid.Uint64Range(0, 20).Draw(t, "address"), c)
			}
			b.CB(c)
		}
		p, err := b.Build(spec)
		require.NoError(t, err)
		known = append(known, p)
		register(t, f, p, f.Set())
	}
	var shapes []fit.Buffer // few, so that devices come to have the same
	for id := range fit.BufferID(8) {
		b := fit.Buffer{ID: id % 5, Kind: rapid.SampledFrom([]fit.Kind{
			fit.KindL1, fit.KindL1, fit.KindL1, fit.KindL1Small, fit.KindGlobalCB, fit.KindService, fit.KindKernel, fit.KindReserved, fit.KindDRAM,
		}).Draw(t, "kind"), Size: rapid.Uint64Range(0, 3).Draw(t, "size"), Backing: rapid.IntRange(0, 6).Draw(t, "backing") == 0}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			if b.Kind.InL1() {
				start := rapid.Uint64Range(0, 24).Draw(t, "start")
				b.Parts = append(b.Parts, fit.Part{Cores: drawCores(t).Cores(), Range: l1.Range{Start: start, End: start + rapid.Uint64Range(0, 9).Draw(t, "length")}})
			}
		}
		shapes = append(shapes, b)
	}
	drawSet := func(t *rapid.T) ([]device.ID, device.Set) {
		on := rapid.SliceOfNDistinct(rapid.SampledFrom([]device.ID{0, 1, 2, 3}), 0, toyFleet, rapid.ID).Draw(t, "devices")
		return on, of(t, f, on...)
	}
	write := func(on []device.ID, p *program.Program) {
		for _, id := range on {
			for _, c := range p.CBs() {
				for core := range c.Cores.Cores().All() {
					delete(model[id].left, spot{c.Kind, core})
				}
			}
			for _, c := range p.CBs() {
				for core := range c.Cores.Cores().All() {
					s := spot{c.Kind, core}
					if model[id].left[s] == nil {
						model[id].left[s] = []l1.Range{}
					}
					if !c.Global {
						model[id].left[s] = append(model[id].left[s], c.Range)
					}
				}
			}
		}
		commit()
	}

	t.Repeat(map[string]func(*rapid.T){
		"allocate": func(t *rapid.T) {
			b := rapid.SampledFrom(shapes).Draw(t, "buffer")
			on, s := drawSet(t)
			err := f.Allocate(b, s)
			if slices.ContainsFunc(on, func(id device.ID) bool { _, has := model[id].buffers[b.ID]; return has }) {
				require.ErrorIs(t, err, device.ErrAllocated)
				return
			}
			require.NoError(t, err)
			if b.Size == 0 {
				for p := range b.All() {
					b.Size += p.Range.Len() * uint64(p.Cores.Len())
				}
			}
			for _, id := range on {
				model[id].buffers[b.ID] = b.Plain()
			}
			commit()
		},
		"free": func(t *rapid.T) {
			id := fit.BufferID(rapid.IntRange(0, 5).Draw(t, "buffer"))
			on, s := drawSet(t)
			got, err := f.Free(id, s)
			for _, d := range on {
				if _, has := model[d].buffers[id]; !has {
					require.ErrorIs(t, err, device.ErrNotAllocated)
					return
				}
			}
			require.NoError(t, err)
			if len(on) > 0 {
				require.Equal(t, model[slices.Min(on)].buffers[id], got)
			}
			for _, d := range on {
				delete(model[d].buffers, id)
			}
			commit()
		},
		"dispatch": func(t *rapid.T) {
			p := rapid.SampledFrom(known).Draw(t, "program")
			on, s := drawSet(t)
			dispatch(t, f, p, s)
			write(on, p)
		},
		"enqueue": func(t *rapid.T) {
			p := rapid.SampledFrom(known).Draw(t, "program")
			on, s := drawSet(t)
			v, err := f.Check(p, s)
			require.NoError(t, err)
			if _, err = f.Enqueue(p, s); !v.Fits() {
				var fit fit.Verdict
				require.ErrorAs(t, err, &fit)
				require.Equal(t, v, fit)
				return
			}
			require.NoError(t, err)
			write(on, p)
		},
		"reset peaks": func(t *rapid.T) {
			i := rapid.IntRange(0, toyFleet-1).Draw(t, "device")
			devices[i].ResetPeaks()
			model[i].peak = device.Peaks{}
			commit()
		},
		"": func(t *rapid.T) {
			var sum fit.BufferTotals
			var tracked uint64
			for i, d := range devices {
				n, all, kinds := usage(model[i])
				u, now, b := d.Usage(device.BasisResident), d.Totals(), buffers(model[i])
				require.Equal(t, n, now.Tracked, "device %d", i)
				require.Equal(t, n, u.Tracked)
				require.Equal(t, all, u.WithKernels)
				for k := fit.KindCB; k <= fit.KindReserved; k++ {
					require.Equal(t, kinds[k], u.Of(k), "%v", k)
				}
				identity(t, u)
				require.Equal(t, b, now.Buffers)
				require.Equal(t, model[i].peak, device.Peaks{Tracked: now.Peak.Tracked, L1: now.Peak.L1, DRAM: now.Peak.DRAM})
				require.Equal(t, slices.Sorted(maps.Keys(model[i].buffers)), bufferIDs(d))
				if i < 2 {
					tracked += n
					sum.Count, sum.L1, sum.L1Small, sum.DRAM = sum.Count+b.Count, sum.L1+b.L1, sum.L1Small+b.L1Small, sum.DRAM+b.DRAM
					sum.Kernels, sum.Backings, sum.Backing = sum.Kernels+b.Kernels, sum.Backings+b.Backings, sum.Backing+b.Backing
				}
			}
			require.Equal(t, tracked, mesh.Totals().Tracked)
			require.Equal(t, sum, mesh.Totals().Buffers)
			got := mesh.Totals().Peak
			require.Equal(t, meshPeak, device.Peaks{Tracked: got.Tracked, L1: got.L1, DRAM: got.DRAM})
			intact(t, f)
		},
	})
}

func TestMemoryLife(t *testing.T) { rapid.Check(t, memoryLife) }
