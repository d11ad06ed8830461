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

// occupied is a P150 with a program of 512 KiB from the base up and a tensor of 256 KiB below the end of L1,
// on every core.
func occupied() (*program.Program, fit.Place) {
	spec := l1.P150()
	p, _ := program.Place(1, "matmul", spec, program.CB{Cores: spec.Grid(), Size: 512 << 10})
	tensor := fit.Buffer{ID: 2, Name: "weights", Kind: fit.KindL1, Cores: spec.Grid().Cores()}
	tensor, _ = fit.PlaceBuffer(tensor, 256<<10, fit.Place{Spec: spec})
	return p, fit.Place{Spec: spec, Buffers: []fit.Buffer{tensor}, Programs: []*program.Program{p}}
}

// The larger program would reach into the tensor. The advice names the way out.
func ExampleCheck() {
	_, place := occupied()
	large, _ := program.Place(3, "softmax", place.Spec, program.CB{Cores: place.Spec.Grid(), Size: 1300 << 10})
	v := fit.Check(large, place)
	fmt.Println(v.Fits(), len(v.Clashes), v.Clashes[0].Over())
	fmt.Println(v.Advice())
	// Output:
	// false 1 132096
	// free or move L1 buffer 2 ("weights"), or take 132,096 bytes off CB 0, which has 1,331,200
}

// The free bytes between the program and the tensor, and where one more buffer goes.
func ExampleRoomOn() {
	_, place := occupied()
	room := fit.RoomOn(fit.Lockstep, l1.CoreSet{}, 4096, place)
	fmt.Println("free", room.Range, "between", room.Below.Program.Name(), "and", room.Above.Buffer.Name)
	fmt.Println("a buffer of 4096 bytes lies at", room.Place)
	// Output:
	// free [635904,1310720) between matmul and weights
	// a buffer of 4096 bytes lies at [1306624,1310720)
}

// How much larger the circular buffer of a program may be.
func ExampleMayGrow() {
	p, place := occupied()
	bytes, ok, err := fit.MayGrow(p, 0, place)
	fmt.Println(bytes, ok, err)
	// Output:
	// 674816 true <nil>
}

// tt-metal's allocator places a buffer below the buffers that live, as high as it can.
func ExamplePlaceBuffer() {
	_, place := occupied()
	b := fit.Buffer{ID: 4, Kind: fit.KindL1, Cores: l1.Rect(0, 0, 1, 1).Cores()}
	placed, err := fit.PlaceBuffer(b, 1<<16, place)
	fmt.Println(placed.Range, err)
	_, err = fit.PlaceBuffer(b, 2<<20, place)
	fmt.Println(err)
	// Output:
	// [1245184,1310720) <nil>
	// no free gap is large enough
}
