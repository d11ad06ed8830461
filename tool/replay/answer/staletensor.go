package answer

import "github.com/cbl1/cbl1/event"

// A Stale is a tensor in L1 that lay on the fullest core at its peak, and was not used any more.
type Stale struct {
	Buffer  BufferInfo        `json:"buffer"`
	Start   uint64            `json:"start"`
	Bytes   uint64            `json:"bytes"` // of the core
	LastUse uint64            `json:"last_use"`
	Freed   event.Opt[uint64] `json:"freed"` // absent: it was not freed
	// Lower is by how many bytes the peak would have been lower if the buffer alone had been freed at its last use. It is
	// absent if the buffer was not freed, and of all but the largest.
	Lower event.Opt[uint64] `json:"peak_lower_bytes"`
}

// Fullest returns the device with the highest peak, the first of equals; nil if nothing was in L1.
func (r *Result) Fullest() (best *DeviceL1) {
	for i := range r.L1 {
		if row := &r.L1[i]; row.Peak != nil && (best == nil || row.Peak.Bytes > best.Peak.Bytes) {
			best = row
		}
	}
	return best
}

// Stale reports whether a resident is a tensor whose last use is known, and ended before a node.
func (x L1Resident) Stale(at uint64) (s Stale, ok bool) {
	b := x.Buffer
	if b == nil || b.Tensor == nil || !b.Tensor.LastUse.OK || b.Tensor.LastUse.V >= at {
		return s, false
	}
	return Stale{*b, x.Start, x.Bytes, b.Tensor.LastUse.V, b.Tensor.Freed, event.Opt[uint64]{}}, true
}
