package bench

import (
	"fmt"

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
		Raster(200, 60),
		Rectangles(3, 10, 30), Rectangles(3, 10, 30).PerDevice(),
		Swapped(4, 6, 4), Swapped(4, 6, 4).PerDevice(),
		Halves(1, 12, 10), Halves(6, 12, 10), Singles(1, 60, 40), Singles(6, 60, 40), Everywhere(6, 6), Wide(12, 12),
		Far(70, 3), FarOnHalves(20, 3), OneOfMany(20, 20),
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

// Check plays w on all designs and returns an error if two of them differ in any total, or if the
// engine finds itself inconsistent. In the end it unregisters everything: nothing must remain.
// Residues of dispatches stay.
func Check(w Workload) error {
	var leave []Call
	if !w.inMemory() {
		leave = w.leave()
	}
	var first string
	var want []Total
	w = w.Asked()
	for _, d := range Designs(w) {
		c := d.New(w)
		Load(c, w.Before)
		totals := Play(c, w.Steps, nil)
		if c, ok := c.(interface{ CheckInvariants() error }); ok {
			if err := c.CheckInvariants(); err != nil {
				return fmt.Errorf("%s: %w", w.Name, err)
			}
		}
		totals = Play(c, leave, totals)
		if want == nil {
			first, want = d.Name, totals
		}
		if len(totals) != len(want) {
			return fmt.Errorf("%s: %s computed %d totals, %s %d", w.Name, d.Name, len(totals), first, len(want))
		}
		if err := Disagree(w.Name, d.Name, totals, first, want); err != nil {
			return err
		}
		for i := range w.Devices {
			if left := c.Total(i); left != 0 && leave != nil {
				return fmt.Errorf("%s: %s has %d bytes on device %d when all programs have left", w.Name, d.Name, left, i)
			}
			if both, ok := c.(interface{ Reserved(int) uint64 }); ok && both.Reserved(i) != 0 {
				return fmt.Errorf("%s: %s has bytes reserved on device %d when all programs have left", w.Name, d.Name, i)
			}
		}
	}
	return nil
}

// leave returns steps that unregister the programs registered after the steps of w, in the order in
// which they came.
func (w Workload) leave() (out []Call) {
	type key struct {
		step   int // the one that registered it
		device int
	}
	came := map[key]bool{}
	last := map[[2]uint64]int{} // program and device -> the step
	all := append(append([]Call(nil), w.Before...), w.Steps...)
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
			out = append(out, Call{Program: s.Program, Devices: devices, Do: Unregister})
		}
	}
	return out
}
