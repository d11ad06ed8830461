package main

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"strings"

	"github.com/cbl1/cbl1/internal/bench"
	"github.com/cbl1/cbl1/program"
)

// An outcome holds the costs of a workload for the engine, and for its rivals.
type outcome struct {
	w      bench.Workload
	us     timing
	rivals []rival
	costs  *costs // nil if only time was measured
}

// A rival is a way to count that played too, or a part of the engine that played alone.
type rival struct {
	name string
	part bool // of the engine
	timing
}

// contest lets the engine, which is the first of the racers, and others play w.
func (r *runner) contest(w bench.Workload, racers ...racer) (*outcome, error) {
	times, err := r.race(w, racers...)
	if err != nil {
		return nil, err
	}
	o := &outcome{w: w, us: times[0]}
	for i, x := range racers[1:] {
		o.rivals = append(o.rivals, rival{x.Name, x.part, times[i+1]})
	}
	o.costs = r.costs(w, racers[0].Design)
	return o, nil
}

// match is contest with the listed structures, each on the part that it can manage.
func (r *runner) match(w bench.Workload, steps int, devices ...int) (*outcome, error) {
	return r.contest(w, append([]racer{by(bench.Ours())}, rivals(w, steps, devices...)...)...)
}

// rivals are the listed structures, on some devices and for the first steps.
func rivals(w bench.Workload, steps int, devices ...int) (out []racer) {
	designs := []bench.Design{bench.PerCore(), bench.SortedSlice(), bench.Intervals()}
	if w.Devices == 1 && w.InRaster() {
		designs = append(designs, bench.Rasters())
	}
	for _, d := range designs {
		x := by(d).first(steps)
		if len(devices) > 0 {
			x = x.on(devices...)
		}
		out = append(out, x)
	}
	return out
}

// of returns the time of a rival.
func (o *outcome) of(name string) timing {
	for _, x := range o.rivals {
		if x.name == name {
			return x.timing
		}
	}
	return timing{}
}

// over is how many times as much as the engine a rival needs.
func (o *outcome) over(name string) value { return o.of(name).over(o.us) }

// call returns what a call of w takes at so many ns a change.
func (o *outcome) call(t timing) float64 {
	if len(o.w.Steps) == 0 {
		return t.change
	}
	return t.change * float64(bench.Changes(o.w.Steps)) / float64(len(o.w.Steps))
}

// others are the rivals in a cell, with how many times as much they need.
func (o *outcome) others() string {
	var out []string
	for _, x := range o.rivals {
		out = append(out, x.name+" "+x.over(o.us).String())
	}
	if out == nil {
		return "-"
	}
	return strings.Join(out, ", ")
}

// The limit for each call: at most so many times the best rival's time, and so many ns more.
const (
	mostTimes = 3
	mostMore  = 300
)

// best returns the rival that needs least, if there is one.
func (o *outcome) best() (best rival, ok bool) {
	best.change = math.Inf(1)
	for _, x := range o.rivals {
		if !x.part && x.change > 0 && x.change < best.change {
			best = x
		}
	}
	return best, !math.IsInf(best.change, 1) && o.us.change != 0
}

// kept reports whether the engine keeps the limit for each call. times is its time in multiples of
// the best rival's. There is no answer without a rival.
func (o *outcome) kept() (kept bool, times value, ok bool) {
	best, ok := o.best()
	if !ok {
		return false, value{}, false
	}
	return o.call(o.us) <= mostTimes*o.call(best.timing)+mostMore, o.us.over(best.timing), true
}

// costs are the costs of a workload for the engine besides the time of all calls.
type costs struct {
	allocations float64 // per call
	collecting  value   // share of the processor time; none if there was no need to
	peak        float64 // bytes of live heap, at most
	longest     float64 // ns of the longest call: the lock is not held for longer
	build       float64 // ns per call that building its program would add
}

const looks = 4 // at the heap

func (r *runner) costs(w bench.Workload, us bench.Design) *costs {
	x := &costs{build: building(w), longest: math.Inf(1)}
	totals := make([]bench.Total, 0, bench.Changes(w.Steps))
	base := liveHeap()
	c := us.New(w)
	bench.Load(c, w.Before)
	for i := range looks {
		n := len(w.Steps)
		bench.Change(c, w.Steps[i*n/looks:(i+1)*n/looks])
		x.peak = max(x.peak, liveHeap()-base)
	}
	runtime.KeepAlive(w)
	for range min(r.rounds, 2) {
		c = us.New(w)
		bench.Load(c, w.Before)
		runtime.GC()
		slowest := 0.0
		for i := range w.Steps {
			slowest = max(slowest, float64(stopwatch(func() { bench.Change(c, w.Steps[i:i+1]) })))
		}
		x.longest = min(x.longest, slowest)
	}
	c = us.New(w)
	bench.Load(c, w.Before)
	runtime.GC()
	x.collecting = collecting(func() {
		x.allocations = mallocs(func() { bench.Play(c, w.Steps, totals) }) / float64(len(w.Steps))
	})
	return x
}

// collecting returns the share of the processor time that collecting garbage takes while f runs.
// Whole collections are counted.
func collecting(f func()) value {
	all := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/user:cpu-seconds"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(all)
	gc, user, cycles := all[0].Value.Float64(), all[1].Value.Float64(), all[2].Value.Uint64()
	f()
	metrics.Read(all)
	if all[2].Value.Uint64() == cycles {
		return value{}
	}
	gc, user = all[0].Value.Float64()-gc, all[1].Value.Float64()-user
	return value{n: 100 * gc / (gc + user), unit: "%"}
}

// building returns the ns per call of w that building the programs of its steps would add, each
// built once.
func building(w bench.Workload) float64 {
	known := map[*program.Program]bool{}
	for _, s := range w.Before {
		known[s.Program] = true
	}
	var fresh []*program.Program
	for _, s := range w.Steps {
		if s.Program != nil && !known[s.Program] {
			known[s.Program] = true
			fresh = append(fresh, s.Program)
		}
	}
	if len(fresh) == 0 {
		return 0
	}
	some := fresh[:min(len(fresh), 64)]
	builders := make([]*program.Builder, len(some))
	for i, p := range some {
		builders[i] = builderOf(p)
	}
	best := math.Inf(1)
	for range 5 {
		best = min(best, float64(stopwatch(func() {
			for _, b := range builders {
				must(b.Build(w.Spec))
			}
		})))
	}
	return best / float64(len(some)) * float64(len(fresh)) / float64(len(w.Steps))
}

// builderOf returns a Builder that makes p again.
func builderOf(p *program.Program) *program.Builder {
	b := program.NewBuilder(p.ID())
	for _, cb := range p.CBs() {
		b.CB(cb.CB)
	}
	return b
}

// must returns v. The same value was built before, so an error cannot occur.
func must[V any](v V, err error) V {
	if err != nil {
		panic(fmt.Sprintf("cbl1bench: %v", err))
	}
	return v
}
