package watch

import (
	"math/bits"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/replay"
)

// MeshOf returns the row of a mesh, as a view of the rows of its chips: sums over them, the core with most bytes, and
// the least headroom. A figure that a chip lacks is not known, nor is a sum beyond 2^64. Chips reach their peaks at
// different times, so that the mesh has only the peak of its fullest core.
func MeshOf(id uint64, board string, chips []replay.LiveDevice) replay.LiveDevice {
	row := replay.LiveDevice{Device: id, Board: board, Programs: new(int), Peak: &replay.LivePeak{}}
	sum := func(a, b uint64) (n, carry uint64) { return bits.Add64(a, b, 0) }
	largest := func(a, b uint64) (n, carry uint64) { return max(a, b), 0 }
	least := func(a, b uint64) (n, carry uint64) { return min(a, b), 0 }
	for i := range chips {
		chip := &chips[i]
		row.Cores += chip.Cores
		row.Bound, row.Incomplete = row.Bound || chip.Bound, row.Incomplete || chip.Incomplete
		*row.Programs += *chip.Programs
		row.Peak.Core = max(row.Peak.Core, chip.Peak.Core)
		for _, f := range []struct {
			of   *uint64
			chip uint64
		}{{&row.L1, chip.L1}, {&row.L1Small, chip.L1Small}, {&row.DRAM, chip.DRAM}, {&row.Trace, chip.Trace}} {
			n, carry := sum(*f.of, f.chip)
			if *f.of = n; carry > 0 { // these are always known: the whole row is not
				return replay.LiveDevice{Device: id, Board: board, Bound: row.Bound, Incomplete: true}
			}
		}
		if i == 0 {
			row.Usable, row.Peak.TrackedCore = chip.Usable, chip.Peak.TrackedCore
			row.Registered, row.Dispatched, row.Tracked, row.Logical = chip.Registered, chip.Dispatched, chip.Tracked, chip.Logical
			row.Sum, row.Kernels, row.DRAMSize = chip.Sum, chip.Kernels, chip.DRAMSize
			row.Core, row.TrackedCore, row.Headroom = chip.Core, chip.TrackedCore, chip.Headroom
			continue
		}
		row.Usable = min(row.Usable, chip.Usable)
		for _, f := range []struct {
			of   **uint64
			chip *uint64
			join func(a, b uint64) (n, carry uint64)
		}{
			{&row.Registered, chip.Registered, sum}, {&row.Dispatched, chip.Dispatched, sum}, {&row.Tracked, chip.Tracked, sum},
			{&row.Logical, chip.Logical, sum}, {&row.Sum, chip.Sum, sum}, {&row.Kernels, chip.Kernels, sum}, {&row.DRAMSize, chip.DRAMSize, sum},
			{&row.Core, chip.Core, largest}, {&row.TrackedCore, chip.TrackedCore, largest}, {&row.Peak.TrackedCore, chip.Peak.TrackedCore, largest},
			{&row.Headroom, chip.Headroom, least},
		} {
			if *f.of == nil || f.chip == nil {
				*f.of = nil
				continue
			}
			n, carry := f.join(**f.of, *f.chip)
			if *f.of = &n; carry > 0 {
				*f.of = nil
			}
		}
	}
	return row
}

// Fullest returns the chip of a mesh that has the core with most CBs, the first of equals; without chips the device.
func Fullest[ID int32 | device.ID](f *device.Fleet, d device.Device, chips []ID) device.Device {
	most := uint64(0)
	for i, id := range chips {
		chip, err := f.Device(device.ID(id))
		if err == nil && (i == 0 || chip.Totals().Core > most) {
			d, most = chip, chip.Totals().Core
		}
	}
	return d
}
