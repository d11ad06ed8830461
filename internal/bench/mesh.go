package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Mesh is W2: programs of 16 circular buffers on 1 to 3 rectangles of cores come to all
// devices of a mesh and stay. One step registers a program on all devices; see PerDevice
// and DeviceMajor.
func Mesh(devices, programs int) Workload {
	w := Workload{Name: fmt.Sprintf("W2/devices=%d/programs=%d", devices, programs), Spec: l1.N150(), Devices: devices}
	m, all := newMaker(2, w.Spec), numbers(devices)
	for range programs {
		p := m.placed(16, 32<<10, m.rectangles(4)...)
		w.Steps = append(w.Steps, Call{Program: p, Devices: all})
	}
	return w
}

// Churn is W3: a cache that is full. live programs of 4 circular buffers on the whole
// grid are there; pairs times the oldest leaves and a new one comes.
func Churn(devices, live, pairs int) Workload {
	w := Workload{Name: fmt.Sprintf("W3/devices=%d/live=%d", devices, live), Spec: l1.N150(), Devices: devices}
	m := newMaker(1, w.Spec)
	return w.renewed(live, pairs, onAll(devices), func() *program.Program { return m.placed(4, 64<<10, w.Spec.Grid()) })
}

// Rectangles is W3 with sizes as they are distributed in life, few of them large (Zipf),
// and with every second program on 1 to 3 rectangles of the grid.
func Rectangles(devices, live, pairs int) Workload {
	w := Workload{Name: fmt.Sprintf("W3/rectangles/devices=%d/live=%d", devices, live), Spec: l1.N150(), Devices: devices}
	m := newMaker(3, w.Spec)
	zipf := rand.NewZipf(m.rnd, 1.2, 8, 64<<10/w.Spec.CBAlign-1)
	return w.renewed(live, pairs, onAll(devices), func() *program.Program {
		on := []l1.CoreRangeSet{w.Spec.Grid()}
		if m.next%2 == 1 {
			on = m.rectangles(2)
		}
		return m.sized(4, func() uint64 { return w.Spec.CBAlign * (1 + zipf.Uint64()) }, on...)
	})
}

// Swapped is W3 with neighbours that come in one order to the even devices, and in the
// other to the odd ones: after two calls all have the same again, on two ways.
func Swapped(devices, live, pairs int) Workload {
	w := Workload{Name: fmt.Sprintf("W3/swapped/devices=%d/live=%d", devices, live), Spec: l1.N150(), Devices: devices}
	programs, all := cached(w.Spec, live+2*pairs), numbers(devices)
	var halves [2][]int
	for _, d := range all {
		halves[d%2] = append(halves[d%2], d)
	}
	for _, p := range programs[:live] {
		w.Before = append(w.Before, Call{Program: p, Devices: all})
	}
	for i := 0; i < 2*pairs; i += 2 {
		for _, x := range []struct {
			at int
			do Action
		}{{i, Unregister}, {live + i, Register}} {
			p, q := programs[x.at], programs[x.at+1]
			w.Steps = append(w.Steps,
				Call{Program: p, Devices: halves[0], Do: x.do}, Call{Program: q, Devices: halves[0], Do: x.do},
				Call{Program: q, Devices: halves[1], Do: x.do}, Call{Program: p, Devices: halves[1], Do: x.do})
		}
	}
	return w
}
