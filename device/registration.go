package device

import (
	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/residue"
)

// A registration is a program and the devices that have it; there is at least one.
type registration struct {
	classes.Holder
	steps  int              // between states that name it
	left   *residue.Residue // the residue of a dispatch on a device that held nothing
	laid   bool             // left is known; it is nil without CBs of any kind
	pieces []residue.Piece  // the pieces of left; nil = not worked out yet
	fit    bool             // it fits beside the buffers named beside, in the mode hybrid
	beside uint64
	hybrid bool
	on     slotSet
	heirs  *lineage // its replacements; nil if it never took part in one
}

// holder returns the holder of r, nil for nil.
func (r *registration) holder() *classes.Holder {
	if r == nil {
		return nil
	}
	return &r.Holder
}

// retire takes the numbers of r back if r is gone: registered nowhere, and named by
// no step between states, through which it could return.
func (f *Fleet) retire(r *registration) {
	if r.steps == 0 && r.on.Empty() {
		f.roster.Retire(&r.Holder)
	}
}

// enter records that r is on these devices as well. The bits must not change from now
// on.
func (f *Fleet) enter(r *registration, slots bitset.Bits) {
	if r.on.Empty() {
		f.share(r, slots)
	} else {
		r.on.enter(slots)
	}
}

// exit records that r has left these devices. If no others are left, nothing is
// copied.
func (r *registration) exit(slots bitset.Bits) {
	if r.on.Subset(slots) {
		r.on = slotSet{}
	} else {
		r.on.leave(slots)
	}
}

// share lets r use these bits, which must not change from now on, or the equal bits
// of the program before it. Without sharing, each of many programs on many devices
// would take as much memory as a Set.
func (f *Fleet) share(r *registration, on bitset.Bits) {
	if !f.lastRegistered.Equal(on) {
		f.lastRegistered = on
	}
	r.on = slotSet{f.lastRegistered, true}
}
