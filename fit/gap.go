package fit

import (
	"errors"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// Highest returns where tt-metal's allocator puts size bytes into a free range of a core: as high as
// they can be, in whole steps of align, in the highest gap that holds them. 0 is 1 as an alignment.
// taken yields ranges that are not free, the highest end first. ok is false if no gap holds the size.
//
//	free [   gap  ####      gap      ###  gap  ]
//	                        [size]       too small
//
// Its lists of free blocks search so for L1 buffers: they take the highest block that is large enough,
// not the smallest one, and cut from its top (allocator/algorithms/free_list_opt.cpp with the policy
// FIRST of bank_manager.cpp, from the top as buffers/buffer.cpp sets for all outside DRAM). Circular
// buffers are in no such list and do not block: a program checks them when it runs.
func Highest(size, align uint64, free l1.Range, taken iter.Seq[l1.Range]) (at l1.Range, ok bool) {
	gap := free
	for r := range taken {
		if r.Start >= gap.End {
			continue
		}
		gap.Start = max(r.End, free.Start)
		if at, ok = top(size, align, gap); ok {
			return at, true
		}
		gap.End = r.Start
	}
	gap.Start = free.Start
	return top(size, align, gap)
}

// top returns the highest place for size bytes in a gap. They take whole steps of align.
func top(size, align uint64, gap l1.Range) (at l1.Range, ok bool) {
	align = max(align, 1)
	end := gap.End - gap.End%align
	if end < gap.Start || end-gap.Start < size {
		return at, false
	}
	start := end - size
	if start -= start % align; start < gap.Start {
		return at, false
	}
	return l1.Range{Start: start, End: start + size}, true
}

// Alignment returns the alignment of L1 buffers on devices with a Spec. It is the larger one of the
// DRAM alignment and L1Align, in every mode. tt-metal opens the lists of free blocks of L1 with it (allocator/bank_manager.cpp),
// and they round each size up to it. The pages of a buffer are aligned to L1Align alone.
func Alignment(spec l1.Spec) uint64 { return max(spec.L1Align, spec.CBAlign, 1) }

// Steps returns the whole steps of Alignment in a free range: where a buffer has its bytes.
func Steps(free l1.Range, spec l1.Spec) l1.Range {
	align := Alignment(spec)
	free.End -= free.End % align
	if start, ok := (l1.Spec{CBAlign: align}).AlignCB(free.Start); ok && start < free.End {
		return l1.Range{Start: start, End: free.End}
	}
	return l1.Range{}
}

// FreeBlocks returns the runs of free bytes of a bank, by address, as tt-metal's allocator counts them: each buffer
// takes whole steps of align. buffers are the ranges of its buffers, in any order. Cost: O(n log n).
func FreeBlocks(bank l1.Range, align uint64, buffers []l1.Range) (free []l1.Range) {
	taken := make([]l1.Range, len(buffers), len(buffers)+1)
	for i, r := range buffers {
		if end, ok := (l1.Spec{CBAlign: align}).AlignCB(r.End); ok && !r.IsEmpty() {
			r.End = end
		}
		taken[i] = r.Intersect(bank)
	}
	at := bank.Start
	for _, r := range append(l1.Merge(taken), l1.Range{Start: bank.End, End: bank.End}) {
		if r.Start > at {
			free = append(free, l1.Range{Start: at, End: r.Start})
		}
		at = r.End
	}
	return free
}

// Causes of a buffer without a place.
var (
	ErrNoSpace = errors.New("no free gap is large enough")
	ErrHidden  = errors.New("no gap is known to be free: a buffer has an address or an end that is not known")
)

// PlaceBuffer returns b with the addresses that tt-metal's allocator gives it on places together: size
// bytes on each of b.Cores, in L1_SMALL if that is its Kind. Each Mode has its own search:
//
//   - Lockstep: one address that is free on all cores of all places, whatever b.Cores.
//   - RangeLockstep: one address that is free on b.Cores of all places.
//   - PerCore: an address on each of b.Cores. tt-metal does this device by device.
//
// Occupancy.Buffer says on which cores a buffer takes its addresses. Circular buffers do not count. Addresses are
// multiples of Alignment.
//
// Errors: ErrNoSpace, also if size or the size of L1 is 0; ErrHidden if b would go
// elsewhere if buffers had no bytes on their Hidden cores, and Unsized ones a single byte. Cost: O(n log n)
// in the buffers, for each set of cores on which the same is taken.
func PlaceBuffer(b Buffer, size uint64, places ...Place) (Buffer, error) {
	best, ok := b.placed(size, places, true)
	if !ok {
		return Buffer{}, ErrNoSpace
	}
	if slices.ContainsFunc(places, Place.doubtful) {
		if out, ok := b.placed(size, places, false); !ok || !out.liesAs(best) {
			return Buffer{}, ErrHidden
		}
	}
	return best, nil
}

// doubtful reports whether a buffer takes bytes that are not known.
func (at Place) doubtful() bool {
	return slices.ContainsFunc(at.Buffers, func(b Buffer) bool { return b.Unsized || b.hides() })
}

// liesAs reports whether two buffers have the same addresses on all cores.
func (b Buffer) liesAs(o Buffer) bool {
	own, others := slices.Collect(b.All()), slices.Collect(o.All())
	missing := func(p Part) bool {
		return !slices.ContainsFunc(others, func(q Part) bool { return p.Range == q.Range && p.Cores.Equal(q.Cores) })
	}
	return len(own) == len(others) && !slices.ContainsFunc(own, missing)
}

// placed is PlaceBuffer, which may be blind to all that is not known of buffers.
func (b Buffer) placed(size uint64, places []Place, blind bool) (_ Buffer, ok bool) {
	taken := make([]*Occupancy, len(places))
	for i := range places {
		taken[i] = places[i].allocated(&b, blind)
	}
	rooms := []Room[int]{RoomThroughout(b.Mode, b.Cores, size, taken...)}
	if b.Mode == PerCore {
		rooms = RoomsThroughout(b.Mode, b.Cores, size, taken...)
	}
	b.Cores, b.Range, b.Parts = l1.CoreSet{}, l1.Range{}, nil
	for _, r := range rooms {
		if r.Place.IsEmpty() || len(places) == 0 {
			return Buffer{}, false
		}
		if i := slices.IndexFunc(b.Parts, func(p Part) bool { return p.Range == r.Place }); i >= 0 {
			b.Parts[i].Cores = b.Parts[i].Cores.Union(r.Cores)
			continue
		}
		b.Parts = append(b.Parts, Part{r.Cores, r.Place})
	}
	return b.Plain(), len(rooms) > 0
}

// least returns the buffer with its known bytes alone. An unsized one has the first byte of each range.
func (b Buffer) least() Buffer {
	b.Hidden = l1.CoreSet{}
	if !b.Unsized {
		return b
	}
	b.Unsized, b.Parts = false, slices.Collect(b.All())
	b.Cores, b.Range = l1.CoreSet{}, l1.Range{}
	for i := range b.Parts {
		b.Parts[i].Range.End++ // all of them are empty
	}
	return b
}

// allocated returns the bytes that the allocator does not give to one more buffer.
func (at Place) allocated(next *Buffer, blind bool) *Occupancy {
	t := NewOccupancy(at.Spec)
	switch {
	case at.Spec.L1Size == 0:
		t.free = l1.Range{}
	case next.Kind == KindL1Small:
		t.free = l1.Range{Start: t.free.End, End: at.Spec.L1Size}
	}
	for _, b := range at.Buffers {
		if blind {
			b = b.least()
		}
		t.Buffer(b, NoOwner)
	}
	return t
}
