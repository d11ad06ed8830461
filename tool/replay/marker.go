package replay

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A marker makes the marks of all rows.
type marker struct {
	only   answer.Filter
	groups bool  // Options.Groups
	later  bool  // Options.OnePeak
	count  int64 // of events
}

// past keeps what lies on a device now, some buffers left out.
func (k *marker) past(d *row, without ...fit.BufferID) *past {
	return &past{moment: d.dev.Moment(without...), count: k.count, groups: k.groups, names: d.memory.names}
}

// most returns what the fullest core of a device holds now; of a Filter with a core, what that one holds.
func (k *marker) most(d device.Device) uint64 {
	if c := k.only.Core; c.OK {
		return d.Core(c.V).Tracked
	}
	return d.Totals().TrackedCore
}

// rise returns a mark of a device now.
func (k *marker) rise(d *row, bytes uint64, now source.When, by *buffer) *mark {
	if c := k.only.Core; c.OK {
		return &mark{When: now, bytes: bytes, cores: l1.CoreSetOf(c.V), by: by}
	}
	return &mark{When: now, bytes: bytes, cores: d.dev.Fullest(), by: by}
}

// laid records that a device holds one more buffer.
func (k *marker) laid(d *row, b *buffer) {
	if rise := d.marks.rise; rise != nil && k.most(d.dev) <= rise.bytes {
		// It lies where there is less: the mark is to be kept without it.
		k.keep(d, b.id)
	}
	k.grown(d, source.When{At: b.info.At, T: b.info.T, Op: b.info.Op}, b)
}

// grown records that a device holds more than before.
func (k *marker) grown(d *row, now source.When, by *buffer) {
	if d.marks.top != nil {
		d.marks.top.quiet = false
	}
	d.inL1.TotalPeak = max(d.inL1.TotalPeak, d.dev.Totals().Tracked)
	bytes := k.most(d.dev)
	if bytes > d.marks.best() {
		d.marks.rise = k.rise(d, bytes, now, by)
	}
	if d.marks.usable == nil || bytes > d.marks.usable.Bytes {
		k.usable(d, now)
	}
}

// usable raises the mark of the bytes below L1_SMALL. The one of a device without such an area is on the same cores.
func (k *marker) usable(d *row, now source.When) {
	var among l1.CoreSet
	if k.only.Core.OK {
		among = l1.CoreSetOf(k.only.Core.V)
	}
	bytes, cores := d.dev.FullestIn(answer.UnderSmall(d.dev.Spec()), among)
	if was := d.marks.usable; bytes > 0 && (was == nil || bytes > was.Bytes) {
		core, _ := cores.First()
		d.marks.usable = &answer.UsablePeak{Bytes: bytes, Tracked: d.dev.Core(core).Tracked, At: now.At, T: now.T, Op: now.Op, Core: core, Cores: cores, Count: cores.Len()}
	}
}

// keep keeps the new mark of a device, if there is one. Buffers that came since are left out.
func (k *marker) keep(d *row, since ...fit.BufferID) {
	if d == nil || d.marks.rise == nil {
		return
	}
	top := *d.marks.rise
	if d.marks.rise = nil; top.bytes > d.marks.best() {
		top.past, top.quiet = k.past(d, since...), true
		d.marks.top = &top
	}
}

// end keeps the last marks of a device, and composes them now or, with Options.OnePeak, later.
func (k *marker) end(d *row) {
	k.keep(d)
	d.marks.leave(&d.memory, d.dev)
	d.inL1.After = d.marks.after.forResult()
	if d.marks.top != nil {
		d.inL1.Peak = d.marks.top.peak()
	}
	if !k.later {
		d.inL1.Peak, d.inL1.Groups, d.inL1.After = d.inL1.Peak.Composed(), d.inL1.LaidGroups(), nil
	}
	d.inL1.Usable, d.inL1.Hybrid = d.marks.usable, d.dev.Hybrid()
}

// reset begins the marks of a device anew, at its content of now.
func (k *marker) reset(d *row, now source.When) {
	d.marks.top, d.marks.usable = nil, nil
	d.marks.rise = k.rise(d, k.most(d.dev), now, nil)
	k.usable(d, now)
	k.keep(d)
}
