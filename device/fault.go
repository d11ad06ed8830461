//go:build cbl1faults

package device

import "github.com/cbl1/cbl1/device/internal/bitset"

// faults make the operations of a fleet fail on purpose, so that a test can prove
// that an error has changed nothing, wherever it occurs. Everything that can fail
// comes before the change, so the steps are there: one for every device that is
// visited, and one between any two checks.
type faults struct {
	inject func() error // called at every step; nil injects nothing
}

// step is a place where an operation can fail.
func (f faults) step() error {
	if f.inject == nil {
		return nil
	}
	return f.inject()
}

// visit is a step for each of some devices that are visited together.
func (f faults) visit(slots bitset.Bits) error {
	for range slots.All() {
		if err := f.step(); err != nil {
			return err
		}
	}
	return nil
}
