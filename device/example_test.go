package device_test

import (
	"fmt"
	"log"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The loop of a simulator that embeds the package: a 4x8 mesh, programs that are
// registered when they are compiled, totals after each step.
func Example() {
	fleet := device.NewFleet()
	mesh, err := fleet.AddMesh(0, 4, 8, l1.P150()) // 32 devices, ids 0 to 31
	if err != nil {
		log.Fatal(err)
	}

	// Two cached programs. Both start where circular buffers start.
	var programs []*program.Program
	for id, size := range []uint64{4096, 6144} {
		p, err := program.NewBuilder(program.ID(id)).
			CB(program.CB{Cores: mesh.Spec().Grid(), Size: size}).
			Build(mesh.Spec())
		if err != nil {
			log.Fatal(err)
		}
		programs = append(programs, p)
	}
	for _, p := range programs {
		added, err := fleet.Register(p, mesh.Set()) // all or nothing
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("program", p.ID(), "is new on", added.Len(), "devices; mesh:", mesh.Registered(), "bytes")
	}
	added, err := fleet.Register(programs[0], mesh.Set()) // a cache hit
	fmt.Println("again:", added, err)

	for _, p := range programs { // what is in L1 now
		if err := fleet.Dispatch(p.ID(), mesh.Set()); err != nil {
			log.Fatal(err)
		}
		fmt.Println("program", p.ID(), "was dispatched; mesh:", mesh.Resident(), "bytes resident")
	}

	for d := range mesh.All() {
		t := d.Totals()
		fmt.Printf("device %d: registered %d bytes (%v), logical %d bytes, resident %d bytes\n",
			d.ID(), t.Registered, l1.Bytes(t.Registered), t.Logical, t.Resident)
		break // the others are the same
	}

	removed := fleet.UnregisterAll(programs[1].ID())
	fmt.Println("program 1 left", removed.Len(), "devices; mesh:", mesh.Registered(), "bytes")
	fmt.Println("L1 still holds it:", mesh.Resident(), "bytes resident")
	// Output:
	// program 0 is new on 32 devices; mesh: 17039360 bytes
	// program 1 is new on 32 devices; mesh: 25559040 bytes
	// again: {} <nil>
	// program 0 was dispatched; mesh: 17039360 bytes resident
	// program 1 was dispatched; mesh: 25559040 bytes resident
	// device 0: registered 798720 bytes (780.0 KiB), logical 1331200 bytes, resident 798720 bytes
	// program 1 left 32 devices; mesh: 17039360 bytes
	// L1 still holds it: 25559040 bytes resident
}

// A command trace: capturing changes nothing; while it runs, each core needs what the
// largest of its programs needs there.
func ExampleFleet_Replay() {
	fleet := device.NewFleet()
	d, err := fleet.AddDevice(0, l1.N150())
	if err != nil {
		log.Fatal(err)
	}
	var programs []*program.Program
	for id, size := range []uint64{32_768, 4096} {
		p, err := program.NewBuilder(program.ID(id)).CB(program.CB{Cores: d.Spec().Grid(), Size: size}).Build(d.Spec())
		if err != nil {
			log.Fatal(err)
		}
		if _, err := fleet.Register(p, d.Set()); err != nil {
			log.Fatal(err)
		}
		if err := fleet.Dispatch(p.ID(), d.Set()); err != nil {
			log.Fatal(err)
		}
		programs = append(programs, p)
	}
	fmt.Println("the small one was last:", d.Resident(), "bytes resident")

	trace, err := fleet.BeginTrace(d.Set())
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range programs {
		if err := fleet.Record(trace, p.ID()); err != nil {
			log.Fatal(err)
		}
	}
	if err := fleet.EndTrace(trace); err != nil {
		log.Fatal(err)
	}
	fmt.Println("captured:", d.Resident(), "bytes resident")
	if err := fleet.Replay(trace); err != nil {
		log.Fatal(err)
	}
	fmt.Println("replayed:", d.Resident(), "bytes resident")

	fleet.UnregisterAll(programs[0].ID())
	fmt.Println(fleet.Replay(trace))
	// Output:
	// the small one was last: 262144 bytes resident
	// captured: 262144 bytes resident
	// replayed: 2097152 bytes resident
	// trace 1: device 0: program 0: program is not registered
}

// Who holds a byte.
func ExampleDevice_Owners() {
	fleet := device.NewFleet()
	d, err := fleet.AddDevice(0, l1.N150())
	if err != nil {
		log.Fatal(err)
	}
	for id, size := range []uint64{4096, 6144} {
		p, err := program.NewBuilder(program.ID(id)).CB(program.CB{Cores: d.Spec().Grid(), Size: size}).Build(d.Spec())
		if err != nil {
			log.Fatal(err)
		}
		if _, err := fleet.Register(p, d.Set()); err != nil {
			log.Fatal(err)
		}
	}
	base := d.Spec().CBBase
	for _, addr := range []uint64{base, base + 5000, base + 8000} {
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
	fleet := device.NewFleet()
	d, err := fleet.AddDevice(0, l1.N150())
	if err != nil {
		log.Fatal(err)
	}
	for id, cores := range []string{"{[0-0 - 7-7]}", "{[0-0 - 1-0]}"} {
		p, err := program.NewBuilder(program.ID(id)).
			Range(l1.MustParseCoreRangeSet(cores), l1.Range{Start: uint64(200_000 * (id + 1)), End: uint64(200_000*(id+1) + 4096)}).
			Build(d.Spec())
		if err != nil {
			log.Fatal(err)
		}
		if _, err := fleet.Register(p, d.Set()); err != nil {
			log.Fatal(err)
		}
	}

	s := fleet.Snapshot()
	fleet.UnregisterAll(mustProgram(fleet, 1).ID()) // s does not see it
	for d := range s.All() {
		fmt.Println("device", d.ID(), "registered", d.Totals().Registered)
		for g := range d.Groups() {
			fmt.Println(" ", g.Cores, "bytes on each core:", g.Registered)
			for r := range g.Regions() {
				fmt.Println("   ", r)
			}
		}
	}
	// Output:
	// device 0 registered 270336
	//   {[0-0 - 1-0]} bytes on each core: 8192
	//     [200000,204096)
	//     [400000,404096)
	//   {[0-1 - 7-7], [2-0 - 7-0]} bytes on each core: 4096
	//     [200000,204096)
}

func mustProgram(f *device.Fleet, id program.ID) *program.Program {
	p, ok := f.Program(id)
	if !ok {
		log.Fatal("no program ", id)
	}
	return p
}

// A resize on a cache hit: readers see the old or the new layout, never both and
// never none, on all devices.
func ExampleFleet_Replace() {
	fleet := device.NewFleet()
	mesh, err := fleet.AddMesh(0, 1, 2, l1.N150())
	if err != nil {
		log.Fatal(err)
	}
	one := l1.MustParseCoreRangeSet("{[0-0 - 0-0]}")
	p, err := program.NewBuilder(7).
		CB(program.CB{Cores: one, Size: 2048}).
		CB(program.CB{Cores: one, Size: 2048}).
		Build(mesh.Spec())
	if err != nil {
		log.Fatal(err)
	}
	if _, err := fleet.Register(p, mesh.Set()); err != nil {
		log.Fatal(err)
	}

	larger, err := p.Resize(0, 4096) // another Program; the second CB moves up
	if err != nil {
		log.Fatal(err)
	}
	on, err := fleet.Replace(p.ID(), larger)
	fmt.Println("replaced on", on, err)
	for d := range mesh.All() {
		for r := range d.Regions(l1.Core{}) {
			fmt.Println("device", d.ID(), r)
		}
	}
	fmt.Println(mesh.Registered(), "bytes now,", mesh.Totals().Peak.Registered, "at most")
	// Output:
	// replaced on {0 1} <nil>
	// device 0 [103712,109856)
	// device 1 [103712,109856)
	// 12288 bytes now, 12288 at most
}
