package fit

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A Room is where an L1 buffer fits on some cores. W says who limits it.
type Room[W any] struct {
	Cores l1.CoreSet
	Range l1.Range // the largest, the highest of equals; it starts as L1 buffers are aligned; empty: there is none

	// Below and Above are who takes the bytes right below Range and right above it. Where there is
	// no room they are who takes the first and the last usable byte. RoomOn names a Buffer, or a
	// Program up to the end of what tt-metal's test charges it, each without a Range. nil is the
	// base of circular buffers, or the end of usable L1. Callers of Taken get their own numbers.
	Below, Above W

	// Place is where a buffer of the size that is asked about goes, as tt-metal's allocator
	// places it: as high as it can be. It may lie outside of Range. Empty: nowhere.
	Place l1.Range
}

// Nobody is the number of the base of circular buffers as Room.Below, and of the end of usable L1 as
// Room.Above.
const Nobody = -1

// RoomOn returns the room for an L1 buffer that is on all of the cores of all places, at one
// address: for the largest one, and for one of size bytes on each core. Size 0 asks about no size: it
// has no Place. It is in lockstep, beside the Buffers of the places, and above their Programs.
// No cores are all cores of the grids, and the cores that hold anything where a grid is not known. Without places there is no room. Cost: O(n log n) in the buffers and in the circular buffers.
func RoomOn(cores l1.CoreSet, size uint64, places ...Place) Room[*Resident] {
	if len(places) == 0 {
		return Room[*Resident]{Cores: cores}
	}
	var taken []*Taken
	n, all := 0, l1.CoreSet{}
	for _, at := range places {
		t, claimed := NewTaken(at), at.Claimed()
		for _, p := range at.Programs {
			t.Program(p, claimed, n)
			n++
		}
		for _, b := range at.Buffers {
			t.Buffer(b, n)
			n++
		}
		taken, all = append(taken, t), all.Union(at.cores())
	}
	if cores.IsEmpty() {
		cores = all
	}
	r := RoomThroughout(cores, size, taken...)
	return Room[*Resident]{cores, r.Range, taker(r.Below, places), taker(r.Above, places), r.Place}
}

// taker returns the program or the buffer with a number, nil for Nobody.
func taker(n int, places []Place) *Resident {
	for _, at := range places {
		switch buffer := n - len(at.Programs); {
		case n < 0:
			return nil
		case buffer < 0:
			return &Resident{Kind: KindCB, Program: at.Programs[n], CB: -1}
		case buffer < len(at.Buffers):
			return &Resident{Kind: at.Buffers[buffer].Kind, CB: -1, Buffer: at.Buffers[buffer]}
		}
		n -= len(at.Programs) + len(at.Buffers)
	}
	return nil
}

// cores returns the grid of a place, or the cores that hold anything if it is not known.
func (at *Place) cores() l1.CoreSet {
	all := at.Spec.Grid().Cores()
	if at.Spec.Cols > 0 {
		return all
	}
	for _, b := range at.Buffers {
		for p := range b.standing {
			all = all.Union(p.Cores)
		}
		if b.hides() {
			all = all.Union(b.Hidden)
		}
	}
	for _, p := range at.Programs {
		for _, own := range partsOf(p) {
			all = all.Union(own.Cores)
		}
	}
	return all
}

// RoomThroughout is RoomOn on devices on which something was taken, at any time.
func RoomThroughout(cores l1.CoreSet, size uint64, devices ...*Taken) Room[int] {
	free, align, taken := onAll(cores, devices)
	best, none := Room[int]{Cores: cores}, Room[int]{Cores: cores, Below: Nobody, Above: Nobody}
	below, gap := Nobody, free
	for _, r := range append(taken, taking{l1.Range{Start: free.End, End: free.End}, Nobody, Nobody}) {
		if r.Has(free.Start) {
			none.Below = r.first
		}
		if r.End >= free.End && r.Start < free.End {
			none.Above = r.last
		}
		gap.End = min(r.Start, free.End)
		if start, ok := align.AlignCB(gap.Start); ok && start < gap.End && gap.End-start >= best.Range.Len() {
			best.Range, best.Below, best.Above = l1.Range{Start: start, End: gap.End}, below, r.first
		}
		if r.End > gap.Start {
			gap.Start, below = r.End, r.last
		}
	}
	if best.Range.IsEmpty() {
		return none
	}
	if best.Range.End == free.End {
		best.Above = Nobody
	}
	if size > 0 {
		best.Place, _ = Highest(size, align.CBAlign, free, downwards(taken))
	}
	return best
}

// onAll returns what is free and what is taken on any of the cores of any device, merged, and the
// alignment of L1 buffers in the field for circular buffers, which AlignCB reads.
func onAll(cores l1.CoreSet, devices []*Taken) (free l1.Range, align l1.Spec, list []taking) {
	free, align = l1.Range{End: l1.MaxAddr}, l1.Spec{CBAlign: 1}
	var taken takenClass
	for _, t := range devices {
		usable := t.spec.Usable()
		free.Start, free.End = max(free.Start, usable.Start), min(free.End, usable.End)
		align.CBAlign = lcm(align.CBAlign, max(t.spec.L1Align, 1))
		taken.list = append(taken.list, t.all.list...)
		for _, c := range t.classes {
			if c.cores.Overlaps(cores) {
				taken.list = append(taken.list, c.list...)
			}
		}
	}
	taken.merge()
	return free, align, taken.list
}

// downwards yields takings that are merged, the highest first.
func downwards(merged []taking) iter.Seq[l1.Range] {
	return func(yield func(l1.Range) bool) {
		for _, r := range slices.Backward(merged) {
			if !yield(r.Range) {
				return
			}
		}
	}
}

// RoomsThroughout returns the room on each of some cores alone, on all of the devices, the cores with the
// same room and place together, by first core. Cost: that of RoomOn for each set of cores on
// which the same is taken.
func RoomsThroughout(cores l1.CoreSet, size uint64, devices ...*Taken) (out []Room[int]) {
	sets := []l1.CoreSet{cores}
	for _, t := range devices {
		for _, c := range t.classes {
			sets = append(sets, c.cores)
		}
	}
	for _, part := range l1.Tiles(sets) {
		if part.In[0] != 0 {
			continue // none of these cores
		}
		room := RoomThroughout(part.Cores, size, devices...)
		same := func(o Room[int]) bool {
			return o.Range == room.Range && o.Below == room.Below && o.Above == room.Above && o.Place == room.Place
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Cores = out[i].Cores.Union(part.Cores)
			continue
		}
		out = append(out, room)
	}
	slices.SortFunc(out, func(a, b Room[int]) int { return a.Cores.CompareFirst(b.Cores) })
	return out
}
