package replay

import (
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A rise is a new peak whose composition is not written down yet. Buffers often come one
// upon another, and only the last of them makes the peak that stays. settle writes the rise
// down before its device changes, unless the change makes it a higher one.
type rise struct {
	bytes uint64 // on the fullest core
	at    uint64
	t     json.Number
	op    Name
	by    *buffer // that made it, if one did
	cores l1.CoreSet
}

// A pending is a peak of which is known how much it was and where, or the moment after a node. What
// it consisted of is looked up in the end, if at all: until then, this has what would be forgotten.
type pending struct {
	peak   *L1Peak // nil: the moment after a node
	moment device.Moment
	count  int64                                 // of events before it
	live   layered[fit.BufferID, *buffer]        // freed since
	last   layered[*program.Program, ProgramRun] // as it was before the program ran again
	groups bool                                  // Options.Groups
	names  sum128                                // row.names then
	of     *row                                  // after the last event, where Options.OnePeak leaves the peak out
}

// A Laid names the composition of a peak or of LaidGroups, nodes and times left out. Those of one
// Result with equal names have the same buffers, and the same programs from operations with the same names.
// Equal compositions may have several names.
type Laid struct {
	moment device.MomentName
	names  sum128
	spec   l1.Spec
	core   l1.Core
}

// Laid returns a name of the composition. It reports false if the peak has its composition.
func (p *L1Peak) Laid() (name Laid, ok bool) {
	if p.later == nil {
		return name, false
	}
	return p.later.laid(p.Core), true
}

func (w *pending) laid(core l1.Core) Laid {
	return Laid{w.moment.Name(), w.names, w.of.dev.Spec(), core}
}

// Composed returns the peak with the composition that Options.OnePeak leaves out. Cost: the
// residents of a core or, with Options.Groups, of all cores; nothing if the peak has it.
func (p *L1Peak) Composed() *L1Peak {
	if p == nil || p.later == nil {
		return p
	}
	out := *p
	out.later = nil
	p.later.of.composeAs(p.later, &out)
	return &out
}

// Laid returns a name of LaidGroups. It reports false if the Groups are there, or nothing is.
func (d *DeviceL1) Laid() (name Laid, ok bool) {
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
	return d.after.of.groupsOf(d.after)
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

// grown takes in that a device holds more than before.
func (r *replay) grown(d *row, by rise) {
	d.spike = nil
	t := d.dev.Totals()
	d.on.TotalPeak = max(d.on.TotalPeak, t.Tracked)
	if !r.opt.Only.HasOp(by.op) {
		return
	}
	if by.bytes = r.most(d); by.bytes > d.best() {
		by.cores = r.fullest(d)
		d.rise = &by
	}
}

// settle writes down the new peak of a device, if there is one.
func (r *replay) settle(d *row) {
	if d != nil && d.rise != nil {
		r.settleAs(d, d.dev.Moment())
	}
}

// settleAs is settle where something has changed since: it was like this.
func (r *replay) settleAs(d *row, moment device.Moment) {
	by := d.rise
	if d.rise = nil; by.bytes <= d.best() {
		return
	}
	core, _ := by.cores.First() // a peak is on some core
	peak := &L1Peak{Bytes: by.bytes, At: by.at, T: by.t, Op: by.op, Cores: by.cores, Core: core}
	d.on.Peak = peak
	d.pending = &pending{peak: peak, moment: moment, count: r.count, groups: r.opt.Groups, names: d.names}
	if by.by != nil {
		d.spike = &spike{peak, by.by}
	}
}

// compose looks up what the highest peak consisted of, and what lay there after a node.
func (d *row) compose() {
	if w := d.after; w != nil {
		d.after, d.on.Groups = nil, d.groupsOf(w)
	}
	w := d.pending
	if d.pending = nil; w == nil || w.peak != d.on.Peak {
		return
	}
	w.peak.later = nil
	d.composeAs(w, w.peak)
}

// composeAs looks up what a peak consisted of.
func (d *row) composeAs(w *pending, peak *L1Peak) {
	name := func(held fit.Resident) L1Resident { return d.residentAt(w, held) }
	for g := range w.moment.UsageGroups() {
		highest := g.Cores.Has(peak.Core)
		if highest {
			d.composition(peak, g)
			peak.Residents = residents(g, name)
		}
		if w.groups {
			peak.Groups = append(peak.Groups, laidGroup(g, name))
		} else if highest {
			return
		}
	}
}

// groupsOf looks up what lay on all cores.
func (d *row) groupsOf(w *pending) []LaidGroup {
	return laidGroups(w.moment, func(held fit.Resident) L1Resident { return d.residentAt(w, held) })
}

// leave keeps how to compose the peak of a row and what lay there after a node, after the last event.
func (d *row) leave() {
	if w := d.after; w != nil {
		w.of, d.on.after, d.after = d, w, nil
	}
	if w := d.pending; w != nil && w.peak == d.on.Peak {
		w.of, w.peak.later = d, w
	}
}

// group notes for Options.GroupsAt what lies on every core now.
func (r *replay) group() {
	r.grouped = true
	for _, d := range r.rows.All() {
		d.after = &pending{moment: d.dev.Moment(), count: r.count, names: d.names}
	}
}

// laidGroups returns what lies on all cores at a moment. name says whose a resident is.
func laidGroups(m device.Moment, name func(fit.Resident) L1Resident) (out []LaidGroup) {
	for g := range m.UsageGroups() {
		out = append(out, laidGroup(g, name))
	}
	return out
}

func laidGroup(g device.UsageGroup, name func(fit.Resident) L1Resident) LaidGroup {
	return LaidGroup{g.Cores, g.Cores.Len(), g.Usage.Tracked, List(residents(g, name))}
}

func residents(g device.UsageGroup, name func(fit.Resident) L1Resident) (out []L1Resident) {
	for held := range g.Residents() {
		out = append(out, name(held))
	}
	return out
}

// composition says how much the cores of a group held.
func (d *row) composition(peak *L1Peak, g device.UsageGroup) {
	peak.Shared = slices.Collect(g.Usage.Shared())
	base := d.dev.Spec().CBBase
	below := base
	for _, r := range g.Regions {
		if r.Start < base {
			below -= min(r.End, base) - r.Start
		}
	}
	peak.WithKernels = peak.Bytes + below
	peak.Kinds = kindsOf(g.Usage)
	peak.Top, peak.Largest = freeRuns(g.Regions, d.dev.Spec())
}

// residentAt is resident at the moment of a peak.
func (d *row) residentAt(w *pending, r fit.Resident) L1Resident {
	out := d.resident(r)
	if r.Program != nil {
		if run, ok := w.last.get(r.Program); ok {
			out.Program = &run
		}
	} else if b := w.live.of(r.Buffer.ID); b != nil {
		info := b.info
		out.Buffer = &info
	}
	return out
}

// own returns the same for another row.
func (w *pending) own() *pending {
	if w == nil {
		return nil
	}
	own := *w
	own.live, own.last = w.live.clone(), w.last.clone()
	return &own
}

// forgets notes that a buffer is not there any more, which the last peak may have had.
func (w *pending) forgets(b *buffer) {
	if w != nil && b.count < w.count && w.live.of(b.id) == nil {
		w.live.set(b.id, b)
	}
}

// runs notes that a program runs again, which the last peak may have had.
func (w *pending) runs(p *program.Program, was ProgramRun) {
	if w == nil {
		return
	}
	if _, known := w.last.get(p); !known {
		w.last.set(p, was)
	}
}

func (d *row) resident(r fit.Resident) L1Resident {
	out := L1Resident{ResidentRow: fit.NewResidentRow(r.Kind, r.Range)}
	if r.Program != nil {
		run := d.last.of(r.Program).ProgramRun
		out.CB, out.Program = event.Some(uint64(r.CB)), &run
		return out
	}
	if b := d.live.of(r.Buffer.ID); b != nil {
		info := b.info
		out.Buffer = &info
	}
	return out
}

// spiked looks whether a free shows that the last peak was a spike.
func (d *row) spiked(b *buffer, at uint64, t json.Number) {
	s := d.spike
	if s == nil || s.of.Spike != nil || b == s.new || b.info.Kind != s.new.info.Kind || b.info.Size != s.new.info.Size {
		return
	}
	if !b.fills(s.of.Core) {
		return
	}
	s.of.Spike = &Spike{
		New: s.new.info, Old: b.info, FreedAt: at, FreedT: t,
		Without: d.dev.Core(s.of.Core).Tracked,
	}
}

// fills reports whether a core has the buffer from its first byte to its last.
func (b *buffer) fills(core l1.Core) bool {
	var on []l1.Range
	for _, part := range b.parts {
		if part.Cores.Has(core) {
			on = append(on, part.Range)
		}
	}
	return slices.Contains(l1.Merge(on), b.span)
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
