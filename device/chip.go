package device

import (
	"sync/atomic"

	"github.com/cbl1/cbl1/device/internal/corepeaks"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/l1"
)

// A chip is what a Device points to. The fleet's lock guards everything that
// changes but the atomic total.
type chip struct {
	registered atomic.Uint64 // = state.totals.Registered, for lock-free reads
	resident   atomic.Uint64 // = left.bytes, for lock-free reads
	state      *state        // nil if the device was removed
	peak       registeredPeaks
	cores      *corepeaks.Peaks
	fleet      *Fleet
	mesh       *mesh // nil for a lone device
	spec       *l1.Spec
	id         ID
	slot       int

	left         *residue.Residue // what is resident
	residentPeak uint64
	corePeak     uint64  // of what is resident on the fullest core, while memory is nil
	memory       *memory // nil while nothing but circular buffers was ever resident
}

// totals returns the figures of a device that was not removed.
func (c *chip) totals() Totals {
	t := totalsOf(&c.state.totals)
	t.Peak = Peaks{Registered: c.peak.registered, Reserved: c.peak.reserved, Logical: c.peak.logical, Core: c.peak.core}
	t.Resident, t.Peak.Resident = c.left.Total(), c.residentPeak
	t.Tracked, t.Peak.Tracked = t.Resident, t.Peak.Resident
	t.TrackedCore, t.Peak.TrackedCore = c.left.Fullest(), c.corePeak
	if m := c.memory; m != nil {
		t.Tracked, t.TrackedCore, t.Buffers = m.tracked.Bytes, m.tracked.Core, m.buffers.Heap().Sums()
		t.Peak.Tracked, t.Peak.TrackedCore = m.peak.Bytes, m.peak.Core
		t.Peak.L1, t.Peak.L1Small, t.Peak.DRAM = m.l1Peak, m.smallPeak, m.dramPeak
	}
	return t
}
