package main

import (
	"fmt"

	"github.com/cbl1/cbl1/internal/bench"
)

// The workloads A1 to A8 are made against the engine. It is compared with structures that do not
// share.

// hostile lets the listed structures play w and asks how many times as much as some of them
// the engine needs.
func (r *runner) hostile(w bench.Workload, most map[string]float64, devices ...int) error {
	o, err := r.match(w, 200, devices...)
	if err != nil {
		return err
	}
	for _, x := range o.rivals {
		if times, asked := most[x.name]; asked {
			r.ask(o, "of "+x.name, o.us.over(x.timing), aimAtMost(times))
		}
	}
	return nil
}

// at makes rows for so many live programs, and pairs that take about as long.
func (r *runner) at(live []int, w func(live, pairs int) bench.Workload, most map[string]float64) error {
	for _, n := range live {
		if err := r.hostile(w(n, r.size.hostile), most); err != nil {
			return err
		}
	}
	return nil
}

func halves(r *runner) error {
	alone := func(live, pairs int) bench.Workload { return bench.Halves(1, live, pairs) }
	return r.at(r.size.strewn, alone, map[string]float64{"percore": 1, "slice": 3})
}

// halvesApart is A2: devices that differ, and share nothing.
func halvesApart(r *runner) error {
	return r.hostile(bench.Halves(r.size.devices, r.size.meshed, r.size.hostile/4), map[string]float64{"slice": 3})
}

func everywhere(r *runner) error {
	return r.at(r.size.strewn, bench.Everywhere, map[string]float64{"percore": 1.5})
}

func wide(r *runner) error {
	return r.at(r.size.strewn, bench.Wide, map[string]float64{"percore": 1.5})
}

func singles(r *runner) error {
	alone := func(live, pairs int) bench.Workload { return bench.Singles(1, live, 5*pairs) }
	return r.at(r.size.single, alone, map[string]float64{"percore": 4})
}

func divergedSingles(r *runner) error {
	all := func(live, pairs int) bench.Workload { return bench.Singles(r.size.devices, live, 2*pairs) }
	return r.at(r.size.single, all, map[string]float64{"percore": 4})
}

func far(r *runner) error         { return r.below(bench.Far) }
func farOnHalves(r *runner) error { return r.below(bench.FarOnHalves) }

// below lets a large program come and go so many times.
func (r *runner) below(w func(live, pairs int) bench.Workload) error {
	for _, pairs := range r.size.below {
		if err := r.hostile(w(r.size.fragments, pairs), map[string]float64{"percore": 2}); err != nil {
			return err
		}
	}
	return nil
}

// growth measures the cost of a change with few live programs, and with many, one call for each on
// all devices.
func growth(r *runner) error {
	devices := r.size.devices
	for _, x := range []struct {
		name string
		live []int
		w    func(live int) bench.Workload
	}{
		{"W2", r.size.growing, func(live int) bench.Workload { return bench.Mesh(devices, live) }},
		{"W3", r.size.growing, func(live int) bench.Workload { return bench.Churn(devices, live, 1_000) }},
		{"W5", r.size.growing, func(live int) bench.Workload { return bench.Fragmented(devices, live, 1_000) }},
	} {
		costs := make([]float64, len(x.live))
		for i, live := range x.live {
			w := x.w(live)
			o, err := r.match(w, 60, 0)
			if err != nil {
				return err
			}
			costs[i] = o.us.change
			r.ask(o, "per change vs percore", o.over("percore"), nil)
		}
		r.add(row{workload: "growth of " + x.name, what: "exponent", value: value{n: slope(x.live, costs)}, goal: aimAtMost(0.2)})
	}
	return nil
}

// oneOfMany measures calls for one device in small and large fleets.
func oneOfMany(r *runner) error {
	var first timing
	for i, devices := range r.size.many {
		w := bench.OneOfMany(devices, r.size.cold)
		o, err := r.match(w, 1_000)
		if err != nil {
			return err
		}
		if i == 0 {
			first = o.us
		}
		r.ask(o, fmt.Sprintf("cost with %d / with %d", devices, r.size.many[0]), o.us.over(first), aimAtMost(2))
	}
	return nil
}
