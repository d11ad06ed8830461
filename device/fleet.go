package device

import (
	"iter"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Fleet owns devices, the programs registered on them, and every total. The zero
// Fleet is empty and ready to use. It must not be copied.
type Fleet struct {
	mu sync.RWMutex

	// A device has a slot for life; slots are not used again, so that a Set that
	// names a removed device stays recognisable.
	slots []*chip // nil where a device was removed
	ids   []ID    // slot -> id; append only, so that Sets may keep it
	live  bitset  // slots with a device
	slot  map[ID]int

	programs map[program.ID]*registration
}

// A registration is a program and the devices that have it; there is at least one.
type registration struct {
	program *program.Program
	on      bitset
}

// NewFleet returns an empty fleet.
func NewFleet() *Fleet { return &Fleet{} }

// AddDevice adds a device without a mesh. Nothing is registered on it. Errors:
// ErrDeviceExists, *l1.SpecError.
func (f *Fleet) AddDevice(id ID, spec l1.Spec) (Device, error) {
	if err := spec.Check(); err != nil {
		return Device{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.slot[id]; ok {
		return Device{}, &DeviceError{Device: id, Err: ErrDeviceExists}
	}
	return Device{f.addChip(id, spec, nil)}, nil
}

// AddMesh adds rows x cols devices of one Spec with consecutive ids, row by row,
// all of them or none. Errors: *MeshError, ErrDeviceExists, *l1.SpecError.
func (f *Fleet) AddMesh(first ID, rows, cols int, spec l1.Spec) (Mesh, error) {
	const most = 1 << 24 // devices; far above any machine, far below what memory holds
	bad := func(reason string) (Mesh, error) {
		return Mesh{}, &MeshError{First: first, Rows: rows, Cols: cols, Reason: reason}
	}
	switch {
	case rows < 1 || cols < 1:
		return bad("needs at least one row and one column")
	case rows > most/cols:
		return bad("too many devices")
	case uint64(first) > math.MaxUint64-uint64(rows*cols-1):
		return bad("ids beyond 2^64-1")
	}
	if err := spec.Check(); err != nil {
		return Mesh{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range rows * cols {
		if _, ok := f.slot[first+ID(i)]; ok {
			return Mesh{}, &DeviceError{Device: first + ID(i), Err: ErrDeviceExists}
		}
	}
	m := &mesh{fleet: f, spec: spec, first: first, rows: rows, cols: cols}
	for i := range rows * cols {
		m.chips = append(m.chips, f.addChip(first+ID(i), spec, m))
	}
	m.all = f.setOf(m.chips)
	return Mesh{m}, nil
}

func (f *Fleet) addChip(id ID, spec l1.Spec, m *mesh) *chip {
	c := &chip{fleet: f, id: id, spec: spec, slot: len(f.slots), mesh: m}
	if f.slot == nil {
		f.slot = map[ID]int{}
	}
	f.slot[id] = c.slot
	f.slots = append(f.slots, c)
	f.ids = append(f.ids, id)
	f.live = f.live.with(c.slot)
	return c
}

// setOf returns the set of some chips.
func (f *Fleet) setOf(chips []*chip) Set {
	s := &set{fleet: f, n: len(chips), ids: f.ids}
	for _, c := range chips {
		s.slots = s.slots.with(c.slot)
	}
	return Set{s}
}

// setOfSlots returns the set of some slots; it keeps the bits.
func (f *Fleet) setOfSlots(slots bitset, n int) Set {
	if n == 0 {
		return Set{}
	}
	return Set{&set{fleet: f, slots: slots, n: n, ids: f.ids}}
}

// Of returns the set of the devices with the given ids; a repeated id counts once.
// Errors: ErrNoDevice for an id that the fleet does not have.
func (f *Fleet) Of(ids ...ID) (Set, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var slots bitset
	for _, id := range ids {
		slot, ok := f.slot[id]
		if !ok {
			return Set{}, &DeviceError{Device: id, Err: ErrNoDevice}
		}
		slots = slots.with(slot)
	}
	return f.setOfSlots(slots, slots.count()), nil
}

// Set returns the set of all devices that the fleet has now.
func (f *Fleet) Set() Set {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.setOfSlots(slices.Clone(f.live), f.live.count())
}

// Device returns the device with the given id. Errors: ErrNoDevice.
func (f *Fleet) Device(id ID) (Device, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	slot, ok := f.slot[id]
	if !ok {
		return Device{}, &DeviceError{Device: id, Err: ErrNoDevice}
	}
	return Device{f.slots[slot]}, nil
}

// Devices returns the devices that the fleet has now, by id.
func (f *Fleet) Devices() iter.Seq[Device] {
	return func(yield func(Device) bool) {
		f.mu.RLock()
		ids := slices.Sorted(maps.Keys(f.slot))
		devices := make([]Device, len(ids))
		for i, id := range ids {
			devices[i] = Device{f.slots[f.slot[id]]}
		}
		f.mu.RUnlock()
		for _, d := range devices {
			if !yield(d) {
				return
			}
		}
	}
}

// Remove takes devices out of the fleet. Their registrations end with them; other
// devices are untouched. A mesh that loses a device counts the others. The ids may
// be added again, as new devices. Errors: ErrNoDevice, ErrForeignSet.
func (f *Fleet) Remove(s Set) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil || s.s == nil {
		return err
	}
	for id, r := range f.programs {
		r.on.drop(s.s.slots)
		if r.on.empty() {
			delete(f.programs, id)
		}
	}
	for slot := range s.s.slots.all() {
		f.slots[slot].clear()
	}
	f.publish(s.s.slots)
	for slot := range s.s.slots.all() {
		c := f.slots[slot]
		c.peak, c.peaks = Peaks{}, nil
		f.slots[slot] = nil
		delete(f.slot, c.id)
	}
	f.live.drop(s.s.slots)
	return nil
}

// check refuses sets of other fleets and sets that name removed devices.
func (f *Fleet) check(s Set) error {
	if s.s == nil {
		return nil
	}
	if s.s.fleet != f {
		return ErrForeignSet
	}
	if gone, n := s.s.slots.minus(f.live); n > 0 {
		for slot := range gone.all() {
			return &DeviceError{Device: s.s.ids[slot], Err: ErrNoDevice, More: n - 1}
		}
	}
	return nil
}
