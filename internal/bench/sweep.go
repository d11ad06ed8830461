package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Sweep is W1: the program cache of one device fills. n programs of 4 circular buffers
// on the whole grid come and stay; all start at the base, as tt-metal places them.
func Sweep(spec l1.Spec, n int) Workload {
	w := Workload{Name: fmt.Sprintf("W1/grid=%dx%d/live=%d", spec.Cols, spec.Rows, n), Spec: spec, Devices: 1}
	for _, p := range cached(spec, n) {
		w.Steps = append(w.Steps, Call{Program: p, Devices: []int{0}})
	}
	return w
}

// LargestFirst is W8: as Sweep, but programs come largest first (before the
// measurement) and leave largest first. Everything that comes is covered already, and
// everything that leaves uncovers the next.
func LargestFirst(spec l1.Spec, n int) Workload {
	w := Workload{Name: fmt.Sprintf("W8/live=%d", n), Spec: spec, Devices: 1}
	programs := cached(spec, n)
	slices.SortStableFunc(programs, func(a, b *program.Program) int {
		return cmp.Compare(b.Occupied(program.CircularBuffer).Bytes(), a.Occupied(program.CircularBuffer).Bytes())
	})
	for _, p := range programs {
		w.Before = append(w.Before, Call{Program: p, Devices: []int{0}})
		w.Steps = append(w.Steps, Call{Program: p, Devices: []int{0}, Do: Unregister})
	}
	return w
}

// cached makes n programs of 4 circular buffers of up to 64 KiB on the whole grid.
func cached(spec l1.Spec, n int) []*program.Program {
	m := newMaker(1, spec)
	out := make([]*program.Program, n)
	for i := range out {
		out[i] = m.placed(4, 64<<10, spec.Grid())
	}
	return out
}
