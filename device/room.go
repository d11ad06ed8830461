package device

import (
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

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
