package model_test

import (
	"fmt"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The model counts every byte for itself: what an engine says can be compared with it.
func ExampleFleet() {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 256}
	p, _ := program.Place(1, "", spec, program.CB{Cores: spec.Grid(), Size: 64})
	m := model.NewFleet()
	_ = m.AddDevice(0, spec)
	added, err := m.Register(p, []uint64{0})
	t, _ := m.Totals(0)
	fmt.Println(added, err, t.Registered, m.Regions(0, l1.Core{}))
	// Output: [0] <nil> 128 [[0,64)]
}
