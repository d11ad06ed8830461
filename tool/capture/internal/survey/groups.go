package survey

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// A free of circular buffers names a mesh when a program is about to run there, and a chip when a program dies. Where
// the number is both, the nodes around the free decide. Frees of one id back to back are a group, which is decided
// as one. In a function, a group is
//
//   - a run, if something is executed on the chips of the mesh behind it, before the function ends or the next group
//     comes, or placed there before another mesh is freed that has the chip;
//   - else the end of programs, if the capture has executions;
//   - else a run, if the function shows fewer programs of the chip that have not ended: it hit the program cache, or
//     is not shown;
//   - else a run, if an earlier call of the same function ran one more program;
//   - else the end of programs.
//
// Outside of all functions a group is a run. With nothing behind it, it is not shown, unless the chip with the same number
// shows a program before, which may end.

// groups find the facts about groups of frees for the second reading.
type groups struct {
	known *Knowledge
	last  FreeNode
	named device.ID               // of the last free with an id
	open  map[device.ID]*group    // the last one of each mesh, in a function
	on    map[device.ID]*onDevice // by device
	ran   map[device.ID]uint64    // counters behind the last executions on chips
}

// A FreeNode is a free of circular buffers.
type FreeNode struct {
	ID    device.ID
	After uint64 // counter of the next node; 0 = there was no free
}

// A group is frees of a mesh back to back.
type group struct {
	id          device.ID
	start       uint64 // of the function
	first, next uint64 // counters of its first free, and behind its last one
	most        uint64 // programs of the chip with the same number that the group may end
	shown       bool   // a chip shows something behind it
}

// onDevice counts the programs that a device shows.
type onDevice struct {
	last     uint64 // counter behind the last node that placed something
	programs uint64 // of the function of that node, less those that ended
	free     *group // that reached it since; nil = none
}

func newGroups(k *Knowledge) groups {
	return groups{known: k, named: event.NoDevice, open: map[device.ID]*group{}, on: map[device.ID]*onDevice{}, ran: map[device.ID]uint64{}}
}

// of returns what a device shows.
func (g *groups) of(id device.ID) *onDevice {
	if g.on[id] == nil {
		g.on[id] = &onDevice{}
	}
	return g.on[id]
}

// place records a node that places something on some units, in a function that began at start.
func (g *groups) place(on []device.ID, at, start uint64) {
	for _, unit := range on {
		d, more := g.of(unit), uint64(0)
		if of := d.free; of != nil && g.open[of.id] == of {
			of.shown, more = true, of.next-of.first
		}
		if d.last <= start {
			d.programs, more = 0, max(more, 1)
		}
		d.last, d.programs, d.free = at+1, d.programs+more, nil
	}
}

// free records a free in a function, nil if none runs. It reports whether it is not the first of its group.
func (g *groups) free(id device.ID, at uint64, in *frame) (again bool) {
	again = g.last == (FreeNode{id, at}) && at > 0
	g.last = FreeNode{id, at + 1}
	if id != event.NoDevice {
		g.named = id
	}
	m := g.known.Members
	if id == event.NoDevice || m.OnlyChip(id) {
		return again && id == event.NoDevice
	}
	if in == nil {
		if m.IsMesh(id) && g.of(id).last == 0 {
			g.known.Unshown.Add(at)
		}
		return again
	}
	if of := g.open[id]; of != nil {
		if again && of.next == at {
			of.next = at + 1
			return true
		}
		g.close(of)
	}
	of := &group{id: id, start: in.start, first: at, next: at + 1}
	if d := g.of(id); d.last > in.start {
		of.most = d.programs
	}
	for _, chip := range g.chips(id) {
		g.of(chip).free = of
	}
	g.open[id], in.freed = of, append(in.freed, id)
	return false
}

// chips returns the chips of a mesh. An id without a pair may be both a mesh and its chip.
func (g *groups) chips(id device.ID) []device.ID {
	if g.known.Members.IsMesh(id) {
		return g.known.Members.Chips[id]
	}
	return []device.ID{id}
}

// end closes the groups of a function that ends.
func (g *groups) end(of frame) {
	for _, id := range of.freed {
		if one := g.open[id]; one != nil && one.start == of.start {
			g.close(one)
		}
	}
}

// close decides a group.
func (g *groups) close(of *group) {
	k, chips := g.known, g.chips(of.id)
	delete(g.open, of.id)
	ran := func(chip device.ID) bool { return g.ran[chip] > of.next }
	switch n := of.next - of.first; {
	case of.shown:
		some := slices.DeleteFunc(slices.Clone(chips), func(chip device.ID) bool { return g.of(chip).last <= of.next })
		if len(some) < len(chips) && len(k.Partly) < MaxTensors {
			k.Partly[of.first] = some
		}
	case slices.ContainsFunc(chips, ran) || k.Members.IsMesh(of.id) && !k.Members.IsBoth(of.id):
	case n <= of.most:
		k.behind.Add(of.first)
		g.of(of.id).programs -= min(n, g.of(of.id).programs)
	default:
		k.Unshown.Add(of.first)
	}
}

// A FreeKind is the meaning of a free of circular buffers.
type FreeKind int

const (
	FreeRuns FreeKind = iota // a program of a mesh is about to run
	FreeEnds                 // a program of a chip has ended
	FreeAsks                 // the end of a program, unless an earlier call of the function ran one more
)

// FreeOf returns the meaning of the first free of a group.
func (k *Knowledge) FreeOf(id device.ID, at uint64) FreeKind {
	switch {
	case k.Members.OnlyChip(id):
		return FreeEnds
	case !k.Members.IsBoth(id) || !k.behind.Has(at) && !k.Unshown.Has(at):
		return FreeRuns
	case k.Members.executed:
		return FreeEnds
	case k.behind.Has(at):
		return FreeAsks
	}
	return FreeRuns
}
