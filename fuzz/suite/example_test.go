package suite_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// An allocator of your own is held against the rules of any allocator. A test calls rapid.Check with them.
func ExampleAllocatorRules() {
	own := suite.PlaceFunc(func(spec l1.Spec, cbs []program.CB) ([]uint64, error) { return model.Place(spec, cbs), nil })
	test := testing.InternalTest{Name: "own", F: rapid.MakeCheck(suite.AllocatorRules(own, suite.Rules{}))}
	all := func(string, string) (bool, error) { return true, nil }
	fmt.Println(testing.RunTests(all, []testing.InternalTest{test}))
	// Output: true
}
