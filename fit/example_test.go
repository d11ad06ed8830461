package fit_test

import (
	"encoding/json"
	"fmt"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A program is judged without a fleet. The verdict is written as the answers of cbl1 stream have it.
func ExampleVerdict_Row() {
	spec, grid := l1.P150(), l1.P150().Grid()
	p, _ := program.Place(1, "matmul", spec, program.CB{Cores: grid, Size: 1 << 20})
	tensor := fit.Buffer{ID: 2, Name: "weights", Kind: fit.KindL1, Cores: grid.Cores(), Range: l1.Range{Start: 1 << 20, End: 1<<20 + 4096}}
	v := fit.Check(p, fit.Place{Spec: spec, Buffers: []fit.Buffer{tensor}})
	body, err := json.Marshal(v.Row().Clashes[0].Above)
	fmt.Println(v.Fits(), string(body), err)
	// Output:
	// false [{"kind":"l1","start":1048576,"end":1052672,"bytes":4096,"buffer":2,"name":"weights"}] <nil>
}
