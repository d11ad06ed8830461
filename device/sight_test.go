package device

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A picture taken under the lock does not change later: also of devices behind others on their
// line, and of numbers that were given to others.
func TestPicturesStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, spec := NewFleet(), l1.N150()
		m, err := f.AddMesh(0, 1, 4, spec)
		require.NoError(t, err)
		var devices []Device
		for d := range m.All() {
			devices = append(devices, d)
		}
		change := func() {
			id := program.ID(rapid.IntRange(0, 11).Draw(t, "program"))
			size := uint64(32 * (1 + int(id)*37%11))
			cores := l1.Rect(uint8(id%3), 0, uint8(id%3)+uint8(id%4), 7)
			p, err := program.Place(id, "", spec, program.CB{Cores: cores, Size: size})
			require.NoError(t, err)
			on := devices[rapid.IntRange(0, 3).Draw(t, "device")].Set()
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				f.UnregisterAll(id)
			case 1:
				_ = f.Unregister(id, on) // it may not have it
			default:
				_, err = f.Register(p, on)
				require.NoError(t, err)
			}
		}
		for range rapid.IntRange(0, 30).Draw(t, "before") {
			change()
		}
		late, now := f.picture(func() {}), f.Snapshot()
		sites, known, err := f.standings(m.Set())
		require.NoError(t, err)
		room, err := f.Headroom(nil, m.Set())
		require.NoError(t, err)
		there, err := f.placesWithPrograms(m.Set())
		require.NoError(t, err)
		for range rapid.IntRange(1, 30).Draw(t, "after") {
			change()
		}
		var lateRoom []fit.Headroom
		for i, at := range sites {
			listed := at.list(&known)
			slices.SortFunc(listed, byID)
			require.Equal(t, there[i].Programs, listed)
			place := at.place()
			place.Held = at.open(&known).Occupied.Parts()
			lateRoom = append(lateRoom, fit.HeadroomOver(place)...)
		}
		require.Equal(t, room, lateRoom)
		late.hold()
		for k, i := range late.each() {
			d := late.parts[i]
			then, ok := now.Device(late.ids[k])
			require.True(t, ok)
			require.Equal(t, then.part.totals, d.totals)
			require.Equal(t, then.part.programs, d.programs)
			require.Equal(t, then.part.groups, d.groups)
			require.Equal(t, then.part.peaks, d.peaks)
		}
		require.NoError(t, f.CheckInvariants())
	})
}

// Snapshots and checks are read while others change the fleet: for the race detector.
func TestRaceOfPictures(t *testing.T) {
	f, m, _ := fleetOf(t, 1, 8)
	base := l1.N150().CBBase
	var devices []Device
	for d := range m.All() {
		devices = append(devices, d)
	}
	large := programOn(t, 1000, "{[0-0 - 7-7]}", base, 32)
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for d := range f.Snapshot().All() {
					sum := uint64(0)
					for g := range d.Groups() {
						sum += g.Registered * uint64(g.Cores.Len())
					}
					if sum != d.Totals().Registered {
						t.Errorf("device %d: groups have %d bytes, the device %d", d.ID(), sum, d.Totals().Registered)
					}
				}
				_, _ = f.Check(large, m.Set())
				_, _ = f.Headroom(nil, m.Set())
				_, _ = f.Room(fit.Lockstep, l1.CoreSet{}, m.Set())
				if err := f.CheckInvariants(); err != nil {
					t.Error(err)
				}
				_ = slices.Collect(f.Programs())
			}
		})
	}
	for i := range 300 {
		p := programOn(t, program.ID(i%20), "{[0-0 - 3-7]}", base, uint64(32*(1+i%20)))
		d := devices[i%8]
		_, err := f.Register(p, d.Set())
		require.NoError(t, err)
		b := fit.Buffer{ID: fit.BufferID(i), Kind: fit.KindL1, Cores: l1.Rect(0, 0, 1, 1).Cores(), Range: l1.Range{Start: base + uint64(32*i), End: base + uint64(32*i) + 32}}
		require.NoError(t, f.Allocate(b, d.Set()))
		require.NoError(t, f.Dispatch(p.ID(), d.Set()))
		if i%3 == 0 {
			f.UnregisterAll(program.ID((i + 10) % 20))
			_, err = f.Free(fit.BufferID(i), d.Set())
			require.NoError(t, err)
		}
	}
	close(done)
	wg.Wait()
	require.NoError(t, f.CheckInvariants())
}

// Devices part over a buffer on some cores, and keep sharing the other cores. Each changes its own.
func TestPartedHeapsChangeApart(t *testing.T) {
	f, m, each := fleetOf(t, 1, 2)
	buffer := func(id fit.BufferID, x uint8, size uint64) fit.Buffer {
		return fit.Buffer{ID: id, Kind: fit.KindL1, Cores: l1.Rect(x, 0, x, 7).Cores(), Range: l1.Range{Start: 1 << 20, End: 1<<20 + size}}
	}
	for x := range uint8(2) {
		require.NoError(t, f.Allocate(buffer(fit.BufferID(x), x, 64), m.Set()))
	}
	require.NoError(t, f.Allocate(buffer(2, 0, 128), each[0]))
	require.NoError(t, f.Allocate(buffer(3, 1, 256), each[1]))
	require.NoError(t, f.CheckInvariants())
	var tracked []uint64
	for d := range m.All() {
		tracked = append(tracked, d.Totals().Tracked)
	}
	require.Equal(t, []uint64{8 * (128 + 64), 8 * (64 + 256)}, tracked)
	for d, s := range each {
		_, err := f.Free(fit.BufferID(2+d), s)
		require.NoError(t, err)
		require.NoError(t, f.CheckInvariants())
	}
}
