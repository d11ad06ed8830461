package main

import (
	"fmt"
	"math"
	"runtime"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/internal/bench"
)

// states is W9: what a registration on a large fleet in few states costs, against one on
// a single device, and what a further equal device takes of the heap.
func states(r *runner) error {
	const programs, common = 8, 16
	w := bench.States(r.size.fleet, r.size.states, programs, common)
	alone := w.Alone()
	few := w.On(0, 1)

	all, one, two := math.Inf(1), math.Inf(1), math.Inf(1)
	for round := range r.rounds {
		f := bench.NewEngine(w.Spec, w.Devices)
		all = min(all, changing(f, w))
		if round == 0 {
			if err := equalStates(f, w, r.size.states); err != nil {
				return err
			}
		}
		one = min(one, changing(bench.NewEngine(alone.Spec, 1), alone))
		two = min(two, changing(baseline.NewPerCore(w.Spec, w.Devices), few))
	}
	us := timing{change: all / float64(bench.Changes(w.Steps)), run: all}
	them := timing{change: two / float64(bench.Changes(few.Steps)), sampled: true}
	w.Name = fmt.Sprintf("W9/devices=%d/states=%d", r.size.fleet, r.size.states)
	o := &outcome{w: w, us: us, rivals: []rival{{name: "percore", timing: them}}}
	r.ask(o, "registration on all / on one device", value{n: all / one, unit: "x"}, atMostOnly(200))

	half := bench.States(r.size.fleet/2, r.size.states, programs, common)
	large, err := fleetHeap(w)
	if err != nil {
		return err
	}
	small, err := fleetHeap(half)
	if err != nil {
		return err
	}
	none := w
	none.Before, none.Steps = nil, nil
	empty, err := fleetHeap(none)
	if err != nil {
		return err
	}
	r.add(row{
		workload: w.Name, what: "heap per further equal device",
		value: value{n: (large - small) / float64(w.Devices-half.Devices), unit: "bytes"}, goal: atMostOnly(128),
	})
	r.add(row{
		workload: w.Name, what: "heap per device of an empty fleet",
		value: value{n: empty / float64(w.Devices), unit: "bytes"},
	})
	return nil
}

// changing returns the ns that the steps of w take, without questions.
func changing(c baseline.Contender, w bench.Workload) float64 {
	if f, ok := c.(*bench.Engine); ok {
		f.Prepare(w.Steps)
	}
	bench.Load(c, w.Before)
	runtime.GC()
	return float64(stopwatch(func() { bench.Change(c, w.Steps) }).Nanoseconds())
}

// equalStates compares the totals of all devices with what a baseline says of one device
// for each state.
func equalStates(f *bench.Engine, w bench.Workload, states int) error {
	var first []int
	for s := range states {
		first = append(first, s)
	}
	c := baseline.NewPerCore(w.Spec, w.Devices)
	part := w.On(first...)
	bench.Change(c, part.Before)
	bench.Change(c, part.Steps)
	for d := range w.Devices {
		if got, want := f.Total(d), c.Total(d%states); got != want {
			return fmt.Errorf("%s: total of device %d is %d for cbl1 and %d for percore", w.Name, d, got, want)
		}
	}
	return nil
}

// fleetHeap returns the live heap of a fleet after w.
func fleetHeap(w bench.Workload) (float64, error) {
	before := liveHeap()
	f := device.NewFleet()
	if _, err := f.AddMesh(0, 1, w.Devices, w.Spec); err != nil {
		return 0, err
	}
	for _, steps := range [][]bench.Call{w.Before, w.Steps} {
		for _, s := range steps {
			ids := make([]device.ID, len(s.Devices))
			for i, d := range s.Devices {
				ids[i] = device.ID(d)
			}
			set, err := f.Of(ids...)
			if err != nil {
				return 0, err
			}
			if _, err := f.Register(s.Program, set); err != nil {
				return 0, err
			}
		}
	}
	after := liveHeap()
	runtime.KeepAlive(f)
	runtime.KeepAlive(w)
	return after - before, nil
}

func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
