package bench

import "github.com/cbl1/cbl1/l1"

// States is W9: a large fleet in few states. Device d has the programs of state
// d % states (before the measurement), and then common programs come to all devices.
func States(devices, states, programs, common int) Workload {
	w := Workload{Name: "W9", Spec: l1.N150(), Devices: devices}
	m := newMaker(9, w.Spec)
	for s := range min(states, devices) {
		var on []int
		for d := s; d < devices; d += states {
			on = append(on, d)
		}
		for range programs {
			w.Before = append(w.Before, Call{Program: m.placed(4, 64<<10, m.rectangles(4)...), Devices: on})
		}
	}
	all := numbers(devices)
	for range common {
		w.Steps = append(w.Steps, Call{Program: m.placed(4, 64<<10, m.rectangles(4)...), Devices: all})
	}
	return w
}

// Alone returns the part of w on device 0, on a mesh of one device.
func (w Workload) Alone() Workload {
	w = w.On(0)
	w.Devices = 1
	return w
}
