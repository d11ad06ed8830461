package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A history is the Timeline of a row in the making.
type history struct {
	samples answer.Samples
	moments answer.Moments
	due     bool // changed by the last node; a moment of it may be kept
}

// clone returns the same for another row.
func (h *history) clone() *history {
	own := *h
	own.samples.List, own.moments.List = slices.Clone(h.samples.List), slices.Clone(h.moments.List)
	return &own
}

// A timeline makes the Timelines of all devices.
type timeline struct {
	most int         // Options.Moments
	due  bool        // a row is
	node source.When // of these rows
}

// join adds the calls that are needed.
func (t *timeline) join(s *subscribers) {
	s.before, s.changed = append(s.before, t.before), append(s.changed, t.changed)
}

// changed adds a sample of the devices that an event has changed.
func (t *timeline) changed(rows []*row, now source.When) {
	if len(rows) > 0 && (!t.due || now.At >= t.node.At) {
		t.node = now
	}
	seen := map[*row]bool{}
	for _, d := range rows {
		if seen[d] {
			continue
		}
		seen[d] = true
		if d.history == nil {
			d.history = &history{}
		}
		d.history.due = t.most > 0
		t.due = t.due || t.most > 0
		holds := d.dev.Totals()
		d.history.samples.Add(answer.Sample{
			At: now.At, T: now.T, Op: now.Op, Registered: holds.Registered, Resident: holds.Resident, Tracked: holds.Tracked,
			Core: holds.TrackedCore, Headroom: room(d),
		})
	}
}

// before keeps moments of the devices that the last node has changed, if the next event is of another one.
func (t *timeline) before(next *event.Event, rows *rows, _ *marker) {
	if !t.due || next != nil && !beyond(event.Some(t.node.At), next) {
		return
	}
	seen := map[device.MomentName]*answer.Scene{}
	for _, d := range rows.All() {
		if d.history != nil && d.history.due {
			d.history.due = false
			one := answer.LaidMoment{At: t.node.At, T: t.node.T, Op: t.node.Op}
			d.history.moments.Keep(t.most, one, func(one *answer.LaidMoment) { fill(one, d, seen) })
		}
	}
	t.due = false
}

// room returns the least room of the programs that are registered on a device.
func room(d *row) (least event.Opt[uint64]) {
	if d.dev.Spec().L1Size > 0 {
		least.V, least.OK = d.dev.LeastHeadroom()
	}
	return least
}

// fill records the content of a device now. seen has the scenes of other devices at the same node.
func fill(to *answer.LaidMoment, d *row, seen map[device.MomentName]*answer.Scene) {
	now := d.dev.Moment()
	held := seen[now.Name()]
	if held == nil {
		held = answer.SceneOf(now)
		seen[now.Name()] = held
	}
	to.Fill(held, answer.NewComposition(now, d.memory.names.pair(), d.dev.Spec()), func(p *program.Program) answer.ProgramRun {
		return d.memory.last.Of(p).ProgramRun
	}, func(id fit.BufferID) *answer.BufferInfo {
		b := d.memory.live.Of(id)
		if b == nil {
			return nil
		}
		return &b.info
	})
}
