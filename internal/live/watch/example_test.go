package watch_test

import (
	"fmt"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/internal/live/watch"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The rows of a fleet, as a program shows them that embeds it.
func ExampleFleet() {
	fleet := device.NewFleet()
	mesh, _ := fleet.AddMesh(0, 1, 2, l1.N150())
	p, _ := program.Place(7, "matmul", l1.N150(), program.CB{Cores: l1.N150().Grid(), Size: 4096})
	_, err := fleet.Register(p, mesh.Set())
	for _, row := range watch.Fleet(fleet) {
		fmt.Println(row.Device, row.Board, *row.Registered, *row.Core, *row.Headroom, err)
	}
	// Output:
	// 0 n150 262144 4096 1391328 <nil>
	// 1 n150 262144 4096 1391328 <nil>
}
