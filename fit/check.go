package fit

import (
	"slices"

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
