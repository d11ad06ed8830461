package fit

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Headroom says how much room circular buffers have on some cores.
type Headroom struct {
	Device  DeviceID // the first of them
	Devices int      // with the same buffers
	Cores   l1.CoreSet

	End  uint64   // where the region of the circular buffers ends; the base, where there are none
	Free uint64   // bytes from End, or from the base where that is higher, to what lives above, or to the end of usable L1 (below L1_SMALL); 0 if something lies lower
	Gap  l1.Range // the largest run of free bytes above the base, the lowest of equals
}

// HeadroomOf returns the room that a program has on the cores on which it has bytes.
// Cores of a place with the same figures are together, by place, then first core. Where
// the L1 size is not known there is room up to 2^63-1. nil has none.
func HeadroomOf(p *program.Program, places ...Place) (out []Headroom) {
	if p == nil {
		return nil
	}
	for i := range places {
		out = append(out, places[i].headroom(layersOf(p))...)
	}
	return out
}

// LeastRoom returns a number of bytes that no Headroom.Free of a program is below, where
// nothing but circular buffers lies in the given range, on any core (Clears). It looks at no
// buffer; 0 says nothing.
func LeastRoom(p *program.Program, spec l1.Spec, free l1.Range) uint64 {
	end := spec.CBBase
	for _, y := range layersOf(p) {
		if r := y.ranges[0]; r.Start <= free.Start {
			return 0 // a kernel may lie above it
		} else {
			end = max(end, r.End)
		}
	}
	above := min(spec.Usable().End, free.End)
	return above - min(above, end)
}

// HeadroomOver returns the room over whatever circular buffers hold on a place, on every
// core of its grid: also where they hold nothing, and the room begins at the base. Where
// the grid is not known it is about the cores that hold anything. Order as HeadroomOf.
func HeadroomOver(held []Part, at Place) []Headroom {
	var own []layer
	for _, p := range held {
		if !p.Cores.IsEmpty() && !p.Range.IsEmpty() {
			own = append(own, layer{cores: p.Cores, ranges: []l1.Range{p.Range}})
		}
	}
	// A layer without ranges puts cores without programs on a tile.
	bare := at.Spec.Grid().Cores()
	for _, y := range at.beside(nil) {
		bare = bare.Union(y.cores)
	}
	if !bare.IsEmpty() {
		own = append(own, layer{cores: bare})
	}
	return at.headroom(own)
}

// headroom returns the room over what layers of programs hold.
func (at *Place) headroom(own []layer) (out []Headroom) {
	for _, t := range tiles(at.beside(own)) {
		if t.layers[0].buffer == nil {
			out = appendHeadroom(out, t.headroom(at))
		}
	}
	slices.SortFunc(out, func(a, b Headroom) int { return a.Cores.CompareFirst(b.Cores) })
	return out
}

func (t *tile) headroom(at *Place) Headroom {
	own, others := t.divide()
	base := at.Spec.CBBase
	h := Headroom{Device: at.Device, Devices: at.devices(), Cores: t.cores, End: base}
	if len(own) > 0 {
		base, h.End = own[0].Start, own[len(own)-1].End
	}
	above := at.Spec.Usable().End
	for _, r := range others {
		if r.End > base {
			above = min(above, r.Start)
		}
	}
	starts := t.unsized()
	for _, at := range starts {
		if at >= base {
			above = min(above, at)
		}
	}
	if from := max(h.End, at.Spec.CBBase); above > from {
		h.Free = above - from // what lies below the base is nobody's
	}
	for _, gap := range gaps(l1.Merge(slices.Concat(own, others)), at.Spec) {
		for _, at := range starts { // what lies there is not known to end
			if gap.Has(at) {
				gap.End = at
			}
		}
		if gap.Len() > h.Gap.Len() {
			h.Gap = gap
		}
	}
	return h
}

// unsized returns where unsized buffers start on a tile.
func (t *tile) unsized() (at []uint64) {
	for _, y := range t.layers {
		if y.buffer != nil && y.buffer.Unsized {
			at = append(at, y.ranges[0].Start)
		}
	}
	return at
}

// appendHeadroom adds the cores of h to those with the same figures.
func appendHeadroom(all []Headroom, h Headroom) []Headroom {
	for i := range all {
		if o := &all[i]; o.End == h.End && o.Free == h.Free && o.Gap == h.Gap {
			o.Cores = o.Cores.Union(h.Cores)
			return all
		}
	}
	return append(all, h)
}
