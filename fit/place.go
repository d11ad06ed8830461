package fit

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Place lists the buffers in the L1 of a device, or of several devices with equal buffers. What
// CheckBuffer, RoomOn and HeadroomOver say is about its programs too.
type Place struct {
	Device  DeviceID // the first of the devices
	Devices int      // how many there are; 0 is 1
	Spec    l1.Spec
	Hybrid  bool     // the allocator is in HYBRID mode: tt-metal compares circular buffers with the L1 buffers of all places
	Buffers []Buffer // that live there, in the order in which a clash names equals; those outside L1 do not count

	Programs []*program.Program // that are registered there, by id
	// Held is the union of the ranges of Programs, worked out beforehand. HeadroomOver adds them up
	// if it is nil, and takes 2.7 times as long beside 300 programs.
	Held []Part
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

// Clears reports whether a program fits at first glance where nothing but circular
// buffers lies in the given range, on any core: it is inside the grid, above all kernels
// and below everything else. Nearly all programs are. Clears is false of some programs that fit.
func Clears(p *program.Program, spec l1.Spec, free l1.Range) bool {
	if spec.L1Size > 0 {
		free.End = min(free.End, spec.L1Size)
	}
	if !spec.HasAll(p.Cores()) {
		return false
	}
	for own := range spansOf(p) {
		if !free.Contains(own) {
			return false
		}
	}
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		for e := range p.Entries(kind) {
			if e.End > free.End {
				return false
			}
		}
	}
	return true
}

// A site is a Place, prepared for all queries: it finds the buffers of each core.
type site struct {
	Place                  // with buffers of its own
	claimed    l1.CoreSet  // by service buffers
	free       l1.Range    // above kernels and the reserved area, below everything else, on all cores
	parts      []*holding  // of all buffers
	comparison             // of this place
	all        *comparison // of all places that are judged together
}

// A comparison holds the buffers that tt-metal compares regions with.
type comparison struct {
	near   []*holding // L1 buffers and service buffers, the lowest first
	hiding []*Buffer  // whose address is not known on some cores
}

// A holding is the bytes of a buffer on some cores. An unsized buffer has an empty range.
type holding struct {
	Part
	buffer *Buffer // nil: the program of a query
	mode   Mode    // by which the buffer is judged
}

// sites are some places, prepared.
type sites []site

// sitesOf prepares places. It keeps nothing that it is given.
func sitesOf(places []Place) sites {
	out, all := make(sites, len(places)), &comparison{}
	for i := range out {
		at := &out[i]
		*at = siteOf(places[i])
		at.all = all
		all.near, all.hiding = append(all.near, at.near...), append(all.hiding, at.hiding...)
	}
	slices.SortStableFunc(all.near, byStart)
	return out
}

func siteOf(place Place) site {
	at := site{Place: place, free: l1.Range{End: math.MaxUint64}}
	at.Devices, at.claimed = max(at.Devices, 1), place.Claimed()
	at.Buffers = make([]Buffer, 0, len(place.Buffers))
	for _, b := range place.Buffers {
		if b.counts() {
			at.Buffers = append(at.Buffers, b.Plain())
		}
	}
	all := make([]holding, 0, len(at.Buffers)) // in one piece of memory
	at.parts = make([]*holding, 0, len(at.Buffers))
	for i := range at.Buffers {
		b := &at.Buffers[i]
		if b.hides() {
			at.hiding, at.free.End = append(at.hiding, b), 0 // it may lie anywhere
		}
		mode := b.mode()
		for p := range b.standing {
			all = append(all, holding{p, b, mode})
			h := &all[len(all)-1]
			at.parts = append(at.parts, h)
			if b.Kind.tensor() || b.Kind == KindService {
				at.near = append(at.near, h)
			}
			if b.Kind.Below() {
				at.free.Start = max(at.free.Start, p.Range.End)
			} else {
				at.free.End = min(at.free.End, p.Range.Start)
			}
		}
	}
	slices.SortStableFunc(at.near, byStart)
	return at
}

func byStart(a, b *holding) int { return cmp.Compare(a.Range.Start, b.Range.Start) }

// A tile is a set of cores with the same ranges of a query and the same buffers.
type tile struct {
	cores l1.CoreSet
	own   []l1.Range // merged
	held  []piece    // in the order of the buffers, each with the fewest ranges
}

// A piece is bytes of a buffer on a tile.
type piece struct {
	l1.Range
	buffer *Buffer
}

// tiles divides the cores that a question is about, by first core. A part without bytes adds
// cores.
func (at *site) tiles(own []Part) (out []tile) {
	all := at.beside(own)
	sets := make([]l1.CoreSet, len(all))
	for i, h := range all {
		sets[i] = h.Cores
	}
	for _, part := range l1.Tiles(sets) {
		if all[part.In[len(part.In)-1]].buffer == nil {
			out = append(out, tileOf(part, all))
		}
	}
	slices.SortFunc(out, func(a, b tile) int { return a.cores.CompareFirst(b.cores) })
	return out
}

// beside returns the ranges of the buffers, and then the ranges of a query.
func (at *site) beside(own []Part) []*holding {
	all := slices.Clip(at.parts)
	for _, p := range own {
		all = append(all, &holding{Part: p})
	}
	return all
}

// tileOf returns the tile of a part of the cores, with its residents.
func tileOf(part l1.Tile, all []*holding) tile {
	t := tile{cores: part.Cores, held: make([]piece, 0, len(part.In))}
	var ranges []l1.Range // of one buffer
	for in := part.In; len(in) > 0; {
		b := all[in[0]].buffer
		ranges = ranges[:0]
		for ; len(in) > 0 && all[in[0]].buffer == b; in = in[1:] {
			ranges = append(ranges, all[in[0]].Range)
		}
		switch {
		case b == nil: // they come last
			t.own = l1.Merge(ranges)
			return t
		case b.Unsized: // the lowest stays
			ranges[0] = slices.MinFunc(ranges, l1.Range.Compare)
			ranges = ranges[:1]
		case len(ranges) > 1:
			ranges = l1.Merge(ranges)
		}
		for _, r := range ranges {
			t.held = append(t.held, piece{r, b})
		}
	}
	return t
}

// taken returns the ranges of buffers on a tile, and some more, merged.
func (t *tile) taken(more ...l1.Range) []l1.Range {
	all := slices.Grow(slices.Clone(more), len(t.held))
	for _, h := range t.held {
		all = append(all, h.Range)
	}
	return l1.Merge(all)
}

// gaps returns the free ranges of a tile between the base of circular buffers and the end of
// usable L1.
func (t *tile) gaps(spec l1.Spec) (out []l1.Range) {
	free := spec.Usable()
	for _, r := range t.taken(t.own...) {
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

// partsOf returns the occupied ranges of a program, each circular buffer for itself.
func partsOf(p *program.Program) (out []Part) {
	for _, cb := range p.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() && cb.Cores.Len() > 0 {
			out = append(out, Part{cb.On, cb.Range})
		}
	}
	return out
}

// rangesOf returns the occupied ranges of a program, each byte of a core once for each kind.
func rangesOf(p *program.Program) (out []Part) {
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		for g := range p.Occupied(kind).Groups() {
			for r := range g.Ranges() {
				out = append(out, Part{g.Cores(), r})
			}
		}
	}
	return out
}

// spansOf yields the occupied ranges of each group of cores of a program.
func spansOf(p *program.Program) iter.Seq[l1.Range] {
	return func(yield func(l1.Range) bool) {
		for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
			f := p.Occupied(kind)
			for i := range f.NumGroups() {
				for r := range f.Group(i).Ranges() {
					if !yield(r) {
						return
					}
				}
			}
		}
	}
}
