package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Adversarial is W4: one core with many live ranges, half of them nested, half in a
// staircase; random ones leave and come. Every range spans thousands of boundaries.
//
//	nested  ----------------    staircase  --------
//	          ------------                   --------
//	            --------                       --------
func Adversarial(live, pairs int) Workload { return adversarial("W4", live, pairs, 1) }

// Raster is W4 on whole units of 16 bytes, as real addresses are.
func Raster(live, pairs int) Workload { return adversarial("W4/raster", live, pairs, baseline.Cell) }

func adversarial(name string, live, pairs int, unit uint64) Workload {
	w := Workload{Name: fmt.Sprintf("%s/live=%d", name, live), Spec: oneCore(), Devices: 1}
	m := newMaker(4, w.Spec)
	base, room := w.Spec.CBBase, w.Spec.L1Size-w.Spec.CBBase
	n := uint64(live + live/8 + 1)
	var pool []*program.Program
	for i := range (n + 1) / 2 {
		inset := i * (room * 3 / 10) / (n / 2)
		inset -= inset % unit
		pool = append(pool, m.at(l1.Range{Start: base + inset, End: base + room - inset}))
		step := i * (room / 2) / (n / 2)
		step -= step % unit
		pool = append(pool, m.at(l1.Range{Start: base + step, End: base + step + room/2 - unit}))
	}
	w.Before, w.Steps = exchange(m.rnd, pool, live, pairs)
	return w
}

// Comb is W7: one core with short ranges and gaps between them. Long ranges come and go
// above them, and each closes or opens thousands of gaps.
//
//	teeth  -- -- -- -- -- -- -- -- -- --
//	long      --------------
func Comb(teeth, pairs int) Workload {
	w := Workload{Name: fmt.Sprintf("W7/teeth=%d", teeth), Spec: oneCore(), Devices: 1}
	m := newMaker(7, w.Spec)
	base, room := w.Spec.CBBase, w.Spec.L1Size-w.Spec.CBBase
	pitch := max(room/uint64(teeth), 2)
	for _, i := range m.rnd.Perm(teeth) {
		from := base + uint64(i)*pitch
		w.Before = append(w.Before, Call{Program: m.at(l1.Range{Start: from, End: from + pitch/2}), Devices: []int{0}})
	}
	var long []*program.Program
	for range 64 {
		from := m.rnd.Uint64N(room / 2)
		to := from + room/4 + m.rnd.Uint64N(room/4)
		long = append(long, m.at(l1.Range{Start: base + from, End: base + to}))
	}
	before, steps := exchange(m.rnd, long, 2, pairs)
	w.Before, w.Steps = append(w.Before, before...), steps
	return w
}

// exchange returns steps that register live programs of a pool, and steps that let a
// random one leave and another one come, so many times.
func exchange(rnd *rand.Rand, pool []*program.Program, live, pairs int) (before, steps []Call) {
	rnd.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	one := []int{0}
	for _, p := range pool[:live] {
		before = append(before, Call{Program: p, Devices: one})
	}
	for range pairs {
		out, in := rnd.IntN(live), live+rnd.IntN(len(pool)-live)
		steps = append(steps, Call{Program: pool[out], Devices: one, Do: Unregister}, Call{Program: pool[in], Devices: one})
		pool[out], pool[in] = pool[in], pool[out]
	}
	return before, steps
}
