package device

import (
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Room is where one more L1 buffer fits now.
type Room struct {
	Range l1.Range // the largest, the highest of equals; empty: it fits nowhere

	// Below and Above are what takes the bytes right below and right above: a Buffer, or a
	// Program up to the end of what tt-metal's test charges it, each without a Range. nil:
	// the room begins at the base of circular buffers, or ends where usable L1 does. Where
	// there is no room they are what takes the first and the last usable byte.
	Below, Above *fit.Resident
}

// Room returns where the largest L1 buffer fits that has one address on all of the given cores
// of all devices of s: beside the buffers that live there now, and above the circular buffers of
// all programs that are registered. It is in lockstep, and so has to be above their regions on
// all cores. No cores are all cores of the grid; of a device whose grid
// is not known they are those that hold anything. Allocated there, it leaves every registered
// program that fits now as it is.
//
// Errors: ErrForeignSet; ErrNoDevice for a removed device. Cost: O(n log n) in the buffers and
// in the circular buffers of the registered programs, for each distinct state of a device.
func (f *Fleet) Room(cores l1.CoreSet, s Set) (_ Room, err error) {
	defer named("Room", &err)
	all, err := f.besides(s)
	if err != nil || len(all) == 0 {
		return Room{}, err
	}
	var takers []fit.Resident
	var taken []*fit.Taken
	on := cores
	for _, at := range all {
		if cores.IsEmpty() {
			on = on.Union(at.cores())
		}
		t := fit.NewTaken(at.Spec)
		claimed := at.Claimed()
		for _, p := range at.programs {
			t.Program(p, claimed, len(takers))
			takers = append(takers, fit.Resident{Kind: fit.KindCB, Program: p, CB: -1})
		}
		for _, b := range at.Buffers {
			t.Buffer(b, len(takers))
			takers = append(takers, fit.Resident{Kind: b.Kind, CB: -1, Buffer: b})
		}
		taken = append(taken, t)
	}
	found := fit.RoomOn(on, 0, taken...)
	room := Room{Range: found.Range}
	if found.Below != fit.Nobody {
		room.Below = &takers[found.Below]
	}
	if found.Above != fit.Nobody {
		room.Above = &takers[found.Above]
	}
	return room, nil
}

// CheckBuffer says whether a buffer could be allocated now on the devices of s, as it is to be
// given to Allocate: whom it would overlap, and which registered programs that fit now, or may,
// would not fit any more, or might not. Allocate records, CheckBuffer judges. An empty set has
// nothing against it.
//
// Errors, the first that applies: ErrBuffer with the field that makes no sense, or with a
// core outside the grid; ErrForeignSet; ErrNoDevice for a removed device. Cost: two checks of
// each registered program, for each distinct state of a device.
func (f *Fleet) CheckBuffer(b fit.Buffer, s Set) (_ fit.BufferVerdict, err error) {
	defer named("CheckBuffer", &err)
	if err := checkBuffer(&b); err != nil {
		return fit.BufferVerdict{}, err
	}
	all, err := f.besides(s)
	if err == nil {
		err = f.fitsGrid(&b, s)
	}
	if err != nil {
		return fit.BufferVerdict{}, err
	}
	out := fit.BufferVerdict{Buffer: b.Plain()}
	for _, at := range all {
		v := fit.CheckBuffer(b, at.programs, at.Place)
		out.Outside = max(out.Outside, v.Outside)
		out.Overlaps, out.Refused = append(out.Overlaps, v.Overlaps...), append(out.Refused, v.Refused...)
	}
	return out, nil
}

// fitsGrid is onGrid under the lock.
func (f *Fleet) fitsGrid(b *fit.Buffer, s Set) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if s.s == nil {
		return nil
	}
	return f.onGrid(b, s)
}

// A beside is what lives on devices with the same programs and buffers, and these programs.
type beside struct {
	fit.Place
	programs []*program.Program // by id
}

// besides returns what lives on the devices of s, by their first device.
func (f *Fleet) besides(s Set) (out []beside, err error) {
	all, known, err := f.standings(s)
	for i := range all {
		at := beside{all[i].place(), all[i].list(&known)}
		slices.SortFunc(at.programs, byID)
		out = append(out, at)
	}
	return out, err
}

// cores returns the grid of the devices, or the cores that hold anything if it is not known.
func (at *beside) cores() l1.CoreSet {
	if at.Spec.Cols > 0 {
		return at.Spec.Grid().Cores()
	}
	var all l1.CoreSet
	for _, b := range at.Buffers {
		if b.Stands() {
			for p := range b.All() {
				all = all.Union(p.Cores)
			}
			all = all.Union(b.Hidden)
		}
	}
	for _, p := range at.programs {
		for _, cb := range p.CBs() {
			if !cb.Global && !cb.Range.IsEmpty() {
				all = all.Union(cb.Cores.Cores())
			}
		}
	}
	return all
}
