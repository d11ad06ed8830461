package program_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// built is a program that can be built.
func built(b *program.Builder, spec l1.Spec) *program.Program {
	p, err := b.Build(spec)
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// list prints where the CBs of a program are.
func list(p *program.Program) {
	for i, cb := range p.CBs() {
		fmt.Println("CB", i, "at", cb.Range)
	}
}

// Three circular buffers on all 64 cores of an n150. They start at the base of the
// device and follow each other.
func ExampleBuilder() {
	b := program.NewBuilder(1)
	for _, size := range []uint64{2048, 4096, 2080} {
		b.CB(program.CB{Cores: l1.N150().Grid(), Size: size})
	}
	p := built(b, l1.N150())
	list(p)
	fmt.Println(p.Occupied(program.CircularBuffer).Bytes(), "bytes on", p.Cores().Len(), "cores")
	// Output:
	// CB 0 at [103712,105760)
	// CB 1 at [105760,109856)
	// CB 2 at [109856,111936)
	// 526336 bytes on 64 cores
}

// A simulator that places for itself says where its buffers are. Bytes that two of
// them share are taken once.
func ExampleBuilder_Range() {
	cores := l1.MustParseCoreRangeSet("{[0-0 - 1-1]}")
	b := program.NewBuilder(7).
		Range(cores, l1.Range{Start: 0, End: 32}).
		Range(cores, l1.Range{Start: 16, End: 48})
	f := built(b, l1.Spec{Cols: 2, Rows: 2, L1Size: 64}).Occupied(program.CircularBuffer)
	fmt.Println("physical", f.Bytes(), "logical", f.Logical())
	// Output:
	// physical 192 logical 256
}

// tt-metal gives the third buffer an address inside the second one and does not
// notice. We count the shared bytes once and say so.
func ExampleProgram_Findings() {
	p := built(program.NewBuilder(1).
		CB(program.CB{Cores: l1.Rect(0, 0, 0, 0), Size: 2048}).
		CB(program.CB{Cores: l1.Rect(1, 0, 1, 0), Size: 6144}).
		CB(program.CB{Cores: l1.Rect(0, 0, 1, 0), Size: 1024}), l1.N150())
	for f := range p.Findings() {
		fmt.Println(f)
	}
	// Output: CB 2 overlaps CB 1 at [105760,106784) on {[1-0 - 1-0]}
}

// The first of two buffers doubles; the second has to move.
func ExampleProgram_Resize() {
	cb := program.CB{Cores: l1.Rect(0, 0, 0, 0), Size: 2048}
	p := built(program.NewBuilder(1).CB(cb).CB(cb), l1.N150())
	resized, err := p.Resize(0, 4096)
	fmt.Println("before:", p, err)
	list(resized)
	// Output:
	// before: program 1 (2 CBs on 1 cores, 4096 bytes) <nil>
	// CB 0 at [103712,107808)
	// CB 1 at [107808,109856)
}

// One call for a program whose CBs are known beforehand.
func ExamplePlace() {
	p, err := program.Place(7, "matmul", l1.P150(), program.CB{Cores: l1.Rect(0, 0, 7, 7), Size: 131072})
	fmt.Println(p, err)
	_, err = p.Resize(0, 1<<63)
	bad, _ := errors.AsType[*program.Error](err)
	fmt.Println(bad.Part, bad.At, bad.Field, bad.Value)
	fmt.Println(err)
	// Output:
	// program 7 "matmul" (1 CBs on 64 cores, 8388608 bytes) <nil>
	// CB 0 Size 9223372036854775808
	// program 7 "matmul": CB 0: Size 9223372036854775808: beyond 2^63-1
}

// The third buffer names the cores of the first two as two rectangles. As written it
// goes above both, and does not fit.
func ExampleBuilder_AsWritten() {
	b := program.NewBuilder(1).
		CB(program.CB{Cores: l1.Rect(0, 0, 0, 0), Size: 2048}).
		CB(program.CB{Cores: l1.Rect(1, 0, 1, 0), Size: 1_100_000}).
		CB(program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0], [1-0 - 1-0]}"), Size: 400_000})
	fmt.Println("merged    ", built(b, l1.P150()).CB(2).Range)
	fmt.Println("as written", built(b.AsWritten(), l1.P150()).CB(2).Range)
	// Output:
	// merged     [113664,513664)
	// as written [1211648,1611648)
}

// Persistent pages end at 120,000 on the cores of one column. Buffers on any of these start
// above them, on all their cores.
func ExampleBuilder_Base() {
	list(built(program.NewBuilder(1).
		Base(l1.Rect(0, 0, 0, 7), 120_000).
		CB(program.CB{Cores: l1.Rect(0, 0, 7, 7), Size: 2048}).
		CB(program.CB{Cores: l1.Rect(1, 0, 7, 7), Size: 4096}), l1.N150()))
	_, err := program.NewBuilder(2).Base(l1.Rect(0, 0, 0, 7), 100_000).Build(l1.N150())
	fmt.Println(err)
	// Output:
	// CB 0 at [120000,122048)
	// CB 1 at [122048,126144)
	// program 2: base 0: Address 100000: below the base of the device, 103712
}
