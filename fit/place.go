package fit

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Place lists the buffers in the L1 of a device, or of several devices with equal buffers.
type Place struct {
	Device  DeviceID // the first of the devices
	Devices int      // how many there are; 0 is 1
	Spec    l1.Spec
	Hybrid  bool     // the allocator is in HYBRID mode: tt-metal compares circular buffers with the L1 buffers of all places
	Buffers []Buffer // that live there, in the order in which a clash names equals; those outside L1 are not looked at
}

// Claimed returns the cores that service buffers of the place claim: tt-metal compares programs
// that begin there with these buffers alone.
func (at Place) Claimed() (cores l1.CoreSet) {
	for _, b := range at.Buffers {
		if b.Kind == KindService && !b.Backing {
			for p := range b.All() {
				cores = cores.Union(p.Cores)
			}
		}
	}
	return cores
}

// free returns a range in which nothing lies on any core: above kernels and the reserved
// area, below everything else.
func (at *Place) free() l1.Range {
	free := l1.Range{End: math.MaxUint64}
	for i := range at.Buffers {
		b := &at.Buffers[i]
		if b.hides() {
			free.End = 0 // it may lie anywhere
		}
		for p := range b.standing {
			if b.Kind.Below() {
				free.Start = max(free.Start, p.Range.End)
			} else {
				free.End = min(free.End, p.Range.Start)
			}
		}
	}
	return free
}

// Clears reports whether a program fits at first glance where nothing but circular
// buffers lies in the given range, on any core: it is inside the grid, above all kernels
// and below everything else. Nearly all programs are. A program that does not clear may fit
// all the same.
func Clears(p *program.Program, spec l1.Spec, free l1.Range) bool {
	if spec.L1Size > 0 {
		free.End = min(free.End, spec.L1Size)
	}
	for _, cb := range p.CBs() {
		for r := range cb.Cores.All() {
			if spec.Cols > 0 && (int(r.End.X) >= spec.Cols || int(r.End.Y) >= spec.Rows) {
				return false
			}
		}
	}
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		for e := range p.Entries(kind) {
			if e.End > free.End {
				return false
			}
		}
		for g := range p.Occupied(kind).Groups() {
			if n := g.NumRanges(); g.Range(0).Start < free.Start || g.Range(n-1).End > free.End {
				return false
			}
		}
	}
	return true
}

// A site is a Place, prepared for all questions: it says by core which buffers stand there.
type site struct {
	Place              // with buffers of its own
	claimed l1.CoreSet // by service buffers
	free    l1.Range   // nothing lies in it
	parts   []held     // of all buffers
	groups  []group    // the cores of the parts

	// tt-metal compares a region with L1 buffers in lockstep, wherever they are. Of others their
	// cores decide.
	lockstep uint64    // the lowest address; MaxUint64 = none
	near     []held    // the others, and service buffers
	hiding   []*Buffer // whose address is not known on some cores
}

// A held is bytes that a buffer holds on some cores. An unsized buffer holds an empty range.
type held struct {
	Part
	buffer *Buffer
	mode   Mode // by which the buffer is judged, if tt-metal compares circular buffers with it
}

// A group is cores on which the same stands.
type group struct {
	cores l1.CoreSet
	held  []*held    // in the order of the buffers, each with the fewest ranges
	taken []l1.Range // by all of them, merged
}

// sites are some places, prepared.
type sites []site

func sitesOf(places []Place) sites {
	all := make(sites, len(places))
	for i := range places {
		all[i] = siteOf(places[i])
	}
	return all
}

// siteOf prepares a place. It keeps nothing that it is given.
func siteOf(place Place) site {
	at := site{Place: place, claimed: place.Claimed(), free: place.free(), lockstep: math.MaxUint64}
	at.Devices = max(at.Devices, 1)
	at.Buffers = make([]Buffer, 0, len(place.Buffers))
	for _, b := range place.Buffers {
		if b.counts() {
			at.Buffers = append(at.Buffers, b.Plain())
		}
	}
	at.parts = make([]held, 0, len(at.Buffers))
	for i := range at.Buffers {
		b := &at.Buffers[i]
		if b.hides() {
			at.hiding = append(at.hiding, b)
		}
		mode := Lockstep
		if b.Kind.tensor() {
			mode = b.mode()
		}
		for p := range b.standing {
			h := held{p, b, mode}
			at.parts = append(at.parts, h)
			if b.Kind == KindService || mode != Lockstep {
				at.near = append(at.near, h)
			} else if b.Kind.tensor() {
				at.lockstep = min(at.lockstep, p.Range.Start)
			}
		}
	}
	at.groups = groupsOf(at.parts)
	return at
}

// groupsOf divides the cores of parts so that on each group the same stands.
func groupsOf(parts []held) (out []group) {
	sets := make([]l1.CoreSet, len(parts))
	for i := range parts {
		sets[i] = parts[i].Cores
	}
	for _, tile := range l1.Tiles(sets) {
		g := group{tile.Cores, make([]*held, 0, len(tile.In)), make([]l1.Range, 0, len(tile.In))}
		for in := tile.In; len(in) > 0; {
			n := 1
			for n < len(in) && parts[in[n]].buffer == parts[in[0]].buffer {
				n++
			}
			g.hold(parts, in[:n])
			in = in[n:]
		}
		g.taken = l1.Merge(g.taken)
		out = append(out, g)
	}
	return out
}

// hold adds some parts of one buffer. Of an unsized one the lowest part stays.
func (g *group) hold(parts []held, in []int) {
	first := &parts[in[0]]
	if len(in) == 1 {
		g.held, g.taken = append(g.held, first), append(g.taken, first.Range)
		return
	}
	ranges := make([]l1.Range, len(in))
	for k, i := range in {
		ranges[k] = parts[i].Range
	}
	if first.buffer.Unsized {
		ranges = []l1.Range{slices.MinFunc(ranges, l1.Range.Compare)}
	} else {
		ranges = l1.Merge(ranges)
	}
	for _, r := range ranges {
		g.held, g.taken = append(g.held, &held{Part{g.cores, r}, first.buffer, first.mode}), append(g.taken, r)
	}
}

// A tile is cores of one group on which a question is about the same ranges.
type tile struct {
	group            // empty: nothing stands there
	cores l1.CoreSet // some of the group
	own   []l1.Range // merged
}

// tiles divides the cores that a question is about, by first core. A part without bytes adds
// cores.
func (at *site) tiles(own []Part) (out []tile) {
	sets := make([]l1.CoreSet, 0, len(own)+len(at.groups))
	for _, p := range own {
		sets = append(sets, p.Cores)
	}
	for _, g := range at.groups {
		sets = append(sets, g.cores)
	}
	for _, part := range l1.Tiles(sets) {
		t := tile{cores: part.Cores}
		for _, i := range part.In {
			if i < len(own) {
				t.own = append(t.own, own[i].Range)
			} else {
				t.group = at.groups[i-len(own)]
			}
		}
		if part.In[0] < len(own) {
			t.own = l1.Merge(t.own)
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b tile) int { return a.cores.CompareFirst(b.cores) })
	return out
}

// gaps returns the free ranges of a tile between the base of circular buffers and the end of
// usable L1.
func (t *tile) gaps(spec l1.Spec) (out []l1.Range) {
	free := spec.Usable()
	for _, r := range l1.Merge(slices.Concat(t.own, t.taken)) {
		if r.Start > free.Start && !free.IsEmpty() {
			out = append(out, l1.Range{Start: free.Start, End: min(r.Start, free.End)})
		}
		free.Start = max(free.Start, r.End)
	}
	if !free.IsEmpty() {
		out = append(out, free)
	}
	return out
}

// partsOf returns what a program occupies, each circular buffer for itself.
func partsOf(p *program.Program) (out []Part) {
	for _, cb := range p.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() && cb.Cores.Len() > 0 {
			out = append(out, Part{cb.Cores.Cores(), cb.Range})
		}
	}
	return out
}
