package main

import (
	"math"
	"runtime"

	"github.com/cbl1/cbl1/internal/bench"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// build measures the cost of a program before it is counted: time, objects and memory.
func build(r *runner) error {
	aims := []float64{3, 8, 8, 40, 40} // us
	for i, sort := range bench.Builds(l1.N150(), r.size.meshed) {
		builders := make([]*program.Builder, len(sort.Programs))
		for k, p := range sort.Programs {
			builders[k] = builderOf(p)
		}
		r.buildAll("build: "+sort.Name, builders, aims[i])
	}
	return nil
}

// buildAll measures all builders, one after the other.
func (r *runner) buildAll(name string, builders []*program.Builder, most float64) {
	n := float64(len(builders))
	best, objects, bytes := math.Inf(1), 0.0, 0.0
	for range 3 * r.rounds {
		built := make([]*program.Program, len(builders))
		before := liveHeap()
		objects = mallocs(func() {
			best = min(best, float64(stopwatch(func() {
				for i, b := range builders {
					built[i] = must(b.Build(l1.N150()))
				}
			})))
		})
		bytes = liveHeap() - before
		runtime.KeepAlive(built)
	}
	r.add(row{workload: name, what: "a program", value: value{n: best / n / 1e3, unit: "us"}, goal: aimAtMost(most)})
	r.add(row{workload: name, what: "allocations", value: value{n: objects / n, unit: "objects"}, goal: aimAtMost(15)})
	r.add(row{workload: name, what: "held for each", value: value{n: bytes / n / 1024, unit: "KiB"}, goal: aimAtMost(0.8)})
}
