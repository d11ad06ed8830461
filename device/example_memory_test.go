package device_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// board is a device with a tensor of 512 KiB at the top of each core.
func board() (*device.Fleet, device.Device) {
	fleet := device.NewFleet()
	d, err := fleet.AddDevice(0, l1.P150())
	if err != nil {
		log.Fatal(err)
	}
	top := d.Spec().L1Size
	err = fleet.Allocate(fit.Buffer{
		ID: 1, Kind: fit.KindL1, Name: "activations",
		Parts: []fit.Part{{Cores: d.Spec().Grid().Cores(), Range: l1.Range{Start: top - 512<<10, End: top}}},
	}, d.Set())
	if err != nil {
		log.Fatal(err)
	}
	return fleet, d
}

// kernel is program 7, with one circular buffer on all cores.
func kernel(d device.Device, size uint64) *program.Program {
	p, err := program.NewBuilder(7).CB(program.CB{Cores: d.Spec().Grid(), Size: size}).Build(d.Spec())
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// Does it fit, and if not, who is in the way?
func ExampleFleet_Check() {
	fleet, d := board()
	v, err := fleet.Check(kernel(d, 1_000_000), d.Set())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("fits:", v.Fits())
	for _, r := range v.Refusals { // as tt-metal says it
		fmt.Println(r)
	}
	for _, c := range v.Clashes { // by the bytes
		fmt.Println(c.Cores.Len(), "cores,", c.Over(), "B over, in the way:", v.Above(c)[0].Buffer.Name)
	}
	fmt.Println(v.Advice())
	// Output:
	// fits: false
	// Statically allocated circular buffers in program 7 clash with L1 buffers on core range [0-0 - 12-9]. L1 buffer allocated at 1048576 and static circular buffer region ends at 1111616
	// 130 cores, 63040 B over, in the way: activations
	// free or move L1 buffer 1 ("activations"), or take 63,040 bytes off CB 0, which has 1,000,000
}

// A cached program runs until a tensor grows down.
func ExampleFleet_Enqueue() {
	fleet, d := board()
	p := kernel(d, 900_000)
	if _, err := fleet.Enqueue(p, d.Set()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("resident:", d.Resident())

	grown := fit.Buffer{ID: 2, Kind: fit.KindL1, Parts: []fit.Part{{
		Cores: d.Spec().Grid().Cores(), Range: l1.Range{Start: 1_000_000, End: 1_048_576},
	}}}
	if err := fleet.Allocate(grown, d.Set()); err != nil {
		log.Fatal(err)
	}
	_, err := fleet.Enqueue(p, d.Set())
	if fit, ok := errors.AsType[fit.Verdict](err); ok {
		fmt.Println("does not fit any more:", fit.Refusals[0].Over(), "B over")
	}
	// Output:
	// resident: 117000000
	// does not fit any more: 11616 B over
}

// What lives in L1 now, each byte once.
func ExampleDevice_Usage() {
	fleet, d := board()
	if _, err := fleet.Enqueue(kernel(d, 4096), d.Set()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("on all cores:", d.Usage(device.BasisResident).Tracked)
	for g := range d.UsageGroups(device.BasisResident) {
		fmt.Println(g.Cores.Len(), "cores: CBs", g.Usage.Of(fit.KindCB), "+ tensors", g.Usage.Of(fit.KindL1), "=", g.Usage.Tracked)
		for r := range g.Residents() {
			fmt.Println(r.Range, r.Kind)
		}
	}
	// Output:
	// on all cores: 68689920
	// 130 cores: CBs 4096 + tensors 524288 = 528384
	// [111616,115712) circular buffer
	// [1048576,1572864) L1 buffer
}

// How much room is there, and by how much may a circular buffer grow?
func ExampleFleet_Headroom() {
	fleet, d := board()
	p := kernel(d, 900_000)
	rooms, err := fleet.Headroom(p, d.Set())
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range rooms {
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
	if _, err := fleet.Register(kernel(d, 900_000), d.Set()); err != nil {
		log.Fatal(err)
	}
	room, err := fleet.Room(l1.CoreSet{}, d.Set()) // on all cores
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(room.Range.Len(), "B above", room.Below.Program.ID(), "and below", room.Above.Buffer)
	v, err := fleet.CheckBuffer(fit.Buffer{
		ID: 8, Kind: fit.KindL1, Cores: d.Spec().Grid().Cores(), Range: l1.Range{Start: 1_000_000, End: 1_048_576},
	}, d.Set())
	fmt.Println(v.Fits(), len(v.Overlaps), v.Refused[0].Refusals[0].Over(), err)
	// Output:
	// 36960 B above 7 and below L1 buffer 1 ("activations")
	// false 0 11616 <nil>
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
	// [1048464,1048564) <nil>
	// true device 0: buffer 3: no free gap is large enough
}

// Everything that changes is told as it happens, for a log or a mirror.
func ExampleFleet_Observe() {
	fleet, d := board()
	fleet.Observe(func(e device.Event) {
		switch e.Kind {
		case device.EventRegistered:
			fmt.Println("registered", e.Program.ID(), "on", e.Set)
		case device.EventDispatched:
			fmt.Println("dispatched", e.Program.ID(), "on", e.Set)
		case device.EventFreed:
			fmt.Println("freed", e.Buffer.Size, "B of", e.Buffer.Name)
		}
	})
	if _, err := fleet.Enqueue(kernel(d, 4096), d.Set()); err != nil {
		log.Fatal(err)
	}
	if _, err := fleet.Free(1, d.Set()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// registered 7 on {0}
	// dispatched 7 on {0}
	// freed 68157440 B of activations
}
