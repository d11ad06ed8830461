package fuzz_test

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// fleet is a device.Fleet as a suite.Tracker. It uses handles and sets as a careless
// caller would: kept from the moment they were first made, also when devices have gone
// in between, which the Fleet has to notice.
type fleet struct {
	f       *device.Fleet
	handles map[device.ID]device.Device
	removed []device.Device
	meshes  []device.Mesh
	sets    map[string]device.Set // ids as given -> the set made of them
	checks  int
	told    []published // in events of the last call
}

// A published holds the figures of a device that need no lock, also inside a call.
type published struct {
	of interface {
		Registered() uint64
		Resident() uint64
	}
	registered, resident uint64
}

func newFleet() suite.Tracker {
	f := &fleet{f: device.NewFleet(), handles: map[device.ID]device.Device{}, sets: map[string]device.Set{}}
	f.f.Observe(f.observe)
	return f
}

// observe takes down what an event finds.
func (f *fleet) observe(device.Notice) {
	for _, d := range f.handles {
		f.told = append(f.told, published{d, d.Registered(), d.Resident()})
	}
	for _, m := range f.meshes {
		f.told = append(f.told, published{m, m.Registered(), m.Resident()})
	}
}

// Played compares what the events of a call have found: all that it changes has happened before the first of them.
func (f *fleet) Played(m gen.Move, _ error) error {
	defer func() { f.told = f.told[:0] }()
	for _, at := range f.told {
		if now := (published{at.of, at.of.Registered(), at.of.Resident()}); at != now {
			return fmt.Errorf("%v: an observer sees %+v, later it is %+v", m.Op, at, now)
		}
	}
	return nil
}

// set returns the set of some devices, preferably one that was made before. A set names devices,
// not ids: sets with an id that was added anew are forgotten.
func (f *fleet) set(ids []uint64) (device.Set, error) {
	key := fmt.Sprint(ids)
	if s, ok := f.sets[key]; ok {
		return s, nil
	}
	named := make([]device.ID, len(ids))
	for i, id := range ids {
		named[i] = device.ID(id)
	}
	s, err := f.f.Of(named...)
	if err != nil {
		return device.Set{}, err
	}
	for _, m := range f.meshes {
		if sameIDs(m.Set(), s) && isLive(f.f, m) {
			s = m.Set()
		}
	}
	if all := f.f.Set(); sameIDs(all, s) {
		s = all
	}
	f.sets[key] = s
	return s, nil
}

func sameIDs(a, b device.Set) bool {
	return slices.Equal(slices.Collect(a.All()), slices.Collect(b.All()))
}

// isLive reports whether the fleet still has the devices of a mesh under their ids.
func isLive(f *device.Fleet, m device.Mesh) bool {
	for d := range m.All() {
		if now, err := f.Device(d.ID()); err != nil || now != d {
			return false
		}
	}
	return true
}

func ids(s device.Set) []uint64 {
	var out []uint64
	for id := range s.All() {
		out = append(out, uint64(id))
	}
	return out
}

func programIDs(programs iter.Seq[*program.Program]) []program.ID {
	var out []program.ID
	for p := range programs {
		out = append(out, p.ID())
	}
	return out
}

// class translates the errors of package device.
func class(err error) error {
	if err == nil {
		return nil
	}
	for _, c := range []struct{ ours, theirs error }{
		{device.ErrNoProgram, model.ErrNoProgram},
		{device.ErrNoDevice, model.ErrNoDevice},
		{device.ErrDeviceExists, model.ErrDeviceExists},
		{device.ErrNotRegistered, model.ErrNotRegistered},
		{device.ErrNoTrace, model.ErrNoTrace},
		{device.ErrTraceOpen, model.ErrTraceOpen},
		{device.ErrTraceEnded, model.ErrTraceEnded},
		{device.ErrAllocated, model.ErrAllocated},
		{device.ErrNotAllocated, model.ErrNotAllocated},
		{device.ErrConflict, model.ErrConflict},
		{device.ErrSpec, model.ErrSpec},
		{device.ErrGrid, model.ErrGrid},
		{device.ErrOverflow, model.ErrOverflow},
		{device.ErrMesh, model.ErrMesh},
		{device.ErrBuffer, model.ErrBuffer},
		{fit.ErrNoSpace, model.ErrNoSpace},
		{fit.ErrHidden, model.ErrHidden},
	} {
		if errors.Is(err, c.ours) {
			return fmt.Errorf("%w: %w", c.theirs, err)
		}
	}
	if badSpec := (*l1.SpecError)(nil); errors.As(err, &badSpec) {
		return fmt.Errorf("%w: %w", model.ErrBadSpec, err)
	}
	if v := (fit.Verdict{}); errors.As(err, &v) {
		return fmt.Errorf("%w: %w", model.ErrFit, err)
	}
	return err
}

func (f *fleet) AddDevice(id uint64, spec l1.Spec) error {
	d, err := f.f.AddDevice(device.ID(id), spec)
	if err == nil {
		f.added(d)
	}
	return class(err)
}

func (f *fleet) AddMesh(first uint64, rows, cols int, spec l1.Spec) error {
	m, err := f.f.AddMesh(device.ID(first), rows, cols, spec)
	if err != nil {
		return class(err)
	}
	f.meshes = append(f.meshes, m)
	for d := range m.All() {
		f.added(d)
	}
	return nil
}

// added forgets the sets that name another device of that id.
func (f *fleet) added(d device.Device) {
	f.handles[d.ID()] = d
	for key, s := range f.sets {
		if s.Has(d.ID()) {
			delete(f.sets, key)
		}
	}
}

func (f *fleet) Remove(ids []uint64) error {
	s, err := f.set(ids)
	if err == nil {
		err = f.f.Remove(s)
	}
	if err == nil {
		for id := range s.All() {
			f.removed = append(f.removed, f.handles[id])
			delete(f.handles, id)
		}
	}
	return class(err)
}

func (f *fleet) Register(p *program.Program, to []uint64) ([]uint64, error) {
	s, err := f.set(to)
	if err != nil {
		return nil, class(err)
	}
	added, err := f.f.Register(p, s)
	return ids(added), class(err)
}

func (f *fleet) Unregister(p program.ID, from []uint64) error {
	s, err := f.set(from)
	if err == nil {
		err = f.f.Unregister(p, s)
	}
	return class(err)
}

func (f *fleet) UnregisterAll(p program.ID) []uint64 { return ids(f.f.UnregisterAll(p)) }

func (f *fleet) Replace(old program.ID, new *program.Program) ([]uint64, error) {
	s, err := f.f.Replace(old, new)
	return ids(s), class(err)
}

func (f *fleet) ResetPeaks(id uint64) error {
	d, err := f.f.Device(device.ID(id))
	d.ResetPeaks()
	return class(err)
}

func (f *fleet) Dispatch(p program.ID, to []uint64) error {
	s, err := f.set(to)
	if err == nil {
		err = f.f.Dispatch(p, s)
	}
	return class(err)
}

func (f *fleet) Evict(p program.ID, from []uint64) ([]uint64, error) {
	s, err := f.set(from)
	if err != nil {
		return nil, class(err)
	}
	evicted, err := f.f.Evict(p, s)
	return ids(evicted), class(err)
}

func (f *fleet) BeginTrace(on []uint64) (uint64, error) {
	s, err := f.set(on)
	if err != nil {
		return 0, class(err)
	}
	id, err := f.f.BeginTrace(s)
	return uint64(id), class(err)
}

func (f *fleet) Record(trace uint64, p program.ID) error {
	return class(f.f.Record(device.TraceID(trace), p))
}

func (f *fleet) EndTrace(trace uint64) error { return class(f.f.EndTrace(device.TraceID(trace))) }

func (f *fleet) Replay(trace uint64) error { return class(f.f.Replay(device.TraceID(trace))) }

func (f *fleet) ReleaseTrace(trace uint64) error {
	return class(f.f.ReleaseTrace(device.TraceID(trace)))
}

func (f *fleet) Resident(id uint64, core l1.Core) (program.ID, []l1.Range, bool) {
	p, ranges, ok := f.handles[device.ID(id)].ResidentOn(core)
	if !ok {
		return 0, nil, false
	}
	return p.ID(), slices.Collect(ranges), true
}

func (f *fleet) Devices() []uint64 {
	var out []uint64
	for d := range f.f.Devices() {
		out = append(out, uint64(d.ID()))
	}
	return out
}

func (f *fleet) Programs() []program.ID { return programIDs(f.f.Programs()) }

func (f *fleet) Where(id program.ID) []uint64 { return ids(f.f.Where(id)) }

func (f *fleet) ProgramsOn(id uint64) []program.ID {
	return programIDs(f.handles[device.ID(id)].Programs())
}

func (f *fleet) Totals(id uint64) (model.Totals, error) {
	d, err := f.f.Device(device.ID(id))
	all, wrong := f.f.Totals(f.f.Set())
	if wrong != nil {
		return model.Totals{}, wrong
	}
	for other, t := range all {
		if other == d.ID() && err == nil && t != d.Totals() {
			return model.Totals{}, fmt.Errorf("totals of device %d: %+v, with all others %+v", id, d.Totals(), t)
		}
	}
	return totals(d.Totals()), class(err)
}

func (f *fleet) MeshTotals(mesh int) (model.Totals, error) {
	if mesh >= len(f.meshes) {
		return model.Totals{}, model.ErrMesh
	}
	return totals(f.meshes[mesh].Totals()), nil
}

func totals(t device.Totals) model.Totals {
	return model.Totals{
		Registered: t.Registered, Reserved: t.Reserved, Logical: t.Logical, Core: t.Core, Resident: t.Resident, Tracked: t.Tracked, TrackedCore: t.TrackedCore,
		Programs: t.Programs, Buffers: model.BufferTotals(t.Buffers), Peak: model.Peaks(t.Peak),
	}
}

func (f *fleet) Core(id uint64, core l1.Core) model.CoreTotals {
	return model.CoreTotals(f.handles[device.ID(id)].Core(core))
}

func (f *fleet) Regions(id uint64, core l1.Core) []l1.Range {
	return slices.Collect(f.handles[device.ID(id)].Regions(core))
}

func (f *fleet) Owners(id uint64, core l1.Core, addr uint64) []program.ID {
	return programIDs(f.handles[device.ID(id)].Owners(core, addr))
}

// CheckInvariants is the Fleet's own, and what the Tracker's methods do not show: the
// lock-free totals, the snapshot, and handles that outlived their device.
func (f *fleet) CheckInvariants() error {
	if err := f.f.CheckInvariants(); err != nil {
		return err
	}
	for _, d := range f.removed {
		if d.Registered() != 0 || d.Resident() != 0 || d.Totals() != (device.Totals{}) || d.Core(l1.Core{}) != (device.CoreTotals{}) {
			return fmt.Errorf("device %d was removed and counts %+v", d.ID(), d.Totals())
		}
	}
	for _, m := range f.meshes {
		if got, want := m.Registered(), m.Totals().Registered; got != want {
			return fmt.Errorf("mesh: Registered %d, Totals %d", got, want)
		}
		if got, want := m.Resident(), m.Totals().Resident; got != want {
			return fmt.Errorf("mesh: Resident %d, Totals %d", got, want)
		}
	}
	snapshot := f.f.Snapshot()
	n := 0
	for s := range snapshot.All() {
		n++
		if err := f.same(f.handles[s.ID()], s); err != nil {
			return fmt.Errorf("device %d: %w", s.ID(), err)
		}
	}
	if f.checks++; n > 0 && n == len(f.handles) { // of one device at a time, which is enough in the long run
		all := slices.Sorted(maps.Keys(f.handles))
		d := f.handles[all[f.checks%n]]
		if err := sameUsage(d); err != nil {
			return err
		}
		if err := samePeaks(d, snapshot); err != nil {
			return err
		}
	}
	if n != len(f.handles) {
		return fmt.Errorf("snapshot of %d devices, want %d", n, len(f.handles))
	}
	return nil
}

// samePeaks compares the peaks of the cores of a device with those in its snapshot.
func samePeaks(d device.Device, snapshot *device.Snapshot) error {
	s, _ := snapshot.Device(d.ID())
	rest := d.Spec().Grid().Cores()
	for p := range s.Peaks() {
		for c := range p.Cores.All() {
			if got := d.Core(c).Peak; got != p.Bytes || got == 0 {
				return fmt.Errorf("device %d: core %v had %d bytes at most, in the snapshot %d", d.ID(), c, got, p.Bytes)
			}
		}
		rest = rest.Minus(p.Cores)
	}
	for c := range rest.All() {
		if got := d.Core(c).Peak; got != 0 {
			return fmt.Errorf("device %d: core %v had %d bytes at most, none in the snapshot", d.ID(), c, got)
		}
	}
	return nil
}

// same compares a device with its snapshot.
func (f *fleet) same(d device.Device, s *device.DeviceSnapshot) error {
	if now, err := f.f.Device(d.ID()); err != nil || now != d {
		return fmt.Errorf("handle is %v, was %v: %w", now, d, err)
	}
	if d.Resident() != d.Totals().Resident {
		return fmt.Errorf("atomic resident %d, totals %+v", d.Resident(), d.Totals())
	}
	if d.Registered() != d.Totals().Registered || s.Totals() != d.Totals() {
		return fmt.Errorf("atomic %d, totals %+v, snapshot %+v", d.Registered(), d.Totals(), s.Totals())
	}
	if !slices.Equal(slices.Collect(s.Programs()), slices.Collect(d.Programs())) {
		return errors.New("programs differ from the snapshot's")
	}
	sum, seen := uint64(0), l1.CoreSet{}
	for g := range s.Groups() {
		if g.Cores.Overlaps(seen) {
			return fmt.Errorf("snapshot: cores of %v are in two groups", g.Cores)
		}
		seen = seen.Union(g.Cores)
		for c := range g.Cores.All() {
			sum += g.Registered
			t := d.Core(c)
			if g.Registered != t.Registered || g.Logical != t.Logical || g.Programs != t.Programs {
				return fmt.Errorf("core %v is %+v, in the snapshot %+v", c, t, g)
			}
			if !slices.Equal(slices.Collect(g.Regions()), slices.Collect(d.Regions(c))) {
				return fmt.Errorf("regions of core %v differ from the snapshot's", c)
			}
		}
	}
	if sum != d.Registered() {
		return fmt.Errorf("cores of the snapshot sum to %d, want %d", sum, d.Registered())
	}
	return nil
}
