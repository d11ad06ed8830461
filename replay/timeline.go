package replay

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/event"
)

// A Timeline is what one device held over the events, thinned: where there were more
// moments than it keeps, the extremes of each figure stay.
type Timeline struct {
	Device  event.Opt[uint64]
	Samples []Sample // in the order of the events, at most maxSamples

	// Moments are what lay where after some of the nodes that changed the device, if
	// Options.Moments asks for it.
	Moments []LaidMoment
}

// A Sample is what a device held after an event that changed it. Bytes are summed over
// cores, where no core is named.
type Sample struct {
	At uint64      `json:"counter"`     // the node or line
	T  json.Number `json:"t,omitempty"` // the simulator's time, as it was written; "" = none
	// Op has the functions that were running; of a log the program too, or else the buffer; "" = none.
	Op         Name   `json:"op"`
	Registered uint64 `json:"registered_bytes"`
	Resident   uint64 `json:"resident_bytes"` // circular buffers that the last dispatches left
	Tracked    uint64 `json:"tracked_bytes"`
	Core       uint64 `json:"tracked_core_bytes"` // on the fullest core
	// Headroom is the room of what is registered: bytes on the core with the least.
	// Absent where nobody can say, since the size of L1 is not known or nothing is
	// registered.
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

// sample takes down what the devices hold that an event has changed.
func (r *replay) sample(e *event.Event) {
	changed, op := map[*row]bool{}, r.doing(e)
	for _, told := range r.told {
		for _, d := range r.rows.of(told.Set) {
			changed[d] = true
		}
	}
	for d := range changed {
		r.owe(d, e, op)
		t := d.dev.Totals()
		d.timeline.add(Sample{
			At: e.Node, T: json.Number(e.T), Op: op, Registered: t.Registered, Resident: t.Resident, Tracked: t.Tracked, Core: t.TrackedCore,
			Headroom: room(d),
		})
	}
}

// doing names the operation of an event that changed something.
func (r *replay) doing(e *event.Event) Name {
	op := r.opOf(e)
	if r.ofRuns() {
		return op
	}
	for _, told := range r.told {
		if told.Program != nil {
			return r.label(told.Program, e)
		}
		op = cmp.Or(op, Name(told.Buffer.Name))
	}
	return op
}

// room returns the least room of what is registered on a device.
func room(d *row) (least event.Opt[uint64]) {
	if d.dev.Spec().L1Size > 0 {
		least.V, least.OK = d.dev.Glance().LeastHeadroom()
	}
	return least
}

// add takes a sample in.
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

// Thin returns the same with at most so many samples, of which there are no fewer than 16:
// the extremes of each figure stay.
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
