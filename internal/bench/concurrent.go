package bench

import "github.com/cbl1/cbl1/l1"

// Concurrent is W10: programs of a cache for each of some devices. Who plays it starts
// a goroutine per device, which registers and unregisters the programs again and again,
// and others that read totals. The steps register all programs on every device.
func Concurrent(devices, programs int) Workload {
	w := Workload{Name: "W10", Spec: l1.N150(), Devices: devices}
	all := numbers(devices)
	for _, p := range cached(w.Spec, programs) {
		w.Steps = append(w.Steps, Call{Program: p, Devices: all})
	}
	return w
}
