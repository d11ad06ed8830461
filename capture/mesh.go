package capture

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// members are the ids of a capture, and which chips each mesh has.
type members struct {
	chips  map[device.ID][]device.ID // mesh -> its chips, ascending
	meshes map[device.ID][]device.ID // chip -> the meshes that have it, ascending
	isChip map[device.ID]bool        // ids that were seen as a chip's
	hybrid map[device.ID]bool        // ids of tensors that were allocated core by core
	unread bool                      // a node that may name a chip of a mesh cannot be read
}

func newMembers() *members {
	set := func() map[device.ID]bool { return map[device.ID]bool{} }
	return &members{map[device.ID][]device.ID{}, map[device.ID][]device.ID{}, set(), set(), false}
}

// member records that a chip belongs to a mesh. A pair of equal ids says no more than that there is such a chip.
func (m *members) member(mesh, chip device.ID) {
	m.isChip[chip] = true
	if mesh == chip {
		return
	}
	at, found := slices.BinarySearch(m.chips[mesh], chip)
	if !found {
		m.chips[mesh] = slices.Insert(m.chips[mesh], at, chip)
		at, _ = slices.BinarySearch(m.meshes[chip], mesh)
		m.meshes[chip] = slices.Insert(m.meshes[chip], at, mesh)
	}
}

// reaches reports whether a node with one id is about the other one: the same id, a chip of the mesh with
// the id, or any if the node has no id.
func (m *members) reaches(from, to device.ID) bool {
	if from == event.NoDevice || from == to {
		return true
	}
	_, found := slices.BinarySearch(m.chips[from], to)
	return found
}

// share reports whether two ids may mean one device.
func (m *members) share(a, b device.ID) bool {
	return m.reaches(a, b) || m.reaches(b, a) || slices.ContainsFunc(m.chips[a], func(chip device.ID) bool { return m.reaches(b, chip) })
}

// meshesOf returns the meshes that have a chip, ascending. The caller must not change them.
func (m *members) meshesOf(chip device.ID) []device.ID { return m.meshes[chip] }

// above yields the ids that reach one: no id, the id itself and its meshes.
func (m *members) above(id device.ID) iter.Seq[device.ID] {
	return func(yield func(device.ID) bool) {
		if !yield(event.NoDevice) || id != event.NoDevice && !yield(id) {
			return
		}
		for _, mesh := range m.meshes[id] {
			if !yield(mesh) {
				return
			}
		}
	}
}

// isMesh reports whether chips of an id are known.
func (m *members) isMesh(id device.ID) bool { return len(m.chips[id]) > 0 }

// onlyChip reports whether an id is known as a chip's and not as a mesh's. A free with
// such an id comes from the end of a program, not from an operation.
func (m *members) onlyChip(id device.ID) bool { return m.isChip[id] && !m.isMesh(id) }

// role returns what an id stands for. One that is both a chip's and a mesh's counts as
// a chip.
func (m *members) role(id device.ID) event.Role {
	switch {
	case id == event.NoDevice:
		return event.RoleNone
	case m.isMesh(id) && !m.isChip[id]:
		return event.RoleMesh
	}
	return event.RoleChip
}

// isHybrid reports whether a tensor that lies on an id was allocated core by core.
func (m *members) isHybrid(id device.ID) bool {
	for of := range m.above(id) {
		if m.hybrid[of] {
			return true
		}
	}
	return false
}

// sharing yields the values of a map whose keys may mean one device with an id. It visits the
// keys, or the ids that may share a device with the id, whichever are fewer.
func sharing[V any](members *members, of map[device.ID]V, id device.ID) iter.Seq[V] {
	return func(yield func(V) bool) {
		if id == event.NoDevice || len(of) <= 1+len(members.chips[id])+len(members.meshes[id]) {
			for other, v := range of {
				if members.share(other, id) && !yield(v) {
					return
				}
			}
			return
		}
		seen := map[device.ID]bool{}
		for _, one := range append([]device.ID{id}, members.chips[id]...) {
			for other := range members.above(one) {
				v, ok := of[other]
				if ok && !seen[other] && !yield(v) {
					return
				}
				seen[other] = true
			}
		}
	}
}
