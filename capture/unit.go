package capture

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// A unit is what an id of a capture stands for: a chip, a mesh, or, in a capture
// without ids, all there is. A mesh is a unit beside its chips: chips often show only
// after the first buffers of their mesh, and then begin with what the mesh has.
type unit struct {
	id   device.ID
	told *event.Event // that declared it last

	touched bool // a buffer was allocated on it
	own     bool // one in L1 under this very id
	ran     bool // a program
	since   announced
	hybrid  bool // it was told that its allocator is in HYBRID mode
	run     *run // what it placed; nil if it never placed anything
}

// units are the ids that a capture has met.
type units struct {
	known *learnt
	byID  map[device.ID]*unit
	order []*unit               // by id, while none is added
	reach map[device.ID][]*unit // answers of reached, while nothing is added
}

func newUnits(known *learnt) *units {
	return &units{known: known, byID: map[device.ID]*unit{}, reach: map[device.ID][]*unit{}}
}

func (u *units) add(one *unit) {
	u.byID[one.id], u.order = one, nil
	clear(u.reach)
}

// sorted returns all units by id. The caller must not change them.
func (u *units) sorted() []*unit {
	if u.order == nil {
		u.order = slices.SortedFunc(maps.Values(u.byID), func(a, b *unit) int { return byID(a.id, b.id) })
	}
	return slices.Clip(u.order)
}

// reached returns the units on which a buffer of an id lies: that of the id itself, and
// those of its chips; all of them if the buffer has no id. The caller must not change
// them.
func (u *units) reached(id device.ID) []*unit {
	if id == event.NoDevice {
		return u.sorted()
	}
	if u.reach[id] == nil {
		on := []*unit{u.byID[id]}
		for _, chip := range u.known.chips[id] {
			if one := u.byID[chip]; one != nil {
				on = append(on, one)
			}
		}
		u.reach[id] = slices.Clip(on)
	}
	return u.reach[id]
}

// meshesOf returns the units whose buffers lie on a chip too, by id.
func (u *units) meshesOf(chip device.ID) []*unit {
	var out []*unit
	if one := u.byID[event.NoDevice]; one != nil && chip != event.NoDevice {
		out = append(out, one)
	}
	for _, mesh := range u.known.meshesOf(chip) {
		if one := u.byID[mesh]; one != nil {
			out = append(out, one)
		}
	}
	return out
}

// apart returns the ids with L1 buffers that nothing looked at which ran. A buffer is
// looked at by what runs under its id, or on a chip of its mesh. A chip that runs
// nothing is no reason to doubt; an id that may be a mesh is, and so is a chip whose
// mesh runs under the id of the mesh.
func (u *units) apart() (ids []device.ID) {
	if !slices.ContainsFunc(u.sorted(), func(one *unit) bool { return one.ran }) {
		return nil
	}
	for _, one := range u.sorted() {
		if one.id == event.NoDevice || !one.own || one.ran || u.known.isMesh(one.id) {
			continue
		}
		onMesh := slices.ContainsFunc(u.meshesOf(one.id), func(m *unit) bool { return m.ran && m.id != event.NoDevice })
		if !u.known.isChip[one.id] || onMesh {
			ids = append(ids, one.id)
		}
	}
	return ids
}

func idsOf(all []*unit) []device.ID {
	ids := make([]device.ID, len(all))
	for i, one := range all {
		ids[i] = one.id
	}
	return ids
}
