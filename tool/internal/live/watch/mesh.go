package watch

import "github.com/cbl1/cbl1/device"

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
