package device_test

import (
	"errors"
	"fmt"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Does it fit, and if not, who is in the way?
func ExampleFleet_Check() {
	fleet, d := board()
	v := must(fleet.Check(kernel(d.Spec(), 7, 1_000_000), d.Set()))
	fmt.Println(v.Refusals[0])    // as tt-metal says it
	for _, c := range v.Clashes { // by the bytes
		fmt.Println(c.Cores.Len(), "cores,", c.Over(), "B over, in the way:", v.Above(c)[0].Buffer.Name)
	}
	fmt.Println(v.Advice())
	// Output:
	// Statically allocated circular buffers in program 7 clash with L1 buffers on core range [0-0 - 12-9]. L1 buffer allocated at 1048576 and static circular buffer region ends at 1111616
	// 130 cores, 63040 B over, in the way: activations
	// free or move L1 buffer 1 ("activations"), or take 63,040 bytes off CB 0, which has 1,000,000
}

// A cached program runs until a tensor grows down.
func ExampleFleet_Enqueue() {
	fleet, d := board()
	p := kernel(d.Spec(), 7, 900_000)
	must(fleet.Enqueue(p, d.Set()))
	ensure(fleet.Allocate(tensor(d, 2, 1_000_000, 1_048_576), d.Set()))
	_, err := fleet.Enqueue(p, d.Set())
	if v, ok := errors.AsType[fit.Verdict](err); ok {
		fmt.Println("does not fit any more:", v.Refusals[0].Over(), "B over")
	}
	// Output: does not fit any more: 11616 B over
}

// What lives in L1 now, each byte once.
func ExampleDevice_Usage() {
	fleet, d := board()
	must(fleet.Enqueue(kernel(d.Spec(), 7, 4096), d.Set()))
	fmt.Println("on all cores:", d.Usage(device.BasisResident).Tracked)
	for g := range d.UsageGroups(device.BasisResident) {
		for r := range g.Residents() {
			fmt.Println(g.Cores.Len(), "cores:", r.Range, r.Kind)
		}
	}
	// Output:
	// on all cores: 68689920
	// 130 cores: [111616,115712) circular buffer
	// 130 cores: [1048576,1572864) L1 buffer
}

// How much room is there, and by how much may a circular buffer grow?
func ExampleFleet_Headroom() {
	fleet, d := board()
	p := kernel(d.Spec(), 7, 900_000)
	for _, h := range must(fleet.Headroom(p, d.Set())) {
		fmt.Println(h.Cores.Len(), "cores end at", h.End, "with", h.Free, "B free")
	}
	n, ok, err := fleet.MayGrow(p, 0, d.Set())
	fmt.Println("CB 0 may grow by", n, "B", ok, err)
	// Output:
	// 130 cores end at 1011616 with 36960 B free
	// CB 0 may grow by 36960 B true <nil>
}

// How large may one more L1 buffer be, and what would one that is too large be in the way of?
func ExampleFleet_Room() {
	fleet, d := board()
	must(fleet.Register(kernel(d.Spec(), 7, 900_000), d.Set()))
	room := must(fleet.Room(fit.Lockstep, l1.CoreSet{}, d.Set())) // on all cores
	fmt.Println(room.Range.Len(), "B above", room.Below.Program.ID(), "and below", room.Above.Buffer)
	v := must(fleet.CheckBuffer(tensor(d, 8, 1_000_000, 1_048_576), d.Set()))
	fmt.Println(v.Fits(), len(v.Overlaps), v.Refused[0].Refusals[0].Over())
	// Output:
	// 36928 B above 7 and below L1 buffer 1 ("activations")
	// false 0 11616
}

// Where does tt-metal's allocator put the next tensor?
func ExampleFleet_Place() {
	fleet, d := board()
	next := fit.Buffer{ID: 2, Kind: fit.KindL1, Cores: d.Spec().Grid().Cores(), Name: "weights"}
	placed, err := fleet.Place(next, 100, d.Set()) // bytes on each core
	fmt.Println(placed.Range, err)
	next.ID++
	_, err = fleet.Place(next, 2<<20, d.Set())
	fmt.Println(errors.Is(err, fit.ErrNoSpace), err)
	// Output:
	// [1048448,1048548) <nil>
	// true device 0: buffer 3: no free gap is large enough
}
