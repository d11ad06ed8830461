package main

import (
	"math"
	"runtime"
	"time"

	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/internal/bench"
)

// A runner measures and gathers the rows of the table.
type runner struct {
	size   sizes
	rounds int
	rows   []row
	last   *outcome // of the last row
	// noGoals leaves the goals out, which are meant for the full sizes.
	noGoals bool
}

// A racer is a contender and the part of a workload that it can manage. A part of a workload is a
// sample.
type racer struct {
	bench.Design
	devices []int // only these, if not nil
	steps   int   // only the first ones, if not 0
	points  int   // only so many steps, spread over all of a workload on one device, if not 0
	rounds  int   // instead of the runner's, if not 0
	part    bool  // of the engine, which is no rival
}

// A timing holds the best times of a racer.
type timing struct {
	change  float64 // ns per change
	run     float64 // ns for all changes of the workload
	sampled bool
}

// over returns how many times as much t is as o. If one of them is a sample, so is the
// ratio.
func (t timing) over(o timing) value {
	if t.change == 0 || o.change == 0 {
		return value{}
	}
	return value{n: t.change / o.change, sampled: t.sampled || o.sampled, unit: "x"}
}

// by makes a racer of a design.
func by(d bench.Design) racer { return racer{Design: d} }

// partBy makes a racer of a part of the engine.
func partBy(d bench.Design) racer { return racer{Design: d, part: true} }

// on limits a racer to some devices.
func (x racer) on(devices ...int) racer { x.devices = devices; return x }

// first limits a racer to the first steps.
func (x racer) first(steps int) racer { x.steps = steps; return x }

// at limits a racer to steps spread over the whole run.
func (x racer) at(points int) racer { x.points = points; return x }

// once lets a racer run in the first round only.
func (x racer) once() racer { x.rounds = 1; return x }

// race lets the racers play w in turns. The first one must play all of it: the others'
// totals are compared with its totals.
func (r *runner) race(w bench.Workload, racers ...racer) ([]timing, error) {
	times := make([]timing, len(racers))
	entries := make([]*entry, len(racers))
	w = w.Asked()
	for i, x := range racers {
		entries[i] = x.enter(w)
		times[i].sampled = entries[i].sample
	}
	for round := range r.rounds {
		for i, x := range racers {
			if x.rounds > 0 && round >= x.rounds {
				continue
			}
			e := entries[i]
			// A run that is short, preparation included, is repeated.
			start := time.Now()
			for again := 0; again < 5 && (again == 0 || time.Since(start) < 100*time.Millisecond); again++ {
				e.play()
				if err := bench.Disagree(w.Name, x.Name, e.totals, racers[0].Name, e.want(entries[0].totals)); err != nil {
					return nil, err
				}
			}
		}
	}
	for i, e := range entries {
		times[i].change = e.perChange()
		times[i].run = times[i].change * float64(bench.Changes(w.Steps))
	}
	return times, nil
}

// A run is timed in so many stretches, and each counts with its best time. Whatever
// disturbs a run of seconds is not likely to hit the same stretch in every round.
const stretches = 32

// An entry is a racer in a race.
type entry struct {
	racer
	whole  bench.Workload
	w      bench.Workload // the part that is played
	sample bool           // it is not all of it
	best   []float64      // ns: of each stretch of the run, or of each point
	totals []bench.Total
}

func (x racer) enter(w bench.Workload) *entry {
	e := &entry{racer: x, whole: w, w: w}
	if x.devices != nil {
		e.w, e.sample = e.w.On(x.devices...), true
	}
	if x.steps > 0 && x.steps < len(e.w.Steps) {
		e.w, e.sample = e.w.First(x.steps), true
	}
	if x.points > 0 && x.points < len(e.w.Steps) {
		e.sample = true
	} else {
		e.points = 0
	}
	n := e.points
	if n == 0 {
		n = min(stretches, len(e.w.Steps))
	}
	e.best = make([]float64, n)
	for i := range e.best {
		e.best[i] = math.Inf(1)
	}
	e.totals = make([]bench.Total, 0, bench.Changes(e.w.Steps))
	return e
}

// play runs once.
func (e *entry) play() {
	c := e.New(e.w)
	bench.Load(c, e.w.Before)
	e.totals = e.totals[:0]
	runtime.GC()
	if e.points == 0 {
		for i := range e.best {
			n := len(e.w.Steps)
			e.clock(i, c, e.w.Steps[i*n/len(e.best):(i+1)*n/len(e.best)])
		}
		return
	}
	done := 0
	for i := range e.points {
		k := e.step(i)
		warm := max(k-2, done) // steps made one by one: in the whole run the caches are warm
		if e.w.Steps[done].Do != bench.Register {
			warm = done
		}
		bench.Load(c, e.w.Steps[done:warm])
		bench.Change(c, e.w.Steps[warm:k])
		e.clock(i, c, e.w.Steps[k:k+1])
		done = k + 1
	}
}

// step returns the step that a point stands at: the middle of its share.
func (e *entry) step(point int) int { return (2*point + 1) * len(e.w.Steps) / (2 * e.points) }

// clock plays steps that belong together and remembers their time, if it is the best.
func (e *entry) clock(point int, c baseline.Contender, steps []bench.Call) {
	took := stopwatch(func() { e.totals = bench.Play(c, steps, e.totals) })
	e.best[point] = min(e.best[point], float64(took.Nanoseconds()))
}

// perChange is the mean over the points, or over all changes, from the best time of
// each part.
func (e *entry) perChange() float64 {
	sum := 0.0
	for _, t := range e.best {
		sum += t
	}
	if e.points > 0 {
		return sum / float64(e.points)
	}
	return sum / float64(bench.Changes(e.w.Steps))
}

// want returns the part of the totals of the whole workload that e computes.
func (e *entry) want(all []bench.Total) []bench.Total {
	if e.devices != nil {
		all = e.whole.Totals(all, e.devices...)
	}
	if e.points == 0 {
		return all
	}
	out := make([]bench.Total, e.points)
	for i := range out {
		out[i] = all[e.step(i)]
	}
	return out
}

// slope is the exponent b of y = a * x^b that fits best.
func slope(x []int, y []float64) float64 {
	var n, sx, sy, sxx, sxy float64
	for i := range x {
		lx, ly := math.Log(float64(x[i])), math.Log(y[i])
		n, sx, sy, sxx, sxy = n+1, sx+lx, sy+ly, sxx+lx*lx, sxy+lx*ly
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
