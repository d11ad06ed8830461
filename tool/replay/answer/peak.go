package answer

import (
	"iter"
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
	names  [2]uint64
	spec   l1.Spec
	core   l1.Core
}

// Laid returns a name of the composition. It reports false if the peak has its composition.
func (p *L1Peak) Laid() (name Composition, ok bool) {
	if p.Later == nil {
		return name, false
	}
	return p.Later.laid(p.Core), true
}

// A Past is a moment of a device whose composition is looked up on demand.
type Past struct {
	Moment   device.Moment
	Groups   bool // Options.Groups
	Names    [2]uint64
	Spec     l1.Spec
	Resident func(fit.Resident) L1Resident // says whose bytes a range was then
}

func (w *Past) laid(core l1.Core) Composition {
	of := NewComposition(w.Moment, w.Names, w.Spec)
	of.core = core
	return of
}

// NewComposition returns the name of the contents of a device at a moment. names are the same where those are that
// have a part in it.
func NewComposition(m device.Moment, names [2]uint64, spec l1.Spec) Composition {
	return Composition{moment: m.Name(), names: names, spec: spec}
}

// Composed returns the peak with the composition that Options.OnePeak leaves out. Cost: the
// residents of a core or, with Options.Groups, of all cores; nothing if the peak has it.
func (p *L1Peak) Composed() *L1Peak {
	if p == nil || p.Later == nil {
		return p
	}
	return everything().peak(p)
}

// Laid returns a name of LaidGroups. It reports false if the Groups are there, or nothing is.
func (d *DeviceL1) Laid() (name Composition, ok bool) {
	if d.After == nil {
		return name, false
	}
	return d.After.laid(l1.Core{}), true
}

// LaidGroups returns the Groups, also where Options.OnePeak leaves them out. Cost: the residents of
// all cores; nothing if the Groups are there.
func (d *DeviceL1) LaidGroups() []LaidGroup { return everything().after(d) }

// A composer looks up what lay on devices, one after the other. Devices that held the same share one lookup.
type composer struct {
	most   int // residents that a device lists
	moment device.MomentName
	groups []heldGroup // of the moment
	last   *L1Peak     // composed
	named  Composition // of last
}

// A heldGroup is a group of cores, and what lies on each of them.
type heldGroup struct {
	device.UsageGroup
	held []fit.Resident
}

// listed is how many residents all devices of a document list together. Without a limit, a log of 469 KB has a report
// of 1.8 GB: 3,000 devices that part over 3,000 buffers.
const listed = 100_000

// composer returns the composer of a document, in which each device lists its share of the residents.
func (r *Result) composer() *composer { return &composer{most: listed / max(1, len(r.L1))} }

// LaidAt returns what lay on all cores of a device of a Spec at a moment. name says whose a resident is.
func LaidAt(m device.Moment, spec l1.Spec, name func(fit.Resident) L1Resident) []LaidGroup {
	return everything().laid(m, spec, name)
}

// everything returns a composer that leaves nothing out.
func everything() *composer { return &composer{most: math.MaxInt} }

// at returns what lay on all cores at a moment.
func (c *composer) at(m device.Moment) []heldGroup {
	if c.groups == nil || c.moment != m.Name() {
		c.moment, c.groups = m.Name(), heldGroups(m.UsageGroups())
	}
	return c.groups
}

func heldGroups(groups iter.Seq[device.UsageGroup]) (out []heldGroup) {
	for g := range groups {
		out = append(out, heldGroup{g, slices.Collect(g.Residents())})
	}
	return out
}

// peak returns the peak with its composition.
func (c *composer) peak(p *L1Peak) *L1Peak {
	out := *p
	if w := p.Later; w != nil {
		groups := c.at(w.Moment)
		i := slices.IndexFunc(groups, func(g heldGroup) bool { return g.Cores.Has(p.Core) })
		out.Later = nil
		if name := w.laid(p.Core); c.last == nil || c.named != name {
			out.composition(groups[i], w.Spec)
			c.last, c.named = &out, name
		} else {
			out.Shared, out.WithKernels, out.Below = c.last.Shared, c.last.WithKernels, c.last.Below
			out.Kinds, out.Top, out.Largest = c.last.Kinds, c.last.Top, c.last.Largest
		}
		out.Residents, out.More = groups[i].residents(c.most, w.Resident)
		if w.Groups {
			out.Groups = c.laid(w.Moment, w.Spec, w.Resident)
		}
	}
	out.More += cut(&out.Residents, c.most)
	out.Groups = cutGroups(out.Groups, c.most)
	return &out
}

// after returns what lay on all cores of a device after the node of Options.GroupsAt.
func (c *composer) after(d *DeviceL1) []LaidGroup {
	if w := d.After; w != nil {
		return c.laid(w.Moment, w.Spec, w.Resident)
	}
	return cutGroups(d.Groups, c.most)
}

// laid returns what lay on all cores at a moment. name says whose a resident is.
func (c *composer) laid(m device.Moment, spec l1.Spec, name func(fit.Resident) L1Resident) []LaidGroup {
	return laidGroups(c.at(m), spec, c.most, name)
}

// laidGroups is laid of groups, which list at most so many residents together.
func laidGroups(groups []heldGroup, spec l1.Spec, most int, name func(fit.Resident) L1Resident) (out []LaidGroup) {
	for _, g := range groups {
		list, more := g.residents(most, name)
		most -= len(list)
		out = append(out, LaidGroup{g.Cores, g.Cores.Len(), g.Usage.Tracked, BelowSmall(g.UsageGroup, spec), List(list), more})
	}
	return out
}

// residents names the owners of the lowest residents, and counts the rest.
func (g heldGroup) residents(most int, name func(fit.Resident) L1Resident) (out []L1Resident, more int) {
	n := min(len(g.held), most)
	for _, r := range g.held[:n] {
		out = append(out, name(r))
	}
	return out, len(g.held) - n
}

// BelowSmall returns the tracked bytes of each core of a group that lie below L1_SMALL.
func BelowSmall(g device.UsageGroup, spec l1.Spec) (bytes uint64) {
	for _, r := range g.Regions {
		bytes += r.Intersect(UnderSmall(spec)).Len()
	}
	return bytes
}

// UnderSmall returns the addresses that are not in L1_SMALL: everything, if there is none.
func UnderSmall(spec l1.Spec) l1.Range {
	if spec.L1Small == 0 {
		return l1.Range{End: math.MaxUint64}
	}
	return l1.Range{End: spec.Usable().End}
}

// cutGroups returns groups that list at most so many residents together.
func cutGroups(groups []LaidGroup, most int) []LaidGroup {
	out := slices.Clone(groups)
	for i := range out {
		out[i].More += cut(&out[i].Residents, most)
		most -= len(out[i].Residents)
	}
	return out
}

// cut leaves the first residents of a list, and returns the number of the rest.
func cut(list *[]L1Resident, most int) int {
	more := max(0, len(*list)-most)
	*list = (*list)[:len(*list)-more]
	return more
}

// composition says how much the cores of a group held.
func (p *L1Peak) composition(g heldGroup, spec l1.Spec) {
	p.Shared = slices.Collect(g.Usage.Shared())
	if n := doubled(g.held); n > 0 {
		p.Shared = append(p.Shared, device.Sharing{Kinds: []fit.Kind{fit.KindL1, fit.KindL1}, Bytes: n})
	}
	below := spec.CBBase
	for _, r := range g.Regions {
		if r.Start < spec.CBBase {
			below -= min(r.End, spec.CBBase) - r.Start
		}
	}
	p.Below, p.WithKernels = BelowSmall(g.UsageGroup, spec), p.Bytes+below
	p.Kinds = KindsOf(g.Usage)
	p.Top, p.Largest = freeRuns(g.Regions, spec)
}

// freeRuns returns the highest and the largest free run between base and L1_SMALL, in steps of L1 buffers.
func freeRuns(regions []l1.Range, spec l1.Spec) (top, largest l1.Range) {
	high := spec.L1Size - min(spec.L1Small, spec.L1Size)
	for i := len(regions); i >= 0; i-- {
		low := spec.CBBase
		if i > 0 {
			low = max(low, regions[i-1].End)
		}
		if r := fit.Steps(l1.Range{Start: low, End: max(low, high)}, spec); !r.IsEmpty() {
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

// KindsOf returns the bytes of a core by kind, without kinds of no byte.
func KindsOf(u device.Usage) map[fit.Kind]uint64 {
	kinds := map[fit.Kind]uint64{}
	for k := fit.KindCB; k.InL1(); k++ {
		if n := u.Of(k); n > 0 {
			kinds[k] = n
		}
	}
	return kinds
}

// doubled returns the bytes of a core that several buffers hold, once for each but the first.
func doubled(all []fit.Resident) (bytes uint64) {
	end := uint64(0)
	for _, r := range all { // by address
		if r.Program == nil && !r.Kind.Below() {
			bytes += min(max(end, r.Range.Start), r.Range.End) - r.Range.Start
			end = max(end, r.Range.End)
		}
	}
	return bytes
}
