package device

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Place allocates a buffer where tt-metal's allocator puts it on the devices of s
// now, on all of them or none: size bytes on each of b.Cores, in the highest gap that
// holds them. b is an L1, L1_SMALL or global CB buffer without an address. In
// lockstep all devices get one address, which is free on all cores of all of them. In
// the mode PerCore each device gets addresses of its own, one for each core.
// [fit.PlaceBuffer] has the rules, and the sources of tt-metal. Circular buffers do
// not block: Check and Enqueue judge programs by the buffer.
//
// It returns the buffer of the device with the lowest id. Errors, the first that
// applies: ErrBuffer with a field that makes no sense for a buffer without an
// address; ErrForeignSet; ErrNoDevice for a removed device; ErrAllocated; ErrBuffer
// for a core outside the grid; [fit.ErrNoSpace]; [fit.ErrHidden]; ErrOverflow. Cost:
// O(n log n) in the buffers of each distinct heap, then as Allocate.
func (f *Fleet) Place(b fit.Buffer, size uint64, s Set) (_ fit.Buffer, err error) {
	defer named("Place", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.findPlace(b, size, s)
	if err != nil || len(all) == 0 {
		return fit.Buffer{}, err
	}
	a, _ := f.heaps.Allocation(all[0].Buffer) // checkBuffer has summed its bytes, and each device has as many
	if err = f.roomFor(a, s.s.slots); err == nil {
		err = f.faults.step()
	}
	if err != nil {
		return fit.Buffer{}, err
	}
	for _, p := range all {
		a, _ := f.heaps.Allocation(p.Buffer)
		f.reheap(p.slots, a, nil)
	}
	for _, p := range all {
		f.emit(Notice{Kind: NoticeAllocated, Set: f.setOf(p.slots, p.slots.Count()), Buffer: p.Buffer})
	}
	return a.Copy(), nil
}

// A Placement is where tt-metal's allocator would put a buffer, with its addresses, and the devices on which it
// would lie there.
type Placement struct {
	Set    Set
	Buffer fit.Buffer
}

// FindPlace returns where Place would put a buffer, and changes nothing: one Placement, or in the mode PerCore one
// for each group of devices with equal addresses, by lowest device. On an empty set there is none. Its errors are
// those of Place, without ErrOverflow. Cost: O(n log n) in the buffers of each distinct heap.
func (f *Fleet) FindPlace(b fit.Buffer, size uint64, s Set) (out []Placement, err error) {
	defer named("FindPlace", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.findPlace(b, size, s)
	for _, p := range all {
		out = append(out, Placement{f.setOf(p.slots, p.slots.Count()), p.Buffer})
	}
	return out, err
}

// findPlace is FindPlace under the lock.
func (f *Fleet) findPlace(b fit.Buffer, size uint64, s Set) ([]placement, error) {
	if err := checkUnplaced(&b, size); err != nil {
		return nil, err
	}
	if err := f.takes(&b, s); err != nil || s.s == nil {
		return nil, err
	}
	return f.placements(b, size, s)
}

// A placement is a buffer at its addresses, and the devices on which it lies there.
type placement struct {
	fit.Buffer
	slots bitset.Bits
}

// placements returns the places of a buffer on the devices of s, by their lowest
// device.
func (f *Fleet) placements(b fit.Buffer, size uint64, s Set) (all []placement, err error) {
	sites, err := f.sites(s, false)
	if err != nil {
		return nil, err
	}
	together := len(sites)
	if b.Mode == fit.PerCore {
		together = 1
	}
	for group := range slices.Chunk(sites, together) {
		var p placement
		if p.Buffer, err = fit.PlaceBuffer(b, size, placesOf(group)...); err != nil {
			return nil, ofBuffer(b.ID, group[0].first, err)
		}
		for c := range f.shares(s.s.slots) {
			if slices.ContainsFunc(group, func(at site) bool { return at.alike == c.alike() }) {
				p.slots = p.slots.Add(bitset.Span(c.slot, c.n))
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// checkUnplaced refuses a buffer that makes no sense, or that has an address already.
// It completes its Size.
func checkUnplaced(b *fit.Buffer, size uint64) error {
	switch {
	case b.Kind != fit.KindL1 && b.Kind != fit.KindL1Small && b.Kind != fit.KindGlobalCB:
		return noSense(b.ID, "Kind", fmt.Errorf("no place is found for a %v", b.Kind))
	case len(b.Parts) > 0 || b.Range != (l1.Range{}) || !b.Hidden.IsEmpty():
		return noSense(b.ID, "Range", errors.New("the buffer has an address already"))
	case b.Cores.IsEmpty() || size == 0:
		return noSense(b.ID, "Cores", fmt.Errorf("%d bytes on each of %d cores are none", size, b.Cores.Len()))
	}
	b.Range.End = size
	return checkBuffer(b)
}

// Room returns where the largest L1 buffer fits that gets its address in a mode on the
// given cores of all devices of s: beside the live buffers, and above the circular
// buffers of all registered programs, by the rules of [fit.RoomOn]. Every registered
// program that fits now still fits after the allocation. On an empty set there is no
// room.
//
// Errors: ErrForeignSet; ErrNoDevice for a removed device. Cost: O(n log n) in the
// buffers and in the circular buffers of the registered programs, for each distinct
// state of a device.
func (f *Fleet) Room(mode fit.Mode, cores l1.CoreSet, s Set) (_ fit.Room[*fit.Resident], err error) {
	defer named("Room", &err)
	places, err := f.placesWithPrograms(s)
	if err != nil {
		return fit.Room[*fit.Resident]{}, err
	}
	return fit.RoomOn(mode, cores, 0, places...), nil
}

// CheckBuffer reports whether a buffer could be allocated now on the devices of s, in
// the form for Allocate. The verdict lists the contents of L1 that it would overlap.
// It also lists the registered programs that fit now, or may, and would not fit any
// more, or might not. Allocate records, CheckBuffer judges. An empty set allows any
// buffer.
//
// Errors, the first that applies: ErrBuffer with the field that makes no sense, or
// with a core outside the grid; ErrForeignSet; ErrNoDevice for a removed device.
// Cost: two checks of each registered program, for each distinct state of a device.
func (f *Fleet) CheckBuffer(b fit.Buffer, s Set) (_ fit.BufferVerdict, err error) {
	defer named("CheckBuffer", &err)
	if err := checkBuffer(&b); err != nil {
		return fit.BufferVerdict{}, err
	}
	places, err := f.placesWithPrograms(s)
	for i := range places {
		if err == nil {
			err = beyondGrid(&b, places[i].Device, &places[i].Spec)
		}
	}
	if err != nil {
		return fit.BufferVerdict{}, err
	}
	return fit.CheckBuffer(b, places...), nil
}

// placesWithPrograms returns the places of the devices of s with their registered programs, by
// first device.
func (f *Fleet) placesWithPrograms(s Set) ([]fit.Place, error) {
	all, known, err := f.standings(s)
	out := placesOf(all)
	for i := range out {
		out[i].Programs = all[i].list(&known)
		slices.SortFunc(out[i].Programs, byID)
	}
	return out, err
}
