package watch

import (
	"cmp"
	"math/bits"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Fullness returns the share of usable L1 in use: on the fullest core or, if cores are unknown, by
// the CBs of all cores. L1_SMALL is no part of it. what names the figure; of is 0 if the size of L1 is unknown.
func Fullness(d *answer.LiveDevice) (bytes, of uint64, what string) {
	held := cmp.Or(d.Below, d.TrackedCore)
	switch {
	case held != nil && (d.Core == nil || *held >= *d.Core) && *held > 0:
		return *held, d.Usable, "tracked on the fullest core"
	case d.Core != nil:
		return *d.Core, d.Usable, "registered CBs on the fullest core"
	case d.Registered != nil:
		return *d.Registered, physical(d), "registered CBs"
	case d.Dispatched != nil:
		return *d.Dispatched, physical(d), "resident CBs"
	}
	return 0, 0, ""
}

// CBs returns the bytes of CBs: the resident ones, or the registered ones where nothing was
// dispatched; nil if both are unknown.
func CBs(d *answer.LiveDevice) *uint64 {
	if d.Dispatched != nil && (d.Registered == nil || d.Peak != nil && d.Peak.Dispatched != nil && *d.Peak.Dispatched > 0) {
		return d.Dispatched
	}
	return d.Registered
}

// physical returns the bytes of L1 of all cores; 0 where that is not known, or no number.
func physical(d *answer.LiveDevice) uint64 {
	high, low := bits.Mul64(d.Usable, uint64(max(d.Cores, 0)))
	if high > 0 {
		return 0
	}
	return low
}

// accounting names a figure larger than the L1 of the device, which must count bytes more than
// once: a sum of sizes or, if cores are unknown, the published bytes of processes. It is "" if
// there is none. The union of registered ranges counts no byte twice: if it exceeds the L1, a
// program does not fit.
func accounting(d *answer.LiveDevice) string {
	type figure struct {
		name  string
		bytes *uint64
	}
	figures := []figure{{"the sum of sizes x cores", d.Logical}, {"the protocol's sum", d.Sum}}
	if d.Core == nil {
		figures = append(figures, figure{"what is registered", d.Registered}, figure{"what is resident", d.Dispatched})
	}
	for _, f := range figures {
		if f.bytes != nil && physical(d) > 0 && *f.bytes > physical(d) {
			return f.name
		}
	}
	return ""
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
