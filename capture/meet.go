package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// members records which chips of a mesh have a part of a tensor.
func (p *places) members(n *node) {
	if n.Anomaly.Has(event.AnomalyDeviceTensors) {
		p.programs.hideMembers()
	}
	for _, t := range n.Tensor.DeviceTensors {
		if t.MeshDeviceID.OK {
			p.learn(device.ID(t.MeshDeviceID.V), device.ID(t.DeviceID))
		}
	}
}

// learn records that a mesh has a chip, which may have missed frees and buffers of the
// mesh.
func (p *places) learn(mesh, chip device.ID) {
	u := p.units.byID[chip]
	if u != nil {
		p.programs.heralds.wake(u) // what was announced to it so far is without what is learnt now
	}
	if !p.known.members.member(mesh, chip) {
		return
	}
	delete(p.units.reach, mesh)
	if p.memory.hidden.freed[mesh] || p.memory.hidden.freed[chip] || u != nil && u.blind {
		p.known.tooLate(noteMeshLate) // its buffers may be hidden, or its programs show
	}
	if p.programs.heralds.wrong(mesh, chip, u, p.at) {
		p.known.tooLate(noteMeshLate)
	}
	if u == nil {
		return // it will begin with what the mesh has
	}
	p.devices.allocatedBy(u, p.at)
	if b := p.memory.live.waiting; b != nil && b.said.named == mesh {
		p.settle()
	}
	if from := p.units.byID[mesh]; from != nil && from.touched {
		p.known.tooLate(noteMeshLate)
		p.memory.join(u, slices.Values([]device.ID{mesh}))
	}
}

// meet returns the unit with an id. A new one begins with what its meshes have.
func (p *places) meet(id device.ID) *unit {
	if u := p.units.byID[id]; u != nil {
		return u
	}
	u := &unit{id: id, met: p.at}
	p.known.members.met[id] = true
	if u.blind = p.programs.hidden.from(p.known.members, id); u.blind {
		p.programs.hidden.blind++
	}
	like := event.Opt[device.ID]{}
	spec, _ := p.specs.of(id)
	for _, from := range p.units.meshesOf(id) {
		if !from.touched {
			continue
		}
		cores := p.grids.use(from.id).cores
		if like.OK || from.ran || !cores.Equal(p.grids.use(id).cores) || from.told.spec.L1Small != spec.L1Small {
			p.known.tooLate(noteMeshLate) // its history is not the mesh's
		}
		if !like.OK {
			like, u.touched = event.Some(from.id), true
		}
	}
	p.units.add(u)
	p.devices.declare(u, like, p.at)
	p.devices.allocatedBy(u, p.at)
	p.memory.join(u, p.known.members.above(id))
	return u
}
