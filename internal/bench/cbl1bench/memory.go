package main

import (
	"runtime"

	"github.com/cbl1/cbl1/internal/bench"
)

// memory is what the mesh of W2 takes of the heap, and what the churn of W3 allocates.
// The programs exist already: they are no part of either.
func memory(r *runner) error {
	w := bench.Mesh(r.size.devices, r.size.meshed)
	heap := func(d bench.Design) float64 {
		before := liveHeap()
		c := d.New(w)
		bench.Change(c, w.Steps)
		after := liveHeap()
		runtime.KeepAlive(c)
		return after - before
	}
	us, them := heap(bench.Ours()), heap(bench.PerCore())
	r.add(row{workload: w.Name, what: "live heap of ours", value: value{n: us / 1024, unit: "KiB"}})
	r.add(row{
		workload: w.Name, what: "live heap of percore / of ours",
		value: value{n: them / us, unit: "x"}, goal: atLeast(8, 20),
	})
	runtime.KeepAlive(w)

	churn := bench.Churn(r.size.devices, r.size.cached, r.size.pairs)
	for _, mode := range []bench.Workload{churn.PerDevice(), churn} {
		c := bench.Ours().New(mode)
		bench.Load(c, mode.Before)
		totals := make([]uint64, 0, bench.Changes(mode.Steps))
		n := mallocs(func() { bench.Play(c, mode.Steps, totals) })
		if mode.Name == churn.Name {
			mode.Name += "/call=program"
		}
		r.add(row{
			workload: mode.Name, what: "allocations per change",
			value: value{n: n / float64(bench.Changes(mode.Steps))}, goal: atMost(1, 0.1),
		})
	}
	return nil
}

// mallocs returns how many objects f allocates.
func mallocs(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}
