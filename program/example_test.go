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

// One call for a program whose CBs are known beforehand.
func ExamplePlace() {
	spec := l1.P150()
	p, err := program.Place(7, "matmul", spec, program.CB{Cores: l1.Rect(0, 0, 7, 7), Size: 131072})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p)
	_, err = p.Resize(0, 1<<63)
	fmt.Println(err)
	// Output:
	// program 7 "matmul" (1 CBs on 64 cores, 8388608 bytes)
	// program 7 "matmul": CB 0: Size 9223372036854775808: beyond 2^63-1
}

// The third buffer names the cores of the first two as two rectangles. As written it
// goes above both, and does not fit.
func ExampleBuilder_AsWritten() {
	b := program.NewBuilder(1).
		CB(program.CB{Cores: l1.Rect(0, 0, 0, 0), Size: 2048}).
		CB(program.CB{Cores: l1.Rect(1, 0, 1, 0), Size: 1_100_000}).
		CB(program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0], [1-0 - 1-0]}"), Size: 400_000})
	show := func(way string) {
		p, err := b.Build(l1.P150())
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, cb := range p.CBs() {
			if i == 2 {
				fmt.Println(way, cb.Range)
			}
		}
	}
	show("merged    ")
	b.AsWritten()
	show("as written")
	// Output:
	// merged     [113664,513664)
	// as written [1211648,1611648)
}

// Persistent pages end at 120,000 on the cores of one column. Buffers on any of these start
// above them, on all their cores.
func ExampleBuilder_Base() {
	p, err := program.NewBuilder(1).
		Base(l1.Rect(0, 0, 0, 7), 120_000).
		CB(program.CB{Cores: l1.Rect(0, 0, 7, 7), Size: 2048}).
		CB(program.CB{Cores: l1.Rect(1, 0, 7, 7), Size: 4096}).
		Build(l1.N150())
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, cb := range p.CBs() {
		fmt.Println("CB", i, "at", cb.Range)
	}
	_, err = program.NewBuilder(2).Base(l1.Rect(0, 0, 0, 7), 100_000).Build(l1.N150())
	fmt.Println(err)
	// Output:
	// CB 0 at [120000,122048)
	// CB 1 at [122048,126144)
	// program 2: base 0: Address 100000: below the base of the device, 103712
}
