package replay

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A Composition names the composition of a peak or of LaidGroups, nodes and times left out. In one Result, compositions
// with equal names have the same buffers, and the same programs from operations with the same names. Equal
// compositions may have several names.
type Composition struct {
	moment device.MomentName
	names  sum128
	spec   l1.Spec
	core   l1.Core
}

// Laid returns a name of the composition. It reports false if the peak has its composition.
func (p *L1Peak) Laid() (name Composition, ok bool) {
	if p.later == nil {
		return name, false
	}
	return p.later.laid(p.Core), true
}

func (w *past) laid(core l1.Core) Composition {
	return Composition{w.moment.Name(), w.names, w.spec, core}
}

// Composed returns the peak with the composition that Options.OnePeak leaves out. Cost: the
// residents of a core or, with Options.Groups, of all cores; nothing if the peak has it.
func (p *L1Peak) Composed() *L1Peak {
	if p == nil || p.later == nil {
		return p
	}
	out := *p
	out.compose()
	return &out
}

// Laid returns a name of LaidGroups. It reports false if the Groups are there, or nothing is.
func (d *DeviceL1) Laid() (name Composition, ok bool) {
	if d.after == nil {
		return name, false
	}
	return d.after.laid(l1.Core{}), true
}

// LaidGroups returns the Groups, also where Options.OnePeak leaves them out. Cost: the residents of
// all cores; nothing if the Groups are there.
func (d *DeviceL1) LaidGroups() []LaidGroup {
	if d.after == nil {
		return d.Groups
	}
	return laidGroups(d.after.moment, d.after.spec, d.after.resident)
}

// compose looks up the composition of the peak.
func (p *L1Peak) compose() {
	w := p.later
	p.later = nil
	for g := range w.moment.UsageGroups() {
		highest := g.Cores.Has(p.Core)
		if highest {
			p.composition(g, w.spec)
			p.Residents = residents(g, w.resident)
			if n := doubled(p.Residents); n > 0 {
				p.Shared = append(p.Shared, device.Sharing{Kinds: []fit.Kind{fit.KindL1, fit.KindL1}, Bytes: n})
			}
		}
		if w.groups {
			p.Groups = append(p.Groups, laidGroup(g, w.spec, w.resident))
		} else if highest {
			return
		}
	}
}

// laidGroups returns what lies on all cores at a moment. name says whose a resident is.
func laidGroups(m device.Moment, spec l1.Spec, name func(fit.Resident) L1Resident) (out []LaidGroup) {
	for g := range m.UsageGroups() {
		out = append(out, laidGroup(g, spec, name))
	}
	return out
}

func laidGroup(g device.UsageGroup, spec l1.Spec, name func(fit.Resident) L1Resident) LaidGroup {
	return LaidGroup{g.Cores, g.Cores.Len(), g.Usage.Tracked, BelowSmall(g, spec), List(residents(g, name))}
}

// BelowSmall returns the tracked bytes of each core of a group that lie below L1_SMALL.
func BelowSmall(g device.UsageGroup, spec l1.Spec) (bytes uint64) {
	for _, r := range g.Regions {
		bytes += r.Intersect(underSmall(spec)).Len()
	}
	return bytes
}

// underSmall returns the addresses that are not in L1_SMALL: everything, if there is none.
func underSmall(spec l1.Spec) l1.Range {
	if spec.L1Small == 0 {
		return l1.Range{End: math.MaxUint64}
	}
	return l1.Range{End: spec.Usable().End}
}

func residents(g device.UsageGroup, name func(fit.Resident) L1Resident) (out []L1Resident) {
	for held := range g.Residents() {
		out = append(out, name(held))
	}
	return out
}

// composition says how much the cores of a group held.
func (p *L1Peak) composition(g device.UsageGroup, spec l1.Spec) {
	p.Shared = slices.Collect(g.Usage.Shared())
	below := spec.CBBase
	for _, r := range g.Regions {
		if r.Start < spec.CBBase {
			below -= min(r.End, spec.CBBase) - r.Start
		}
	}
	p.Below, p.WithKernels = BelowSmall(g, spec), p.Bytes+below
	p.Kinds = kindsOf(g.Usage)
	p.Top, p.Largest = freeRuns(g.Regions, spec)
}

// freeRuns returns the highest and the largest free run between base and L1_SMALL.
func freeRuns(regions []l1.Range, spec l1.Spec) (top, largest l1.Range) {
	high := spec.L1Size - min(spec.L1Small, spec.L1Size)
	for i := len(regions); i >= 0; i-- {
		low := spec.CBBase
		if i > 0 {
			low = max(low, regions[i-1].End)
		}
		if low < high {
			r := l1.Range{Start: low, End: high}
			if top.IsEmpty() {
				top = r
			}
			if r.Len() > largest.Len() {
				largest = r
			}
		}
		if i > 0 {
			high = min(high, regions[i-1].Start)
		}
	}
	return top, largest
}
