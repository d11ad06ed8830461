package device_test

import (
	"fmt"
	"log"
	"sync"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// ensure ends an example that goes wrong.
func ensure(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// must returns a value that no error came with.
func must[V any](v V, err error) V {
	ensure(err)
	return v
}

// kernel is a program with one circular buffer on all cores.
func kernel(spec l1.Spec, id program.ID, size uint64) *program.Program {
	return must(program.NewBuilder(id).CB(program.CB{Cores: spec.Grid(), Size: size}).Build(spec))
}

// twoPrograms returns a device with programs 0 and 1, which have 4,096 and 6,144 bytes on each core from one address on.
func twoPrograms() (*device.Fleet, device.Device) {
	fleet := device.NewFleet()
	d := must(fleet.AddDevice(0, l1.N150()))
	for id, size := range []uint64{4096, 6144} {
		must(fleet.Register(kernel(d.Spec(), program.ID(id), size), d.Set()))
	}
	return fleet, d
}

// A 4x8 mesh, and a program of a cache.
func Example() {
	fleet := device.NewFleet()
	mesh := must(fleet.AddMesh(0, 4, 8, l1.P150())) // 32 devices, ids 0 to 31
	p := must(program.NewBuilder(7).CB(program.CB{Cores: mesh.Spec().Grid(), Size: 4096}).Build(mesh.Spec()))
	added := must(fleet.Register(p, mesh.Set())) // all or nothing
	again := must(fleet.Register(p, mesh.Set())) // a cache hit
	ensure(fleet.Dispatch(p.ID(), mesh.Set()))
	removed := fleet.UnregisterAll(p.ID())
	fmt.Println(added.Len(), again.Len(), removed.Len(), mesh.Registered(), mesh.Resident())
	// Output: 32 0 32 0 17039360
}

// Programs share their addresses: physical bytes are the larger one's, logical bytes the sum.
func ExampleDevice_Totals() {
	fleet, d := twoPrograms()
	t := d.Totals()
	fmt.Println(t.Programs, "programs:", t.Registered, "physical,", t.Logical, "logical bytes")
	ensure(fleet.Dispatch(0, d.Set()))
	fmt.Println(d.Resident(), "bytes in L1 now, on each core", d.Core(l1.Core{X: 3, Y: 3}).Tracked)
	// Output:
	// 2 programs: 393216 physical, 655360 logical bytes
	// 262144 bytes in L1 now, on each core 4096
}

// Any number of goroutines may call a fleet. A total of a mesh is one atomic load.
func ExampleFleet_concurrent() {
	fleet := device.NewFleet()
	mesh := must(fleet.AddMesh(0, 1, 8, l1.N150()))
	var all sync.WaitGroup
	for d := range mesh.All() {
		all.Go(func() { must(fleet.Register(kernel(d.Spec(), program.ID(d.ID()), 4096), d.Set())) })
	}
	all.Wait()
	fmt.Println(mesh.Totals().Programs, mesh.Registered())
	// Output: 8 2097152
}

// A command trace: while it runs, each core needs what the largest of its programs needs there.
func ExampleFleet_Replay() {
	fleet, d := twoPrograms()
	trace := must(fleet.BeginTrace(d.Set()))
	ensure(fleet.Record(trace, 0))
	ensure(fleet.Record(trace, 1))
	ensure(fleet.EndTrace(trace))
	fmt.Println(d.Resident(), fleet.Replay(trace), d.Resident())
	fleet.UnregisterAll(0)
	fmt.Println(fleet.Replay(trace))
	// Output:
	// 0 <nil> 393216
	// trace 1: device 0: program 0: program is not registered
}

// Who holds a byte.
func ExampleDevice_Owners() {
	_, d := twoPrograms()
	for _, addr := range []uint64{103_712, 108_712, 111_712} {
		fmt.Print("byte ", addr, ":")
		for p := range d.Owners(l1.Core{X: 3, Y: 3}, addr) {
			fmt.Print(" program ", p.ID())
		}
		fmt.Println()
	}
	// Output:
	// byte 103712: program 0 program 1
	// byte 108712: program 1
	// byte 111712:
}

// A snapshot is one moment of all devices, grouped by cores that hold the same.
func ExampleFleet_Snapshot() {
	fleet, _ := twoPrograms()
	s := fleet.Snapshot()
	fleet.UnregisterAll(1) // s does not see it
	for d := range s.All() {
		for g := range d.Groups() {
			fmt.Println("device", d.ID(), g.Cores, g.Registered, "bytes on each core of", g.Programs, "programs")
		}
	}
	// Output: device 0 {[0-0 - 7-7]} 6144 bytes on each core of 2 programs
}

// A resize on a cache hit: readers see the old or the new layout, never both and
// never none, on all devices.
func ExampleFleet_Replace() {
	fleet, d := twoPrograms()
	old, _ := fleet.Program(1)
	larger := must(old.Resize(0, 8192)) // another Program
	on, err := fleet.Replace(old.ID(), larger)
	fmt.Println(on, err, d.Registered()/64, "bytes on each core now")
	// Output: {0} <nil> 8192 bytes on each core now
}

// Every change is observed as it happens, for a log or a mirror.
func ExampleFleet_Observe() {
	fleet, d := twoPrograms()
	fleet.Observe(func(e device.Notice) {
		if e.Kind == device.NoticeDispatched {
			fmt.Println("dispatched", e.Program.ID(), "on", e.Set)
		}
	})
	ensure(fleet.Dispatch(1, d.Set()))
	// Output: dispatched 1 on {0}
}

// board is a device with a tensor of 512 KiB at the top of each core.
func board() (*device.Fleet, device.Device) {
	fleet := device.NewFleet()
	d := must(fleet.AddDevice(0, l1.P150()))
	ensure(fleet.Allocate(tensor(d, 1, d.Spec().L1Size-512<<10, d.Spec().L1Size), d.Set()))
	return fleet, d
}

// tensor is a buffer on all cores.
func tensor(d device.Device, id fit.BufferID, start, end uint64) fit.Buffer {
	return fit.Buffer{ID: id, Kind: fit.KindL1, Name: "activations", Cores: d.Spec().Grid().Cores(), Range: l1.Range{Start: start, End: end}}
}
