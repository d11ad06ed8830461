package device_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// buffer is a buffer with the same range on some cores.
func buffer(id fit.BufferID, kind fit.Kind, on string, addr, size uint64) fit.Buffer {
	return fit.Buffer{ID: id, Kind: kind, Cores: cores(on).Cores(), Range: l1.Range{Start: addr, End: addr + size}}
}

func part(on string, addr, size uint64) fit.Part {
	return fit.Part{Cores: cores(on).Cores(), Range: l1.Range{Start: addr, End: addr + size}}
}

func allocate(t require.TestingT, f *device.Fleet, s device.Set, buffers ...fit.Buffer) {
	for _, b := range buffers {
		require.NoError(t, f.Allocate(b, s))
	}
}

func free(t require.TestingT, f *device.Fleet, s device.Set, buffers ...fit.BufferID) {
	for _, id := range buffers {
		_, err := f.Free(id, s)
		require.NoError(t, err)
	}
}

func bufferIDs(d device.Device) (out []fit.BufferID) {
	for b := range d.Buffers() {
		out = append(out, b.ID)
	}
	return out
}

// tt-metal's scenario 11: the columns move by the allocated bytes, and back.
func TestAllocateAndFree(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	before := d.Totals()
	allocate(t, f, d.Set(),
		fit.Buffer{ID: 1, Kind: fit.KindDRAM, Size: 65_536},
		buffer(2, fit.KindL1, "{[0-0 - 7-7]}", 1_000_000, 256))
	now := d.Totals()
	require.EqualValues(t, 65_536, now.Buffers.DRAM)
	require.EqualValues(t, 16_384, now.Buffers.L1, "an interleaved buffer counts its bytes in all banks")
	require.EqualValues(t, 16_384, now.Tracked)
	require.Equal(t, 2, now.Buffers.Count)
	require.Zero(t, now.Resident)
	intact(t, f)
	free(t, f, d.Set(), 1, 2)
	after := d.Totals()
	require.EqualValues(t, 65_536, after.Peak.DRAM)
	require.EqualValues(t, 16_384, after.Peak.L1)
	require.EqualValues(t, 16_384, after.Peak.Tracked)
	after.Peak = device.Peaks{}
	require.Equal(t, before, after)
	d.ResetPeaks()
	require.Equal(t, before, d.Totals())
	intact(t, f)
}

// Each kind has its column.
func TestBufferTotals(t *testing.T) {
	for _, test := range []struct {
		kind    fit.Kind
		want    fit.BufferTotals
		tracked uint64
		text    string
	}{
		{fit.KindL1, fit.BufferTotals{Count: 1, L1: 64}, 64, "L1 buffer"},
		{fit.KindL1Small, fit.BufferTotals{Count: 1, L1Small: 64}, 64, "L1_SMALL buffer"},
		{fit.KindGlobalCB, fit.BufferTotals{Count: 1, L1: 64}, 64, "global CB buffer"},
		{fit.KindService, fit.BufferTotals{Count: 1, L1: 64}, 64, "service buffer"},
		{fit.KindKernel, fit.BufferTotals{Count: 1, Kernels: 64}, 0, "kernel"},
		{fit.KindReserved, fit.BufferTotals{Count: 1, Kernels: 64}, 0, "reserved area"},
		{fit.KindDRAM, fit.BufferTotals{Count: 1, DRAM: 64}, 0, "DRAM buffer"},
		{fit.KindTrace, fit.BufferTotals{Count: 1, Trace: 64}, 0, "trace buffer"},
		{fit.KindSystem, fit.BufferTotals{Count: 1, System: 64}, 0, "system buffer"},
	} {
		t.Run(test.text, func(t *testing.T) {
			require.Equal(t, test.text, test.kind.String())
			f := device.NewFleet()
			m := addMesh(t, f, 0, 1, 2, l1.N150())
			d, err := f.Device(1)
			require.NoError(t, err)
			b := fit.Buffer{ID: 7, Kind: test.kind, Size: 64}
			if test.kind.InL1() {
				b = buffer(7, test.kind, "{[0-0 - 1-0]}", 512, 32)
			}
			allocate(t, f, m.Set(), b)
			require.Equal(t, test.want, d.Totals().Buffers)
			require.Equal(t, test.tracked, d.Totals().Tracked)
			require.Equal(t, 2*test.tracked, m.Totals().Tracked)
			require.Equal(t, 2, m.Totals().Buffers.Count)
			require.Equal(t, 2*d.Totals().Peak.L1, m.Totals().Peak.L1)
			require.Equal(t, 2*d.Totals().Peak.DRAM, m.Totals().Peak.DRAM)
			u := d.Usage(device.BasisResident)
			require.Equal(t, test.tracked, u.Tracked)
			if test.kind.InL1() {
				require.EqualValues(t, 64, u.WithKernels)
				require.EqualValues(t, 64, u.Of(test.kind))
			} else {
				require.Zero(t, u)
			}
			intact(t, f)

			backing := b
			backing.ID, backing.Backing = 8, true
			allocate(t, f, d.Set(), backing)
			want := test.want
			want.Backings, want.Backing = 1, 64
			require.Equal(t, want, d.Totals().Buffers, "a backing allocation counts as such and nowhere else")
			require.Equal(t, u, d.Usage(device.BasisResident))
			intact(t, f)
			free(t, f, d.Set(), 7, 8)
			require.Zero(t, d.Totals().Buffers)
		})
	}
	require.Equal(t, "Kind(77)", fit.Kind(77).String())
	require.Equal(t, []string{"circular buffer", "dataflow buffer", "scratchpad"},
		[]string{fit.KindCB.String(), fit.KindDataflow.String(), fit.KindScratchpad.String()})
}

// A capture showed 20 buffers on device 0 and 10 on each other: a mesh buffer has a
// backing allocation on the reference device.
func TestBackingAllocations(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 8, l1.N150())
	reference := sub(t, m, 0, 0, 1, 1)
	const dram, l1Bytes, backing = 14_753_792, 22_528, 73_728
	for id := range fit.BufferID(10) {
		b := fit.Buffer{ID: id, Kind: fit.KindDRAM, Size: dram / 9}
		if dram%9 > 0 && id == 0 {
			b.Size += dram % 9
		}
		if id == 9 {
			b = buffer(id, fit.KindL1, "{[0-0 - 0-0]}", 1_000_000, l1Bytes)
		}
		allocate(t, f, m.Set(), b)
	}
	for id := fit.BufferID(100); id < 110; id++ {
		b := fit.Buffer{ID: id, Kind: fit.KindDRAM, Size: backing / 9, Backing: true}
		if id == 109 {
			b = buffer(id, fit.KindL1, "{[0-0 - 0-0]}", 1_000_000, l1Bytes)
			b.Backing = true
		}
		allocate(t, f, reference, b)
	}
	for d := range m.All() {
		want := fit.BufferTotals{Count: 10, DRAM: dram, L1: l1Bytes}
		if d.ID() == 0 {
			want.Backings, want.Backing = 10, backing+l1Bytes
			require.Len(t, bufferIDs(d), 20)
			naive := uint64(0)
			for b := range d.Buffers() {
				if b.Kind == fit.KindDRAM {
					naive += b.Size
				}
			}
			require.EqualValues(t, 14_827_520, naive, "what a count of events says")
		} else {
			require.Len(t, bufferIDs(d), 10)
		}
		require.Equal(t, want, d.Totals().Buffers)
		require.EqualValues(t, l1Bytes, d.Totals().Tracked)
	}
	require.Equal(t, fit.BufferTotals{Count: 80, DRAM: 8 * dram, L1: 8 * l1Bytes, Backings: 10, Backing: backing + l1Bytes}, m.Totals().Buffers)
	intact(t, f)
}

// Every device of a mesh sees its own allocations and frees.
func TestBuffersOfAMesh(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 2, 2, l1.N150())
	lone := addDevice(t, f, 9, l1.P150())
	all := f.Set()
	allocate(t, f, all, buffer(1, fit.KindL1, "{[0-0 - 7-7]}", 1_000_000, 2048))
	for d := range f.Devices() {
		require.EqualValues(t, 64*2048, d.Totals().Buffers.L1)
	}
	free(t, f, of(t, f, 2), 1)
	for d := range f.Devices() {
		_, has := d.Buffer(1)
		require.Equal(t, d.ID() != 2, has)
		require.Equal(t, has, d.Totals().Buffers.L1 > 0)
	}
	require.EqualValues(t, 3*64*2048, m.Totals().Buffers.L1)
	require.EqualValues(t, 4*64*2048, m.Totals().Peak.L1)
	still(t, f, func() {
		_, err := f.Free(1, all)
		var wrong *device.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, ofBuffer("Free", 1, 2, device.ErrNotAllocated), wrong)
	})
	// One id, two buffers: a device has its own.
	allocate(t, f, of(t, f, 2), buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 500_000, 64))
	got, err := f.Free(1, all)
	require.NoError(t, err)
	require.EqualValues(t, 64*2048, got.Size, "that of the first device")
	require.Zero(t, m.Totals().Buffers)
	require.Zero(t, lone.Totals().Buffers)
	intact(t, f)
}

// One part may be given in two ways, and comes back in one.
func TestBufferOfOnePart(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	short := buffer(1, fit.KindL1, "{[0-0 - 3-0]}", 1_000_000, 512)
	long := fit.Buffer{ID: 1, Kind: fit.KindL1, Parts: []fit.Part{part("{[0-0 - 3-0]}", 1_000_000, 512)}}
	allocate(t, f, of(t, f, 0), short)
	allocate(t, f, of(t, f, 1), long)
	short.Size = 4 * 512
	for d := range m.All() {
		require.Equal(t, []fit.Buffer{short}, slices.Collect(d.Buffers()))
		require.EqualValues(t, 4*512, d.Totals().Tracked)
	}
	for _, b := range []fit.Buffer{short, long} {
		require.Equal(t, []fit.Part{part("{[0-0 - 3-0]}", 1_000_000, 512)}, slices.Collect(b.All()))
	}
	p := build(t, m.Spec(), 1, at(999_936, cb("{[0-0 - 0-0]}", 128)))
	v := check(t, f, p, m.Set())
	require.Equal(t, 2, v.Clashes[0].Devices, "both have the same")
	require.Equal(t, short, v.Above(v.Clashes[0])[0].Buffer)
	intact(t, f)
}

// A free returns the freed buffer with its size, in memory of the caller.
func TestFreeReturnsTheBuffer(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	want := fit.Buffer{ID: 5, Kind: fit.KindL1, Parts: []fit.Part{part("{[0-0 - 3-0]}", 1_000_000, 512), part("{[4-0 - 4-0]}", 900_000, 100)}, Name: "conv weights"}
	given := want
	given.Parts = slices.Clone(want.Parts)
	allocate(t, f, d.Set(), given)
	given.Parts[0].Range.Start = 1 // the fleet has a copy
	want.Size = 4*512 + 100
	got, ok := d.Buffer(5)
	require.True(t, ok)
	require.Equal(t, want, got)
	got.Parts[0].Range.Start = 2
	require.Equal(t, []fit.Buffer{want}, slices.Collect(d.Buffers()))
	freed, err := f.Free(5, d.Set())
	require.NoError(t, err)
	require.Equal(t, want, freed)
	_, ok = d.Buffer(5)
	require.False(t, ok)
	require.Empty(t, bufferIDs(d))
	_, ok = device.Device{}.Buffer(5)
	require.False(t, ok)
	require.Empty(t, bufferIDs(device.Device{}))
	intact(t, f)
}

func TestAllocateRefusals(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 3, l1.N150())
	gone := addDevice(t, f, 7, l1.N150())
	goneSet := gone.Set()
	require.NoError(t, f.Remove(goneSet))
	foreign := addDevice(t, device.NewFleet(), 0, l1.N150()).Set()
	allocate(t, f, sub(t, m, 0, 1, 1, 2), buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 0, 8))
	good := buffer(2, fit.KindL1, "{[0-0 - 0-0]}", 0, 8)
	with := func(change func(b *fit.Buffer)) fit.Buffer {
		b := fit.Buffer{ID: 2, Kind: fit.KindL1, Parts: []fit.Part{part("{[0-0 - 0-0]}", 0, 8)}}
		change(&b)
		return b
	}
	single := func(change func(b *fit.Buffer)) fit.Buffer {
		b := good
		change(&b)
		return b
	}
	for _, test := range []struct {
		name string
		b    fit.Buffer
		on   device.Set
		is   error
		text string
	}{
		{"a kind that programs bring", with(func(b *fit.Buffer) { b.Kind = fit.KindCB }), m.Set(), nil, "buffer 2: illegal field Kind: circular buffer is not allocated"},
		{"no kind", with(func(b *fit.Buffer) { b.Kind = 200 }), m.Set(), nil, "buffer 2: illegal field Kind: Kind(200) is not allocated"},
		{"parts outside L1", with(func(b *fit.Buffer) { b.Kind = fit.KindDRAM }), m.Set(), nil, "buffer 2: illegal field Parts: a DRAM buffer does not lie in L1"},
		{"a range that ends before it starts", with(func(b *fit.Buffer) { b.Parts[0].Range = l1.Range{Start: 8, End: 4} }), m.Set(), nil, "buffer 2: illegal field Parts:"},
		{"Range and Parts", single(func(b *fit.Buffer) { b.Parts = []fit.Part{part("{[0-0 - 0-0]}", 0, 8)} }), m.Set(), nil, "buffer 2: illegal field Parts: the buffer has Cores and Range already"},
		{"Range and Parts, both empty", single(func(b *fit.Buffer) { b.Range, b.Parts = l1.Range{}, make([]fit.Part, 1) }), m.Set(), nil, "buffer 2: illegal field Parts: the buffer has Cores and Range already"},
		{"a range of one part that ends before it starts", single(func(b *fit.Buffer) { b.Range = l1.Range{Start: 8, End: 4} }), m.Set(), nil, "buffer 2: illegal field Range:"},
		{"a range of one part outside L1", single(func(b *fit.Buffer) { b.Kind = fit.KindTrace }), m.Set(), nil, "buffer 2: illegal field Range: a trace buffer does not lie in L1"},
		{"one part on a core outside the grid", single(func(b *fit.Buffer) { b.Cores = cores("{[7-7 - 8-7]}").Cores() }), m.Set(), nil, "buffer 2: illegal field Range: core 8-7 lies outside the grid of 8x8 of device 0"},
		{"a size beyond 2^63-1", with(func(b *fit.Buffer) { b.Size = 1 << 63 }), m.Set(), nil, "buffer 2: illegal field Size: 9223372036854775808 bytes are above 2^63-1"},
		{"parts that sum beyond 2^63-1", with(func(b *fit.Buffer) { b.Parts = append(b.Parts, part("{[0-0 - 1-0]}", 0, 1<<62)) }), m.Set(), nil, "buffer 2: illegal field Parts: sum of their bytes is above 2^63-1"},
		{"a set of another fleet", good, foreign, device.ErrForeignSet, ""},
		{"a removed device", good, goneSet, device.ErrNoDevice, ""},
		{"an id in use", with(func(b *fit.Buffer) { b.ID = 1 }), m.Set(), device.ErrAllocated, "device 1 (+1 more): buffer 1: buffer is allocated already"},
		{"a core outside the grid", with(func(b *fit.Buffer) { b.Parts[0] = part("{[7-7 - 8-7]}", 0, 8) }), m.Set(), nil, "buffer 2: illegal field Parts: core 8-7 lies outside the grid of 8x8 of device 0"},
		{"a kind that makes no sense, before the set", with(func(b *fit.Buffer) { b.Kind = fit.KindCB }), foreign, nil, "Kind"},
	} {
		t.Run(test.name, func(t *testing.T) {
			still(t, f, func() {
				err := f.Allocate(test.b, test.on)
				require.ErrorContains(t, err, test.text)
				if test.is != nil {
					require.ErrorIs(t, err, test.is)
					return
				}
				require.ErrorIs(t, err, device.ErrBuffer)
			})
		})
	}
	still(t, f, func() {
		require.NoError(t, f.Allocate(good, device.Set{}), "on no devices")
		_, err := f.Free(1, device.Set{})
		require.NoError(t, err)
		_, err = f.Free(1, foreign)
		require.ErrorIs(t, err, device.ErrForeignSet)
		_, err = f.Free(1, goneSet)
		require.ErrorIs(t, err, device.ErrNoDevice)
		_, err = f.Free(99, m.Set())
		require.EqualError(t, err, "device 0 (+2 more): buffer 99: buffer is not allocated")
		_, err = f.Free(1, m.Set())
		require.ErrorIs(t, err, device.ErrNotAllocated, "a free before its allocation never wraps")
	})
	// A service buffer may lie outside the compute grid, and any buffer beyond L1.
	allocate(t, f, m.Set(), buffer(3, fit.KindService, "{[9-9 - 9-9]}", 0, 8), buffer(4, fit.KindL1, "{[0-0 - 0-0]}", 1<<40, 8))
	intact(t, f)
}

// Buffers of a device that is removed are forgotten with it.
func TestRemoveForgetsBuffers(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	allocate(t, f, m.Set(), buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 0, 8), fit.Buffer{ID: 2, Kind: fit.KindDRAM, Size: 100})
	first, err := f.Device(0)
	require.NoError(t, err)
	require.NoError(t, f.Remove(first.Set()))
	require.Zero(t, first.Totals())
	require.Empty(t, bufferIDs(first))
	require.Empty(t, slices.Collect(first.UsageGroups(device.BasisRegistered)))
	require.Equal(t, fit.BufferTotals{Count: 2, L1: 8, DRAM: 100}, m.Totals().Buffers)
	require.EqualValues(t, 8, m.Totals().Tracked)
	require.EqualValues(t, 16, m.Totals().Peak.Tracked)
	intact(t, f)
	require.Zero(t, addDevice(t, f, 0, l1.N150()).Totals())
}

// Sums stay below 2^63, on a device and on a mesh, buffers and dispatches together.
func TestBufferOverflow(t *testing.T) {
	spec := l1.Spec{Name: "huge", Cols: 2, Rows: 1}
	dram := func(id fit.BufferID, size uint64) fit.Buffer {
		return fit.Buffer{ID: id, Kind: fit.KindDRAM, Size: size}
	}
	refused := func(t *testing.T, f *device.Fleet, want error, do func() error) {
		still(t, f, func() {
			err := do()
			require.Equal(t, want, err)
			require.NotEmpty(t, err.Error())
		})
	}
	t.Run("device", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 3, spec)
		allocate(t, f, d.Set(), dram(1, l1.MaxAddr-8))
		refused(t, f, ofBuffer("Allocate", 2, 3, device.ErrOverflow), func() error { return f.Allocate(dram(2, 9), d.Set()) })
		allocate(t, f, d.Set(), dram(2, 8))
		require.Equal(t, uint64(l1.MaxAddr), d.Totals().Buffers.DRAM)
		intact(t, f)
	})
	t.Run("mesh", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 2, spec)
		allocate(t, f, sub(t, m, 0, 1, 1, 1), dram(1, l1.MaxAddr-8))
		refused(t, f, ofBuffer("Allocate", 2, 0, device.ErrOverflow), func() error { return f.Allocate(dram(2, 9), sub(t, m, 0, 0, 1, 1)) })
		refused(t, f, ofBuffer("Allocate", 2, 0, device.ErrOverflow), func() error { return f.Allocate(dram(2, 5), m.Set()) })
		allocate(t, f, m.Set(), dram(2, 4))
		require.Equal(t, uint64(l1.MaxAddr), m.Totals().Buffers.DRAM)
		intact(t, f)
	})
	t.Run("beside a program", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		p := build(t, spec, 1, at(0, cb("{[0-0 - 0-0]}", 100)))
		ran(t, f, d.Set(), p)
		refused(t, f, ofBuffer("Allocate", 1, 0, device.ErrOverflow), func() error { return f.Allocate(dram(1, l1.MaxAddr-99), d.Set()) })
		allocate(t, f, d.Set(), dram(1, l1.MaxAddr-100))
		q := build(t, spec, 2, at(0, cb("{[1-0 - 1-0]}", 1)))
		register(t, f, q, d.Set())
		refused(t, f, ofProgram("Dispatch", 2, 0, device.ErrOverflow), func() error { return f.Dispatch(q.ID(), d.Set()) })
		fresh := build(t, spec, 3, at(0, cb("{[1-0 - 1-0]}", 1)))
		refused(t, f, ofProgram("Enqueue", 3, 0, device.ErrOverflow), func() error { _, err := f.Enqueue(fresh, d.Set()); return err })
		_, known := f.Program(3)
		require.False(t, known)
		require.EqualError(t, ofBuffer("Allocate", 5, 4, device.ErrOverflow), "device 4: buffer 5: sums would exceed 2^63-1 bytes")
	})
	require.False(t, errors.Is(device.ErrAllocated, device.ErrNotAllocated))
}
