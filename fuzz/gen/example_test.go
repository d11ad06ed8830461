package gen_test

import (
	"fmt"

	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A random program of a small device. Physical bytes are never more than logical ones.
func ExampleProgram() {
	spec := l1.Spec{Cols: 2, Rows: 2, L1Size: 256, CBAlign: 8}
	p := gen.Program(spec, 7).Example(1)
	f := p.Occupied(program.CircularBuffer)
	fmt.Println(p.ID(), f.Bytes() <= f.Logical())
	// Output: 7 true
}
