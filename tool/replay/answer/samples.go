package answer

import (
	"encoding/json"
	"slices"

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

// Samples are a Timeline in the making. All of it is thinned alike: to the extremes of
// stretches of equally many samples, twice as many when there is no room.
type Samples struct {
	List    []Sample
	taken   uint64
	stretch uint64
}

// Add adds a sample.
func (l *Samples) Add(s Sample) {
	s.n = l.taken
	l.taken++
	l.List = append(l.List, s)
	if len(l.List) < maxSamples {
		return
	}
	for l.stretch = max(l.stretch, 8); ; l.stretch *= 2 {
		if l.thin(); len(l.List) <= maxSamples/2 {
			return
		}
	}
}

// Thin returns the same with at most so many samples, but not fewer than 16: the extremes of each figure stay.
func (t Timeline) Thin(most int) Timeline {
	if len(t.Samples) <= max(most, 16) {
		return t
	}
	l := Samples{List: slices.Clone(t.Samples)}
	for i := range l.List {
		l.List[i].n = uint64(i)
	}
	for l.stretch = 1; len(l.List) > max(most, 16); l.stretch *= 2 {
		l.thin()
	}
	return Timeline{t.Device, l.List, t.Moments}
}

// thin keeps of each stretch those samples that are its highest or, for headroom, its
// lowest, the first of equals; and the last one of all.
func (l *Samples) thin() {
	last := l.List[len(l.List)-1]
	var out []Sample
	for start := 0; start < len(l.List); {
		end := start
		for end < len(l.List) && l.List[end].n/l.stretch == l.List[start].n/l.stretch {
			end++
		}
		out = append(out, extremes(l.List[start:end])...)
		start = end
	}
	if out[len(out)-1].n != last.n {
		out = append(out, last)
	}
	l.List = out
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
