package model

import (
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Fleet is a set of devices and of programs registered on them. The zero Fleet is
// not usable; see NewFleet.
type Fleet struct {
	devices  map[uint64]*device
	meshes   []*mesh
	programs map[program.ID]*registration
	traces   map[uint64]*trace
	captured uint64 // traces that were ever begun
}

type device struct {
	id    uint64
	spec  l1.Spec
	peak  Peaks
	peaks map[l1.Core]uint64
	left  map[place]residue      // by the place that was written
	live  map[uint64]*allocation // by the ids of buffers

	hybrid bool // the mode of its allocator
}

type mesh struct {
	members []*device // also removed ones
	peak    Peaks
}

type registration struct {
	program *program.Program
	picture *Painting
	on      map[*device]bool // at least one
	heir    *registration    // what replaced it
}

// NewFleet returns a fleet without devices.
func NewFleet() *Fleet {
	return &Fleet{devices: map[uint64]*device{}, programs: map[program.ID]*registration{}, traces: map[uint64]*trace{}}
}

// AddDevice adds a device with nothing registered on it.
func (f *Fleet) AddDevice(id uint64, spec l1.Spec) error {
	var wrong complaints
	wrong.when(spec.Check() != nil, ErrBadSpec)
	wrong.when(f.devices[id] != nil, ErrDeviceExists)
	if err := wrong.err(); err != nil {
		return err
	}
	f.add(id, spec)
	return nil
}

func (f *Fleet) add(id uint64, spec l1.Spec) *device {
	d := &device{id: id, spec: spec, peaks: map[l1.Core]uint64{}, left: map[place]residue{}, live: map[uint64]*allocation{}}
	f.devices[id] = d
	return d
}

// AddMesh adds rows x cols devices with consecutive ids. Meshes are numbered from 0
// in the order in which they are added.
func (f *Fleet) AddMesh(first uint64, rows, cols int, spec l1.Spec) error {
	const most = 1 << 24 // devices of one mesh
	if rows < 1 || cols < 1 || rows > most/cols || uint64(rows*cols-1) > math.MaxUint64-first {
		return ErrMesh
	}
	var wrong complaints
	wrong.when(spec.Check() != nil, ErrBadSpec)
	for i := range uint64(rows * cols) {
		wrong.when(f.devices[first+i] != nil, ErrDeviceExists)
	}
	if err := wrong.err(); err != nil {
		return err
	}
	m := &mesh{}
	for i := range uint64(rows * cols) {
		m.members = append(m.members, f.add(first+i, spec))
	}
	f.meshes = append(f.meshes, m)
	return nil
}

// Remove removes devices, with their registered and resident programs.
func (f *Fleet) Remove(ids []uint64) error {
	devices, err := f.find(ids)
	if err != nil {
		return err
	}
	for _, d := range devices {
		for id, r := range f.programs {
			delete(r.on, d)
			if len(r.on) == 0 {
				delete(f.programs, id)
			}
		}
		d.left, d.live = nil, nil
		delete(f.devices, d.id)
	}
	return nil
}

// on returns the programs of a device.
func (f *Fleet) on(d *device) (out []*registration) {
	for _, r := range f.programs {
		if r.on[d] {
			out = append(out, r)
		}
	}
	return out
}

// find returns the devices with the given ids, each once, by id.
func (f *Fleet) find(ids []uint64) ([]*device, error) {
	var out []*device
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		d := f.devices[id]
		if d == nil {
			return nil, ErrNoDevice
		}
		out = append(out, d)
	}
	return out, nil
}

// Register counts p on the devices that do not have it, and returns them.
func (f *Fleet) Register(p *program.Program, ids []uint64) (added []uint64, err error) {
	fresh, err := f.admit(p, ids)
	if err != nil {
		return nil, err
	}
	pic := Paint(p)
	for _, d := range fresh {
		if f.programs[p.ID()] == nil {
			f.programs[p.ID()] = &registration{program: p, picture: pic, on: map[*device]bool{}}
		}
		f.programs[p.ID()].on[d] = true
		added = append(added, d.id)
	}
	f.settle()
	return added, nil
}

// admit returns the devices that do not have p, if it may be registered on all.
func (f *Fleet) admit(p *program.Program, ids []uint64) (fresh []*device, err error) {
	devices, err := f.find(ids)
	wrong := complaints{err}
	if p == nil {
		return nil, errors.Join(append(wrong, ErrNoProgram)...)
	}
	r := f.programs[p.ID()]
	for _, d := range devices {
		if r == nil || !r.on[d] {
			fresh = append(fresh, d)
		}
	}
	wrong = append(wrong, unfit(p, devices)...)
	wrong.when(f.exceeds(nil, p, fresh), ErrOverflow)
	wrong.when(r != nil && len(ids) > 0 && !r.counts(p), ErrConflict)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	return fresh, nil
}

// unfit returns why a program cannot be counted on devices.
func unfit(p *program.Program, devices []*device) (wrong complaints) {
	for _, d := range devices {
		wrong.when(!d.spec.Places(p.Spec()), ErrSpec)
	}
	wrong.when(len(devices) > 0 && outside(p), ErrGrid)
	return wrong
}

// outside reports whether a CB names a core that the grid does not have.
func outside(p *program.Program) bool {
	for _, cb := range p.CBs() {
		for c := range covered(cb.Cores) {
			if p.Spec().Cols > 0 && (int(c.X) >= p.Spec().Cols || int(c.Y) >= p.Spec().Rows) {
				return true
			}
		}
	}
	return false
}

// counts reports whether p counts the same as the registered program.
func (r *registration) counts(p *program.Program) bool {
	// The size first: one that differs may be too large to be painted.
	return logical(p) == logical(r.program) && r.picture.same(Paint(p))
}

// logical returns the sizes of the CBs of a program, summed over cores. Build has
// checked that the sum does not overflow.
func logical(p *program.Program) uint64 {
	n := uint64(0)
	for _, cb := range p.CBs() {
		if cb.Kind == program.CircularBuffer && !cb.Global {
			n += cb.Size * uint64(len(covered(cb.Cores)))
		}
	}
	return n
}

// Unregister takes a program off devices. All of them must have it.
func (f *Fleet) Unregister(p program.ID, ids []uint64) error {
	devices, err := f.find(ids)
	wrong := complaints{err}
	r := f.programs[p]
	for _, id := range ids {
		d := f.devices[id]
		wrong.when(d != nil && (r == nil || !r.on[d]), ErrNotRegistered)
	}
	if err := wrong.err(); err != nil {
		return err
	}
	for _, d := range devices {
		delete(r.on, d)
	}
	for _, t := range f.traces {
		t.leave(r, devices)
	}
	if r != nil && len(r.on) == 0 {
		delete(f.programs, p)
	}
	f.settle()
	return nil
}

// UnregisterAll takes a program off all devices that have it, and returns them.
func (f *Fleet) UnregisterAll(p program.ID) (removed []uint64) {
	removed = f.Where(p)
	if r := f.programs[p]; r != nil {
		r.on = nil // traces remember it
	}
	delete(f.programs, p)
	f.settle()
	return removed
}

// Replace puts another program in the place of the one with the id old on all devices that have it,
// and returns them.
func (f *Fleet) Replace(old program.ID, new *program.Program) (changed []uint64, err error) {
	if new == nil {
		return nil, ErrNoProgram
	}
	r := f.programs[old]
	if r == nil {
		return nil, ErrNotRegistered
	}
	var wrong complaints
	wrong.when(new.ID() != old && f.programs[new.ID()] != nil, ErrConflict)
	devices := slices.Collect(maps.Keys(r.on))
	wrong = append(wrong, unfit(new, devices)...)
	wrong.when(f.exceeds(r, new, devices), ErrOverflow)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	pic := Paint(new)
	changed = f.Where(old)
	delete(f.programs, old)
	r.heir = &registration{program: new, picture: pic, on: r.on}
	f.programs[new.ID()] = r.heir
	r.on = nil // traces remember it
	f.settle()
	return changed, nil
}

// Exceeds reports whether the logical bytes of a device or mesh would exceed 2^63-1 if p came to
// the devices, or, with old, took the place of old on its devices. Such a call is refused. Only
// refused programs may be too large to be painted.
func (f *Fleet) Exceeds(old, p *program.Program, ids []uint64) bool {
	if old == nil {
		devices, _ := f.find(ids)
		return f.exceeds(nil, p, devices)
	}
	r := f.programs[old.ID()]
	return r != nil && f.exceeds(r, p, slices.Collect(maps.Keys(r.on)))
}

func (f *Fleet) exceeds(old *registration, p *program.Program, devices []*device) bool {
	on := func(d *device) uint64 {
		n := uint64(0)
		for _, r := range f.on(d) {
			if r != old {
				n += logical(r.program)
			}
		}
		return n
	}
	tooMuch := func(members []*device) bool {
		sum, touched := uint64(0), false
		for _, d := range members {
			add := uint64(0)
			if slices.Contains(devices, d) {
				add, touched = logical(p), true
			}
			for _, n := range []uint64{on(d), add} {
				if n > l1.MaxAddr-sum {
					return true
				}
				sum += n
			}
		}
		return touched && sum > l1.MaxAddr
	}
	for _, d := range devices {
		if tooMuch([]*device{d}) {
			return true
		}
	}
	return slices.ContainsFunc(f.meshes, func(m *mesh) bool { return tooMuch(m.members) })
}

// settle notes the high-water marks of a completed operation.
func (f *Fleet) settle() {
	for _, d := range f.devices {
		d.peak.raise(f.now(d))
		for c, s := range f.occupied(d) {
			d.peaks[c] = max(d.peaks[c], s.count())
		}
	}
	for _, m := range f.meshes {
		m.peak.raise(f.sum(m))
	}
}

// ResetPeaks sets the high-water marks of a device and its cores to the bytes that are registered
// and resident now. The marks of its mesh stay.
func (f *Fleet) ResetPeaks(id uint64) error {
	d := f.devices[id]
	if d == nil {
		return ErrNoDevice
	}
	d.peak, d.peaks = Peaks{}, map[l1.Core]uint64{}
	f.settle()
	return nil
}
