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
	return w.fragments(live, pairs, onAll(devices))
}

// Diverged is W6: as Fragmented, but each program is on a random half of the devices, so
// that neither cores nor devices have anything in common.
func Diverged(devices, live, pairs int) Workload {
	w := Workload{Name: fmt.Sprintf("W6/devices=%d/live=%d", devices, live), Spec: l1.N150(), Devices: devices}
	return w.fragments(live, pairs, onHalves(devices))
}

// onAll names all devices again and again.
func onAll(devices int) func() []int {
	all := numbers(devices)
	return func() []int { return all }
}

// onHalves names a random half of the devices each time.
func onHalves(devices int) func() []int {
	rnd := newMaker(6, l1.Spec{}).rnd
	return func() []int {
		half := rnd.Perm(devices)[:max(devices/2, 1)]
		slices.Sort(half)
		return half
	}
}

// fragments lets programs of 4 circular buffers on random rectangles come and go.
func (w Workload) fragments(live, pairs int, on func() []int) Workload {
	m := newMaker(5, w.Spec)
	return w.renewed(live, pairs, on, func() *program.Program { return m.placed(4, 64<<10, m.rectangles(1)...) })
}

// renewed returns w with live programs; pairs times the oldest leaves and a new one comes. Each
// program stays on its devices.
func (w Workload) renewed(live, pairs int, on func() []int, next func() *program.Program) Workload {
	var came []Call
	for i := range live + pairs {
		s := Call{Program: next(), Devices: on()}
		came = append(came, s)
		if i < live {
			w.Before = append(w.Before, s)
			continue
		}
		out := came[i-live]
		out.Do = Unregister
		w.Steps = append(w.Steps, out, s)
	}
	return w
}
