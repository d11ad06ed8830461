package device

import (
	"iter"
	"sync/atomic"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/internal/corepeaks"
	"github.com/cbl1/cbl1/l1"
)

// A cohort is a row of devices, of one mesh or of none, on which every call did the
// same. They share one record, with the figures of each of them. Their ids ascend. A
// call on some of them divides the cohort, and cohorts never join. So a call on a
// whole mesh costs as much as one on a single device.
//
// The fleet's lock guards everything that changes except the atomic totals.
type cohort struct {
	registered atomic.Uint64 // = state.totals.Registered, for lock-free reads
	resident   atomic.Uint64 // = left.bytes, for lock-free reads
	record
}

// A record holds the content of the devices of a cohort, and their high-water marks.
type record struct {
	slot, n int    // the slots of its devices: n from slot on
	state   *state // nil if the devices were removed
	cores   *corepeaks.Marks
	mesh    *mesh // nil for a lone device
	fleet   *Fleet
	peak    registeredPeaks
	spec    *l1.Spec
	hybrid  bool // the allocator is in HYBRID mode

	left         *residue.Residue // the residue of the dispatches
	residentPeak uint64
	corePeak     uint64  // resident bytes on the fullest core, while memory is nil
	memory       *memory // nil until anything but circular buffers is resident
}

// A share is the part of a set that lies in one cohort: n devices from slot on.
type share struct {
	*cohort
	slot, n int
}

// id returns the lowest id.
func (s share) id() ID { return s.fleet.ids[s.slot] }

// shares returns the devices in slots by their cohorts. A cohort may be divided between two steps.
// Cost: O(slots / 64), and O(1) for each share.
func (f *Fleet) shares(slots bitset.Bits) iter.Seq[share] {
	return func(yield func(share) bool) {
		for slot, ok := slots.Next(0); ok; {
			c := f.at(slot)
			end := slots.End(slot, c.slot+c.n)
			if !yield(share{c, slot, end - slot}) {
				return
			}
			slot, ok = slots.Next(end)
		}
	}
}

// at returns the cohort of a device.
func (f *Fleet) at(slot int) *cohort { return f.slots[slot].cohort.Load() }

// cut returns the cohort of exactly these devices. It divides a cohort that holds
// others too.
func (f *Fleet) cut(s share) *cohort {
	if s.n == s.cohort.n {
		return s.cohort
	}
	f.split(s.cohort, s.slot-s.cohort.slot)
	f.split(f.at(s.slot), s.n)
	return f.at(s.slot)
}

// split divides a cohort behind its first n devices, if there are more. The smaller
// part becomes another cohort, so that all divisions of N devices cost O(N log N).
func (f *Fleet) split(c *cohort, n int) {
	if n == 0 || n == c.n {
		return
	}
	out := &cohort{record: c.record}
	if rest := c.n - n; n < rest {
		out.n, c.slot, c.n = n, c.slot+n, rest
	} else {
		out.slot, out.n, c.n = c.slot+n, rest, n
	}
	out.registered.Store(c.registered.Load())
	out.resident.Store(c.resident.Load())
	if c.memory != nil {
		m := *c.memory
		out.memory = &m
		f.heaps.Move(nil, m.buffers)
	}
	out.state.Users++
	for _, chip := range f.slots[out.slot : out.slot+out.n] {
		chip.cohort.Store(out)
	}
}

// joins reports whether c may take the new devices of o, which follow its own.
func (c *cohort) joins(o *cohort) bool {
	own := c.record
	own.slot, own.n = o.slot, o.n
	return own == o.record && o.mesh == nil
}

// totals returns the figures of a device that was not removed.
func (c *cohort) totals() Totals {
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
