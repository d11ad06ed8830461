package classes

import (
	"github.com/cbl1/cbl1/program"
)

// A Content holds the programs of a device, core by core, in the form that can be
// changed.
type Content struct {
	Born     uint64 // its name, and its age: contents older than a picture are not changed; 0 = of no state
	Occupied Partition
	Reserved *Partition // nil while it would be equal to Occupied
	Live     *live      // the programs
	differ   int        // programs whose reserved footprint differs
	Charge   uint64     // sum of the programs' charges
}

// NewContent returns the content of a device without programs.
func NewContent(o *Roster) *Content {
	t := &Content{Live: new(live)}
	t.Occupied = Partition{live: t.Live, Roster: o, Footprint: OccupiedBy}
	return t
}

// OccupiedBy returns the footprint that a holder occupies.
func OccupiedBy(r *Holder) program.Footprint { return r.occupied }

func reservedBy(r *Holder) program.Footprint {
	if r.Program == nil {
		return r.occupied
	}
	return r.Program.Reserved(program.CircularBuffer)
}

// Add registers a program.
func (t *Content) Add(r *Holder) {
	if r.differs {
		t.differ++
	}
	if t.differ > 0 && t.Reserved == nil {
		reserved := t.Occupied.Clone(t.Occupied.Owner)
		reserved.Logical, reserved.Footprint = 0, reservedBy
		for i, c := range reserved.Classes {
			reserved.Classes[i].Class = c.clone(reserved.Owner)
			reserved.Classes[i].Logical = 0 // the groups of the others are the same: see Holder.differs
		}
		t.Reserved = &reserved
	}
	t.Occupied.Add(r)
	if t.Reserved != nil {
		t.Reserved.Add(r)
	}
	t.Live.put(r)
	t.Charge += r.Charge
}

// remove removes a program.
func (t *Content) remove(r *Holder) {
	t.Live.drop(r)
	if r.differs {
		t.differ--
	}
	t.Occupied.Remove(r)
	switch {
	case t.differ == 0:
		t.Reserved = nil
	case t.Reserved != nil:
		t.Reserved.Remove(r)
	}
	t.Charge -= r.Charge
}

// Change takes one program off and puts another one on; either may be nil.
func (t *Content) Change(old, new *Holder) {
	if old != nil {
		t.remove(old)
	}
	if new != nil {
		t.Add(new)
	}
}

// Reservation returns the partition of the reserved ranges.
func (t *Content) Reservation() *Partition {
	if t.Reserved != nil {
		return t.Reserved
	}
	return &t.Occupied
}

// Figures are the totals of a content.
type Figures struct {
	Registered, Reserved, Logical, Core uint64
	Programs                            int
}

// Totals returns the figures.
func (t *Content) Totals() Figures {
	return Figures{
		Registered: t.Occupied.Bytes,
		Reserved:   t.Reservation().Bytes,
		Logical:    t.Occupied.Logical,
		Core:       t.Occupied.Fullest,
		Programs:   t.Live.n,
	}
}

// Clone returns a copy, which resolves numbers by a roster. Its name is 0, so that
// classes shared with the original are never changed in place. See Partition.Clone.
func (t *Content) Clone(o *Roster) *Content {
	out := *t
	out.Born = 0
	out.Live = t.Live.clone(o)
	out.Occupied = t.Occupied.Clone(0)
	out.Occupied.live, out.Occupied.Roster = out.Live, o
	if t.Reserved != nil {
		reserved := t.Reserved.Clone(0)
		reserved.live, reserved.Roster = out.Live, o
		out.Reserved = &reserved
	}
	return &out
}

// Rename gives the content a name that is new in its fleet: from now on it copies
// shared classes before it changes them.
func (t *Content) Rename(name uint64) {
	t.Born, t.Occupied.Owner = name, name
	if t.Reserved != nil {
		t.Reserved.Owner = name
	}
}
