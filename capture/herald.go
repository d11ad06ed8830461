package capture

import (
	"fmt"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// A herald is the frees of circular buffers with one id. They announce programs also on units
// that are met later.
type herald struct {
	at       uint64  // of the last ones
	programs int     // that these announced; 0 = no free announced any
	several  bool    // it ever announced several programs
	all      stretch // from the first one that announced programs
	freed    stretch // from the first one
	aimless  note    // those that reached nothing while something was alive
}

// guesses are ids that decided something while they were unknown. An id that turns out to be
// a chip's or a mesh's would have decided otherwise.
type guesses struct {
	inOp  map[device.ID]bool // a free with the id was taken for one of an operation
	reach map[device.ID]bool // a free with the id was taken to reach all that the operation ran on
	ended map[device.ID]bool // a free with the id was taken for the end of a program of that chip
	alone map[device.ID]bool // an execution of the chip was taken to be shown under no mesh
}

// heralds know the frees of circular buffers: the programs that they announced on each unit, and the
// runs that are alive there.
type heralds struct {
	units   *units
	byID    map[device.ID]*herald
	awake   crowd // those that wake has woken
	alive   crowd // with a run that no free has ended
	guessed guesses
}

func newHeralds(u *units) heralds {
	set := func() map[device.ID]bool { return map[device.ID]bool{} }
	return heralds{units: u, byID: map[device.ID]*herald{}, alive: crowd{seat: 1}, guessed: guesses{set(), set(), set(), set()}}
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
			l = workload{at: of.at, most: of.programs, found: 1}
		}
	}
	u.since.workload = l
	return &u.since
}

// rely records that something is decided at a node by the last free that announced programs on a unit. It reports
// whether there was a later one.
func (h *heralds) rely(u *unit, at uint64) (wrong bool) {
	since := h.wake(u)
	since.relied.grow(since.at)
	since.relied.grow(at)
	_, wrong = h.missed(u)
	return wrong
}

// missed returns the counter of the last free that announced programs on a unit, if a later one is known there:
// the mesh of the free was not known to have the unit then.
func (h *heralds) missed(u *unit) (at uint64, ok bool) {
	since := h.wake(u)
	for id := range h.units.members.above(u.id) {
		if of := h.byID[id]; of != nil && of.programs > 0 && (since.most == 0 || of.at > since.at) {
			at, ok = max(at, of.at), true
		}
	}
	return at, ok
}

// several reports whether any frees announced several programs.
func (h *heralds) several() bool {
	for _, of := range h.byID {
		if of.several {
			return true
		}
	}
	return false
}

// announce records a free with an id: programs follow on the units that it reaches,
// unless it is the end of a program. inFunction says that a function runs.
func (h *heralds) announce(id device.ID, at uint64, inFunction bool) {
	of := h.byID[id]
	if of == nil {
		of = &herald{}
		h.byID[id] = of
	}
	of.freed.grow(at)
	reached := h.units.among(&h.awake, id)
	if h.units.members.onlyChip(id) {
		for _, u := range reached {
			h.guessed.ended[id] = h.guessed.ended[id] || u.since.shown
			u.since.over = u.since.over || u.since.shown
		}
		return
	}
	h.guessed.inOp[id] = h.guessed.inOp[id] || inFunction
	of.at, of.programs = at, 1
	of.all.grow(at)
	for _, u := range reached {
		h.guessed.inOp[id] = h.guessed.inOp[id] || u.since.shown || len(u.since.programs) > 0
		h.awake.remove(u)
		u.since.programs, u.since.executions, u.since.workload = u.since.programs[:0], 0, workload{}
	}
}

// again counts a free that comes once more, and reports whether it announces one more
// program: all frees of a workload of several programs come first.
func (h *heralds) again(id device.ID) bool {
	if h.units.members.onlyChip(id) {
		h.guessed.ended[id] = true
		return false
	}
	h.guessed.inOp[id] = true
	of := h.byID[id]
	of.programs, of.several = of.programs+1, true
	for _, u := range h.units.among(&h.awake, id) {
		u.since.most++
	}
	return true
}

// live records that something is alive on a unit.
func (h *heralds) live(u *unit, at uint64) {
	if !h.alive.has(u) {
		h.alive.add(u)
		u.lived.grow(at)
	}
}

// end ends the run that is alive on a unit.
func (h *heralds) end(u *unit, at uint64) {
	h.alive.remove(u)
	u.lived.grow(at)
	u.run.end()
}

// miss counts a free that reached nothing while something is alive.
func (h *heralds) miss(id device.ID, at uint64) {
	left := len(h.alive.all)
	if one := h.units.byID[event.NoDevice]; one != nil && h.alive.has(one) {
		left--
	}
	if left == 0 || h.units.anyRun(id) {
		return
	}
	missed := &h.byID[id].aimless
	if missed.count++; missed.count == 1 {
		missed.first, missed.detail = int64(at), fmt.Sprintf("id %d", id)
	}
}

// countAimless counts the frees that reached nothing and whose ids stay unknown to the end. No node
// says which runs they ended.
func (h *heralds) countAimless(odd notes) {
	members := h.units.members
	for id, of := range h.byID {
		u, one := h.units.byID[id], of.aimless
		if one.count > 0 && !members.isChip[id] && !members.isMesh(id) && (u == nil || u.run == nil) {
			odd.addAll(notes{noteMeshUnknown: &one})
		}
	}
}

// wrong reports whether a decision was wrong now that a mesh has one more chip, whose unit may be
// met. Frees of the mesh may have missed runs that were alive there. Executions there may have been
// written in spite of a free that announced other programs.
func (h *heralds) wrong(mesh, chip device.ID, u *unit, now uint64) bool {
	if of := h.byID[mesh]; of != nil && u != nil {
		lived := u.lived
		if h.alive.has(u) {
			lived.grow(now)
		}
		if lived.meets(of.freed) || u.since.relied.meets(of.all) || u.run != nil && of.several {
			return true
		}
	}
	g := &h.guessed
	return g.reach[mesh] || g.reach[chip] || g.inOp[chip] && !h.units.members.isMesh(chip) || g.ended[mesh] || g.alone[chip]
}
