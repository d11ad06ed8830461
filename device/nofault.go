//go:build !cbl1faults

package device

import "github.com/cbl1/cbl1/device/internal/bitset"

// faults are failures on purpose; see fault.go. A normal build has none, and compiles
// the calls away.
type faults struct{}

func (faults) step() error             { return nil }
func (faults) visit(bitset.Bits) error { return nil }
