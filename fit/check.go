package fit

import (
	"slices"

	"github.com/cbl1/cbl1/program"
)

// Check says whether a program fits on all of the places: of a mesh, or of any other devices that it
// is to run on. The program should be one for their Specs.
// Without a program or a place nothing is in the way.
func Check(p *program.Program, places ...Place) Verdict {
	for i := range places {
		if at := &places[i]; p != nil && !Clears(p, at.Spec, at.free()) {
			return sitesOf(places).judge(p)
		}
	}
	return Verdict{Program: p}
}

// judge is Check with a close look.
func (all sites) judge(p *program.Program) Verdict {
	v := Verdict{Program: p}
	regions := all.regions(p)
	for i := range all {
		at := &all[i]
		refusals, doubts := all.refusals(i, p, regions, at.Hybrid)
		hybrid, _ := all.refusals(i, p, regions, true)
		v.Refusals, v.Hybrid = append(v.Refusals, refusals...), append(v.Hybrid, hybrid...)
		v.Clashes, v.Doubts = append(v.Clashes, at.clashes(p)...), append(v.Doubts, doubts...)
	}
	if len(v.Refusals) > 0 || len(v.Clashes) > 0 {
		v.Doubts = nil // they decide nothing
		for i := range all {
			v.judged = append(v.judged, all[i].Place)
		}
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
	regions := all.regions(p)
	for i := range all {
		at := &all[i]
		refusals, doubts := all.refusals(i, p, regions, at.Hybrid)
		if len(refusals) > 0 || len(doubts) > 0 || at.blocks(p) {
			return false
		}
	}
	return true
}

// blocks reports whether bytes of a program are beyond L1, or taken.
func (at *site) blocks(p *program.Program) bool {
	for _, own := range partsOf(p) {
		if at.Spec.L1Size > 0 && own.Range.End > at.Spec.L1Size {
			return true
		}
		for _, g := range at.groups {
			if slices.ContainsFunc(g.taken, own.Range.Overlaps) && g.cores.Overlaps(own.Cores) {
				return true
			}
		}
	}
	return false
}
