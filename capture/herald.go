package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// A herald is the frees of circular buffers with one id. They announce programs also on units
// that are met later.
type herald struct {
	at       uint64 // of the last ones
	programs int    // that these announced; 0 = no free announced any
}

// heralds know the frees of circular buffers: the programs that they announced on each unit, and the
// runs that are alive there.
type heralds struct {
	units *units
	byID  map[device.ID]*herald
	awake crowd // those that wake has woken
	alive crowd // with a run that no free has ended
}

func newHeralds(u *units) heralds {
	return heralds{units: u, byID: map[device.ID]*herald{}, alive: crowd{seat: 1}}
}

// wake returns what a unit began to run since the last free that announced programs there. Units that sleep
// began nothing since then. Announcements to them are found when they wake, so that a free costs nothing
// for them.
func (h *heralds) wake(u *unit) *announced {
	if h.awake.has(u) {
		return &u.since
	}
	h.awake.add(u)
	l := workload{}
	for id := range h.units.members.above(u.id) {
		if of := h.byID[id]; of != nil && of.programs > 0 && (l.most == 0 || of.at > l.at) {
			l = workload{at: of.at, by: id, most: of.programs, found: 1}
		}
	}
	u.since.workload = l
	return &u.since
}

// announce records a free with an id: programs follow on the units that it reaches.
func (h *heralds) announce(id device.ID, at uint64) {
	of := h.byID[id]
	if of == nil {
		of = &herald{}
		h.byID[id] = of
	}
	of.at, of.programs = at, 1
	for _, u := range h.units.among(&h.awake, id) {
		h.awake.remove(u)
		u.since.programs, u.since.executions, u.since.workload = u.since.programs[:0], 0, workload{}
	}
}

// again counts a free that comes once more, and announces one more program: all frees of a workload of several programs
// come first.
func (h *heralds) again(id device.ID) {
	of := h.byID[id]
	of.programs++
	for _, u := range h.units.among(&h.awake, id) {
		u.since.most++
	}
}

// live records that something is alive on a unit.
func (h *heralds) live(u *unit) {
	if !h.alive.has(u) {
		h.alive.add(u)
	}
}

// end ends the run that is alive on a unit.
func (h *heralds) end(u *unit) {
	h.alive.remove(u)
	u.run.end()
}

// aimless reports whether a free with an id reaches nothing while something is alive, and no node says which runs it
// ends.
func (h *heralds) aimless(id device.ID, known *knowledge) bool {
	left := len(h.alive.all)
	if one := h.units.byID[event.NoDevice]; one != nil && h.alive.has(one) {
		left--
	}
	return left > 0 && !known.placed[id] && !known.members.isChip[id] && !known.members.isMesh(id)
}
