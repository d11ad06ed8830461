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
	known             map[[2]int][]CoreGroup // by the numbers of a device in both
}

func (r *replay) lastState() *lastState {
	s := &lastState{known: map[[2]int][]CoreGroup{}}
	s.registered = r.session.fleet.Snapshot()
	if s.alive = s.registered; r.alive[program.CircularBuffer] != &r.session.fleet {
		s.alive = r.alive[program.CircularBuffer].Snapshot()
	}
	return s
}

// coreGroups divides the cores of a device by what is registered on them and by the peak of
// what was alive.
func (s *lastState) coreGroups(registered, alive *device.DeviceSnapshot) []CoreGroup {
	key := [2]int{registered.Number(), alive.Number()}
	out, ok := s.known[key]
	if ok {
		return out
	}
	peaks := slices.Collect(alive.Peaks())
	for g := range registered.Groups() {
		rest := g.Cores
		add := func(cores l1.CoreSet, peak uint64) {
			if !cores.IsEmpty() {
				out = append(out, CoreGroup{
					Cores: cores, Registered: g.Registered, AlivePeak: peak, Regions: slices.Collect(g.Regions()), Programs: g.Programs,
				})
			}
		}
		for _, p := range peaks {
			if rest.Overlaps(p.Cores) {
				add(rest.Intersect(p.Cores), p.Bytes)
				rest = rest.Minus(p.Cores)
			}
		}
		add(rest, 0)
	}
	slices.SortStableFunc(out, func(a, b CoreGroup) int { return a.Cores.CompareFirst(b.Cores) })
	s.known[key] = out
	return out
}
