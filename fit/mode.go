package fit

import "fmt"

// A Mode says how an L1 buffer got its address. It decides on which cores tt-metal compares
// circular buffers with the buffer. Of other kinds it says nothing.
type Mode uint8

// The modes. A device has buffers of the last two only if its allocator is in HYBRID mode.
const (
	Lockstep      Mode = iota // one address on all cores of a device: it counts on each of them
	PerCore                   // an address of its own on each of its cores: it counts there
	RangeLockstep             // one address on its cores: it counts there, and perhaps on others
	numModes
)

// String returns the mode as data spells it: "lockstep", "per_core" or "range_lockstep".
func (m Mode) String() string {
	names := [numModes]string{"lockstep", "per_core", "range_lockstep"}
	if m < numModes {
		return names[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// MarshalText returns String: the spelling of JSON.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// CheckMode returns an error if Mode or Hidden makes no sense, and which of the two it is.
func (b *Buffer) CheckMode() (field string, err error) {
	switch {
	case b.Mode >= numModes:
		return "Mode", fmt.Errorf("there is no mode %d", uint8(b.Mode))
	case b.Mode != Lockstep && !b.Kind.tensor():
		return "Mode", fmt.Errorf("a %v has no mode", b.Kind)
	case b.Mode == RangeLockstep && b.scattered():
		return "Mode", fmt.Errorf("a buffer in %v has one address", b.Mode)
	case b.Hidden.IsEmpty():
		return "", nil
	case b.Mode != PerCore:
		return "Hidden", fmt.Errorf("a buffer in %v has no hidden cores", b.Mode)
	}
	for p := range b.All() {
		if both := p.Cores.Intersect(b.Hidden); !both.IsEmpty() {
			return "Hidden", fmt.Errorf("the address on %s is known", both.Brief())
		}
	}
	return "", nil
}

// mode returns the mode by which the buffer is judged. Lockstep stands for none.
func (b *Buffer) mode() Mode {
	if !b.Kind.tensor() {
		return Lockstep
	}
	return b.allocatedAs()
}

// allocatedAs returns the mode in which the buffer got its addresses: one with several addresses
// was allocated per core, even if its Mode differs.
func (b *Buffer) allocatedAs() Mode {
	if b.Mode == Lockstep && b.scattered() {
		return PerCore
	}
	return b.Mode
}

// scattered reports whether the buffer has several addresses.
func (b Buffer) scattered() bool {
	b.Backing = false // it has addresses of its own
	first, some := uint64(0), false
	for p := range b.standing {
		if some && p.Range.Start != first {
			return true
		}
		first, some = p.Range.Start, true
	}
	return false
}
