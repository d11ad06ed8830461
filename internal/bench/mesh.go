package bench

import (
	"fmt"

	"github.com/cbl1/cbl1/l1"
)

// Mesh is W2: programs of 16 circular buffers on 1 to 3 rectangles of cores come to all
// devices of a mesh and stay. One step registers a program on all devices; see PerDevice
// and DeviceMajor.
func Mesh(devices, programs int) Workload {
	w := Workload{Name: fmt.Sprintf("W2/devices=%d/programs=%d", devices, programs), Spec: l1.N150(), Devices: devices}
	m, all := newMaker(2, w.Spec), numbers(devices)
	for range programs {
		p := m.placed(16, 32<<10, m.rectangles(4)...)
		w.Steps = append(w.Steps, Step{Program: p, Devices: all})
	}
	return w
}

// Churn is W3: a cache that is full. live programs of 4 circular buffers on the whole
// grid are there; pairs times the oldest leaves and a new one comes.
func Churn(devices, live, pairs int) Workload {
	w := Workload{Name: fmt.Sprintf("W3/devices=%d/live=%d", devices, live), Spec: l1.N150(), Devices: devices}
	programs, all := cached(w.Spec, live+pairs), numbers(devices)
	for i, p := range programs {
		if i < live {
			w.Before = append(w.Before, Step{Program: p, Devices: all})
			continue
		}
		w.Steps = append(w.Steps,
			Step{Program: programs[i-live], Devices: all, Do: Unregister},
			Step{Program: p, Devices: all})
	}
	return w
}
