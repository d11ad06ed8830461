package device

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/device/internal/version"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Fleet owns devices, the programs registered on them, and every total. The zero
// Fleet is empty and ready to use. It must not be copied.
type Fleet struct {
	mu     sync.RWMutex
	faults faults // for tests; empty in a normal build

	// A device has a slot for life; slots are not used again, so that a Set that
	// names a removed device stays recognisable.
	slots []*chip                     // nil where a device was removed
	ids   []ID                        // slot -> id; append only, so that Sets may keep it
	live  bitset.Bits                 // slots with a device
	all   Set                         // of live; the zero Set until the next call of Set
	found map[ID]int                  // id of a device -> slot
	sets  [64]atomic.Pointer[request] // recent results of Of, by a hash of the ids

	programs map[program.ID]*registration
	numbers  lookup.Numbers // of registrations, residues and contents
	// Contents born before this number are read without the lock. A change copies
	// them first.
	pictured atomic.Uint64
	charge   wide // sum over devices of their state's charge

	specs  map[l1.Spec]*l1.Spec
	states version.Store[state, classes.Content, registration]
	roster classes.Roster

	residues  residue.Book
	traces    map[TraceID]*trace
	lastTrace TraceID

	heaps    heap.Book
	observer func(Notice)

	lastRegistered bitset.Bits   // the devices of the last registered program
	operation      uint64        // number of the change under way
	left           []*state      // scratch
	one, other     bitset.Sparse // scratch
	touched        []*mesh       // scratch
}

// newSerial returns a number that was never given out before.
func (f *Fleet) newSerial() uint64 { return f.numbers.Next() }

// NewFleet returns an empty fleet.
func NewFleet() *Fleet { return &Fleet{} }

// AddDevice adds a device without a mesh. Nothing is registered on it. Errors:
// ErrDeviceExists, *l1.SpecError.
func (f *Fleet) AddDevice(id ID, spec l1.Spec) (_ Device, err error) {
	defer named("AddDevice", &err)
	if err := spec.Check(); err != nil {
		return Device{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.found[id]; ok {
		return Device{}, ofDevice(id, 0, ErrDeviceExists)
	}
	if err := f.faults.step(); err != nil {
		return Device{}, err
	}
	own := f.intern(spec)
	f.addChips(make([]chip, 1), id, nil, own)
	c := f.slots[len(f.slots)-1]
	if f.observer != nil {
		f.emit(Notice{Kind: NoticeDeviceAdded, Set: f.row(c.slot, 1, own, f.ids), Spec: spec})
	}
	return Device{c}, nil
}

// AddMesh adds rows x cols devices of one Spec with consecutive ids, row by row,
// all of them or none; 2^20 at most. Errors: ErrMesh, *l1.SpecError,
// ErrDeviceExists.
func (f *Fleet) AddMesh(first ID, rows, cols int, spec l1.Spec) (_ Mesh, err error) {
	defer named("AddMesh", &err)
	const most = 1 << 20 // devices; far above any machine, and they fit in memory
	bad := func(reason string) (Mesh, error) {
		return Mesh{}, noMesh(first, rows, cols, reason)
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
	var taken []ID
	for i := range rows * cols {
		if _, ok := f.found[first+ID(i)]; ok {
			taken = append(taken, first+ID(i))
		}
		if err := f.faults.step(); err != nil {
			return Mesh{}, err
		}
	}
	if len(taken) > 0 {
		return Mesh{}, ofDevice(taken[0], len(taken)-1, ErrDeviceExists)
	}
	if err := f.faults.step(); err != nil {
		return Mesh{}, err
	}
	m := &mesh{fleet: f, spec: f.intern(spec), first: first, rows: rows, cols: cols}
	m.chips = make([]chip, rows*cols)
	f.addChips(m.chips, first, m, m.spec)
	m.ids = f.ids
	if m.chips[0].slot < 512*len(m.chips) { // else thousands of small meshes would keep a large set each
		m.all = m.set()
	}
	if f.observer != nil {
		f.emit(Notice{Kind: NoticeMeshAdded, Set: m.set(), Spec: spec, Rows: rows, Cols: cols})
	}
	return Mesh{m}, nil
}

// intern returns the fleet's own copy of a Spec, so that pointers compare.
func (f *Fleet) intern(spec l1.Spec) *l1.Spec {
	own := f.specs[spec]
	if own == nil {
		if f.specs == nil {
			f.specs = map[l1.Spec]*l1.Spec{}
		}
		own = &spec
		f.specs[spec] = own
	}
	return own
}

// addChips adds devices with consecutive ids. Devices without a mesh join the cohort
// of the device before, if that is new as well.
func (f *Fleet) addChips(chips []chip, first ID, m *mesh, spec *l1.Spec) {
	slot := len(f.slots)
	c := &cohort{record: record{slot: slot, n: len(chips), fleet: f, mesh: m, spec: spec, state: f.empty()}}
	if slot > 0 && f.slots[slot-1] != nil && f.ids[slot-1] < first && f.at(slot-1).joins(c) {
		c = f.at(slot - 1)
		c.n += len(chips)
	} else {
		c.state.Users++
	}
	f.slots, f.ids = slices.Grow(f.slots, len(chips)), slices.Grow(f.ids, len(chips))
	if f.found == nil {
		f.found = map[ID]int{}
	}
	for i := range chips {
		at := &chips[i]
		at.fleet, at.id, at.slot = f, first+ID(i), len(f.slots)
		at.cohort.Store(c)
		f.slots, f.ids = append(f.slots, at), append(f.ids, at.id)
		f.found[at.id] = at.slot
	}
	f.live = f.live.Add(bitset.Span(slot, len(chips)))
	f.changed()
}

// row returns the set of n slots that follow each other, of one Spec.
func (f *Fleet) row(first, n int, spec *l1.Spec, ids []ID) Set {
	return Set{&set{fleet: f, slots: bitset.Span(first, n), n: n, ids: ids, spec: spec}}
}

// setOf returns the set of n slots; it keeps the bits. An empty set is the zero Set,
// so that a non-zero Set always has a *set.
func (f *Fleet) setOf(slots bitset.Bits, n int) Set {
	if n == 0 {
		return Set{}
	}
	s := &set{fleet: f, slots: slots, n: n, ids: f.ids}
	for c := range f.shares(slots) {
		if s.spec != nil && s.spec != c.spec {
			s.spec = nil
			break
		}
		s.spec = c.spec
	}
	return Set{s}
}

// A request is a call of Of and its result.
type request struct {
	ids []ID // in the order of the call
	set Set
}

// Of returns the set of the devices with the given ids; a repeated id counts once. Up
// to 64 sets of up to 1024 ids are remembered until a device comes or goes, and
// returning one of them allocates nothing. Errors: ErrNoDevice for ids that the fleet does not have; the
// first one is named.
func (f *Fleet) Of(ids ...ID) (_ Set, err error) {
	defer named("Of", &err)
	f.mu.RLock()
	defer f.mu.RUnlock()
	const golden = uint64(0x9e3779b97f4a7c15) // 2^64 divided by the golden ratio
	hash := golden
	for _, id := range ids {
		hash = (hash ^ uint64(id)) * golden
	}
	place := &f.sets[hash>>58]
	if was := place.Load(); was != nil && slices.Equal(was.ids, ids) {
		return was.set, nil
	}
	var slots bitset.Bits
	var unknown []ID
	for _, id := range ids {
		if slot, ok := f.found[id]; ok {
			slots = slots.With(slot)
		} else {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		first := unknown[0]
		slices.Sort(unknown)
		return Set{}, ofDevice(first, len(slices.Compact(unknown))-1, ErrNoDevice)
	}
	out := f.setOf(slots, slots.Count())
	if len(ids) <= 1024 { // so that little memory is kept
		place.Store(&request{slices.Clone(ids), out})
	}
	return out, nil
}

// changed forgets the remembered sets of devices, because one came or went.
func (f *Fleet) changed() {
	f.all = Set{}
	for i := range f.sets {
		f.sets[i].Store(nil)
	}
}

// Set returns the set of all devices that the fleet has now. It is the same one, by
// ==, until a device comes or goes.
func (f *Fleet) Set() Set {
	f.mu.RLock()
	all := f.all
	f.mu.RUnlock()
	if all.s != nil {
		return all
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = f.setOf(f.live.Clone(), f.live.Count())
	return f.all
}

// Device returns the device with the given id. Errors: ErrNoDevice.
func (f *Fleet) Device(id ID) (_ Device, err error) {
	defer named("Device", &err)
	f.mu.RLock()
	defer f.mu.RUnlock()
	slot, ok := f.found[id]
	if !ok {
		return Device{}, ofDevice(id, 0, ErrNoDevice)
	}
	return Device{f.slots[slot]}, nil
}

// Devices returns the devices that the fleet had when it was called, by id.
func (f *Fleet) Devices() iter.Seq[Device] {
	f.mu.RLock()
	defer f.mu.RUnlock()
	devices := make([]Device, 0, f.live.Count())
	for slot := range f.live.All() {
		devices = append(devices, Device{f.slots[slot]})
	}
	slices.SortFunc(devices, func(a, b Device) int { return cmp.Compare(a.c.id, b.c.id) })
	return slices.Values(devices)
}

// Remove takes devices out of the fleet. Their registrations end with them; other
// devices are untouched. A mesh that loses a device counts the others.
//
// The ids may be added again, as new devices. An older Set or Device still stands for
// the removed device, and so does the Set of its mesh: calls with such a Set are
// refused with ErrNoDevice.
//
// Errors: ErrForeignSet; ErrNoDevice for a device that is removed already.
func (f *Fleet) Remove(s Set) (err error) {
	defer named("Remove", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil || s.s == nil {
		return err
	}
	if err := f.faults.step(); err != nil {
		return err
	}
	for c := range f.shares(s.s.slots) {
		f.dismiss(f.cut(c))
		for slot := c.slot; slot < c.slot+c.n; slot++ {
			f.slots[slot] = nil
			delete(f.found, f.ids[slot])
		}
	}
	f.publishMeshes()
	f.live.Drop(s.s.slots)
	f.changed()
	for id, r := range f.programs {
		switch rest, n := r.on.Minus(s.s.slots); n {
		case r.on.Count():
		case 0:
			r.on = slotSet{}
			delete(f.programs, id)
			f.retire(r)
		default:
			f.share(r, rest)
		}
	}
	f.rest()
	f.emit(Notice{Kind: NoticeDeviceRemoved, Set: s})
	return nil
}

// dismiss takes devices out of their state and their mesh.
func (f *Fleet) dismiss(c *cohort) {
	s := c.state
	f.charge.sub(s.charge, c.n)
	f.moved(c.mesh, c.n, s, &state{})
	f.leaveOne(c, nil)
	f.clearHeap(c)
	c.registered.Store(0)
	c.state, c.cores = nil, nil
	s.Users--
	f.states.Leave((*programs)(f), &s.Version)
}

// rest frees the memory that serves changes alone, if no program is left.
func (f *Fleet) rest() {
	if len(f.programs) > 0 {
		return
	}
	f.programs, f.lastRegistered = nil, bitset.Bits{}
	f.residues = residue.Book{}
	if f.states.Len() > 0 {
		f.empty().Content = f.newContent()
		f.states.Cut((*programs)(f))
	}
}

// check refuses sets of other fleets and sets that name removed devices.
func (f *Fleet) check(s Set) error {
	if s.s == nil {
		return nil
	}
	if s.s.fleet != f {
		return ErrForeignSet
	}
	if gone, n := s.s.slots.Minus(f.live); n > 0 {
		for slot := range gone.All() {
			return ofDevice(s.s.ids[slot], n-1, ErrNoDevice)
		}
	}
	return f.faults.visit(s.s.slots)
}
