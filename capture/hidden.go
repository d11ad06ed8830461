package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// hiddenPrograms are the programs that nodes hide which cannot be read.
type hiddenPrograms struct {
	all    event.Opt[uint64]    // last node that hid the programs of all devices
	lifted map[device.ID]uint64 // last free by id since then
	blind  int                  // units whose programs are hidden
	calls  bool                 // it is not known which functions run
	ran    map[hiddenRun]bool   // operations that ran a hidden program
}

// A hiddenRun is an operation that ran a hidden program on one unit, or on any of them.
type hiddenRun struct {
	operation
	on  device.ID
	any bool
}

func newHiddenPrograms() hiddenPrograms {
	return hiddenPrograms{lifted: map[device.ID]uint64{}, ran: map[hiddenRun]bool{}}
}

// covers reports whether an operation may have run a hidden program on a unit.
func (h *hiddenPrograms) covers(op operation, on device.ID) bool {
	return h.calls || h.ran[hiddenRun{operation: op, any: true}] || h.ran[hiddenRun{operation: op, on: on}]
}

func (h *hiddenPrograms) hide(run hiddenRun) {
	if len(h.ran) >= maxOperations {
		h.calls = true
		return
	}
	h.ran[run] = true
}

// everywhere takes in that a node hides the programs of all devices.
func (h *hiddenPrograms) everywhere(at uint64) {
	h.all, h.lifted = event.Some(at), map[device.ID]uint64{}
}

// from reports whether the programs of a unit that is met now are hidden.
func (h *hiddenPrograms) from(m *members, id device.ID) bool {
	if !h.all.OK {
		return false
	}
	for of := range m.above(id) {
		if at, ok := h.lifted[of]; ok && at >= h.all.V {
			return false
		}
	}
	return true
}

// hidePrograms hides the programs that the units of an id show now, up to the next free. The unit with
// the id is met.
func (p *programs) hidePrograms(at uint64, id device.ID) {
	if id != event.NoDevice {
		p.hidden.hide(hiddenRun{operation: p.call.operation, on: id})
		p.hideProgram(at, p.units.byID[id])
		return
	}
	p.hidden.everywhere(at)
	p.hidden.hide(hiddenRun{operation: p.call.operation, any: true})
	if p.hidden.blind == len(p.units.order) {
		return
	}
	for _, u := range p.units.order {
		p.hideProgram(at, u)
	}
}

// hideFree ends all runs that a hidden free may have reached, and hides the programs up to
// the next free.
func (p *programs) hideFree(at uint64, id device.ID) {
	if len(p.heralds.alive.all) > 0 || p.hidden.blind < len(p.units.order) {
		p.hideUnits(at, slices.Clone(p.units.reached(id)))
	}
	if id == event.NoDevice {
		p.hidden.everywhere(at)
	}
}

// hideProgram hides the program of one unit. The part of it that was told stays, and so do
// the programs of its workload before it.
func (p *programs) hideProgram(at uint64, u *unit) {
	since := p.heralds.wake(u)
	since.shown = true
	if r := u.run; isOpen(u) {
		p.hidden.hide(hiddenRun{operation: r.key, on: u.id})
		p.open.remove(r)
		r.cbs = r.cbs[:r.told]
		if before := r.before; len(before) > 0 {
			r.before = nil
			for i := range before {
				p.completeParts([][]*run{before}, i, at)
			}
			p.tellFreed([]device.ID{u.id}, at)
		}
		if r.told == 0 && p.heralds.alive.has(u) {
			p.heralds.end(u, at)
		}
	}
	since.programs, since.executions = since.programs[:0], 0
	if !u.blind {
		u.blind = true
		p.hidden.blind++
	}
}

// hideUnits ends the runs of some units and hides their next programs.
func (p *programs) hideUnits(at uint64, some []*unit) {
	var ended []device.ID
	for _, u := range some {
		if p.heralds.alive.has(u) {
			ended = append(ended, u.id)
			p.heralds.end(u, at)
		}
		p.hideProgram(at, u)
	}
	p.tellFreed(ended, at)
}

// hideExecution forgets which program the next execution on a chip runs.
func (p *programs) hideExecution(chip device.ID) {
	for _, u := range p.units.among(&p.heralds.awake, chip) {
		u.since.programs, u.since.executions = u.since.programs[:0], 0
	}
}

// lift ends the hiding on the units that a readable free reaches: their programs show again.
func (p *programs) lift(at uint64, id device.ID) {
	if p.hidden.blind > 0 {
		for _, u := range p.units.reached(id) {
			if u.blind {
				u.blind = false
				p.hidden.blind--
			}
		}
	}
	if p.hidden.all.OK {
		p.hidden.lifted[id] = at
	}
}

// doubted returns the units that a free with the id of a mesh may have reached too, since a node
// that may name its chips cannot be read.
func (p *programs) doubted(id device.ID) (others []*unit) {
	m := p.known.members
	for _, u := range p.units.order {
		if !m.reaches(id, u.id) && (m.isChip[u.id] || !m.isMesh(u.id)) {
			others = append(others, u)
		}
	}
	return others
}

// hideDoubted hides the programs of units that a free may have reached.
func (p *programs) hideDoubted(at uint64, id device.ID, others []*unit) {
	p.hidden.all = event.Some(at)
	p.hidden.lifted[id] = at
	p.hideUnits(at, others)
}

// hideMembers takes in that the chips of a mesh may be hidden. That matters to all frees.
func (p *programs) hideMembers() {
	if m := p.known.members; !m.unread {
		m.unread = true
		if len(p.heralds.byID) > 0 {
			p.known.tooLate(noteNone)
		}
	}
}
