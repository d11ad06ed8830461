package bench

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/l1"
)

// Tiny returns all workloads, so small that every contender plays them in no time.
func Tiny() []Workload {
	mesh, churn := Mesh(4, 12), Churn(4, 10, 30)
	fragmented, diverged := Fragmented(4, 16, 30), Diverged(6, 16, 30)
	states := States(30, 5, 3, 4)
	return []Workload{
		Sweep(l1.N150(), 40), Sweep(l1.P150(), 40),
		mesh, mesh.PerDevice(), mesh.DeviceMajor(),
		churn, churn.PerDevice(), churn.DeviceMajor(),
		Adversarial(60, 60), Adversarial(1_000, 60),
		fragmented, fragmented.PerDevice(), fragmented.DeviceMajor(),
		diverged, diverged.PerDevice(), diverged.DeviceMajor(),
		Comb(200, 60),
		LargestFirst(l1.N150(), 40),
		states, states.Alone(),
		Concurrent(8, 12),
		Turns(3, 20, 30), Turns(3, 0, 30).PerDevice(), Again(3, 20, 10), Round(2, 1_100, 1_200),
		Scattered(3, 16, 60), Scattered(3, 16, 60).PerDevice(), Scattered(3, 16, 60).DeviceMajor(),
		Warm(3, 12, 20), Cold(3, 12, 20), Cold(3, 0, 20).PerDevice(),
		Operations(3, 12, 40), Operations(3, 12, 40).PerDevice(), Operations(3, 12, 40).DeviceMajor(),
		Tight(3, 20), Tight(3, 20).PerDevice(),
		Interleaved(3, 40, 60), Sharded(3, 40, 60), Sharded(3, 40, 60).PerDevice(), Sharded(3, 0, 20).DeviceMajor(),
	}
}

// inMemory reports whether w is for a baseline.Memory.
func (w Workload) inMemory() bool {
	return slices.ContainsFunc(w.Steps, func(s Step) bool { return s.Do > Unregister })
}

// Check plays w on every contender and returns an error if two of them differ in any
// total, or if the engine finds itself inconsistent. In the end it takes away what is
// left: nothing must remain.
func Check(w Workload) error {
	if w.inMemory() {
		return checkMemory(w)
	}
	fleet, dense := NewFleet(w.Spec, w.Devices), baseline.NewDense(w.Spec, w.Devices)
	contenders := []struct {
		name string
		c    baseline.Contender
	}{
		{"dense", dense}, // first: what upstream computes is what is right
		{"cbl1", fleet},
		{"percore", baseline.NewPerCore(w.Spec, w.Devices)},
		{"sorted slice", baseline.NewSortedSlice(w.Spec, w.Devices)},
		{"Counter", new(Counter)},
		{"Coverage", new(Coverage)},
	}
	if w.Spec.NumCores() > 1 {
		contenders = contenders[:4]
	}
	leave := w.leave()
	var want []uint64
	for _, x := range contenders {
		Load(x.c, w.Before)
		if x.name == "cbl1" {
			fleet.Prepare(w.Steps)
		}
		totals := Play(x.c, w.Steps, nil)
		if x.name == "cbl1" {
			if err := fleet.CheckInvariants(); err != nil {
				return fmt.Errorf("%s: %w", w.Name, err)
			}
		}
		totals = Play(x.c, leave, totals)
		if want == nil {
			want = totals
		}
		if len(totals) != len(want) {
			return fmt.Errorf("%s: %s computed %d totals, dense %d", w.Name, x.name, len(totals), len(want))
		}
		if err := Disagree(w.Name, x.name, totals, "dense", want); err != nil {
			return err
		}
		for d := range w.Devices {
			if left := x.c.Total(d); left != 0 {
				return fmt.Errorf("%s: %s has %d bytes on device %d when all programs have left", w.Name, x.name, left, d)
			}
		}
	}
	return nil
}

// checkMemory is Check for a workload with dispatches and buffers. What was dispatched
// stays, so that nothing is taken away.
func checkMemory(w Workload) error {
	fleet := NewMemory(w)
	var want []uint64
	for _, x := range []struct {
		name string
		c    baseline.Contender
	}{
		{"dense", baseline.NewDenseMemory(w.Spec, w.Devices)},
		{"cbl1", fleet},
		{"percore", baseline.NewPerCoreMemory(w.Spec, w.Devices)},
	} {
		Change(x.c, w.Before)
		totals := Play(x.c, w.Steps, nil)
		if want == nil {
			want = totals
		}
		if err := Disagree(w.Name, x.name, totals, "dense", want); err != nil {
			return err
		}
	}
	if err := fleet.CheckInvariants(); err != nil {
		return fmt.Errorf("%s: %w", w.Name, err)
	}
	return nil
}

// leave returns steps that unregister what is registered after the steps of w, in the
// order in which it came.
func (w Workload) leave() (out []Step) {
	type key struct {
		step   int // the one that registered it
		device int
	}
	came := map[key]bool{}
	last := map[[2]uint64]int{} // program and device -> the step
	all := append(append([]Step(nil), w.Before...), w.Steps...)
	for i, s := range all {
		for _, d := range s.Devices {
			pair := [2]uint64{uint64(s.Program.ID()), uint64(d)}
			if s.Do == Unregister {
				delete(came, key{last[pair], d})
			} else {
				came[key{i, d}], last[pair] = true, i
			}
		}
	}
	for i, s := range all {
		var devices []int
		for _, d := range s.Devices {
			if s.Do == Register && came[key{i, d}] {
				devices = append(devices, d)
			}
		}
		if len(devices) > 0 {
			out = append(out, Step{Program: s.Program, Devices: devices, Do: Unregister})
		}
	}
	return out
}
