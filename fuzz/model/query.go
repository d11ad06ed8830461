package model

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Devices returns the ids of all devices in ascending order.
func (f *Fleet) Devices() []uint64 { return slices.Sorted(maps.Keys(f.devices)) }

// Meshes returns the number of meshes that were added.
func (f *Fleet) Meshes() int { return len(f.meshes) }

// Spec returns the board of a device.
func (f *Fleet) Spec(id uint64) (l1.Spec, error) {
	d := f.devices[id]
	if d == nil {
		return l1.Spec{}, ErrNoDevice
	}
	return d.spec, nil
}

// Programs returns the ids of the programs registered anywhere, ascending.
func (f *Fleet) Programs() []program.ID { return slices.Sorted(maps.Keys(f.programs)) }

// Where returns the ids of the devices that have the program, ascending.
func (f *Fleet) Where(id program.ID) []uint64 {
	var out []uint64
	if r := f.programs[id]; r != nil {
		for d := range r.on {
			out = append(out, d.id)
		}
	}
	slices.Sort(out)
	return out
}

// ProgramsOn returns the ids of the programs registered on a device, ascending.
func (f *Fleet) ProgramsOn(id uint64) []program.ID {
	var out []program.ID
	for _, p := range f.Programs() {
		if f.programs[p].on[f.devices[id]] {
			out = append(out, p)
		}
	}
	return out
}

// Totals counts a device.
func (f *Fleet) Totals(id uint64) (Totals, error) {
	d := f.devices[id]
	if d == nil {
		return Totals{}, ErrNoDevice
	}
	t := f.now(d)
	t.Peak = d.peak
	return t, nil
}

// now counts a device, without its peaks.
func (f *Fleet) now(d *device) (t Totals) {
	for _, s := range f.occupied(d) {
		t.Registered += s.count()
		t.Core = max(t.Core, s.count())
	}
	for _, s := range f.unite(d, func(p *paper) canvas { return p.reserved }) {
		t.Reserved += s.count()
	}
	for at, l := range d.left {
		if at.kind == program.CircularBuffer {
			t.Resident += l.bytes.count()
		}
	}
	for _, s := range d.tracked() {
		t.Tracked += s.count()
		t.TrackedCore = max(t.TrackedCore, s.count())
	}
	t.Buffers = d.sums()
	for _, r := range f.on(d) {
		t.Programs++
		for _, size := range r.picture.circular().logical {
			t.Logical += size
		}
	}
	return t
}

// occupied returns the bytes of every core that some program has.
func (f *Fleet) occupied(d *device) canvas {
	return f.unite(d, func(p *paper) canvas { return p.occupied })
}

// unite paints the bytes of all programs of a device over each other.
func (f *Fleet) unite(d *device, of func(*paper) canvas) canvas {
	out := canvas{}
	for _, r := range f.on(d) {
		for c, s := range of(r.picture.circular()) {
			out.unite(c, s)
		}
	}
	return out
}

// MeshTotals sums the figures of a mesh over its remaining devices. Core belongs to the fullest
// core of all; Peak has the peaks of the sums.
func (f *Fleet) MeshTotals(mesh int) (Totals, error) {
	if mesh < 0 || mesh >= len(f.meshes) {
		return Totals{}, ErrMesh
	}
	t := f.sum(f.meshes[mesh])
	t.Peak = f.meshes[mesh].peak
	return t, nil
}

func (f *Fleet) sum(m *mesh) (t Totals) {
	for _, d := range m.members {
		n := f.now(d) // a removed device has nothing
		t.Registered += n.Registered
		t.Reserved += n.Reserved
		t.Logical += n.Logical
		t.Programs += n.Programs
		t.Resident += n.Resident
		t.Tracked += n.Tracked
		t.Buffers.add(n.Buffers)
		t.Core = max(t.Core, n.Core)
		t.TrackedCore = max(t.TrackedCore, n.TrackedCore)
	}
	return t
}

// Core counts one core; one that does not exist has nothing.
func (f *Fleet) Core(id uint64, core l1.Core) CoreTotals {
	d := f.devices[id]
	if d == nil {
		return CoreTotals{}
	}
	t := CoreTotals{Peak: d.peaks[core], Resident: d.left[place{program.CircularBuffer, core}].bytes.count(), Tracked: d.tracked()[core].count()}
	var occupied, reserved byteSet
	for _, r := range f.on(d) {
		paper := r.picture.circular()
		occupied.unite(paper.occupied[core])
		reserved.unite(paper.reserved[core])
		t.Logical += paper.logical[core]
		if paper.occupied[core].count() > 0 {
			t.Programs++
		}
	}
	t.Registered, t.Reserved = occupied.count(), reserved.count()
	return t
}

// Regions returns the maximal runs of occupied bytes of a core.
func (f *Fleet) Regions(id uint64, core l1.Core) []l1.Range {
	d := f.devices[id]
	if d == nil {
		return nil
	}
	var all byteSet
	for _, r := range f.on(d) {
		all.unite(r.picture.circular().occupied[core])
	}
	return all.regions()
}

// Owners returns the ids of the programs that occupy a byte of a core, ascending.
func (f *Fleet) Owners(id uint64, core l1.Core, addr uint64) []program.ID {
	var out []program.ID
	for _, p := range f.ProgramsOn(id) {
		if f.programs[p].picture.circular().occupied[core].holds(addr) {
			out = append(out, p)
		}
	}
	return out
}
