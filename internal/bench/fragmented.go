package bench

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Fragmented is W5: programs on random rectangles, so many that no two cores hold the
// same. live of them are there; pairs times the oldest leaves and a new one comes. All
// devices hold the same.
func Fragmented(devices, live, pairs int) Workload {
	w := Workload{Name: fmt.Sprintf("W5/devices=%d/live=%d", devices, live), Spec: l1.N150(), Devices: devices}
	all := numbers(devices)
	return w.fragments(live, pairs, func() []int { return all })
}

// Diverged is W6: as Fragmented, but each program is on a random half of the devices, so
// that neither cores nor devices have anything in common.
func Diverged(devices, live, pairs int) Workload {
	w := Workload{Name: fmt.Sprintf("W6/devices=%d/live=%d", devices, live), Spec: l1.N150(), Devices: devices}
	rnd := newMaker(6, w.Spec).rnd
	return w.fragments(live, pairs, func() []int {
		half := rnd.Perm(devices)[:max(devices/2, 1)]
		slices.Sort(half)
		return half
	})
}

func (w Workload) fragments(live, pairs int, on func() []int) Workload {
	m := newMaker(5, w.Spec)
	var programs []*program.Program
	var devices [][]int
	for i := range live + pairs {
		p, where := m.placed(4, 64<<10, m.rectangles(1)...), on()
		programs, devices = append(programs, p), append(devices, where)
		if i < live {
			w.Before = append(w.Before, Step{Program: p, Devices: where})
			continue
		}
		w.Steps = append(w.Steps,
			Step{Program: programs[i-live], Devices: devices[i-live], Do: Unregister},
			Step{Program: p, Devices: where})
	}
	return w
}
