package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// A unit is a device with an id: a chip, a mesh, or, in a capture without ids, all there is. A mesh is a
// unit beside its chips.
type unit struct {
	id    device.ID
	spec  l1.Spec
	bases bool // rows of its meshes or chips say that circular buffers start at several addresses

	ran    bool // a program
	hidden bool // its programs are hidden up to the next free
	since  announced
	run    *run // what it placed; nil if it never placed anything

	frees []*announcement // that reach it
}

// units are the ids that a capture has met.
type units struct {
	members *survey.Members
	byID    map[device.ID]*unit
	order   []*unit                   // by id
	reach   map[device.ID][]*unit     // answers of reached
	ids     map[device.ID][]device.ID // answers of idsOn
	frees   map[device.ID]*announcement
	ran     int // units on which a program ran
}

func newUnits(members *survey.Members) *units {
	return &units{
		members: members, byID: map[device.ID]*unit{}, reach: map[device.ID][]*unit{}, ids: map[device.ID][]device.ID{}, frees: map[device.ID]*announcement{},
	}
}

func (u *units) add(one *unit) {
	u.byID[one.id] = one
	for id := range u.members.Above(one.id) {
		one.frees = append(one.frees, u.announcement(id))
	}
	at, _ := slices.BinarySearchFunc(u.order, one.id, func(o *unit, id device.ID) int { return graph.CompareDevices(o.id, id) })
	u.order = slices.Insert(u.order, at, one)
}

// reached returns the units on which a buffer of an id lies: the unit of the id itself, if there is one,
// and the units of its chips; all of them if the buffer has no id. The caller must not change them.
func (u *units) reached(id device.ID) []*unit {
	if id == event.NoDevice {
		return slices.Clone(u.order)
	}
	if u.reach[id] == nil {
		var on []*unit
		if one := u.byID[id]; one != nil && !u.members.IsBoth(id) {
			on = append(on, one)
		}
		for _, chip := range u.members.Chips[id] {
			if one := u.byID[chip]; one != nil {
				on = append(on, one)
			}
		}
		u.reach[id] = slices.Clip(on)
	}
	return u.reach[id]
}

// idsOn returns the ids of the units on which a buffer of an id lies. The caller must not change them.
func (u *units) idsOn(id device.ID) []device.ID {
	if u.ids[id] == nil {
		u.ids[id] = idsOf(u.reached(id))
	}
	return u.ids[id]
}

// of returns the units with some ids.
func (u *units) of(ids []device.ID) []*unit {
	all := make([]*unit, len(ids))
	for i, id := range ids {
		all[i] = u.byID[id]
	}
	return all
}

// announcement returns the last frees with an id.
func (u *units) announcement(id device.ID) *announcement {
	if u.frees[id] == nil {
		u.frees[id] = &announcement{by: id}
	}
	return u.frees[id]
}

// ranOn reports whether a program ran where a buffer of an id lies.
func (u *units) ranOn(id device.ID) bool {
	if id == event.NoDevice {
		return u.ran > 0
	}
	return slices.ContainsFunc(u.reached(id), func(one *unit) bool { return one.ran })
}

// meshesOf returns the meshes of a chip, by id. The unit of a number that is a mesh and a chip is the chip.
func (u *units) meshesOf(chip device.ID) (out []*unit) {
	for _, mesh := range u.members.MeshesOf(chip) {
		if one := u.byID[mesh]; one != nil && !u.members.IsChip[mesh] {
			out = append(out, one)
		}
	}
	return out
}

// ofChip returns the units of an execution on a chip.
func (u *units) ofChip(id device.ID) []*unit {
	if one := u.byID[id]; one != nil && u.members.IsBoth(id) {
		return []*unit{one}
	}
	return u.reached(id)
}

// either returns the units that an unreadable node may name.
func (u *units) either(id device.ID) []*unit {
	on := slices.Clone(u.reached(id))
	if one := u.byID[id]; one != nil && !slices.Contains(on, one) {
		on = append(on, one)
	}
	return on
}

func idsOf(all []*unit) []device.ID {
	ids := make([]device.ID, len(all))
	for i, one := range all {
		ids[i] = one.id
	}
	return ids
}

// A run has the CBs that one unit placed since the last free that reached it.
type run struct {
	on      *unit
	before  []*run // programs of the same workload that ended where the next began, and have no event yet
	divided bool   // it began where such a program ended
	cbs     []program.CB
	emitted int        // cbs that an event has
	sum     contentSum // of these
	facts              // of these
	events  []event.CB // of a form of the run, for the next one

	call        call   // at its first node
	inOp        bool   // a function ran there
	first, last uint64 // counters of its nodes
	circular    circularNodes

	opened uint64 // its number in openRuns; 0 = it is not there
}

// circularNodes are the circular buffers of a run.
type circularNodes struct {
	n           int
	first, last uint64 // counters
	path        string // functions that ran at the first one
}

// open reports whether the run has CBs that no event has.
func (r *run) open() bool { return r.emitted < len(r.cbs) }

// alive reports whether anything was placed since the last free.
func (r *run) alive() bool { return len(r.cbs) > 0 }

// placedBy returns what a node places.
func placedBy(n *graph.Node) program.CB {
	return program.CB{
		Kind: kindOf(n.Type), Cores: n.Placed.Cores, Size: n.Size.V, Global: n.Placed.Global,
		Address: n.Address.V, Fixed: n.Address.V != 0,
	}
}

// add records a node that places something.
func (r *run) add(n *graph.Node, cb program.CB, c call) {
	if !r.alive() {
		r.first, r.call, r.inOp = n.Counter, c, c.depth > 0
	}
	r.last = n.Counter
	r.cbs = append(r.cbs, cb)
	if cb.Kind != program.CircularBuffer {
		return
	}
	if r.circular.n++; r.circular.n == 1 {
		r.circular.first, r.circular.path = n.Counter, c.path
	}
	r.circular.last = n.Counter
}

// end forgets the run: a free has reached it.
func (r *run) end() {
	r.cbs, r.emitted, r.circular.n, r.divided, r.inOp = r.cbs[:0], 0, 0, false, false
	r.sum, r.facts, r.events = contentSum{}, facts{}, nil
}

// where returns where the capture shows the run.
func (r *run) where() event.RunDevice {
	on := event.RunDevice{Device: r.on.id, First: r.first, Last: r.last}
	if of := r.circular; of.n > 0 {
		on.CBFirst, on.CBLast = of.first, of.last
		if of.path != r.call.path {
			on.CBOp = event.Some(of.path)
		}
	}
	return on
}

// parts returns the programs that a run stands for. Programs of its workload that are not complete yet come
// first.
func (r *run) parts() []*run {
	all := append(slices.Clip(r.before), r)
	r.before = nil
	return all
}

// kindOf returns the kind of buffer that a node places.
func kindOf(t graph.Type) program.Kind {
	switch t {
	case graph.TypeDataflowBufferAllocate:
		return program.DataflowBuffer
	case graph.TypeScratchpadAllocate:
		return program.Scratchpad
	}
	return program.CircularBuffer
}
