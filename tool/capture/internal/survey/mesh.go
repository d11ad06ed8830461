package survey

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// Meshes and chips are numbered apart, both from 0. So one number may be a mesh and a chip.
//
//	mesh 100 of chips 0, 1      no number is both
//	mesh 0 of chip 0            open_mesh_device(MeshShape(1, 1)): both numbers mean the same L1
//	mesh 0 of chips 0, 1        0 is both: the mesh has chip 1 too
//	mesh 1 of chip 0,           create_unit_meshes({0, 1}): 1 is both, and chip 1 is not in mesh 1
//	mesh 2 of chip 1
//
// Pairs of a mesh and a chip stand in device_tensors of tensors and in executions. A number without a pair is a
// device of its own. By type, a node names
//
//	buffers, tensors, lists     the mesh, if the number is one: they lie on its chips, and on no other chip with the number
//	circular buffers            a chip. Without an address (NO_DISPATCH) the mesh, if the number is one
//	frees of circular buffers   the mesh: the free announces a program. Of a number that is a chip alone: the end of a
//	                            program. Of one that is both: see FreeKind
//	executions                  both
//
// Releases before PR 37218 name the mesh in circular buffers with addresses too. Where a number is both, the nodes
// around it decide (Members.Places). Where they do not, id-collision says so.
//
// If a file lists one device, and no node names another chip, there is only one L1: all numbers that no pair explains
// are meshes of this chip, and its own number may be. If nodes name several chips, the listed device may be their mesh.

// Members are the ids of a capture, and which chips each mesh has.
type Members struct {
	Chips  map[device.ID][]device.ID // mesh -> its chips, ascending
	meshes map[device.ID][]device.ID // chip -> the meshes that have it, ascending
	IsChip map[device.ID]bool        // ids that were seen as a chip's
	hybrid map[device.ID]bool        // ids of tensors that were allocated core by core
	Unread bool                      // a node that may name a chip of a mesh cannot be read
	only   event.Opt[device.ID]      // the one chip of the capture: nodes without an id mean it
	Row    event.Opt[device.ID]      // the one listed device, which may be a mesh of several chips that no pair names

	Recorded bool // a local circular buffer or an L1 buffer has an address
	executed bool // the capture has executions
	// perChip: circular buffers name chips. It has executions, or one of them names an id that is a chip alone, or a
	// chip right behind a free of its mesh.
	perChip bool
}

// NewMembers returns no ids.
func NewMembers() *Members {
	set := func() map[device.ID]bool { return map[device.ID]bool{} }
	return &Members{Chips: map[device.ID][]device.ID{}, meshes: map[device.ID][]device.ID{}, IsChip: set(), hybrid: set()}
}

// Join records that a chip belongs to a mesh.
func (m *Members) Join(mesh, chip device.ID) {
	at, found := slices.BinarySearch(m.Chips[mesh], chip)
	if found {
		return
	}
	m.Chips[mesh] = slices.Insert(m.Chips[mesh], at, chip)
	at, _ = slices.BinarySearch(m.meshes[chip], mesh)
	m.meshes[chip] = slices.Insert(m.meshes[chip], at, mesh)
}

// Reaches reports whether a buffer under one id lies on the unit with another one. Without an id it may lie anywhere.
func (m *Members) Reaches(from, to device.ID) bool {
	if from == event.NoDevice || from == to && !m.IsBoth(from) {
		return true
	}
	return m.has(from, to)
}

// has reports whether a mesh has a chip.
func (m *Members) has(mesh, chip device.ID) bool {
	_, found := slices.BinarySearch(m.Chips[mesh], chip)
	return found
}

// Share reports whether buffers under two ids may lie on one device.
func (m *Members) Share(a, b device.ID) bool {
	return m.Reaches(b, a) && !m.IsBoth(a) || a == event.NoDevice ||
		slices.ContainsFunc(m.Chips[a], func(chip device.ID) bool { return m.Reaches(b, chip) })
}

// MeshesOf returns the meshes that have a chip, ascending. The caller must not change them.
func (m *Members) MeshesOf(chip device.ID) []device.ID { return m.meshes[chip] }

// Above yields the ids under which buffers lie on a unit: no id, the id itself and its meshes.
func (m *Members) Above(id device.ID) iter.Seq[device.ID] {
	return func(yield func(device.ID) bool) {
		if !yield(event.NoDevice) || id != event.NoDevice && !m.IsBoth(id) && !yield(id) {
			return
		}
		for _, mesh := range m.meshes[id] {
			if !yield(mesh) {
				return
			}
		}
	}
}

// IsMesh reports whether chips of an id are known.
func (m *Members) IsMesh(id device.ID) bool { return len(m.Chips[id]) > 0 }

// IsBoth reports whether an id is both a mesh and a chip.
func (m *Members) IsBoth(id device.ID) bool { return m.IsMesh(id) && m.IsChip[id] }

// isLone reports whether an id is both a mesh and its only chip: all nodes with it mean the same L1.
func (m *Members) isLone(id device.ID) bool { return len(m.Chips[id]) == 1 && m.Chips[id][0] == id }

// OnlyChip reports whether an id is known as a chip's and not as a mesh's. A free with
// such an id comes from the end of a program, not from an operation.
func (m *Members) OnlyChip(id device.ID) bool { return m.IsChip[id] && !m.IsMesh(id) }

// Role returns what the unit with an id stands for. One of a number that is both is the chip.
func (m *Members) Role(id device.ID) event.Role {
	switch {
	case id == event.NoDevice:
		return event.RoleNone
	case m.IsMesh(id) && !m.IsChip[id]:
		return event.RoleMesh
	}
	return event.RoleChip
}

// IsHybrid reports whether a tensor that lies on an id was allocated core by core.
func (m *Members) IsHybrid(id device.ID) bool {
	for of := range m.Above(id) {
		if m.hybrid[of] {
			return true
		}
	}
	return false
}

// Places returns the units on which a node places something. last is the id of the last free of circular buffers
// before it. unclear reports whether the number may be a chip's or a mesh's, and nothing decides.
func (m *Members) Places(n *graph.Node, last device.ID) (on []device.ID, unclear bool) {
	id := graph.DeviceOf(n.DeviceID)
	switch {
	case !m.IsBoth(id) || m.isLone(id):
	case n.Address.V == 0:
		return m.Chips[id], false
	case m.perChip:
	case last == id && !m.Reaches(id, id):
		return m.Chips[id], false
	default:
		unclear = true
	}
	return []device.ID{id}, unclear
}

// Resolve gives a node without an id the one chip that it means. A free of circular buffers without an id reaches
// all devices. A tensor without a type lies on no device.
func (m *Members) Resolve(n *graph.Node) {
	if n.DeviceID.OK || !m.only.OK || n.Unreadable != nil {
		return
	}
	switch n.Type {
	case graph.TypeTensor:
		if !n.Buffer.BufferType.OK {
			return
		}
	case graph.TypeCircularBufferAllocate, graph.TypeDataflowBufferAllocate, graph.TypeScratchpadAllocate, graph.TypeBuffer, graph.TypeBufferAllocate, graph.TypeBufferDeallocate:
	default:
		return
	}
	n.DeviceID = event.Some(uint64(m.only.V))
}

// AnySharing reports whether a key of a map may mean one device with an id.
func AnySharing[V any](members *Members, of map[device.ID]V, id device.ID) bool {
	for range sharing(members, of, id) {
		return true
	}
	return false
}

// sharing yields the values of a map whose keys may mean one device with an id. It visits the
// keys, or the ids that may share a device with the id, whichever are fewer.
func sharing[V any](members *Members, of map[device.ID]V, id device.ID) iter.Seq[V] {
	return func(yield func(V) bool) {
		if id == event.NoDevice || len(of) <= 1+len(members.Chips[id])+len(members.meshes[id]) {
			for other, v := range of {
				if members.Share(other, id) && !yield(v) {
					return
				}
			}
			return
		}
		on, seen := slices.Clip(members.Chips[id]), map[device.ID]bool{}
		if !members.IsBoth(id) {
			on = append(on, id)
		}
		for _, one := range on {
			for other := range members.Above(one) {
				if v, ok := of[other]; ok && !seen[other] && !yield(v) {
					return
				}
				seen[other] = true
			}
		}
	}
}
