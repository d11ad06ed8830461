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

// oracle is the model as a Registrar. A tracker of your own takes its place.
type oracle struct{ fleet *model.Fleet }

func (o oracle) Register(p *program.Program, device uint64) (bool, error) {
	added, err := o.fleet.Register(p, []uint64{device})
	return len(added) > 0, err
}

func (o oracle) Unregister(id program.ID, device uint64) error {
	return o.fleet.Unregister(id, []uint64{device})
}

func (o oracle) Total(device uint64) uint64 {
	t, _ := o.fleet.Totals(device)
	return t.Registered
}

// Three methods are enough to hold a tracker of your own against the oracle.
func ExampleRegistrarModel() {
	property := suite.RegistrarModel(func(spec l1.Spec) suite.Registrar {
		own := oracle{model.NewFleet()}
		if err := own.fleet.AddMesh(0, 1, 2, spec); err != nil {
			panic(err)
		}
		return own
	})
	test := testing.InternalTest{Name: "own", F: rapid.MakeCheck(property)}
	all := func(string, string) (bool, error) { return true, nil }
	fmt.Println(testing.RunTests(all, []testing.InternalTest{test}))
	// Output: true
}
