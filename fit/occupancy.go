package fit

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// An Occupancy collects the bytes that one more L1 buffer could not have at some time. Another buffer
// takes its bytes. A program takes everything below the end of its region, which tt-metal's test
// compares with the buffer. If two take the same byte, the answer names the first of them.
//
//	core 0-0   base [======= programs =======>   free   <== buffers ==]   L1_SMALL] end
//	                                         lo      hi
//
// A buffer that lies in lo to hi could have been there throughout, while nothing else moves. The Mode of the next
// buffer decides on which cores a taken byte counts: in lockstep one list of free addresses serves all cores.
type Occupancy struct {
	free    l1.Range             // where a buffer may lie
	align   uint64               // of buffers
	all     takenClass           // on every core, whatever the mode
	more    [numModes]takenClass // on every core, for a buffer in that mode
	classes []takenClass         // on their own cores; disjoint
	cores   l1.CoreSet           // of the classes
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

// NewOccupancy returns an empty Occupancy of devices with a Spec.
func NewOccupancy(spec l1.Spec) *Occupancy {
	return &Occupancy{free: spec.Usable(), align: Alignment(spec)}
}

// Clone returns an Occupancy that goes its own way from here on.
func (t *Occupancy) Clone() *Occupancy {
	to := *t
	to.all, to.classes = t.all.clone(), slices.Clone(t.classes)
	for i, c := range to.more {
		to.more[i] = c.clone()
	}
	for i, c := range to.classes {
		to.classes[i] = c.clone()
	}
	return &to
}

// Buffer takes the bytes of a buffer that lived there. by is a number for it, at least 1. The end of an
// unsized buffer is not known: it takes everything above its address. On hidden cores a buffer takes
// everything. Cost: amortised O(log n), for each set of cores on which the same is taken.
//
// A buffer in lockstep takes its bytes on all cores, since these share one list of free blocks
// (allocator/bank_manager.cpp: AllocatorDependencies; buffers/mesh_buffer.cpp for the devices of a mesh). Others
// take them on their own cores, and on all for the next one in lockstep. Service cores have lists of their own
// (internal/service/service_core_manager.cpp): service buffers take their own cores alone.
func (t *Occupancy) Buffer(b Buffer, by int) {
	shared := b.allocatedAs() != PerCore && (b.Kind.tensor() || b.Kind == KindL1Small)
	take := func(cores l1.CoreSet, r l1.Range) {
		if r = t.clip(r); shared {
			t.all.add(r, by)
			return
		}
		if t.add(cores, r, by); b.Kind != KindService {
			t.more[Lockstep].add(r, by)
		}
	}
	for p := range b.standing {
		if b.Unsized {
			p.Range.End = l1.MaxAddr
		}
		take(p.Cores, p.Range)
	}
	if b.hides() {
		take(b.Hidden, l1.Range{End: l1.MaxAddr})
	}
}

// Program takes the bytes of a program that was checked there, while service buffers claimed some
// cores. by is a number for it, at least 1. No buffer may lie below the end of its circular
// buffers on their cores. None may lie below the end of a region that tt-metal compares with it: a buffer in
// lockstep counts on all cores, in HYBRID mode too, one in range lockstep may, and one per core counts on its
// own cores. Regions of dataflow buffers, which have no HYBRID mode, are compared with any buffer.
func (t *Occupancy) Program(p *program.Program, claimed l1.CoreSet, by int) {
	for _, e := range entriesOf(p) {
		below := t.clip(l1.Range{End: e.End})
		switch {
		case claimed.Has(e.Cores.Start): // it is compared with service buffers
		case e.what == program.DataflowBuffer:
			t.all.add(below, by)
		default:
			t.add(e.on, below, by)
			t.more[Lockstep].add(below, by)
			t.more[RangeLockstep].add(below, by)
		}
	}
	for _, own := range rangesOf(p) {
		t.add(own.Cores, l1.Range{End: own.Range.End}, by)
	}
}

// clip returns the bytes of a range that a buffer could have.
func (t *Occupancy) clip(r l1.Range) l1.Range { return r.Intersect(t.free) }

// add takes a range on some cores.
func (t *Occupancy) add(cores l1.CoreSet, r l1.Range, by int) {
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

// has reports whether the merged ranges contain r: earlier holders have taken all of it.
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
