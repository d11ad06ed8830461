package device

import (
	"github.com/cbl1/cbl1/program"
)

// A content is what a device holds, core by core, in the form that can be changed.
type content struct {
	born     uint64 // serial number of the fleet when it was made, or 0: what is older than a picture is not changed
	occupied partition
	reserved *partition // nil while it would be equal to occupied
	live     *live      // the programs
	differ   int        // programs whose reserved footprint is another one
	has      marks      // the programs, by the marks of their first groups
	programs int
	charge   uint64 // sum of the programs' charges
}

// newContent returns the content of a device without programs.
func newContent(o *roster) *content {
	t := &content{live: newLive()}
	t.occupied = partition{live: t.live, roster: o, footprint: occupiedBy}
	return t
}

func occupiedBy(r *registration) program.Footprint {
	if r.program == nil {
		return r.buffer
	}
	return r.program.Occupied(program.CircularBuffer)
}

func reservedBy(r *registration) program.Footprint {
	if r.program == nil {
		return r.buffer
	}
	return r.program.Reserved(program.CircularBuffer)
}

// add registers a program.
func (t *content) add(r *registration) {
	if r.differs {
		t.differ++
	}
	if t.differ > 0 && t.reserved == nil {
		reserved := t.occupied.clone()
		reserved.logical, reserved.footprint = 0, reservedBy
		for _, c := range reserved.classes {
			c.logical = 0 // the groups of the others are the same: see registration.differs
		}
		t.reserved = &reserved
	}
	t.occupied.add(r)
	if t.reserved != nil {
		t.reserved.add(r)
	}
	t.live.put(r)
	t.has.put(r.mark)
	t.programs++
	t.charge += r.charge
}

// remove takes a program off.
func (t *content) remove(r *registration) {
	t.live.drop(r)
	if r.differs {
		t.differ--
	}
	t.occupied.remove(r)
	switch {
	case t.differ == 0:
		t.reserved = nil
	case t.reserved != nil:
		t.reserved.remove(r)
	}
	t.has.drop(r.mark)
	t.programs--
	t.charge -= r.charge
}

// change takes one program off and puts another one on; either may be nil.
func (t *content) change(old, new *registration) {
	if old != nil {
		t.remove(old)
	}
	if new != nil {
		t.add(new)
	}
}

// reservation returns the partition of what is reserved.
func (t *content) reservation() *partition {
	if t.reserved != nil {
		return t.reserved
	}
	return &t.occupied
}

// totals returns the figures without peaks.
func (t *content) totals() Totals {
	return Totals{
		Registered: t.occupied.bytes,
		Reserved:   t.reservation().bytes,
		Logical:    t.occupied.logical,
		Core:       t.occupied.fullest,
		Programs:   t.programs,
	}
}

// clone returns an independent copy, which looks programs up in a roster.
func (t *content) clone(o *roster) *content {
	out := *t
	out.born = 0
	out.has.bits = t.has.bits.clone()
	out.live = t.live.clone()
	out.occupied = t.occupied.clone()
	out.occupied.live, out.occupied.roster = out.live, o
	if t.reserved != nil {
		reserved := t.reserved.clone()
		reserved.live, reserved.roster = out.live, o
		out.reserved = &reserved
	}
	return &out
}
