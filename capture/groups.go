package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// A free of circular buffers names a mesh when a program is about to run there, and a chip when a program dies. Where
// the number is both, the nodes around the free decide. Frees of one id back to back are a group, which is decided
// as one. In a function, a group is
//
//   - a run, if something is placed or executed on the chips of the mesh behind it, before the function ends or the
//     next group comes;
//   - else the end of a program, if the capture has executions;
//   - else a run, if the function placed nothing on these chips before: it hit the program cache, or is not shown;
//   - else a run, if an earlier call of the same function ran one more program;
//   - else the end of a program.
//
// Outside of all functions it is a run.

// groups find the facts about groups of frees for the second reading.
type groups struct {
	known *knowledge
	last  freeNode
	named device.ID            // of the last free with an id
	open  map[device.ID]*group // the last one of each mesh, in a function
	put   map[device.ID]uint64 // counter behind the last node that placed something on a unit
	ran   map[device.ID]uint64 // the same of executions on chips
}

// A group is frees of a mesh back to back.
type group struct {
	start       uint64 // of the function
	first, next uint64 // counters of its first free, and behind its last one
	behind      bool   // the function placed something there before
}

func newGroups(k *knowledge) groups {
	return groups{known: k, named: event.NoDevice, open: map[device.ID]*group{}, put: map[device.ID]uint64{}, ran: map[device.ID]uint64{}}
}

// place records a node that places something on some units.
func (g *groups) place(on []device.ID, at uint64) {
	for _, unit := range on {
		g.put[unit] = at + 1
	}
}

// free records a free in a function, nil if none runs. It reports whether it is not the first of its group.
func (g *groups) free(id device.ID, at uint64, in *frame) (again bool) {
	again = g.last == (freeNode{id, at}) && at > 0
	g.last = freeNode{id, at + 1}
	if id != event.NoDevice {
		g.named = id
	}
	m := g.known.members
	if !m.isMesh(id) || in == nil {
		return again && !m.onlyChip(id)
	}
	if of := g.open[id]; of != nil {
		if again && of.next == at {
			of.next = at + 1
			return true
		}
		g.close(id)
	}
	of := &group{start: in.start, first: at, next: at + 1}
	of.behind = g.put[id] > in.start
	for _, chip := range m.chips[id] {
		of.behind = of.behind || g.put[chip] > in.start
	}
	g.open[id], in.freed = of, append(in.freed, id)
	return false
}

// end closes the groups of a function that ends.
func (g *groups) end(of frame) {
	for _, id := range of.freed {
		if one := g.open[id]; one != nil && one.start == of.start {
			g.close(id)
		}
	}
}

// close decides the group of a mesh.
func (g *groups) close(id device.ID) {
	k, of := g.known, g.open[id]
	delete(g.open, id)
	var shown []device.ID
	ran := false
	for _, chip := range k.members.chips[id] {
		ran = ran || g.ran[chip] > of.next
		if g.put[chip] > of.next {
			shown = append(shown, chip)
		}
	}
	switch {
	case len(shown) > 0:
		if len(shown) < len(k.members.chips[id]) && len(k.partly) < maxTensors {
			k.partly[of.first] = shown
		}
	case ran || !k.members.isBoth(id):
	case of.behind:
		k.behind.add(of.first)
	default:
		k.unshown.add(of.first)
	}
}

// A freeKind is the meaning of a free of circular buffers.
type freeKind int

const (
	freeRuns freeKind = iota // a program of a mesh is about to run
	freeEnds                 // a program of a chip has ended
	freeAsks                 // the end of a program, unless an earlier call of the function ran one more
)

// freeOf returns the meaning of the first free of a group.
func (k *knowledge) freeOf(id device.ID, at uint64) freeKind {
	switch {
	case k.members.onlyChip(id):
		return freeEnds
	case !k.behind.has(at) && !k.unshown.has(at):
		return freeRuns
	case k.members.executed:
		return freeEnds
	case k.behind.has(at):
		return freeAsks
	}
	return freeRuns
}
