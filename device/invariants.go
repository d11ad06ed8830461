package device

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// CheckInvariants counts the fleet anew, core by core: registered programs by the devices of Where, tracked
// bytes by the last dispatches and the buffers. It compares Snapshot with that, and Totals, Registered and
// Resident of each device and mesh, all of one moment. The first figure that differs is an ErrInvariant.
// Cost: for each set of programs the ranges that they have on their cores, and the same for buffers. Others wait
// while the programs, the last writers and the buffers are written down.
func (f *Fleet) CheckInvariants() (err error) {
	defer named("CheckInvariants", &err)
	c := counting{on: map[*state]bitset.Set{}, known: map[*state]Totals{}}
	f.see(&c)
	for i := range c.devices {
		c.device(i)
	}
	for _, m := range c.meshes {
		c.id, c.of = m.first, "mesh: "
		c.row(m.totals, m.registered, m.resident, m.sum)
	}
	return c.wrong
}

// A counting compares the figures of a fleet with counted ones.
type counting struct {
	picture
	seen     []seenDevice // of devices
	programs []seenProgram
	meshes   []*seenMesh
	on       map[*state]bitset.Set // the slots of devices
	known    map[*state]Totals     // that were counted

	id    ID     // of the device in question
	of    string // before the name of a figure
	wrong error  // about the first figure that differs
}

// A seenDevice has the figures of a device that need no lock, and the rest of its L1.
type seenDevice struct {
	slot                 int
	registered, resident uint64
	rest                 *rest
	mesh                 *seenMesh
}

// A rest has the last writers and the buffers of devices that have the same ones.
type rest struct {
	pieces  []residue.Piece
	buffers []*heap.Allocation
	counted *Totals
}

// A seenProgram is the program of an id, and the slots of its devices.
type seenProgram struct {
	id program.ID
	p  *program.Program
	on bitset.Set
}

// A seenMesh has the figures of a mesh, and the sums over its devices.
type seenMesh struct {
	first                ID
	totals               Totals
	registered, resident uint64
	sum                  Totals
}

// see writes the fleet down.
func (f *Fleet) see(c *counting) {
	type content struct {
		left *residue.Residue
		heap *heap.Heap
	}
	contents, meshes := map[content]*rest{}, map[*mesh]*seenMesh{nil: nil}
	c.picture = f.picture(func() {
		for id, r := range f.programs {
			c.programs = append(c.programs, seenProgram{id, r.Program, r.on.Clone()})
		}
		for d := range f.shares(f.live) {
			has := content{d.left, d.heap()}
			if contents[has] == nil {
				contents[has] = &rest{pieces: d.left.Written(), buffers: d.heap().Sorted()}
			}
			m, known := meshes[d.mesh]
			if !known {
				m = &seenMesh{d.mesh.first, d.mesh.totals(), d.mesh.registered.Load(), d.mesh.resident.Load(), Totals{}}
				meshes[d.mesh] = m
				c.meshes = append(c.meshes, m)
			}
			for slot := d.slot; slot < d.slot+d.n; slot++ {
				at := Device{f.slots[slot]}
				c.seen = append(c.seen, seenDevice{slot, at.Registered(), at.Resident(), contents[has], m})
			}
		}
	})
	c.hold()
	for i, at := range c.at {
		c.on[at.state] = c.on[at.state].With(c.seen[i].slot)
	}
	slices.SortFunc(c.programs, func(a, b seenProgram) int { return cmp.Compare(a.id, b.id) })
}

// same compares a figure.
func (c *counting) same(what string, have, want uint64) {
	if have != want && c.wrong == nil {
		c.wrong = ofDevice(c.id, 0, fmt.Errorf("%s%s is %d and %w of %d", c.of, what, have, ErrInvariant, want))
	}
}

// row compares the figures of a device or mesh. High-water marks are at least what there is.
func (c *counting) row(have Totals, registered, resident uint64, want Totals) {
	want.Peak = have.Peak
	want.Peak.raise(&want)
	c.fields("", reflect.ValueOf(have), reflect.ValueOf(want))
	c.same("published Registered", registered, want.Registered)
	c.same("published Resident", resident, want.Resident)
}

// fields compares the numbers of a struct, by their names.
func (c *counting) fields(of string, have, want reflect.Value) {
	for i := range have.NumField() {
		name, h, w := of+have.Type().Field(i).Name, have.Field(i), want.Field(i)
		switch {
		case h.Kind() == reflect.Struct:
			c.fields(name+".", h, w)
		case h.CanUint():
			c.same(name, h.Uint(), w.Uint())
		default:
			c.same(name, uint64(h.Int()), uint64(w.Int()))
		}
	}
}

// device compares a device.
func (c *counting) device(i int) {
	d, at := &c.devices[i], &c.seen[i]
	c.id, c.of = d.id, ""
	want, ok := c.known[c.at[i].state]
	if !ok {
		want = c.registered(d, c.on[c.at[i].state])
		c.known[c.at[i].state] = want
	}
	beside := at.rest.count()
	want.Resident, want.Tracked, want.TrackedCore, want.Buffers = beside.Resident, beside.Tracked, beside.TrackedCore, beside.Buffers
	c.row(d.totals, at.registered, at.resident, want)
	if at.mesh != nil {
		at.mesh.add(&want)
	}
}

// add adds the figures of a device.
func (m *seenMesh) add(t *Totals) {
	m.sum.Registered += t.Registered
	m.sum.Reserved += t.Reserved
	m.sum.Logical += t.Logical
	m.sum.Resident += t.Resident
	m.sum.Tracked += t.Tracked
	m.sum.Programs += t.Programs
	m.sum.Core, m.sum.TrackedCore = max(m.sum.Core, t.Core), max(m.sum.TrackedCore, t.TrackedCore)
	m.sum.Buffers.Move(fit.BufferTotals{}, t.Buffers, 1)
}

// registered counts the programs of the devices in some slots, and compares the programs and cores of one of
// them in the snapshot.
func (c *counting) registered(d *DeviceSnapshot, slots bitset.Set) (t Totals) {
	var occupied, reserved pile
	for _, p := range c.programs {
		_, n := slots.And(p.on)
		if n == 0 {
			continue
		}
		c.same(fmt.Sprintf("number of devices like it with program %d", p.id), uint64(n), uint64(slots.Count()))
		if t.Programs < len(d.programs) {
			c.same("id of a program", uint64(d.programs[t.Programs].ID()), uint64(p.id))
		}
		t.Programs++
		occupied.footprint(p.p.Occupied(program.CircularBuffer))
		reserved.footprint(p.p.Reserved(program.CircularBuffer))
	}
	c.same("number of programs", uint64(len(d.programs)), uint64(t.Programs))
	t.Registered, t.Core = occupied.sum()
	t.Reserved, _ = reserved.sum()
	cores := 0
	for _, g := range d.groups {
		t.Logical += g.Logical * uint64(g.Cores.Len())
		for core := range g.Cores.All() {
			cores++
			c.core(core, g, occupied[core])
		}
	}
	c.same("number of cores with something registered", uint64(cores), uint64(len(occupied)))
	return t
}

// core compares a core.
func (c *counting) core(core l1.Core, have CoreGroup, want *CoreGroup) {
	if want == nil {
		want = new(CoreGroup)
	}
	if have.Registered != want.Registered || compareHeld(have, *want) != 0 {
		of := "core " + core.String() + ": "
		c.same(of+"Registered", have.Registered, want.Registered)
		c.same(of+"Logical", have.Logical, want.Logical)
		c.same(of+"Programs", uint64(have.Programs), uint64(want.Programs))
		c.same(of+"number of regions", uint64(len(have.regions)), uint64(len(want.regions)))
		for i := range min(len(have.regions), len(want.regions)) {
			c.same(of+"start of a region", have.regions[i].Start, want.regions[i].Start)
			c.same(of+"end of a region", have.regions[i].End, want.regions[i].End)
		}
	}
}

// count counts the rest of a device.
func (r *rest) count() Totals {
	if r.counted != nil {
		return *r.counted
	}
	var t Totals
	var all pile
	for _, w := range r.pieces {
		all.put(w.Cores, w.Group.Ranges(), 0)
		if w.Kind == program.CircularBuffer {
			t.Resident += w.Group.Bytes() * uint64(w.Cores.Len())
		}
	}
	for _, a := range r.buffers {
		t.Buffers.Add(&a.Buffer, 1)
		if a.Backing || !a.Kind.InL1() || a.Kind.Below() {
			continue
		}
		for p := range a.All() {
			all.put(p.Cores, slices.Values([]l1.Range{p.Range}), 0)
		}
	}
	t.Tracked, t.TrackedCore = all.sum()
	r.counted = &t
	return t
}

// A pile has the ranges of each core.
type pile map[l1.Core]*CoreGroup

// put puts ranges on cores.
func (p *pile) put(cores l1.CoreSet, ranges iter.Seq[l1.Range], logical uint64) {
	if *p == nil {
		*p = pile{}
	}
	for core := range cores.All() {
		g := (*p)[core]
		if g == nil {
			g = new(CoreGroup)
			(*p)[core] = g
		}
		g.Programs++
		g.Logical += logical
		g.regions = slices.AppendSeq(g.regions, ranges)
	}
}

// footprint puts the ranges of a program on its cores.
func (p *pile) footprint(f program.Footprint) {
	for g := range f.Groups() {
		p.put(g.Cores(), g.Ranges(), g.Logical())
	}
}

// sum merges the ranges of each core, and returns the bytes of all cores and of the fullest one.
func (p pile) sum() (all, most uint64) {
	for _, g := range p {
		g.regions = l1.Merge(g.regions)
		for _, r := range g.regions {
			g.Registered += r.Len()
		}
		all, most = all+g.Registered, max(most, g.Registered)
	}
	return all, most
}
