package bench

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The workloads A1 to A8 are made against the engine: they leave nothing to share, or sharing is of
// no use. In all of them ranges lie at random addresses, on devices of 8x8 cores.

// Halves is A1, and A2 on several devices: four circular buffers, each on a random half of the cores.
// With several devices a program is on a random half of them.
func Halves(devices, live, pairs int) Workload {
	name := "A1"
	if devices > 1 {
		name = "A2"
	}
	return hostile(name, devices, live, pairs, func(m *maker) *program.Program {
		return m.lying([]l1.CoreRangeSet{m.half(), m.half(), m.half(), m.half()}, func() l1.Range { return m.anywhere(64 << 10) })
	})
}

// Singles is A3, and A6 on several devices: each program has one circular buffer on one
// core. With several devices it is on a random half of them.
func Singles(devices, live, pairs int) Workload {
	name := "A3"
	if devices > 1 {
		name = "A6"
	}
	return hostile(name, devices, live, pairs, func(m *maker) *program.Program {
		cores := m.single()
		return m.lying(cores[m.rnd.IntN(len(cores)):][:1], func() l1.Range { return m.anywhere(64 << 10) })
	})
}

// Everywhere is A4: programs with another range on every core.
func Everywhere(live, pairs int) Workload { return everywhere("A4", live, pairs, 64<<10) }

// Wide is A5: as Everywhere, with ranges of up to 1 MiB, most of them covered.
func Wide(live, pairs int) Workload { return everywhere("A5", live, pairs, 1<<20) }

func everywhere(name string, live, pairs int, longest uint64) Workload {
	return hostile(name, 1, live, pairs, func(m *maker) *program.Program {
		return m.lying(m.single(), func() l1.Range { return m.anywhere(longest) })
	})
}

func hostile(name string, devices, live, pairs int, next func(*maker) *program.Program) Workload {
	w := Workload{Name: fmt.Sprintf("%s/live=%d", name, live), Spec: l1.N150(), Devices: devices}
	m, on := newMaker(14, w.Spec), onAll(devices)
	if devices > 1 {
		on = onHalves(devices)
	}
	return w.renewed(live, pairs, on, func() *program.Program { return next(m) })
}

// Far is A7: programs that reach far on one core each, and on the others hardly anywhere, below a
// large one that comes and goes. With it gaps open on every core, and a search for programs there
// meets many that reach far, but not here.
//
//	large       ------------------------
//	on its core --------------------
//	elsewhere   --
func Far(live, pairs int) Workload { return far("A7", live, pairs, l1.N150().NumCores()) }

// FarOnHalves is A8: as Far, with half of the cores in the place of one.
func FarOnHalves(live, pairs int) Workload { return far("A8", live, pairs, 2) }

func far(name string, live, pairs, groups int) Workload {
	w := Workload{Name: fmt.Sprintf("%s/live=%d/pairs=%d", name, live, pairs), Spec: l1.N150(), Devices: 1}
	m, all := newMaker(15, w.Spec), numbers(1)
	sets := make([][]l1.Core, groups)
	i := 0
	for c := range w.Spec.Grid().Cores().All() {
		sets[i%groups] = append(sets[i%groups], c)
		i++
	}
	base, end := w.Spec.CBBase, w.Spec.L1Size
	for i := range live {
		here := l1.CoreSetOf(sets[i%groups]...)
		b := m.builder()
		b.Range(here.Ranges(), l1.Range{Start: base, End: end - 32*(2+m.rnd.Uint64N(1_000))})
		b.Range(w.Spec.Grid().Cores().Minus(here).Ranges(), l1.Range{Start: base, End: base + 32*(1+m.rnd.Uint64N(100))})
		w.Before = append(w.Before, Call{Program: must(b.Build(w.Spec)), Devices: all})
	}
	large := m.at(l1.Range{Start: base, End: end})
	pair := []Call{{Program: large, Devices: all}, {Program: large, Devices: all, Do: Unregister}}
	w.Steps = slices.Repeat(pair, pairs)
	return w
}

// OneOfMany is a fleet of many empty devices, and calls for one of them each.
func OneOfMany(devices, pairs int) Workload {
	w := Workload{Name: fmt.Sprintf("one/devices=%d", devices), Spec: l1.N150(), Devices: devices}
	m, single, some := newMaker(1, w.Spec), numbers(devices), min(devices, 64)
	turn, live := 0, 2*some
	on := func() []int {
		d := turn % some * (devices / some)
		turn++
		return single[d : d+1]
	}
	return w.renewed(live, pairs, on, func() *program.Program { return m.placed(4, 64<<10, w.Spec.Grid()) })
}
