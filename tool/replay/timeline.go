package replay

import (
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// A Timeline has the figures of one device over the events. Where there were more moments than it keeps, the
// extremes of each figure stay.
type Timeline struct {
	Device  event.Opt[uint64]
	Samples []Sample // in the order of the events, at most maxSamples

	// Moments have the content of all cores after some of the nodes that changed the device, with
	// Options.Moments.
	Moments []LaidMoment
}

// A Sample has the figures of a device after an event that changed it. Bytes are summed over cores, where no core
// is named.
type Sample struct {
	At uint64      `json:"counter"`     // the node or line
	T  json.Number `json:"t,omitempty"` // the simulator's time, as it was written; "" = none
	// Op has the functions that were running; of a log the program too, or else the buffer; "" = none.
	Op         Name   `json:"op"`
	Registered uint64 `json:"registered_bytes"`
	Resident   uint64 `json:"resident_bytes"` // circular buffers that the last dispatches left
	Tracked    uint64 `json:"tracked_bytes"`
	Core       uint64 `json:"tracked_core_bytes"` // on the fullest core
	// Headroom is the room of registered programs: bytes on the core with the least. It is absent where the size
	// of L1 is not known or nothing is registered.
	Headroom event.Opt[uint64] `json:"headroom_bytes"`

	n uint64 // of all samples that were taken of the device, from 0
}

// maxSamples is how many samples a Timeline has at most.
const maxSamples = 1024

// samples are a Timeline in the making. All of it is thinned alike: to the extremes of
// stretches of equally many samples, twice as many when there is no room.
type samples struct {
	list    []Sample
	taken   uint64
	stretch uint64
}

// A history is the Timeline of a row in the making.
type history struct {
	samples samples
	moments moments
	due     bool // changed by the last node; a moment of it may be kept
}

// clone returns the same for another row.
func (h *history) clone() *history {
	own := *h
	own.samples.list, own.moments.list = slices.Clone(h.samples.list), slices.Clone(h.moments.list)
	return &own
}

// A timeline makes the Timelines of all devices.
type timeline struct {
	most int  // Options.Moments
	due  bool // a row is
	node when // of these rows
}

// join adds the calls that are needed.
func (t *timeline) join(s *subscribers) {
	s.before, s.changed = append(s.before, t.before), append(s.changed, t.changed)
}

// changed adds a sample of the devices that an event has changed.
func (t *timeline) changed(rows []*row, now when) {
	if len(rows) > 0 && (!t.due || now.at >= t.node.at) {
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
		d.history.samples.add(Sample{
			At: now.at, T: now.t, Op: now.op, Registered: holds.Registered, Resident: holds.Resident, Tracked: holds.Tracked,
			Core: holds.TrackedCore, Headroom: room(d),
		})
	}
}

// before keeps moments of the devices that the last node has changed, if the next event is of another one.
func (t *timeline) before(next *event.Event, rows *rows, _ *marker) {
	if !t.due || next != nil && !beyond(event.Some(t.node.at), next) {
		return
	}
	seen := map[device.MomentName]*scene{}
	for _, d := range rows.All() {
		if d.history != nil && d.history.due {
			d.history.due = false
			one := LaidMoment{At: t.node.at, T: t.node.t, Op: t.node.op}
			d.history.moments.keep(t.most, one, func(one *LaidMoment) { one.fill(d, seen) })
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

// add adds a sample.
func (l *samples) add(s Sample) {
	s.n = l.taken
	l.taken++
	l.list = append(l.list, s)
	if len(l.list) < maxSamples {
		return
	}
	for l.stretch = max(l.stretch, 8); ; l.stretch *= 2 {
		if l.thin(); len(l.list) <= maxSamples/2 {
			return
		}
	}
}

// Thin returns the same with at most so many samples, but not fewer than 16: the extremes of each figure stay.
func (t Timeline) Thin(most int) Timeline {
	if len(t.Samples) <= max(most, 16) {
		return t
	}
	l := samples{list: slices.Clone(t.Samples)}
	for i := range l.list {
		l.list[i].n = uint64(i)
	}
	for l.stretch = 1; len(l.list) > max(most, 16); l.stretch *= 2 {
		l.thin()
	}
	return Timeline{t.Device, l.list, t.Moments}
}

// thin keeps of each stretch those samples that are its highest or, for headroom, its
// lowest, the first of equals; and the last one of all.
func (l *samples) thin() {
	last := l.list[len(l.list)-1]
	var out []Sample
	for start := 0; start < len(l.list); {
		end := start
		for end < len(l.list) && l.list[end].n/l.stretch == l.list[start].n/l.stretch {
			end++
		}
		out = append(out, extremes(l.list[start:end])...)
		start = end
	}
	if out[len(out)-1].n != last.n {
		out = append(out, last)
	}
	l.list = out
}

// extremes returns the samples of a stretch that are extremes of a figure.
func extremes(stretch []Sample) (out []Sample) {
	keep := map[int]bool{}
	for _, of := range []func(Sample) uint64{
		func(s Sample) uint64 { return s.Registered },
		func(s Sample) uint64 { return s.Resident },
		func(s Sample) uint64 { return s.Tracked },
		func(s Sample) uint64 { return s.Core },
		func(s Sample) uint64 { return ^s.Headroom.Or(^uint64(0)) },
	} {
		best := 0
		for i, s := range stretch {
			if of(s) > of(stretch[best]) {
				best = i
			}
		}
		keep[best] = true
	}
	for i, s := range stretch {
		if keep[i] {
			out = append(out, s)
		}
	}
	return out
}

// ThinMoments returns at most so many moments, which are not negative, the first one among them, spread evenly.
func (t Timeline) ThinMoments(most int) []LaidMoment {
	n := len(t.Moments)
	if n <= most {
		return t.Moments
	}
	out := make([]LaidMoment, 0, most)
	for i := range most {
		out = append(out, t.Moments[i*n/most])
	}
	return out
}
