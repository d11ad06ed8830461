package fit

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Headroom is the room of circular buffers on some cores.
type Headroom struct {
	Device  DeviceID // the first of them
	Devices int      // with the same buffers
	Cores   l1.CoreSet

	End  uint64   // where the region of the circular buffers ends; the base, where there are none
	Free uint64   // bytes from End, or from the base where that is higher, to what lives above, or to the end of usable L1 (below L1_SMALL); 0 if something lies lower
	Gap  l1.Range // the largest run of free bytes above the base in whole steps of Alignment, the lowest of equals
}

// HeadroomOf returns the room that a program has on the cores on which it has bytes.
// Cores of a place with the same figures are together, by place, then first core. Where
// the L1 size is not known there is room up to 2^63-1. nil has none.
func HeadroomOf(p *program.Program, places ...Place) (out []Headroom) {
	if p == nil {
		return nil
	}
	own := rangesOf(p)
	for _, place := range places {
		at := siteOf(place)
		out = append(out, at.headroom(own)...)
	}
	return out
}

// LeastRoom returns a lower bound of every Headroom.Free of a program, if only circular buffers lie
// in the range free, on every core (Clears). It reads no buffer.
func LeastRoom(p *program.Program, spec l1.Spec, free l1.Range) uint64 {
	end := spec.CBBase
	for own := range spansOf(p) {
		if own.Start <= free.Start {
			return 0 // a kernel may lie above it
		}
		end = max(end, own.End)
	}
	above := min(spec.Usable().End, free.End)
	return above - min(above, end)
}

// HeadroomOver returns the room over all programs of the places, as if all were there at once, on
// every core of the grids: also where there is no program, and the room begins at the base. Where
// a grid is not known it is about the cores that hold anything. Order as HeadroomOf.
func HeadroomOver(places ...Place) (out []Headroom) {
	for _, place := range places {
		at, held := siteOf(place), place.Held
		if held == nil {
			for _, p := range place.Programs {
				held = append(held, rangesOf(p)...)
			}
		}
		bare := at.Spec.Grid().Cores()
		for _, h := range at.parts {
			bare = bare.Union(h.Cores)
		}
		out = append(out, at.headroom(append([]Part{{Cores: bare}}, held...))...)
	}
	return out
}

// headroom returns the room over the ranges of programs.
func (at *site) headroom(own []Part) (out []Headroom) {
	for _, t := range at.tiles(own) {
		h := t.headroom(at)
		same := func(o Headroom) bool { return o.End == h.End && o.Free == h.Free && o.Gap == h.Gap }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Cores = out[i].Cores.Union(h.Cores)
		} else {
			out = append(out, h)
		}
	}
	return out
}

func (t *tile) headroom(at *site) Headroom {
	base := at.Spec.CBBase
	h := Headroom{Device: at.Device, Devices: at.Devices, Cores: t.cores, End: base}
	if n := len(t.own); n > 0 {
		base, h.End = t.own[0].Start, t.own[n-1].End
	}
	above, gaps := at.Spec.Usable().End, t.gaps(at.Spec)
	for _, o := range t.held {
		start := o.Range.Start
		if o.Range.End > base || o.buffer.Unsized && start == base {
			above = min(above, start)
		}
		if !o.buffer.Unsized {
			continue
		}
		for i := range gaps {
			if gaps[i].Has(start) {
				gaps[i].End = start // what lies there is not known to end
			}
		}
	}
	h.Free = above - min(above, max(h.End, at.Spec.CBBase)) // bytes below the base are not free
	for _, gap := range gaps {
		if gap = Steps(gap, at.Spec); gap.Len() > h.Gap.Len() {
			h.Gap = gap
		}
	}
	return h
}
