package fuzz_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/cbl1/cbl1/l1"
	"pgregory.net/rapid"
)

// counter is a cbregion.Counter as a suite.Counter.
type counter struct{ c *cbregion.Counter }

func newCounter() suite.Counter { return counter{new(cbregion.Counter)} }

func (c counter) Add(owner uint64, r l1.Range) (uint64, error) {
	grew, err := c.c.Add(cbregion.Owner(owner), r)
	return grew, counterClass(err)
}

func (c counter) Remove(owner uint64, r l1.Range) (uint64, error) {
	freed, err := c.c.Remove(cbregion.Owner(owner), r)
	return freed, counterClass(err)
}

// counterClass translates the errors of package cbregion.
func counterClass(err error) error {
	var bad *l1.RangeError
	switch {
	case errors.As(err, &bad):
		return fmt.Errorf("%w: %w", model.ErrRange, err)
	case errors.Is(err, cbregion.ErrNotFound):
		return fmt.Errorf("%w: %w", model.ErrNotHeld, err)
	}
	return err
}

func (c counter) Bytes() uint64             { return c.c.Bytes() }
func (c counter) Len() int                  { return c.c.Len() }
func (c counter) Regions() []l1.Range       { return slices.Collect(c.c.Regions()) }
func (c counter) BytesIn(r l1.Range) uint64 { return c.c.BytesIn(r) }
func (c counter) Clone() suite.Counter      { return counter{c.c.Clone()} }

func (c counter) Owners(addr uint64) []uint64 {
	var out []uint64
	for o := range c.c.Owners(addr) {
		out = append(out, uint64(o))
	}
	return out
}

func TestCounterModel(t *testing.T) { many(t, suite.CounterModel(newCounter)) }

func FuzzCounterModel(f *testing.F) {
	seed(f)
	f.Fuzz(rapid.MakeFuzz(suite.CounterModel(newCounter)))
}

func TestWideCounterModel(t *testing.T) { many(t, suite.WideCounterModel(newCounter)) }

func FuzzWideCounterModel(f *testing.F) {
	seed(f)
	f.Fuzz(rapid.MakeFuzz(suite.WideCounterModel(newCounter)))
}
