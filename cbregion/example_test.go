package cbregion_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/l1"
)

// Two cached programs use the same base address. Together they cover the larger of the two, not the
// sum. When the larger one goes, the smaller one still holds its bytes.
func Example() {
	var core cbregion.Counter
	small, _ := core.Add(1, l1.Range{Start: 111_616, End: 119_808})
	more, _ := core.Add(2, l1.Range{Start: 111_616, End: 123_904})
	fmt.Println("adds", small, "then", more, "both take", core.Bytes())
	freed, _ := core.Remove(2, l1.Range{Start: 111_616, End: 123_904})
	fmt.Println("frees", freed, "and leaves", slices.Collect(core.Regions()))
	// Output:
	// adds 8192 then 4096 both take 12288
	// frees 4096 and leaves [[111616,119808)]
}

func ExampleCounter_Regions() {
	var core cbregion.Counter
	_, _ = core.Add(1, l1.Range{Start: 0, End: 64})
	_, _ = core.Add(2, l1.Range{Start: 64, End: 96}) // touches: one region
	_, _ = core.Add(3, l1.Range{Start: 128, End: 160})
	for r := range core.Regions() {
		fmt.Println(r)
	}
	// Output:
	// [0,96)
	// [128,160)
}

func ExampleCounter_Remove() {
	var core cbregion.Counter
	_, _ = core.Add(1, l1.Range{Start: 0, End: 64})
	_, err := core.Remove(2, l1.Range{Start: 0, End: 64})
	fmt.Println(err, errors.Is(err, cbregion.ErrNotFound))
	// Output: owner 2 does not hold [0,64) true
}

func ExampleCounter_BytesIn() {
	var core cbregion.Counter
	_, _ = core.Add(1, l1.Range{Start: 0, End: 64})
	buffer := l1.Range{Start: 48, End: 80}
	n := core.BytesIn(buffer)
	fmt.Println("overlaps:", n > 0, "by", n, "inside:", n == buffer.Len())
	// Output: overlaps: true by 16 inside: false
}

func ExampleCounter_Overlapping() {
	var core cbregion.Counter
	_, _ = core.Add(7, l1.Range{Start: 0, End: 64})
	_, _ = core.Add(8, l1.Range{Start: 0, End: 32})
	_, _ = core.Add(9, l1.Range{Start: 96, End: 128})
	for owner, r := range core.Overlapping(l1.Range{Start: 32, End: 112}) {
		fmt.Println(owner, r)
	}
	// Output:
	// 7 [0,64)
	// 9 [96,128)
}

func ExampleCounter_Owners() {
	var core cbregion.Counter
	_, _ = core.Add(7, l1.Range{Start: 0, End: 64})
	_, _ = core.Add(8, l1.Range{Start: 0, End: 32})
	for owner := range core.Owners(16) {
		fmt.Println(owner)
	}
	// Output:
	// 7
	// 8
}

func ExampleCoverage() {
	var v cbregion.Coverage
	for range 4_096 { // cached programs at one base
		v.Add(l1.Range{Start: 111_616, End: 119_808})
	}
	fmt.Println(v.Bytes(), "bytes,", v.Boundaries(), "boundaries")
	// Output: 8192 bytes, 2 boundaries
}
