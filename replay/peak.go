package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A rise is a peak whose content is not written down yet. Buffers often come one upon
// another, and only the last of them makes the peak that stays. The content is written
// down (settle) before it changes, unless the change makes the rise a higher one.
type rise struct {
	bytes uint64 // on the fullest core
	at    uint64
	t     string
	op    string
	by    *buffer // that made it, if one did
}

// A spike is a peak that may turn out to be one: nothing but frees came after it.
type spike struct {
	of  *L1Peak
	new *buffer
}

// best returns the bytes of the highest peak so far.
func (d *row) best() uint64 {
	switch {
	case d.rise != nil:
		return d.rise.bytes
	case d.on.Peak != nil:
		return d.on.Peak.Bytes
	}
	return 0
}

// grown takes in that a device holds more than before. bound is the most that any of the
// cores that changed can hold. It is what the fullest of them holds, unless something
// overlaps.
func (r *replay) grown(d *row, bound uint64, by rise) {
	d.spike = nil
	tracked := d.dev.Totals().Tracked
	d.on.Total.Peak = max(d.on.Total.Peak, tracked)
	if bound <= d.best() {
		return
	}
	by.bytes = bound
	d.rise = &by
	if d.bounds.sum != tracked {
		r.settle(d)
	}
}

// settle writes down what the fullest cores of a device hold, if that is a new peak.
func (r *replay) settle(d *row) {
	if d == nil || d.rise == nil {
		return
	}
	by := d.rise
	d.rise = nil
	best := d.best()
	var fullest device.UsageGroup
	cores := l1.CoreSet{}
	for g := range d.dev.UsageGroups(device.BasisResident) {
		switch {
		case g.Usage.Tracked > best:
			best, fullest, cores = g.Usage.Tracked, g, g.Cores
		case g.Usage.Tracked == best:
			cores = cores.Union(g.Cores)
		}
	}
	if fullest.Usage.Tracked == 0 {
		return
	}
	peak := d.composition(fullest)
	peak.At, peak.T, peak.Op, peak.Cores = by.at, by.t, by.op, cores
	d.on.Peak = peak
	if by.by != nil {
		d.spike = &spike{peak, by.by}
	}
}

// composition says what the cores of a group hold.
func (d *row) composition(g device.UsageGroup) *L1Peak {
	peak := &L1Peak{Bytes: g.Usage.Tracked, Core: firstCore(g.Cores), Shared: slices.Collect(g.Usage.Shared())}
	base := d.dev.Spec().CBBase
	below := base
	for _, r := range g.Regions {
		if r.Start < base {
			below -= min(r.End, base) - r.Start
		}
	}
	peak.WithKernels = peak.Bytes + below
	for kind := device.KindCB; kind.InL1(); kind++ {
		if n := g.Usage.Of(kind); n > 0 {
			peak.Kinds = append(peak.Kinds, KindBytes{kind, n})
		}
	}
	for held := range g.Residents() {
		peak.Residents = append(peak.Residents, d.resident(held))
	}
	peak.Top, peak.Largest = freeRuns(g.Regions, d.dev.Spec())
	return peak
}

func (d *row) resident(r fit.Resident) L1Resident {
	out := L1Resident{Kind: r.Kind, Range: r.Range, CB: r.CB}
	if r.Program != nil {
		run := d.last[r.Program]
		out.Program = &run
		return out
	}
	if b := d.live[r.Buffer.ID]; b != nil {
		info := b.info
		out.Buffer = &info
	}
	return out
}

// spiked looks whether a free shows that the last peak was a spike.
func (d *row) spiked(b *buffer, at uint64, t string) {
	s := d.spike
	if s == nil || s.of.Spike != nil || b == s.new || b.info.Kind != s.new.info.Kind || b.info.Size != s.new.info.Size {
		return
	}
	if !slices.ContainsFunc(s.of.Residents, func(r L1Resident) bool {
		return r.Buffer != nil && r.Buffer.At == b.info.At && r.Range == b.span
	}) {
		return
	}
	s.of.Spike = &Spike{
		New: s.new.info, Old: b.info, FreedAt: at, FreedT: t,
		Without: d.dev.CoreUsage(s.of.Core, device.BasisResident).Tracked,
	}
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

// firstCore returns the first core of a set.
func firstCore(s l1.CoreSet) l1.Core {
	for c := range s.All() {
		return c
	}
	return l1.Core{X: 255, Y: 255}
}
