package device

import (
	"github.com/cbl1/cbl1/program"
)

// A content is what a device holds, core by core, in the form that can be changed.
type content struct {
	born     uint64 // its name, and when it got that: what is older than a picture is not changed; 0 = of no state
	occupied partition
	reserved *partition // nil while it would be equal to occupied
	live     *live      // the programs
	differ   int        // programs whose reserved footprint is another one
	charge   uint64     // sum of the programs' charges
}

// newContent returns the content of a device without programs.
func newContent(o *roster) *content {
	t := &content{live: new(live)}
	t.occupied = partition{live: t.live, roster: o, footprint: occupiedBy}
	return t
}

func occupiedBy(r *holder) program.Footprint {
	if r.program == nil {
		return r.buffer
	}
	return r.program.Occupied(program.CircularBuffer)
}

func reservedBy(r *holder) program.Footprint {
	if r.program == nil {
		return r.buffer
	}
	return r.program.Reserved(program.CircularBuffer)
}

// add registers a program.
func (t *content) add(r *holder) {
	if r.differs {
		t.differ++
	}
	if t.differ > 0 && t.reserved == nil {
		reserved := t.occupied.clone(t.occupied.owner)
		reserved.logical, reserved.footprint = 0, reservedBy
		for i, c := range reserved.classes {
			reserved.classes[i].class = c.clone(reserved.owner)
			reserved.classes[i].logical = 0 // the groups of the others are the same: see holder.differs
		}
		t.reserved = &reserved
	}
	t.occupied.add(r)
	if t.reserved != nil {
		t.reserved.add(r)
	}
	t.live.put(r)
	t.charge += r.charge
}

// remove takes a program off.
func (t *content) remove(r *holder) {
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
	t.charge -= r.charge
}

// change takes one program off and puts another one on; either may be nil.
func (t *content) change(old, new *holder) {
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

// figures are the totals of a content.
type figures struct {
	Registered, Reserved, Logical, Core uint64
	Programs                            int
}

// totals returns the figures.
func (t *content) totals() figures {
	return figures{
		Registered: t.occupied.bytes,
		Reserved:   t.reservation().bytes,
		Logical:    t.occupied.logical,
		Core:       t.occupied.fullest,
		Programs:   t.live.n,
	}
}

// clone returns a copy, which looks programs up in a roster. Its name is 0, so that what it
// shares with the original is never changed in place. See partition.clone.
func (t *content) clone(o *roster) *content {
	out := *t
	out.born = 0
	out.live = t.live.clone(o)
	out.occupied = t.occupied.clone(0)
	out.occupied.live, out.occupied.roster = out.live, o
	if t.reserved != nil {
		reserved := t.reserved.clone(0)
		reserved.live, reserved.roster = out.live, o
		out.reserved = &reserved
	}
	return &out
}

// rename gives the content a name that is new in its fleet: classes that it shares with others
// are copied from now on before it changes them.
func (t *content) rename(name uint64) {
	t.born, t.occupied.owner = name, name
	if t.reserved != nil {
		t.reserved.owner = name
	}
}
