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
	left   *residue.Residue // what a dispatch leaves on a device that held nothing
	laid   bool             // left is known; it is nil without CBs of any kind
	pieces []residue.Piece  // what left is made of; nil = not worked out yet
	fit    bool             // it fits beside the buffers with the name, in the mode
	beside uint64
	hybrid bool
	on     slotSet
	heirs  *lineage // what replaced it, and it others; nil if it never took part
}

// holder returns r as what takes ranges on cores, nil for none.
func (r *registration) holder() *classes.Holder {
	if r == nil {
		return nil
	}
	return &r.Holder
}

// retire takes the numbers of r back if r is gone: registered nowhere, and in no step between
// states, from where it could return.
func (f *Fleet) retire(r *registration) {
	if r.steps == 0 && r.on.Empty() {
		f.roster.Retire(&r.Holder)
	}
}

// enter notes that r is on these devices as well. Nobody may change the bits from now on.
func (f *Fleet) enter(r *registration, slots bitset.Set) {
	if r.on.Empty() {
		f.share(r, slots)
	} else {
		r.on.enter(slots)
	}
}

// exit notes that r is not on these devices any more. Where it is on no others, nothing is copied.
func (r *registration) exit(slots bitset.Set) {
	if r.on.Subset(slots) {
		r.on = slotSet{}
	} else {
		r.on.leave(slots)
	}
}

// share lets r use these bits, which nobody changes from now on, or those of the
// program before it if they are equal: many programs on many devices would each take
// as much memory as a Set.
func (f *Fleet) share(r *registration, on bitset.Set) {
	if !f.lately.Equal(on) {
		f.lately = on
	}
	r.on = slotSet{f.lately, true}
}
