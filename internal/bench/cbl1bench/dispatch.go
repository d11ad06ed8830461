package main

import (
	"fmt"
	"math"
	"runtime"

	"github.com/cbl1/cbl1/internal/bench"
)

// The workloads W11 to W13 are histories of dispatches and buffers.

// recall lets the contenders play w and adds a row with what a call costs.
func (r *runner) recall(w bench.Workload, aim, objects *goal) (*outcome, error) {
	o, err := r.contest(w, by(bench.Ours()), by(bench.PerCoreMemory()).on(0, w.Devices-1).first(500), by(bench.DenseMemory()).on(0).first(10).once())
	if err != nil {
		return nil, err
	}
	r.ask(o, "a call", value{n: o.call(o.us), unit: "ns"}, aim)
	if objects != nil {
		r.ask(o, "allocations per call", value{n: o.costs.allocations, unit: "objects"}, objects)
	}
	return o, nil
}

// dispatch is W11: what a dispatch that changes residency costs, and a question for it.
func dispatch(r *runner) error {
	live := r.size.dispatched
	last := len(live) - 1
	for k, devices := range []int{1, r.size.devices / 4, r.size.devices} {
		at := make([]timing, len(live))
		for i, n := range live {
			var objects *goal
			if i == last {
				objects = atMost(0.01, 0)
			}
			o, err := r.recall(bench.Turns(devices, n-2, r.size.turns), nil, objects)
			if err != nil {
				return err
			}
			at[i] = o.us
		}
		r.add(row{
			workload: fmt.Sprintf("W11/turns/devices=%d", devices),
			what:     fmt.Sprintf("cost at %d / at %d", live[last], live[0]),
			value:    at[last].over(at[0]), goal: atMost(2, 1.3),
		})
		for _, w := range []bench.Workload{
			bench.Again(devices, live[1]-1, r.size.turns),
			bench.Round(devices, r.size.round, r.size.turns),
		} {
			if _, err := r.recall(w, nil, nil); err != nil {
				return err
			}
		}
		o, err := r.recall(bench.Scattered(devices, live[1], r.size.turns/10), nil, nil)
		if err != nil {
			return err
		}
		r.ask(o, "of an array of last writers", o.us.over(o.of("percore")), aimAtMost([]float64{8, 2, 1}[k]))
	}
	return queries(r)
}

// queries is upstream's guard: what a question costs with many live programs and with
// few. It asks for less than 10 times as much.
func queries(r *runner) error {
	const few, many = 2, 256
	for _, x := range []struct {
		bench.Design
		goal *goal
	}{{bench.Ours(), atMost(10, 1.5)}, {bench.DenseMemory(), nil}} {
		var ns [2]float64
		for i, live := range []int{few, many} {
			w := bench.Turns(1, live-2, 1)
			c := x.New(w)
			bench.Change(c, w.Before)
			ns[i] = math.Inf(1)
			sum := uint64(0)
			for range 5 * r.rounds {
				took := stopwatch(func() {
					for range 500 {
						sum += c.Total(0)
					}
				})
				ns[i] = min(ns[i], float64(took.Nanoseconds())/500)
			}
			runtime.KeepAlive(sum)
		}
		r.add(row{
			workload: "W11/query/" + x.Name,
			what:     fmt.Sprintf("cost at %d / at %d", many, few), value: value{n: ns[1] / ns[0], unit: "x"}, goal: x.goal,
		})
	}
	return nil
}

// enqueue is W12: what a call of a kernel costs, beside buffers.
func enqueue(r *runner) error {
	for _, devices := range []int{1, r.size.devices} {
		for _, buffers := range []int{0, r.size.buffers[1]} {
			for _, x := range []struct {
				bench.Workload
				objects *goal
			}{
				{bench.Warm(devices, buffers, r.size.turns), atMost(0.01, 0)},
				{bench.Cold(devices, buffers, r.size.cold), nil},
				{bench.Operations(devices, buffers, r.size.turns/10), nil},
			} {
				if _, err := r.recall(x.Workload, nil, x.objects); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// buffers is W13: what Allocate and Free of an L1 buffer cost, beside others.
func buffers(r *runner) error {
	for _, devices := range []int{1, r.size.devices} {
		for _, live := range r.size.buffers {
			w := bench.Interleaved(devices, live, r.size.turns/10)
			aim := aimAtMost(1_000)
			if devices > 1 {
				if _, err := r.recall(w.PerDevice(), aim, nil); err != nil {
					return err
				}
				aim = aimAtMost(3_000)
			}
			for _, w := range []bench.Workload{w, bench.Sharded(devices, live, r.size.turns/10)} {
				if _, err := r.recall(w, aim, nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
