package main

import (
	"fmt"

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
			racers := []racer{by(bench.Ours()), by(bench.PerCore()), by(bench.Dense()).at(points)}
			if live > r.size.sweepRatio {
				racers = []racer{by(bench.Ours()), by(bench.PerCore()).at(points).once()}
			}
			t, err := r.race(w, racers...)
			if err != nil {
				return err
			}
			at[live] = t[0]
			x := row{workload: w.Name, ours: t[0], percore: t[1].over(t[0]), what: "register vs percore", value: t[1].over(t[0])}
			if len(t) > 2 {
				x.dense = t[2].over(t[0])
			}
			if live != r.size.sweepRatio {
				r.add(x)
				continue
			}
			x.goal = atLeast(200, 1_000)
			r.add(x)
			x.what, x.value, x.goal = "whole run vs dense", x.dense, atLeast(10_000, 40_000)
			r.add(x)
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
	t, err := r.race(w, by(bench.Ours()), by(bench.PerCore()), by(bench.Dense()).on(0, r.size.devices-1))
	if err != nil {
		return err
	}
	x := row{workload: w.Name + "/call=program", ours: t[0], percore: t[1].over(t[0]), dense: t[2].over(t[0])}
	x.what, x.value, x.goal = "whole run vs dense", x.dense, atLeast(1_000, 4_000)
	r.add(x)
	x.what, x.value, x.goal = "whole run vs percore", x.percore, atLeast(100, 400)
	r.add(x)
	for _, mode := range []struct {
		w    bench.Workload
		goal *goal
	}{
		{w.PerDevice(), nil},
		{w.DeviceMajor(), atLeast(5, 15)},
	} {
		t, err := r.race(mode.w, by(bench.Ours()), by(bench.PerCore()))
		if err != nil {
			return err
		}
		r.add(row{
			workload: mode.w.Name, ours: t[0], percore: t[1].over(t[0]),
			what: "whole run vs percore", value: t[1].over(t[0]), goal: mode.goal,
		})
	}
	return nil
}

func churn(r *runner) error {
	w := bench.Churn(r.size.devices, r.size.cached, r.size.pairs)
	ends := []int{0, r.size.devices - 1}
	for _, mode := range []struct {
		w     bench.Workload
		calls int // per program
		goal  *goal
	}{
		{w.PerDevice(), 2, atLeast(500, 2_000)},
		{w, 1, atLeast(1_000, 5_000)},
	} {
		t, err := r.race(mode.w, by(bench.Ours()), by(bench.PerCore()).on(ends...).first(400*mode.calls), by(bench.Dense()).on(0).first(10))
		if err != nil {
			return err
		}
		if mode.calls == 1 {
			mode.w.Name += "/call=program"
		}
		r.add(row{
			workload: mode.w.Name, ours: t[0], percore: t[1].over(t[0]), dense: t[2].over(t[0]),
			what: "per change vs percore", value: t[1].over(t[0]), goal: mode.goal,
		})
	}
	return nil
}

// onOneCore are the ways to count on one core.
func onOneCore() []racer {
	device := bench.Ours()
	device.Name = "device"
	return []racer{by(device), by(bench.Counter()), by(bench.Coverage())}
}

func adversarial(r *runner) error {
	us := onOneCore()
	costs := make([][]float64, len(us))
	for _, live := range r.size.ranges {
		w := bench.Adversarial(live, 10_000)
		t, err := r.race(w, append(us, by(bench.PerCore()).first(200), by(bench.Dense()).first(6))...)
		if err != nil {
			return err
		}
		for i, x := range us {
			costs[i] = append(costs[i], t[i].change)
			line := row{
				workload: w.Name + "/on=" + x.Name, ours: t[i],
				percore: t[len(us)].over(t[i]), dense: t[len(us)+1].over(t[i]),
				what: "per change vs percore", value: t[len(us)].over(t[i]),
			}
			if live == r.size.ranges[len(r.size.ranges)-1] {
				line.goal = atLeast(100, 200)
			}
			r.add(line)
		}
	}
	for i, x := range us {
		r.add(row{
			workload: "W4/on=" + x.Name, what: "growth exponent",
			value: value{n: slope(r.size.ranges, costs[i])}, goal: atMost(0.4, 0.3),
		})
	}
	return nil
}

func comb(r *runner) error {
	us := onOneCore()
	w := bench.Comb(r.size.teeth, 2_000)
	t, err := r.race(w, append(us, by(bench.PerCore()).first(400), by(bench.Dense()).first(20))...)
	if err != nil {
		return err
	}
	for i, x := range us {
		r.add(row{
			workload: w.Name + "/on=" + x.Name, ours: t[i],
			percore: t[len(us)].over(t[i]), dense: t[len(us)+1].over(t[i]),
			what: "per change vs percore", value: t[len(us)].over(t[i]), goal: atLeast(50, 500),
		})
	}
	return nil
}

func fragmented(r *runner) error {
	w := bench.Fragmented(r.size.devices, r.size.fragments, 4*r.size.fragments)
	t, err := r.race(w, by(bench.Ours()), by(bench.PerCore()).on(0, r.size.devices-1), by(bench.Dense()).on(0).first(20))
	if err != nil {
		return err
	}
	r.add(row{
		workload: w.Name, ours: t[0], percore: t[1].over(t[0]), dense: t[2].over(t[0]),
		what: "per change vs percore", value: t[1].over(t[0]), goal: atLeast(50, 200),
	})
	return nil
}

func diverged(r *runner) error {
	// Nothing can be shared here, so the caches matter: the baselines play on all devices.
	w := bench.Diverged(r.size.devices, r.size.fragments, 2*r.size.fragments)
	t, err := r.race(w, by(bench.Ours()), by(bench.SortedSlice()), by(bench.PerCore()), by(bench.Dense()).on(0).first(20))
	if err != nil {
		return err
	}
	x := row{workload: w.Name, ours: t[0], percore: t[2].over(t[0]), dense: t[3].over(t[0])}
	x.what, x.value, x.goal = "per change vs percore", x.percore, atLeast(5, 8)
	r.add(x)
	x.what, x.value, x.goal = "ours / sorted slice per core", t[0].over(t[1]), atMostOnly(1.5)
	r.add(x)
	return nil
}

func largestFirst(r *runner) error {
	w := bench.LargestFirst(l1.N150(), r.size.leaving)
	t, err := r.race(w, by(bench.Ours()), by(bench.PerCore()), by(bench.Dense()).at(points))
	if err != nil {
		return err
	}
	r.add(row{
		workload: w.Name, ours: t[0], percore: t[1].over(t[0]), dense: t[2].over(t[0]),
		what: "unregister vs percore", value: t[1].over(t[0]), goal: atLeast(500, 2_500),
	})
	return nil
}
