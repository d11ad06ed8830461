//go:build !cbl1faults

package device

// Faults are failures on purpose; see fault.go. In a normal build there are none, and
// nothing is left of the calls.
type faults struct{}

func (faults) step() error        { return nil }
func (faults) visit(bitset) error { return nil }
