package fuzz_test

import (
	"testing"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/fuzz/suite"
	"pgregory.net/rapid"
)

func TestFleetModel(t *testing.T) { many(t, suite.TrackerModel(newFleet)) }

func FuzzFleetModel(f *testing.F) {
	seed(f)
	f.Fuzz(rapid.MakeFuzz(suite.TrackerModel(newFleet)))
}

// The oracle is a tracker like any other. That it agrees with itself says that the
// suite keeps the two apart and makes no query twice.
func TestModelAgainstItself(t *testing.T) {
	rapid.Check(t, suite.TrackerModel(func() suite.Tracker { return model.NewFleet() }))
}

// seed gives a fuzz target lives to start from: rapid makes its choices from these words. Shorter
// inputs end before anything has happened.
func seed(f *testing.F) {
	for s := range uint64(4) {
		data, x := make([]byte, 1<<14), s
		for i := range data {
			x = x*6364136223846793005 + 1442695040888963407
			data[i] = byte(x >> 56)
		}
		f.Add(data)
	}
}
