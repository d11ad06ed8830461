package main

import (
	"fmt"
	"math"

	"github.com/cbl1/cbl1/internal/bench"
	"github.com/cbl1/cbl1/l1"
)

// The workloads W1 to W8 are histories that all contenders can play.

const points = 64 // samples of a whole run

func sweep(r *runner) error {
	for _, spec := range []l1.Spec{l1.N150(), l1.P150()} {
		at := map[int]timing{}
		for _, live := range r.size.sweep {
			w := bench.Sweep(spec, live)
			racers := []racer{by(bench.PerCore()).at(points).once()}
			if live <= r.size.sweepRatio {
				racers = append(racers, by(bench.SortedSlice()).at(points).once(), by(bench.Intervals()).at(points).once(), by(bench.Dense()).at(points).once())
			}
			o, err := r.contest(w, append([]racer{by(bench.Ours())}, racers...)...)
			if err != nil {
				return err
			}
			at[live] = o.us
			if live != r.size.sweepRatio {
				r.ask(o, "register vs percore", o.over("percore"), nil)
				continue
			}
			r.ask(o, "register vs percore", o.over("percore"), atLeast(200, 1_000))
			r.ask(o, "whole run vs dense", o.over("dense"), atLeast(10_000, 40_000))
		}
		most := r.size.sweep[len(r.size.sweep)-1]
		r.add(row{
			workload: fmt.Sprintf("W1/grid=%dx%d", spec.Cols, spec.Rows),
			what:     fmt.Sprintf("cost at %d / at %d", most, r.size.sweepRatio),
			value:    at[most].over(at[r.size.sweepRatio]),
			goal:     atMost(2, 1.3),
		})
	}
	return nil
}

func mesh(r *runner) error {
	w := bench.Mesh(r.size.devices, r.size.meshed)
	o, err := r.contest(w, append([]racer{by(bench.Ours()), by(bench.Dense()).on(r.ends()...)}, rivals(w, 0, r.ends()...)...)...)
	if err != nil {
		return err
	}
	r.ask(o, "whole run vs dense", o.over("dense"), atLeast(1_000, 4_000))
	r.ask(o, "whole run vs percore", o.over("percore"), atLeast(100, 400))
	for _, mode := range []struct {
		w    bench.Workload
		goal *goal
	}{
		{w.PerDevice(), nil},
		{w.DeviceMajor(), atLeast(5, 150)},
	} {
		o, err := r.match(mode.w, 0, r.ends()...)
		if err != nil {
			return err
		}
		r.ask(o, "whole run vs percore", o.over("percore"), mode.goal)
	}
	return nil
}

// lastFollower is the last device of W2 that gets all programs, beside the one before.
func lastFollower(r *runner) error {
	w := bench.Mesh(r.size.devices, r.size.meshed).DeviceMajor()
	each := len(w.Steps) / w.Devices
	best := []float64{math.Inf(1), math.Inf(1)}
	for range 3 * r.rounds {
		c := bench.Ours().New(w)
		bench.Change(c, w.Steps[:len(w.Steps)-2*each])
		for i := range best {
			steps := w.Steps[len(w.Steps)-(2-i)*each:][:each]
			best[i] = min(best[i], float64(stopwatch(func() { bench.Change(c, steps) }))/float64(each))
		}
	}
	r.add(row{workload: "last/" + w.Name, what: "a program", value: value{n: best[1] / 1e3, unit: "us"}, goal: aimAtMost(2)})
	r.add(row{workload: "last/" + w.Name, what: "of the one before", value: value{n: best[1] / best[0], unit: "x"}, goal: aimAtMost(2)})
	return nil
}

// ends are the first and the last device: a part that says something about all.
func (r *runner) ends() []int { return []int{0, r.size.devices - 1} }

func churn(r *runner) error {
	w := bench.Churn(r.size.devices, r.size.cached, r.size.pairs)
	return r.called(w, atLeast(500, 2_000), atLeast(1_000, 5_000), by(bench.Dense()).on(0).first(10))
}

// called lets w be played with one call per device and with one call per program.
func (r *runner) called(w bench.Workload, device, program *goal, more ...racer) error {
	for _, mode := range []struct {
		bench.Workload
		calls int // per program
		goal  *goal
	}{{w.PerDevice(), 2, device}, {w, 1, program}} {
		racers := append([]racer{by(bench.Ours())}, rivals(w, 400*mode.calls, r.ends()...)...)
		o, err := r.contest(mode.Workload, append(racers, more...)...)
		if err != nil {
			return err
		}
		r.ask(o, "per change vs percore", o.over("percore"), mode.goal)
	}
	return nil
}

// rectangles is W3 as it is in life.
func rectangles(r *runner) error {
	return r.called(bench.Rectangles(r.size.devices, r.size.cached, r.size.pairs/10), aimAtLeast(400), aimAtLeast(2_000))
}

// swapped is W3 with devices that meet on two ways.
func swapped(r *runner) error {
	for _, live := range r.size.swapped {
		w := bench.Swapped(r.size.devices, live, r.size.pairs/100)
		if err := r.called(w, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// adversarial is W4, on a device of one core, and on what a core has.
func adversarial(r *runner) error {
	us := []string{"cbl1", "Counter", "Coverage"}
	costs := make([][]float64, len(us))
	for i, live := range r.size.ranges {
		w := bench.Adversarial(live, 10_000)
		racers := []racer{by(bench.Ours()), partBy(bench.Counter()), partBy(bench.Coverage()), by(bench.Intervals()), by(bench.PerCore()).first(200), by(bench.SortedSlice()).first(200), by(bench.Dense()).first(6)}
		o, err := r.contest(w, racers...)
		if err != nil {
			return err
		}
		var aim *goal
		if i == len(r.size.ranges)-1 {
			aim = atLeast(100, 200)
		}
		for i, name := range us {
			t := o.us
			if i > 0 {
				t = o.of(name)
			}
			costs[i] = append(costs[i], t.change)
			r.ask(o, name+" vs percore", o.of("percore").over(t), aim)
		}
	}
	for i, name := range us {
		r.add(row{
			workload: "W4/on=" + name, what: "growth exponent",
			value: value{n: slope(r.size.ranges, costs[i])}, goal: atMost(0.4, 0.3),
		})
	}
	return nil
}

// raster is W4 on whole cells.
func raster(r *runner) error {
	last := len(r.size.ranges) - 1
	for i, live := range r.size.ranges {
		w := bench.Raster(live, 10_000)
		o, err := r.contest(w, by(bench.Ours()), by(bench.Intervals()), by(bench.PerCore()).first(200), by(bench.SortedSlice()).first(200), by(bench.Rasters()).first(500))
		if err != nil {
			return err
		}
		r.ask(o, "per change vs percore", o.over("percore"), aimAtLeast([]float64{8, 40, 70}[i]))
		most := 2.0
		if i == last {
			most = 1.2
		}
		r.ask(o, "of an interval tree", o.us.over(o.of("intervals")), aimAtMost(most))
	}
	return nil
}

func comb(r *runner) error {
	w := bench.Comb(r.size.teeth, 2_000)
	racers := []racer{by(bench.Ours()), partBy(bench.Counter()), partBy(bench.Coverage())}
	o, err := r.contest(w, append(append(racers, rivals(w, 400)...), by(bench.Dense()).first(20))...)
	if err != nil {
		return err
	}
	r.ask(o, "per change vs percore", o.over("percore"), atLeast(50, 500))
	r.ask(o, "Coverage vs percore", o.of("percore").over(o.of("Coverage")), atLeast(50, 500))
	return nil
}

func fragmented(r *runner) error {
	w := bench.Fragmented(r.size.devices, r.size.fragments, 4*r.size.fragments)
	o, err := r.contest(w, append([]racer{by(bench.Ours()), by(bench.Dense()).on(0).first(20)}, rivals(w, 0, r.ends()...)...)...)
	if err != nil {
		return err
	}
	r.ask(o, "per change vs percore", o.over("percore"), atLeast(50, 200))
	return nil
}

func diverged(r *runner) error {
	// Nothing can be shared here, so the caches matter: the baselines play on all devices.
	w := bench.Diverged(r.size.devices, r.size.fragments, 2*r.size.fragments)
	racers := []racer{by(bench.Ours()), by(bench.Dense()).on(0).first(20)}
	for _, x := range rivals(w, 0) {
		racers = append(racers, x.once())
	}
	o, err := r.contest(w, racers...)
	if err != nil {
		return err
	}
	r.ask(o, "per change vs percore", o.over("percore"), atLeast(5, 8))
	r.ask(o, "of a sorted slice per core", o.us.over(o.of("slice")), atMostOnly(1.5))
	return nil
}

func largestFirst(r *runner) error {
	w := bench.LargestFirst(l1.N150(), r.size.leaving)
	o, err := r.contest(w, append([]racer{by(bench.Ours()), by(bench.Dense()).at(points).once()}, rivals(w, 400)...)...)
	if err != nil {
		return err
	}
	r.ask(o, "unregister vs percore", o.over("percore"), atLeast(500, 2_500))
	return nil
}
