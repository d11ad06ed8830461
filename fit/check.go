package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Check judges whether a program fits on all of the places: of a mesh, or of any other devices that
// it is to run on. The program should be one for their Specs. Without a program or a place nothing
// is in the way.
func Check(p *program.Program, places ...Place) Verdict {
	if all := sitesOf(places); p != nil && !all.clear(p) {
		return all.judge(p)
	}
	return Verdict{Program: p}
}

// judge is Check without the quick test.
func (all sites) judge(p *program.Program) Verdict {
	v, regions := Verdict{Program: p}, entriesOf(p)
	for i := range all {
		at := &all[i]
		refusals, doubts := at.refusals(p, regions, at.Hybrid)
		hybrid, _ := at.refusals(p, regions, true)
		v.Refusals, v.Hybrid = append(v.Refusals, refusals...), append(v.Hybrid, hybrid...)
		v.Clashes, v.Doubts = append(v.Clashes, at.clashes(p)...), append(v.Doubts, doubts...)
	}
	if len(v.Refusals) > 0 || len(v.Clashes) > 0 {
		v.Doubts, v.judged = nil, all // doubts decide nothing
	}
	return v
}

// clear reports whether a program fits on all sites at first glance.
func (all sites) clear(p *program.Program) bool {
	return !slices.ContainsFunc(all, func(at site) bool { return !Clears(p, at.Spec, at.free) })
}

// fit reports whether a program fits on all sites, as judge does, without the reasons. With judge in
// its place MayGrow takes 7 to 80 times as long beside some hundred buffers.
func (all sites) fit(p *program.Program) bool {
	if p == nil || all.clear(p) {
		return true
	}
	regions := entriesOf(p)
	for i := range all {
		at := &all[i]
		refusals, doubts := at.refusals(p, regions, at.Hybrid)
		if len(refusals) > 0 || len(doubts) > 0 || at.blocks(rangesOf(p)) {
			return false
		}
	}
	return true
}

// blocks reports whether bytes are beyond L1, or taken.
func (at *site) blocks(own []Part) bool {
	return slices.ContainsFunc(own, func(p Part) bool {
		return at.Spec.L1Size > 0 && p.Range.End > at.Spec.L1Size ||
			slices.ContainsFunc(at.parts, func(h *holding) bool { return h.Range.Overlaps(p.Range) && h.Cores.Overlaps(p.Cores) })
	})
}

// A BufferVerdict reports whether a buffer could be allocated at its place.
type BufferVerdict struct {
	Buffer Buffer

	// Outside counts the bytes of a core that lie where no buffer of the kind may: for an L1
	// buffer below the base of circular buffers or above usable L1, for one in L1_SMALL
	// outside of that area. The core with the most counts.
	Outside uint64
	// Overlaps are the buffers that hold bytes of it; by place, then first core, then address.
	Overlaps []Overlap
	// Refused are the programs that the buffer makes worse, by place, in the given order. A program that fits
	// now would not fit, or might not (Verdict.CannotTell). Or it may fit now and would not.
	Refused []Verdict
}

// An Overlap is bytes that a buffer would share with another one, on some cores.
type Overlap struct {
	Device  DeviceID // the first of them
	Devices int      // with the same buffers
	Cores   l1.CoreSet
	Bytes   uint64 // on each core
	With    Resident
}

// Fits reports whether nothing is in the way of the buffer, nor it in the way of a program.
func (v BufferVerdict) Fits() bool {
	return v.Outside == 0 && len(v.Overlaps) == 0 && len(v.Refused) == 0
}

// String describes the verdict in one line: "fits", or the obstacle.
func (v BufferVerdict) String() string {
	var parts []string
	if v.Outside > 0 {
		parts = append(parts, grouped(v.Outside)+" bytes outside of its area")
	}
	for i, o := range v.Overlaps[:min(2, len(v.Overlaps))] {
		text := fmt.Sprintf("%s bytes shared with %v on %s", grouped(o.Bytes), o.With.Buffer, o.Cores.Brief())
		if i == 1 {
			text += more(len(v.Overlaps) - 2)
		}
		parts = append(parts, text)
	}
	if len(v.Refused) > 0 {
		parts = append(parts, v.Refused[0].String()+more(len(v.Refused)-1))
	}
	if len(parts) == 0 {
		return "fits"
	}
	return strings.Join(parts, "; ")
}

// CheckBuffer reports whether a buffer could be allocated on all of the places, one for each device
// that gets it, so that the Programs of each place still fit there. They are judged as Check judges
// them on this place. Nothing is in the way of a buffer that does not lie in L1, or that backs
// another one. Cost: two Checks of each program.
func CheckBuffer(b Buffer, places ...Place) BufferVerdict {
	v := BufferVerdict{Buffer: b.Plain()}
	if !b.Stands() {
		return v
	}
	for _, place := range places {
		before := sitesOf([]Place{place})
		at := &before[0]
		for _, t := range at.tiles(slices.Collect(b.standing)) {
			v.Outside = max(v.Outside, shared(t.own, b.forbidden(at.Spec)...))
			v.Overlaps = append(v.Overlaps, t.overlaps(at)...)
		}
		if len(place.Programs) == 0 {
			continue
		}
		place.Buffers = append(slices.Clip(at.Buffers), v.Buffer)
		v.Refused = append(v.Refused, worse(place.Programs, before, sitesOf([]Place{place}))...)
	}
	return v
}

// worse returns the verdicts after a change about programs that it makes worse.
func worse(programs []*program.Program, before, after sites) (out []Verdict) {
	for _, p := range programs {
		if p == nil || after.clear(p) {
			continue
		}
		with, was := after.judge(p), before.judge(p)
		if !with.Fits() && (was.Fits() || was.CannotTell() && !with.CannotTell()) {
			out = append(out, with)
		}
	}
	return out
}

// forbidden returns where no byte of the buffer may lie.
func (b *Buffer) forbidden(spec l1.Spec) []l1.Range {
	area := spec.Usable()
	switch {
	case b.Kind == KindL1Small && spec.L1Size > 0:
		area = l1.Range{Start: area.End, End: spec.L1Size}
	case !b.Kind.tensor():
		return nil
	}
	return []l1.Range{{End: area.Start}, {Start: area.End, End: l1.MaxAddr}}
}

// overlaps returns the other holders of bytes of a tile of a site, by address.
func (t *tile) overlaps(at *site) (out []Overlap) {
	for _, h := range t.held {
		if n := shared(t.own, h.Range); n > 0 {
			out = append(out, Overlap{at.Device, at.Devices, t.cores, n, h.resident()})
		}
	}
	slices.SortStableFunc(out, func(a, b Overlap) int {
		return cmp.Or(a.With.Range.Compare(b.With.Range), cmp.Compare(a.With.Buffer.ID, b.With.Buffer.ID))
	})
	return out
}
