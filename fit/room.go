package fit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A Room is where an L1 buffer fits on some cores. W says who limits it.
type Room[W any] struct {
	Cores l1.CoreSet
	Range l1.Range // the largest, the highest of equals, in whole steps of Alignment; empty: there is none

	// Below and Above hold the bytes right below Range and right above it. Where there is no room
	// they hold the first and the last usable byte. RoomOn names a Buffer, or a Program up to the
	// end that tt-metal's test charges it, each without a Range. nil is the base of circular
	// buffers, or the end of usable L1. Callers of Occupancy get their own numbers.
	Below, Above W

	// Place is the place of a buffer of the queried size. tt-metal's allocator puts it as high as
	// possible. It may lie outside of Range. Empty: nowhere.
	Place l1.Range
}

// String describes the room in one line.
func (r Room[W]) String() string {
	text := "no byte"
	if !r.Range.IsEmpty() {
		text = fmt.Sprintf("%s bytes at %v", grouped(r.Range.Len()), r.Range)
	}
	if !r.Place.IsEmpty() {
		text += fmt.Sprintf(", place %v", r.Place)
	}
	return text + " on " + r.Cores.Brief()
}

// NoOwner is the number of the base of circular buffers as Room.Below, and of the end of usable L1 as
// Room.Above.
const NoOwner = 0

// RoomOn returns the room for an L1 buffer that is on all of the cores of all places and gets its address in a
// mode: for the largest one, and for one of size bytes on each core. Size 0 is no size, and gives no Place. It lies
// beside the Buffers of the places, and above their Programs. In lockstep and in range lockstep it has one address,
// per core it has one on each core of each place: the least room counts. An empty set of cores means all cores of
// the grids, or the cores in use where a grid is unknown. Without places there is no room. Cost: O(n log n) in the
// buffers and in the circular buffers.
func RoomOn(mode Mode, cores l1.CoreSet, size uint64, places ...Place) Room[*Resident] {
	if len(places) == 0 {
		return Room[*Resident]{Cores: cores}
	}
	var taken []*Occupancy
	n, all := 0, l1.CoreSet{}
	for _, at := range places {
		t, claimed := NewOccupancy(at.Spec), at.Claimed()
		for _, p := range at.Programs {
			n++
			t.Program(p, claimed, n)
		}
		for _, b := range at.Buffers {
			n++
			t.Buffer(b, n)
		}
		if all = all.Union(at.Spec.Grid().Cores()); at.Spec.Cols == 0 {
			all = all.Union(at.used())
		}
		taken = append(taken, t)
	}
	if cores.IsEmpty() {
		cores = all
	}
	together := len(taken)
	if mode == PerCore {
		together = 1
	}
	var each []Room[int]
	for group := range slices.Chunk(taken, together) {
		each = append(each, RoomThroughout(mode, cores, size, group...))
	}
	r := Least(each)
	return Room[*Resident]{cores, r.Range, limit(r.Below, places), limit(r.Above, places), r.Place}
}

// used returns the cores on which anything lies.
func (at Place) used() (cores l1.CoreSet) {
	for _, p := range at.Programs {
		for _, own := range rangesOf(p) {
			cores = cores.Union(own.Cores)
		}
	}
	for _, b := range at.Buffers {
		for p := range b.standing {
			cores = cores.Union(p.Cores)
		}
		if b.hides() {
			cores = cores.Union(b.Hidden)
		}
	}
	return cores
}

// Least returns the smallest of some rooms, the lowest of equals, for a buffer that has an address of its own in
// each: it has a Place if all of them have one. There is at least one.
func Least(rooms []Room[int]) Room[int] {
	least := slices.MinFunc(rooms, func(a, b Room[int]) int {
		return cmp.Or(cmp.Compare(a.Range.Len(), b.Range.Len()), cmp.Compare(a.Range.Start, b.Range.Start))
	})
	if slices.ContainsFunc(rooms, func(r Room[int]) bool { return r.Place.IsEmpty() }) {
		least.Place = l1.Range{}
	}
	return least
}

// limit returns the program or the buffer with a number, nil for 0.
func limit(n int, places []Place) *Resident {
	for _, at := range places {
		if n > 0 && n <= len(at.Programs) {
			return &Resident{Kind: KindCB, Program: at.Programs[n-1], CB: -1}
		}
		n -= len(at.Programs)
		if n > 0 && n <= len(at.Buffers) {
			return &Resident{Kind: at.Buffers[n-1].Kind, CB: -1, Buffer: at.Buffers[n-1]}
		}
		n -= len(at.Buffers)
	}
	return nil
}

// RoomThroughout is RoomOn on devices on which something was taken, at any time: per core it is the least room
// that each of the cores has throughout on all of them.
func RoomThroughout(mode Mode, cores l1.CoreSet, size uint64, devices ...*Occupancy) Room[int] {
	if mode == PerCore && !cores.IsEmpty() {
		least := Least(RoomsThroughout(mode, cores, size, devices...))
		least.Cores = cores
		return least
	}
	return roomAt(mode, cores, size, devices)
}

// roomAt returns the room at one address on all of some cores.
func roomAt(mode Mode, cores l1.CoreSet, size uint64, devices []*Occupancy) Room[int] {
	free, align, taken := onAll(mode, cores, devices)
	best, gap, below := Room[int]{Cores: cores}, free, NoOwner
	for _, r := range append(taken, taking{Range: l1.Range{Start: free.End, End: free.End}}) {
		gap.End = min(r.Start, free.End)
		start, ok := l1.Spec{CBAlign: align}.AlignCB(gap.Start)
		if end := gap.End - gap.End%align; ok && start < end && end-start >= best.Range.Len() {
			best.Range, best.Below, best.Above = l1.Range{Start: start, End: end}, below, r.first
			if gap.End == free.End {
				best.Above = NoOwner
			}
		}
		if at, ok := top(size, align, gap); ok && size > 0 {
			best.Place = at
		}
		if best.Range.IsEmpty() && r.Has(free.Start) {
			best.Below = r.first
		}
		if best.Range.IsEmpty() && r.Has(free.End-1) {
			best.Above = r.last
		}
		if r.End > gap.Start {
			gap.Start, below = r.End, r.last
		}
	}
	return best
}

// onAll returns the addresses that a buffer in a mode may use on all devices, its alignment, and the ranges
// taken on any of the cores of any device, merged.
func onAll(mode Mode, cores l1.CoreSet, devices []*Occupancy) (free l1.Range, align uint64, list []taking) {
	free, align = l1.Range{End: l1.MaxAddr}, 1
	var taken takenClass
	for _, t := range devices {
		free.Start, free.End = max(free.Start, t.free.Start), min(free.End, t.free.End)
		align = lcm(align, t.align)
		taken.list = append(append(taken.list, t.all.list...), t.more[mode].list...)
		for _, c := range t.classes {
			if c.cores.Overlaps(cores) {
				taken.list = append(taken.list, c.list...)
			}
		}
	}
	taken.merge()
	return free, align, taken.list
}

// RoomsThroughout returns the room on each of some cores alone, in a mode, on all of the devices, the cores
// with the same room and place together, by first core. Cost: one RoomOn for each set of cores on
// which the same is taken.
func RoomsThroughout(mode Mode, cores l1.CoreSet, size uint64, devices ...*Occupancy) (out []Room[int]) {
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
		room := roomAt(mode, part.Cores, size, devices)
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
