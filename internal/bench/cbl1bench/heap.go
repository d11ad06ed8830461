package main

import (
	"runtime"

	"github.com/cbl1/cbl1/internal/bench"
)

// memory measures the heap of the mesh of W2, and the allocations of the churn of W3. The programs
// exist already: they are no part of either.
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

	for _, w := range []bench.Workload{
		bench.Churn(r.size.devices, r.size.cached, r.size.pairs),
		bench.Churn(r.size.devices, r.size.cached, r.size.pairs).PerDevice(),
	} {
		n := r.costs(w, bench.Ours()).allocations * float64(len(w.Steps)) / float64(bench.Changes(w.Steps))
		r.add(row{workload: w.Name, what: "allocations per change", value: value{n: n}, goal: atMost(1, 0.1)})
	}
	major := bench.Mesh(2, r.size.growing[len(r.size.growing)-1]).DeviceMajor()
	o, err := r.contest(major, by(bench.Ours()))
	if err != nil {
		return err
	}
	r.ask(o, "peak heap", value{n: o.costs.peak / (1 << 20), unit: "MiB"}, nil)
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
