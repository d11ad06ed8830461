package device

import "github.com/cbl1/cbl1/device/internal/bitset"

// A lineage is a registration and its replacements, one after the other. All of them
// share it, so the last one is one step away from each. The ones in between are not
// kept.
//
// A lineage also records the departures of its program from devices, for the traces
// that recorded it.
type lineage struct {
	last   *registration
	traces int            // traces that recorded a registration of the lineage
	left   map[int]uint64 // slot of a device -> operation of the last departure; nil without traces
	newest uint64         // operation of the last departure
}

// heritage returns the lineage of r.
func (r *registration) heritage() *lineage {
	if r.heirs == nil {
		r.heirs = &lineage{last: r}
	}
	return r.heirs
}

// latest returns the registration that took the place of r, r itself if none did.
func (r *registration) latest() *registration {
	if r.heirs == nil {
		return r
	}
	return r.heirs.last
}

// leave records that the program leaves some devices.
func (l *lineage) leave(slots bitset.Bits, operation uint64) {
	if l.left == nil {
		l.left = map[int]uint64{}
	}
	l.newest = operation
	for slot := range slots.All() {
		l.left[slot] = operation
	}
}

// release records that a trace forgets the program. Departures serve traces alone.
func (l *lineage) release() {
	if l.traces--; l.traces == 0 {
		l.left = nil
	}
}

// A recording is a registration in a trace.
type recording struct {
	*registration
	since uint64 // operation; the program has left no device of the trace up to it
}

// departed returns the slot of a device that the program has left since it was
// recorded, even if it has returned. Cost: O(1) if it left no device since then, else
// O(devices of s).
func (r *recording) departed(s Set) (slot int, ok bool) {
	if r.heirs.newest <= r.since {
		return 0, false
	}
	for slot := range s.s.slots.All() {
		if r.heirs.left[slot] > r.since {
			return slot, true
		}
	}
	r.since = r.heirs.newest
	return 0, false
}
