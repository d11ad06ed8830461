package device_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A query of several devices is answered for one moment. A buffer comes and goes on two devices,
// always on both at once: an answer that has it on one of them alone mixes two moments. Run it
// under the race detector too.
//
//	                  device 0            device 1
//	                  keeps a buffer      has no other
//	with the buffer   heap of two         heap of one: made and given up each time
//	without           heap of one         none
//
// So the heap of device 0 changes in place, and the heap of device 1 is another one each time.
func TestOneMoment(t *testing.T) {
	spec := l1.N150()
	f := device.NewFleet()
	addDevice(t, f, 0, spec)
	addDevice(t, f, 1, spec)
	both := of(t, f, 0, 1)
	buffer := func(id fit.BufferID, end uint64) fit.Buffer {
		part := fit.Part{Cores: cores("{[0-0 - 7-7]}").Cores(), Range: l1.Range{Start: end - 2048, End: end}}
		return fit.Buffer{ID: id, Kind: fit.KindL1, Parts: []fit.Part{part}}
	}
	kept, moving := buffer(1, spec.L1Size), buffer(2, spec.L1Size-2048)
	require.NoError(t, f.Allocate(kept, of(t, f, 0)))
	p := build(t, spec, 1, cb("{[0-0 - 7-7]}", spec.L1Size-spec.CBBase-3000)) // ends inside the moving one
	small := build(t, spec, 2, cb("{[0-0 - 7-7]}", 1000))
	room := func(below uint64) uint64 { return spec.L1Size - below - spec.CBBase - 1000 }
	with, without := []uint64{room(4096), room(4096)}, []uint64{room(2048), room(0)}

	var failed, stop atomic.Bool
	check := func(ok bool, format string, args ...any) {
		if !ok && !failed.Swap(true) {
			t.Errorf(format, args...)
		}
	}
	var readers sync.WaitGroup
	read := func(ask func()) {
		readers.Go(func() {
			for !stop.Load() && !failed.Load() {
				ask()
			}
		})
	}
	read(func() {
		v, err := f.Check(p, both)
		check(err == nil, "%v", err)
		clashing, refusing := 0, 0
		for _, c := range v.Clashes {
			clashing += c.Devices
		}
		for _, r := range v.Refusals {
			refusing += r.Devices
		}
		check(clashing == refusing && (clashing == 0 || clashing == 2), "clashes on %d devices, refused by %d: %v", clashing, refusing, v)
	})
	read(func() {
		rooms, err := f.Headroom(small, both)
		check(err == nil, "%v", err)
		var got []uint64
		for _, h := range rooms {
			got = append(got, h.Free)
		}
		check(slices.Equal(got, with) || slices.Equal(got, without), "room of %v: neither %v nor %v", got, with, without)
	})
	read(func() { // growing ends at the kept buffer of device 0, or at the moving one
		n, ok, err := f.MayGrow(small, 0, both)
		check(err == nil && ok && (n == with[0] || n == without[0]), "may grow by %d, %v, %v", n, ok, err)
	})
	lone, err := f.Device(1)
	require.NoError(t, err)
	read(func() {
		now := lone.Totals()
		check(now.Tracked == uint64(64*2048*now.Buffers.Count) && now.Tracked <= now.Peak.Tracked, "%+v", now)
	})
	for range 1000 {
		check(f.Allocate(moving, both) == nil, "the buffer is there already")
		_, err := f.Free(moving.ID, both)
		check(err == nil, "%v", err)
	}
	stop.Store(true)
	readers.Wait()
	intact(t, f)
}
