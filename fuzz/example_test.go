package fuzz_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// stack is somebody's allocator: one stack for all cores, which wastes memory but is
// simple. It rounds sizes up, and relies on the base to be aligned. It is not always.
func stack(spec l1.Spec, cbs []program.CB) ([]uint64, error) {
	out := make([]uint64, len(cbs))
	top := spec.CBBase
	for i, cb := range cbs {
		out[i] = top
		if cb.Fixed {
			out[i] = cb.Address
			continue
		}
		size, _ := spec.AlignCB(cb.Size)
		top += size
	}
	return out, nil
}

// In a test it is rapid.Check(t, suite.AllocatorRules(...)). Here fails runs it, with
// the same choices each time, and returns what the smallest counterexample says.
func Example_allocator() {
	fmt.Println(fails(suite.AllocatorRules(suite.PlaceFunc(stack), suite.Rules{Disjoint: true}), time.Hour))
	// Output:
	// CB 0 at 7, not a multiple of 8
}

// subtracting is a user's tracker. When a program leaves, it takes the program's bytes off the
// total: also bytes that another program still holds. Everything else is right, because the oracle
// does it.
type subtracting struct {
	*model.Fleet
	lost map[uint64]uint64 // device -> bytes taken off too much
}

func (s *subtracting) Unregister(p program.ID, ids []uint64) error {
	before := map[uint64]model.Totals{}
	for _, id := range ids {
		before[id], _ = s.Fleet.Totals(id)
	}
	if err := s.Fleet.Unregister(p, ids); err != nil {
		return err
	}
	for id, t := range before {
		now, _ := s.Fleet.Totals(id)
		size, freed := t.Logical-now.Logical, t.Registered-now.Registered
		s.lost[id] += size - freed
	}
	return nil
}

func (s *subtracting) Totals(id uint64) (model.Totals, error) {
	t, err := s.Fleet.Totals(id)
	t.Registered -= s.lost[id]
	return t, err
}

// Lives of a fleet are long, and so is making them small: after a second it is enough
// to know that there is a counterexample. In a test rapid takes half a minute and shows
// a life of a few calls.
func Example_tracker() {
	message := fails(suite.TrackerModel(func() suite.Tracker {
		return &subtracting{model.NewFleet(), map[uint64]uint64{}}
	}), time.Second)
	fmt.Println("found:", strings.Contains(message, "totals of device"))
	// Output:
	// found: true
}

// intervals is somebody's counter: a set of intervals, from which it subtracts.
type intervals struct {
	model.Counter // has the intervals; it has no part in the bug
	covered       map[uint64]bool
}

func (c *intervals) Add(owner uint64, r l1.Range) (uint64, error) {
	grew, err := c.Counter.Add(owner, r)
	for a := r.Start; err == nil && a < r.End; a++ {
		c.covered[a] = true
	}
	return grew, err
}

func (c *intervals) Remove(owner uint64, r l1.Range) (uint64, error) {
	freed, err := c.Counter.Remove(owner, r)
	for a := r.Start; err == nil && a < r.End; a++ {
		delete(c.covered, a) // even if another owner holds it
	}
	return freed, err
}

func (c *intervals) Bytes() uint64 { return uint64(len(c.covered)) }

func Example_counter() {
	fmt.Println(fails(suite.CounterModel(func() suite.Counter {
		return &intervals{covered: map[uint64]bool{}}
	}), time.Hour))
	// Output:
	// add [0,8) of owner 1 -> 8, <nil>
	// add [0,8) of owner 1 -> 0, <nil>
	// remove [0,8) of owner 1 -> 0, <nil>
	// bytes
	//  got: 0
	// want: 8
}
