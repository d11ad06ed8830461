package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A rise is a peak of which nobody wrote down yet what it consists of: buffers often
// come one upon another, and only the last of them makes the peak that stays.
type rise struct {
	bytes, at uint64
	by        *liveBuffer
}

// raise takes in that a device holds more than before. bound is the most that any of
// the cores that changed can hold; by is the buffer that did it, if one did.
func (p *replayer) raise(d *l1Device, bound, at uint64, op string, by *liveBuffer) {
	d.spike = nil
	d.row.Total.Peak = max(d.row.Total.Peak, d.dev.Totals().Tracked)
	if bound > d.best() {
		p.write(d, at, op, by)
	}
}

// best returns the bytes of the highest peak so far.
func (d *l1Device) best() uint64 {
	switch {
	case d.rise != nil:
		return d.rise.bytes
	case d.row.Peak != nil:
		return d.row.Peak.Bytes
	}
	return 0
}

// rises takes in that a device holds one buffer more, as raise does.
func (p *replayer) rises(d *l1Device, bound uint64, by *liveBuffer) {
	tracked := d.dev.Totals().Tracked
	if bound <= d.best() || d.bound != tracked { // something overlaps: the bound may be too high
		p.raise(d, bound, by.info.At, by.info.Op, by)
		return
	}
	d.spike, d.rise = nil, &rise{bound, by.info.At, by}
	d.row.Total.Peak = max(d.row.Total.Peak, tracked)
}

// writeRise writes a rise down. It has to come before the device's content changes,
// unless that makes the rise a higher one.
func (p *replayer) writeRise(d *l1Device) {
	if r := d.rise; r != nil {
		d.rise = nil
		p.write(d, r.at, r.by.info.Op, r.by)
	}
}

// write writes down what the fullest cores of a device hold, if that is a new peak.
func (p *replayer) write(d *l1Device, at uint64, op string, by *liveBuffer) {
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
	peak := p.composition(d, fullest)
	peak.At, peak.Op, peak.Cores = at, op, cores
	d.row.Peak = peak
	if by != nil {
		d.spike = &l1Spike{peak, by}
	}
}

// composition says what the cores of a group hold.
func (p *replayer) composition(d *l1Device, g device.UsageGroup) *L1Peak {
	spec := p.decide()
	peak := &L1Peak{Bytes: g.Usage.Tracked, Core: firstCore(g.Cores), Shared: slices.Collect(g.Usage.Shared())}
	below := spec.CBBase
	for _, r := range g.Regions {
		if r.Start < spec.CBBase {
			below -= min(r.End, spec.CBBase) - r.Start
		}
	}
	peak.WithKernels = peak.Bytes + below
	for kind := device.KindCB; kind.InL1(); kind++ {
		if n := g.Usage.Of(kind); n > 0 {
			peak.Kinds = append(peak.Kinds, KindBytes{kind, n})
		}
	}
	for r := range g.Residents() {
		peak.Residents = append(peak.Residents, p.resident(d, r))
	}
	peak.Top, peak.Largest = freeRuns(g.Regions, spec)
	return peak
}

func (p *replayer) resident(d *l1Device, r fit.Resident) L1Resident {
	out := L1Resident{Kind: r.Kind, Range: r.Range, CB: r.CB}
	if r.Program != nil {
		run := d.runs[r.Program]
		out.Program = &run
		return out
	}
	if b := p.memory.live[r.Buffer.ID]; b != nil {
		info := b.info
		out.Buffer = &info
	}
	return out
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
