package program_test

import (
	"fmt"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Three circular buffers on all 64 cores of an n150. They start at the base of the
// device and follow each other.
func ExampleBuilder() {
	spec := l1.N150()
	b := program.NewBuilder(1)
	for _, size := range []uint64{2048, 4096, 2080} {
		b.CB(program.CB{Cores: spec.Grid(), Size: size})
	}
	p, err := b.Build(spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, cb := range p.CBs() {
		fmt.Println("CB", i, "at", cb.Range)
	}
	f := p.Occupied(program.CircularBuffer)
	for g := range f.Groups() {
		fmt.Println(g.Bytes(), "bytes on each of", g.Cores().Len(), "cores")
	}
	fmt.Println(f.Bytes(), "bytes")
	// Output:
	// CB 0 at [103712,105760)
	// CB 1 at [105760,109856)
	// CB 2 at [109856,111936)
	// 8224 bytes on each of 64 cores
	// 526336 bytes
}

// A simulator that places for itself says where its buffers are. Bytes that two of
// them share are taken once.
func ExampleBuilder_Range() {
	cores := l1.MustParseCoreRangeSet("{[0-0 - 1-1]}")
	p, err := program.NewBuilder(7).
		Range(cores, l1.Range{Start: 0, End: 32}).
		Range(cores, l1.Range{Start: 16, End: 48}).
		Build(l1.Spec{Cols: 2, Rows: 2, L1Size: 64})
	if err != nil {
		fmt.Println(err)
		return
	}
	f := p.Occupied(program.CircularBuffer)
	fmt.Println("physical", f.Bytes(), "logical", f.Logical())
	// Output:
	// physical 192 logical 256
}

// tt-metal gives the third buffer an address inside the second one and does not
// notice. We count the shared bytes once and say so.
func ExampleProgram_Findings() {
	p, err := program.NewBuilder(1).
		CB(program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0]}"), Size: 2048}).
		CB(program.CB{Cores: l1.MustParseCoreRangeSet("{[1-0 - 1-0]}"), Size: 6144}).
		CB(program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 1-0]}"), Size: 1024}).
		Build(l1.N150())
	if err != nil {
		fmt.Println(err)
		return
	}
	for f := range p.Findings() {
		fmt.Println(f)
	}
	g, _ := p.Occupied(program.CircularBuffer).On(l1.Core{X: 1, Y: 0})
	fmt.Println("core 1-0: physical", g.Bytes(), "logical", g.Logical())
	// Output:
	// CB 2 overlaps CB 1 at [105760,106784) on {[1-0 - 1-0]}
	// core 1-0: physical 6144 logical 7168
}

// The first of two buffers doubles; the second has to move.
func ExampleProgram_Resize() {
	core := l1.MustParseCoreRangeSet("{[0-0 - 0-0]}")
	p, err := program.NewBuilder(1).
		CB(program.CB{Cores: core, Size: 2048}).
		CB(program.CB{Cores: core, Size: 2048}).
		Build(l1.N150())
	if err != nil {
		fmt.Println(err)
		return
	}
	resized, err := p.Resize(0, 4096)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, cb := range resized.CBs() {
		fmt.Println("CB", i, "at", cb.Range)
	}
	fmt.Println("before:", p)
	// Output:
	// CB 0 at [103712,107808)
	// CB 1 at [107808,109856)
	// before: program 1 (2 CBs on 1 cores, 4096 bytes)
}
