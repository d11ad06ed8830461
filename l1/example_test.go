package l1_test

import (
	"fmt"

	"github.com/cbl1/cbl1/l1"
)

// The text of a capture: both spellings are read, and merged as tt-metal merges.
func ExampleParseCoreRangeSet() {
	s, err := l1.ParseCoreRangeSet("{[(x=0,y=0) - (x=1,y=1)], [2-0 - 2-0]}")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	fmt.Println(s.Merge())
	fmt.Println(s.Cores().Len(), "cores")
	// Output:
	// {[0-0 - 1-1], [2-0 - 2-0]}
	// {[0-0 - 2-0], [0-1 - 1-1]}
	// 5 cores
}

func ExampleParseError() {
	_, err := l1.ParseCoreRangeSet("{[0-0 - 7-7], [7-7 - 0-0]}")
	fmt.Println(err)
	// Output: core range set "{[0-0 - 7-7], [7-7 - 0-0]}": position 14: start lies beyond end
}

func ExampleCoreSet() {
	grid := l1.P150().Grid().Cores()
	used := l1.MustParseCoreRangeSet("{[0-0 - 12-7]}").Cores()
	fmt.Println(grid.Minus(used), grid.Contains(used))
	// Output: {[0-8 - 12-9]} true
}

func ExampleRangeOf() {
	r, err := l1.RangeOf(111_616, 8_192)
	fmt.Println(r, r.Len(), err)
	_, err = l1.RangeOf(l1.MaxAddr, 1)
	fmt.Println(err)
	// Output:
	// [111616,119808) 8192 <nil>
	// range [9223372036854775807, 9223372036854775808): ends beyond 2^63-1
}

func ExampleBytes() {
	fmt.Println(l1.Bytes(12_288), l1.Bytes(1_572_864))
	n, err := l1.ParseBytes("1.5 MiB")
	fmt.Println(uint64(n), err)
	// Output:
	// 12.0 KiB 1.5 MiB
	// 1572864 <nil>
}

// A board is a starting point: what differs is set on a copy.
func ExampleSpec() {
	spec := l1.P150()
	spec.Name, spec.Cols = "harvested", 11
	fmt.Println(spec, spec.Check())
	// Output: harvested (blackhole 11x10, L1 1572864, CB base 111616, align 64) <nil>
}

// What a program of a simulator runs on: the upper left corner of the grid.
func ExampleRect() {
	cores := l1.Rect(0, 0, 7, 7)
	first, ok := cores.Cores().First()
	fmt.Println(cores, cores.Cores().Len(), "cores, first", first, ok)
	fmt.Println(cores.Equal(l1.Rect(7, 0, 0, 7)))
	// Output:
	// {[0-0 - 7-7]} 64 cores, first 0-0 true
	// true
}

func ExampleMerge() {
	used := l1.Merge([]l1.Range{{Start: 8, End: 12}, {Start: 0, End: 4}, {Start: 4, End: 6}, {Start: 10, End: 16}})
	fmt.Println(used)
	// Output: [[0,6) [8,16)]
}

// A Blackhole with 64 KiB reserved for L1_SMALL buffers.
func ExampleSpec_Usable() {
	spec := l1.P150()
	spec.L1Small = 64 << 10
	fmt.Println(spec.Usable(), spec.Usable().Len(), "bytes")
	// Output: [111616,1507328) 1395712 bytes
}

func ExampleBoard() {
	board, ok := l1.Board("p150")
	fmt.Println(board.Cols, board.Rows, ok)
	// Output:
	// 13 10 true
}
