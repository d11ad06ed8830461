package device

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// CheckInvariants recounts the fleet, for each set of cores with the same contents:
// registered programs by the devices of Where, tracked bytes by the last dispatches
// and the buffers. It compares the counts with Snapshot, and with Totals, Registered
// and Resident of each device and mesh, all of one moment. The first figure that
// differs is an ErrInvariant. Cost: for each set of programs the ranges that they
// have on their cores, and the same for buffers. Others wait only while the programs
// and their devices are copied.
func (f *Fleet) CheckInvariants() (err error) {
	defer named("CheckInvariants", &err)
	c := counting{on: map[*state]bitset.Bits{}, known: map[any]Totals{}}
	f.see(&c)
	first := 0
	for i := range c.parts {
		c.part(c.ids[first], i)
		first += c.parts[i].n
	}
	for _, m := range c.meshes {
		c.row(m.first, "mesh: ", m.totals, m.published, m.sum)
	}
	return c.wrong
}

// A counting compares the figures of a fleet with counted ones.
type counting struct {
	picture
	seen     []seenPart // of parts
	programs []seenProgram
	meshes   []*seenMesh
	on       map[*state]bitset.Bits // the slots of devices
	known    map[any]Totals         // counted ones, by state, and by contents
	wrong    error                  // about the first figure that differs
}

// published are Registered and Resident, which are read without the lock.
type published [2]uint64

// A seenPart holds what a snapshot leaves out of a part.
type seenPart struct {
	published
	contents
	mesh *seenMesh
}

// contents are the last writers and the buffers of devices.
type contents struct {
	left *residue.Residue
	heap *heap.Heap
}

// A seenProgram is the program of an id, and the slots of its devices.
type seenProgram struct {
	id program.ID
	p  *program.Program
	on bitset.Bits
}

// A seenMesh has the figures of a mesh, and the sums over its devices.
type seenMesh struct {
	first ID
	published
	totals, sum Totals
}

// see copies the fleet into c.
func (f *Fleet) see(c *counting) {
	c.picture = f.picture(func() {
		f.heaps.Picture()
		for id, r := range f.programs {
			c.programs = append(c.programs, seenProgram{id, r.Program, r.on.Clone()})
		}
		meshes := map[*mesh]*seenMesh{nil: nil}
		for d := range f.shares(f.live) {
			m, known := meshes[d.mesh]
			if !known {
				at := published{d.mesh.registered.Load(), d.mesh.resident.Load()}
				m = &seenMesh{d.mesh.first, at, d.mesh.totals(), Totals{}}
				meshes[d.mesh], c.meshes = m, append(c.meshes, m)
			}
			c.on[d.state] = c.on[d.state].Add(bitset.Span(d.slot, d.n))
			at := published{d.registered.Load(), d.resident.Load()}
			c.seen = append(c.seen, seenPart{at, contents{d.left, d.heap()}, m})
		}
	})
	c.hold()
	slices.SortFunc(c.programs, func(a, b seenProgram) int { return cmp.Compare(a.id, b.id) })
}

// same compares two values of one figure of a device.
func (c *counting) same(id ID, what string, have, want any) {
	if have != want {
		c.differ(id, what, have, want)
	}
}

func (c *counting) differ(id ID, what string, have, want any) {
	if c.wrong == nil {
		c.wrong = ofDevice(id, 0, fmt.Errorf("%s: %+v %w, which is %+v", what, have, ErrInvariant, want))
	}
}

// row compares the figures of a device or mesh. High-water marks may exceed the
// present figures.
func (c *counting) row(id ID, of string, have Totals, at published, want Totals) {
	want.Peak = have.Peak
	want.Peak.raise(&want)
	c.same(id, of+"Totals", have, want)
	c.same(id, of+"Registered and Resident", at, published{want.Registered, want.Resident})
}

// part compares a part, whose first device has the id.
func (c *counting) part(id ID, i int) {
	d, at, s := &c.parts[i], &c.seen[i], c.at[i].state
	want := c.once(s, func() Totals { return c.registered(id, d, c.on[s]) })
	beside := c.once(at.contents, at.count)
	want.Resident, want.Buffers = beside.Resident, beside.Buffers
	want.Tracked, want.TrackedCore = beside.Tracked, beside.TrackedCore
	c.row(id, "", d.totals, at.published, want)
	for range d.n {
		if at.mesh != nil {
			at.mesh.add(&want)
		}
	}
}

// once returns the figures of a key. It counts them on the first call.
func (c *counting) once(key any, count func() Totals) Totals {
	t, ok := c.known[key]
	if !ok {
		t = count()
		c.known[key] = t
	}
	return t
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

// registered counts the programs of the devices in slots. It compares the programs
// and cores of one of them with the snapshot.
func (c *counting) registered(id ID, d *part, slots bitset.Bits) (t Totals) {
	var programs []*program.Program
	var occupied, reserved pile
	for _, p := range c.programs {
		_, without := slots.Minus(p.on)
		n := slots.Count() - without
		if n == 0 {
			continue
		}
		c.same(id, fmt.Sprintf("number of devices like it with program %d", p.id), n, slots.Count())
		c.same(id, "id of a program", p.p.ID(), p.id)
		programs = append(programs, p.p)
		occupied.put(p.p.Occupied(program.CircularBuffer))
		reserved.put(p.p.Reserved(program.CircularBuffer))
	}
	if !slices.Equal(d.programs, programs) {
		c.differ(id, "programs", d.programs, programs)
	}
	groups := occupied.groups()
	c.same(id, "number of groups of cores", len(d.groups), len(groups))
	for i := range min(len(d.groups), len(groups)) {
		have, want := d.groups[i], groups[i]
		if have.Registered != want.Registered || !have.Cores.Equal(want.Cores) || compareHeld(have, want) != 0 {
			c.differ(id, "group of cores", have, want)
		}
	}
	t.Programs = len(programs)
	for _, g := range groups {
		t.Registered += g.Registered * uint64(g.Cores.Len())
		t.Logical += g.Logical * uint64(g.Cores.Len())
		t.Core = max(t.Core, g.Registered)
	}
	for _, g := range reserved.groups() {
		t.Reserved += g.Registered * uint64(g.Cores.Len())
	}
	return t
}

// count counts the last writers and the buffers.
func (o *contents) count() (t Totals) {
	buffers := o.heap.Sorted()
	for _, a := range buffers {
		t.Buffers.Add(&a.Buffer, 1)
	}
	for _, at := range tiles(appendAllocations(appendResidue(nil, o.left), buffers)) {
		u, n := at.usage(), uint64(at.cores.Len())
		t.Resident += u.Of(fit.KindCB) * n
		t.Tracked += u.Tracked * n
		t.TrackedCore = max(t.TrackedCore, u.Tracked)
	}
	return t
}

// A pile holds the ranges of programs, on sets of cores that may overlap.
type pile []CoreGroup

// put adds a program.
func (p *pile) put(f program.Footprint) {
	for g := range f.Groups() {
		*p = append(*p, CoreGroup{Cores: g.Cores(), Logical: g.Logical(), regions: slices.Collect(g.Ranges())})
	}
}

// groups returns the union of the ranges on each core.
func (p pile) groups() (out []CoreGroup) {
	sets := make([]l1.CoreSet, len(p))
	for i := range p {
		sets[i] = p[i].Cores
	}
	for _, t := range l1.Tiles(sets) {
		g := CoreGroup{Cores: t.Cores, Programs: len(t.In)}
		for _, i := range t.In {
			g.Logical += p[i].Logical
			g.regions = append(g.regions, p[i].regions...)
		}
		g.regions = l1.Merge(g.regions)
		for _, r := range g.regions {
			g.Registered += r.Len()
		}
		out = append(out, g)
	}
	return joinEqual(out)
}
