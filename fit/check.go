package fit

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Place is what lives in the L1 of one device, or of several that are equal in it.
type Place struct {
	Device  DeviceID // the first of the devices
	Devices int      // how many there are; 0 is 1
	Spec    l1.Spec
	Hybrid  bool     // the allocator is in HYBRID mode: tt-metal compares circular buffers with the L1 buffers of all places
	Buffers []Buffer // that live there, in the order in which a clash names equals; those outside L1 are not looked at
}

func (at *Place) devices() int { return max(at.Devices, 1) }

// Check says whether a program fits on all of the places, which are those of a mesh or
// of any other devices that it is to run on. The program should be one for their Specs.
// Without a program or a place nothing is in the way.
func Check(p *program.Program, places ...Place) Verdict {
	v := examine(p, places)
	if len(v.Refusals) > 0 || len(v.Clashes) > 0 {
		v.judged = inL1(places)
	}
	return v
}

// examine is Check without what a verdict keeps for its advice. It looks closely, unless the
// program clears all places.
func examine(p *program.Program, places []Place) Verdict {
	for i := range places {
		if p != nil && !Clears(p, places[i].Spec, places[i].free()) {
			v, _ := judge(p, places)
			return v
		}
	}
	return Verdict{Program: p}
}

// inL1 copies places, without the buffers that count in no check.
func inL1(places []Place) []Place {
	out := slices.Clone(places)
	for i := range out {
		at := &out[i]
		at.Buffers = make([]Buffer, 0, len(places[i].Buffers))
		for _, b := range places[i].Buffers {
			if b.Kind.InL1() && !b.Backing {
				b.Parts = slices.Clone(b.Parts)
				at.Buffers = append(at.Buffers, b)
			}
		}
	}
	return out
}

// judge is examine with a close look.
func judge(p *program.Program, places []Place) (v Verdict, all []site) {
	v.Program = p
	all = sitesOf(places)
	low := lows{sites: all}
	for i := range all {
		at := &all[i]
		refusals, doubts := at.refusals(p, &low, at.Hybrid)
		hybrid, _ := at.refusals(p, &low, true)
		v.Refusals, v.Hybrid = append(v.Refusals, refusals...), append(v.Hybrid, hybrid...)
		v.Clashes, v.Doubts = append(v.Clashes, at.clashes(p)...), append(v.Doubts, doubts...)
	}
	if len(v.Refusals) > 0 || len(v.Clashes) > 0 {
		v.Doubts = nil // they decide nothing
	}
	return v, all
}

// A site is a Place, prepared for many looks.
type site struct {
	*Place
	layers  []layer    // its buffers
	claimed l1.CoreSet // by service buffers
	lowest  uint64     // address of an L1 buffer in lockstep; MaxUint64 = none
	perCore []layer    // of L1 buffers that count on their own cores
	ranged  []layer    // of L1 buffers in range lockstep
	hiding  []*Buffer  // whose address is not known on some cores
}

// sitesOf prepares places, which must not change meanwhile.
func sitesOf(places []Place) []site {
	all := make([]site, len(places))
	for i := range places {
		all[i] = siteOf(&places[i])
	}
	return all
}

func siteOf(at *Place) site {
	s := site{Place: at, layers: at.beside(nil), claimed: at.Claimed(), lowest: math.MaxUint64}
	var last *Buffer
	var mode Mode // of last
	for _, y := range s.layers {
		if !y.buffer.tensor() {
			continue
		}
		if y.buffer != last { // the layers of a buffer follow each other
			last, mode = y.buffer, y.buffer.mode()
		}
		switch mode {
		case PerCore:
			s.perCore = append(s.perCore, y)
		case RangeLockstep:
			s.ranged = append(s.ranged, y)
		default:
			s.lowest = min(s.lowest, y.ranges[0].Start)
		}
	}
	for i := range at.Buffers {
		if b := &at.Buffers[i]; b.hides() {
			s.hiding = append(s.hiding, b)
		}
	}
	return s
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
// and below everything else. Nearly all programs are. One that does not clear may fit
// all the same.
func Clears(p *program.Program, spec l1.Spec, free l1.Range) bool {
	if spec.L1Size > 0 {
		free.End = min(free.End, spec.L1Size)
	}
	if spec.Cols > 0 {
		for _, cb := range p.CBs() {
			for r := range cb.Cores.All() {
				if int(r.End.X) >= spec.Cols || int(r.End.Y) >= spec.Rows {
					return false
				}
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

// free returns a range in which nothing lies on any core: above kernels and the reserved
// area, below everything else.
func (at *Place) free() l1.Range {
	free := l1.Range{End: math.MaxUint64}
	if slices.ContainsFunc(at.Buffers, func(b Buffer) bool { return b.hides() }) {
		free.End = 0 // it may lie anywhere
	}
	for _, y := range at.beside(nil) {
		if y.buffer.Kind.Below() {
			free.Start = max(free.Start, y.ranges[len(y.ranges)-1].End)
		} else {
			free.End = min(free.End, y.ranges[0].Start)
		}
	}
	return free
}

// A layer is something that holds the same ranges on some cores: a circular buffer of
// the program in question, or a buffer.
type layer struct {
	cores  l1.CoreSet
	ranges []l1.Range
	buffer *Buffer // nil = of the program
}

// A tile is a set of cores on which the same layers lie.
type tile struct {
	cores  l1.CoreSet
	layers []layer // in their order, a buffer with all its ranges in one; at least one
}

// tiles divides the cores of layers so that on each part the same ones lie.
func tiles(layers []layer) []tile {
	sets := make([]l1.CoreSet, len(layers))
	for i, y := range layers {
		sets[i] = y.cores
	}
	var out []tile
	for _, part := range l1.Tiles(sets) {
		t := tile{cores: part.Cores, layers: make([]layer, 0, len(part.In))}
		for _, i := range part.In {
			y := layers[i]
			if last := len(t.layers) - 1; y.buffer != nil && last >= 0 && t.layers[last].buffer == y.buffer {
				t.layers[last].ranges = append(t.layers[last].ranges, y.ranges...) // a copy, the first time: a layer has one range
				continue
			}
			t.layers = append(t.layers, y)
		}
		for i, y := range t.layers {
			if len(y.ranges) > 1 {
				t.layers[i].ranges = together(y.ranges)
			}
		}
		out = append(out, t)
	}
	return out
}

// together returns the ranges of a buffer that has all of these. Of an unsized one, which
// has empty ranges alone, the lowest one stays.
func together(ranges []l1.Range) []l1.Range {
	if all := l1.Merge(ranges); len(all) > 0 {
		return all
	}
	return []l1.Range{slices.MinFunc(ranges, l1.Range.Compare)}
}

// layersOf returns what a program occupies, each circular buffer for itself.
func layersOf(p *program.Program) (out []layer) {
	for _, cb := range p.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() && cb.Cores.Len() > 0 {
			out = append(out, layer{cores: cb.Cores.Cores(), ranges: []l1.Range{cb.Range}})
		}
	}
	return out
}

// beside adds the buffers of a place to layers. Of an unsized one it is an empty range.
func (at *Place) beside(layers []layer) []layer {
	layers = slices.Grow(layers, len(at.Buffers))
	own := make([]l1.Range, 0, len(at.Buffers)) // most have one part
	for i := range at.Buffers {
		b := &at.Buffers[i]
		if !b.Stands() {
			continue
		}
		for p := range b.All() {
			if (b.Unsized || !p.Range.IsEmpty()) && !p.Cores.IsEmpty() {
				own = append(own, p.Range)
				layers = append(layers, layer{cores: p.Cores, ranges: own[len(own)-1 : len(own) : len(own)], buffer: b})
			}
		}
	}
	return layers
}

// divide returns what the program holds on a tile and what all others do, merged.
func (t *tile) divide() (own, others []l1.Range) {
	for _, y := range t.layers {
		if y.buffer == nil {
			own = append(own, y.ranges...)
		} else {
			others = append(others, y.ranges...)
		}
	}
	return l1.Merge(own), l1.Merge(others)
}
