package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Where a buffer goes on one device is tested in package fit.

func placing(t *testing.T) (f *device.Fleet, all device.Set) {
	spec := l1.Spec{Cols: 4, Rows: 1, L1Size: 1024, L1Small: 64, CBBase: 64, CBAlign: 16, L1Align: 16}
	f = device.NewFleet()
	addMesh(t, f, 4, 1, 3, spec)
	d, err := f.AddDevice(2, spec) // the lowest id comes last
	require.NoError(t, err)
	at, err := f.Of(5)
	require.NoError(t, err)
	require.NoError(t, f.Allocate(fit.Buffer{ID: 1, Kind: fit.KindL1, Cores: cores("{[3-0 - 3-0]}").Cores(), Range: l1.Range{Start: 912, End: 960}}, at))
	p := build(t, spec, 1, cb("{[0-0 - 3-0]}", 512))
	register(t, f, p, f.Set())
	require.NoError(t, f.Dispatch(1, d.Set()))
	return f, f.Set()
}

// starts are the addresses of a buffer, by device and the first core of each part.
func starts(f *device.Fleet, id fit.BufferID) map[device.ID]map[string]uint64 {
	out := map[device.ID]map[string]uint64{}
	for d := range f.Devices() {
		if b, ok := d.Buffer(id); ok {
			out[d.ID()] = map[string]uint64{}
			for p := range b.All() {
				out[d.ID()][p.Cores.String()] = p.Range.Start
			}
		}
	}
	return out
}

// In lockstep all devices of a set get one address, which is free on each of them.
func TestPlaceTogether(t *testing.T) {
	f, all := placing(t)
	var told []device.Notice
	f.Observe(func(e device.Notice) { told = append(told, e) })
	b := fit.Buffer{ID: 7, Kind: fit.KindL1, Cores: cores("{[0-0 - 1-0]}").Cores(), Name: "weights"}
	placed, err := f.Place(b, 100, all)
	require.NoError(t, err)
	require.Equal(t, l1.Range{Start: 800, End: 900}, placed.Range, "below the buffer of device 5, which lies on another core")
	require.EqualValues(t, 200, placed.Size)
	for _, at := range starts(f, 7) {
		require.Equal(t, map[string]uint64{"{[0-0 - 1-0]}": 800}, at)
	}
	require.Len(t, told, 1)
	require.True(t, told[0].Set.Equal(all))
	require.Equal(t, device.NoticeAllocated, told[0].Kind)
	require.Equal(t, placed, told[0].Buffer)

	others, err := f.Of(2, 4, 6)
	require.NoError(t, err)
	b.ID = 8
	placed, err = f.Place(b, 40, others)
	require.NoError(t, err)
	require.Equal(t, uint64(912), placed.Range.Start, "device 5 is not asked")
	b.ID, b.Kind = 9, fit.KindL1Small
	placed, err = f.Place(b, 50, all)
	require.NoError(t, err)
	require.Equal(t, l1.Range{Start: 960, End: 1010}, placed.Range)
	intact(t, f)
}

// Per core each device has its own addresses, in one event for devices that are alike.
func TestPlacePerCore(t *testing.T) {
	f, all := placing(t)
	one := cores("{[1-0 - 1-0]}").Cores()
	for id, at := range map[device.ID]uint64{4: 944, 6: 944, 2: 928} {
		s, err := f.Of(id)
		require.NoError(t, err)
		b := fit.Buffer{ID: 2, Kind: fit.KindL1, Mode: fit.PerCore, Cores: one, Range: l1.Range{Start: at, End: 960}}
		require.NoError(t, f.Allocate(b, s))
	}
	var told []string
	f.Observe(func(e device.Notice) { told = append(told, e.Set.String()) })
	b := fit.Buffer{ID: 7, Kind: fit.KindL1, Mode: fit.PerCore, Cores: cores("{[0-0 - 2-0]}").Cores()}
	found, err := f.FindPlace(b, 16, all)
	require.NoError(t, err)
	require.Empty(t, starts(f, 7), "nothing has changed")
	placed, err := f.Place(b, 16, all)
	require.NoError(t, err)
	for _, p := range found {
		for id := range p.Set.All() {
			d, err := f.Device(id)
			require.NoError(t, err)
			on, _ := d.Buffer(7)
			require.Equal(t, p.Buffer, on)
		}
	}
	require.Len(t, found, 3)
	want := map[device.ID]map[string]uint64{
		2: {"{[0-0 - 0-0], [2-0 - 2-0]}": 944, "{[1-0 - 1-0]}": 912},
		4: {"{[0-0 - 0-0], [2-0 - 2-0]}": 944, "{[1-0 - 1-0]}": 928},
		5: {"{[0-0 - 2-0]}": 896},
	}
	want[6] = want[4]
	require.Equal(t, want, starts(f, 7))
	require.Equal(t, []string{"{2}", "{4 6}", "{5}"}, told)
	d, err := f.Device(2)
	require.NoError(t, err)
	lowest, _ := d.Buffer(7)
	require.Equal(t, lowest, placed)
	intact(t, f)
}

// A buffer without a place changes nothing.
func TestPlaceRefuses(t *testing.T) {
	f, all := placing(t)
	hidden, err := f.Of(6)
	require.NoError(t, err)
	grid := cores("{[0-0 - 3-0]}").Cores()
	require.NoError(t, f.Allocate(fit.Buffer{ID: 3, Kind: fit.KindL1, Mode: fit.PerCore, Hidden: cores("{[0-0 - 0-0]}").Cores()}, hidden))
	foreign, _ := placing(t)
	before := f.Snapshot()
	for _, test := range []struct {
		name   string
		change func(b *fit.Buffer)
		size   uint64
		on     device.Set
		err    error
		text   string
	}{
		{"too large", func(b *fit.Buffer) { b.Mode = fit.RangeLockstep }, 900, all, fit.ErrNoSpace, "device 2: buffer 7: no free gap is large enough"},
		{"too large on one device", func(b *fit.Buffer) {
			b.Mode, b.Cores = fit.PerCore, b.Cores.Minus(cores("{[0-0 - 0-0]}").Cores())
		}, 850, all, fit.ErrNoSpace, "device 5: buffer 7: no free gap is large enough"},
		{"hidden on one device", func(b *fit.Buffer) { b.Mode = fit.PerCore }, 16, all, fit.ErrHidden, "device 6: buffer 7: no gap is known to be free: a buffer has an address or an end that is not known"},
		{"hidden among several", func(*fit.Buffer) {}, 16, all, fit.ErrHidden, "device 2: buffer 7: no gap is known to be free: a buffer has an address or an end that is not known"},
		{"its id is taken", func(b *fit.Buffer) { b.ID = 1 }, 16, all, device.ErrAllocated, "device 5: buffer 1: buffer is allocated already"},
		{"a set of another fleet", func(*fit.Buffer) {}, 16, foreign.Set(), device.ErrForeignSet, "set of devices of another fleet"},
		{"outside the grid", func(b *fit.Buffer) { b.Cores = cores("{[4-0 - 4-0]}").Cores() }, 16, all, device.ErrBuffer, "buffer 7: illegal field Range: core 4-0 lies outside the grid of 4x1 of device 4"},
		{"not in L1", func(b *fit.Buffer) { b.Kind = fit.KindDRAM }, 16, all, device.ErrBuffer, "buffer 7: illegal field Kind: no place is found for a DRAM buffer"},
		{"of another allocator", func(b *fit.Buffer) { b.Kind = fit.KindService }, 16, all, device.ErrBuffer, "buffer 7: illegal field Kind: no place is found for a service buffer"},
		{"with an address", func(b *fit.Buffer) { b.Range.Start = 64 }, 16, all, device.ErrBuffer, "buffer 7: illegal field Range: the buffer has an address already"},
		{"with parts", func(b *fit.Buffer) { b.Parts = []fit.Part{{}} }, 16, all, device.ErrBuffer, "buffer 7: illegal field Range: the buffer has an address already"},
		{"hidden itself", func(b *fit.Buffer) { b.Hidden = grid }, 16, all, device.ErrBuffer, "buffer 7: illegal field Range: the buffer has an address already"},
		{"no cores", func(b *fit.Buffer) { b.Cores = l1.CoreSet{} }, 16, all, device.ErrBuffer, "buffer 7: illegal field Cores: 16 bytes on each of 0 cores are none"},
		{"no bytes", func(*fit.Buffer) {}, 0, all, device.ErrBuffer, "buffer 7: illegal field Cores: 0 bytes on each of 4 cores are none"},
		{"beyond every address", func(*fit.Buffer) {}, 1 << 63, all, device.ErrBuffer, "buffer 7: illegal field Range: range [0, 9223372036854775808): ends beyond 2^63-1"},
		{"more than can be counted", func(*fit.Buffer) {}, 1 << 61, all, device.ErrBuffer, "buffer 7: illegal field Range: sum of their bytes is above 2^63-1"},
		{"a mode that it cannot have", func(b *fit.Buffer) { b.Kind, b.Mode = fit.KindL1Small, fit.PerCore }, 16, all, device.ErrBuffer, "buffer 7: illegal field Mode: a L1_SMALL buffer has no mode"},
		{"unsized", func(b *fit.Buffer) { b.Unsized = true }, 16, all, device.ErrBuffer, "buffer 7: illegal field Range: [0,16) has bytes, and the buffer is unsized"},
	} {
		b := fit.Buffer{ID: 7, Kind: fit.KindL1, Cores: grid}
		test.change(&b)
		found, foundErr := f.FindPlace(b, test.size, test.on)
		require.Empty(t, found, test.name)
		placed, err := f.Place(b, test.size, test.on)
		require.ErrorContains(t, foundErr, err.Error(), test.name)
		require.ErrorIs(t, err, test.err, test.name)
		require.EqualError(t, err, test.text, test.name)
		require.Zero(t, placed, test.name)
		require.Equal(t, before, f.Snapshot(), test.name)
	}
	placed, err := f.Place(fit.Buffer{ID: 7, Kind: fit.KindL1, Cores: grid}, 16, device.Set{})
	require.NoError(t, err, "no devices")
	require.Zero(t, placed)
	found, err := f.FindPlace(fit.Buffer{ID: 7, Kind: fit.KindL1, Cores: grid}, 16, device.Set{})
	require.NoError(t, err, "no devices")
	require.Empty(t, found)
	intact(t, f)
}
