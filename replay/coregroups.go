package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// lastState is what circular buffers hold at the end. Devices that are equal share what is
// said of their cores.
type lastState struct {
	registered, alive *device.Snapshot
	known             map[lastKey][]CoreGroup
	crests            map[string]*crest // each once
	spelt             spelling
}

// A lastKey is what tells devices apart in the end: their numbers in both snapshots, -1
// where it is not there, and the peaks of what was alive alone.
type lastKey struct {
	registered, alive int
	crest             *crest
}

func (r *replay) lastState() *lastState {
	s := &lastState{known: map[lastKey][]CoreGroup{}, crests: map[string]*crest{}}
	s.registered = r.session.fleet.Snapshot()
	if s.alive = s.registered; r.alive[program.CircularBuffer] != &r.session.fleet {
		s.alive = r.alive[program.CircularBuffer].Snapshot()
	}
	return s
}

// coreGroups divides the cores of a device by what is registered on them and by the peak of
// what was alive: alone, or in the fleet that has it, if it has the device.
func (s *lastState) coreGroups(registered, alive *device.DeviceSnapshot, alone *crest) []CoreGroup {
	key := lastKey{registered.Number(), -1, alone}
	if alive != nil {
		key.alive = alive.Number()
	}
	out, ok := s.known[key]
	if ok {
		return out
	}
	first := key
	if first.crest, ok = s.crests[alone.text(&s.spelt)]; !ok {
		first.crest, s.crests[alone.text(&s.spelt)] = alone, alone
	}
	if out, ok = s.known[first]; !ok {
		out = s.divide(registered, alive, alone)
		s.known[first] = out
	}
	s.known[key] = out
	return out
}

func (s *lastState) divide(registered, alive *device.DeviceSnapshot, alone *crest) (out []CoreGroup) {
	if alive != nil {
		alone = alone.above(alive.Peaks())
	}
	for g := range registered.Groups() {
		rest := g.Cores
		add := func(cores l1.CoreSet, peak uint64) {
			if !cores.IsEmpty() {
				out = append(out, CoreGroup{
					Cores: cores, Registered: g.Registered, AlivePeak: peak, Regions: slices.Collect(g.Regions()), Programs: g.Programs,
				})
			}
		}
		for _, p := range alone.peaks() {
			if rest.Overlaps(p.cores) {
				add(rest.Intersect(p.cores), p.bytes)
				rest = rest.Minus(p.cores)
			}
		}
		add(rest, 0)
	}
	slices.SortStableFunc(out, func(a, b CoreGroup) int { return a.Cores.CompareFirst(b.Cores) })
	return out
}
