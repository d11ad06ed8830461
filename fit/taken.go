package fit

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Taken collects the bytes that one more L1 buffer could not have at some time. Another buffer
// takes its bytes. A program takes everything below the end of its region, which tt-metal's test
// compares with the buffer. If two take the same byte, the answer names the first of them. The
// zero Taken has no Spec: nothing is known of its device.
//
//	core 0-0   base [======= programs =======>   free   <== buffers ==]   L1_SMALL] end
//	                                         lo      hi
//
// A buffer that lies in lo to hi could have been there throughout, while nothing else moves.
type Taken struct {
	spec    l1.Spec
	all     takenClass   // on every core
	classes []takenClass // disjoint; other cores have what is in all
	cores   l1.CoreSet   // of the classes
}

// A takenClass is a set of cores on which the same is taken. Its takings are merged now and then, so
// that one more costs O(log n).
type takenClass struct {
	cores  l1.CoreSet
	list   []taking
	merged int // that many are merged, sorted and apart
}

// A taking is a run of taken bytes, and who took its first and its last one.
type taking struct {
	l1.Range
	first, last int
}

// NewTaken returns an empty Taken. The Spec says how large the L1 of its devices is.
func NewTaken(spec l1.Spec) *Taken { return &Taken{spec: spec} }

// Clone returns a Taken that goes its own way from here on.
func (t *Taken) Clone() *Taken {
	to := *t
	to.all, to.classes = t.all.clone(), slices.Clone(t.classes)
	for i, c := range to.classes {
		to.classes[i] = c.clone()
	}
	return &to
}

// Buffer takes the bytes of a buffer that lived there. by is a number for it, at least 0. The end of an
// unsized buffer is not known: it takes everything above its address. On hidden cores a buffer takes
// everything. Cost: amortised O(log n), for each set of cores on which the same is taken.
func (t *Taken) Buffer(b Buffer, by int) { t.buffer(&b, by, false) }

// buffer is Buffer, which may take the bytes on all cores.
func (t *Taken) buffer(b *Buffer, by int, everywhere bool) {
	add := t.add
	if everywhere {
		add = func(_ l1.CoreSet, r l1.Range, by int) { t.all.add(t.clip(r), by) }
	}
	for p := range b.standing {
		if b.Unsized {
			p.Range.End = l1.MaxAddr
		}
		add(p.Cores, p.Range, by)
	}
	if b.hides() {
		add(b.Hidden, l1.Range{End: l1.MaxAddr}, by)
	}
}

// Program takes the bytes of a program that was checked there, while service buffers claimed some
// cores. by is a number for it, at least 0. No buffer may lie below the end of its circular
// buffers on their cores. None in lockstep may lie below the end of a region that tt-metal
// compares with it: a buffer in lockstep counts on all cores, in HYBRID mode too.
func (t *Taken) Program(p *program.Program, claimed l1.CoreSet, by int) {
	for _, e := range entriesOf(p) {
		if !claimed.Has(e.Cores.Start) {
			t.all.add(t.clip(l1.Range{End: e.End}), by)
		}
	}
	for _, own := range partsOf(p) {
		t.add(own.Cores, l1.Range{End: own.Range.End}, by)
	}
}

// clip returns the bytes of a range that a buffer could have.
func (t *Taken) clip(r l1.Range) l1.Range { return r.Intersect(t.spec.Usable()) }

// add takes a range on some cores.
func (t *Taken) add(cores l1.CoreSet, r l1.Range, by int) {
	if r = t.clip(r); r.IsEmpty() {
		return
	}
	for i := range t.classes {
		c := &t.classes[i]
		if !c.cores.Overlaps(cores) || c.has(r) {
			continue
		}
		if !cores.Contains(c.cores) {
			rest := c.clone()
			rest.cores, c.cores = c.cores.Minus(cores), c.cores.Intersect(cores)
			t.classes = append(t.classes, rest)
			c = &t.classes[i]
		}
		c.add(r, by)
	}
	if !t.cores.Contains(cores) {
		own := takenClass{cores: cores.Minus(t.cores)}
		own.add(r, by)
		t.classes, t.cores = append(t.classes, own), t.cores.Union(cores)
	}
}

func (c takenClass) clone() takenClass {
	c.list = slices.Clone(c.list)
	return c
}

// has reports whether all of a range is known to be taken, by somebody who came before.
func (c *takenClass) has(r l1.Range) bool {
	i, _ := slices.BinarySearchFunc(c.list[:c.merged], r.Start, func(o taking, start uint64) int { return cmp.Compare(o.End, start+1) })
	return i < c.merged && c.list[i].Contains(r)
}

func (c *takenClass) add(r l1.Range, by int) {
	if r.IsEmpty() || c.has(r) {
		return
	}
	if c.list = append(c.list, taking{r, by, by}); len(c.list) > 2*c.merged+16 {
		c.merge()
	}
}

// merge merges takings that overlap or touch. Of equal ends the lower caller is named.
func (c *takenClass) merge() {
	slices.SortFunc(c.list, func(a, b taking) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.first, b.first))
	})
	out := c.list[:0]
	for _, r := range c.list {
		if n := len(out) - 1; n < 0 || r.Start > out[n].End {
			out = append(out, r)
		} else if at := &out[n]; r.End > at.End || r.End == at.End && r.last < at.last {
			at.End, at.last = r.End, r.last
		}
	}
	c.list, c.merged = out, len(out)
}

// A Room is where an L1 buffer fits on some cores.
type Room struct {
	Cores l1.CoreSet
	Range l1.Range // the largest, the highest of equals; it starts as L1 buffers are aligned; empty: there is none

	// Below and Above are who takes the bytes right below Range and right above it, as the
	// caller of Taken's methods calls them. Where there is no room they are who takes the
	// first and the last byte of what is usable.
	Below, Above int

	// Place is where a buffer of the size that is asked about goes, as tt-metal's allocator
	// places it: as high as it can be. It may lie outside of Range. Empty: nowhere.
	Place l1.Range
}

// Nobody stands for the base of circular buffers as Room.Below, and for the end of usable L1 as
// Room.Above.
const Nobody = -1

// RoomOn returns the room for an L1 buffer that is on all of the cores of all devices, at one
// address throughout: for the largest one, and for one of size bytes on each core. Size 0 asks
// about no size: it has no Place. Cost: O(n log n) in what is taken.
func RoomOn(cores l1.CoreSet, size uint64, devices ...*Taken) Room {
	free, align, taken := onAll(cores, devices)
	best, none := Room{Cores: cores}, Room{Cores: cores, Below: Nobody, Above: Nobody}
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

// RoomsOn returns the room on each of some cores alone, on all of the devices, the cores with the
// same room and place together, by first core. Cost: that of RoomOn for each set of cores on
// which the same is taken.
func RoomsOn(cores l1.CoreSet, size uint64, devices ...*Taken) (out []Room) {
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
		room := RoomOn(part.Cores, size, devices...)
		if i := slices.IndexFunc(out, room.equal); i >= 0 {
			out[i].Cores = out[i].Cores.Union(part.Cores)
			continue
		}
		out = append(out, room)
	}
	slices.SortFunc(out, func(a, b Room) int { return a.Cores.CompareFirst(b.Cores) })
	return out
}

// equal reports whether two rooms are the same, on whatever cores.
func (r Room) equal(o Room) bool {
	return r.Range == o.Range && r.Below == o.Below && r.Above == o.Above && r.Place == o.Place
}
