package replay

import (
	"encoding/binary"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/internal/corepeaks"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// lastState has the bytes of circular buffers at the end. Equal devices share their groups of cores.
type lastState struct {
	registered, alive *device.Snapshot
	known             map[lastKey][]answer.CoreGroup
	spelt             spelling
}

// A lastKey identifies a last state: the content in both snapshots, -1 where the device is missing, and the peaks of
// runs that were alive alone.
type lastKey struct {
	registered, alive int
	crest             string // of the marks, spelt
}

func (l *ledger) lastState() *lastState {
	s := &lastState{known: map[lastKey][]answer.CoreGroup{}}
	s.registered = l.state.Fleet.Snapshot()
	if s.alive = s.registered; l.alive[program.CircularBuffer] != &l.state.Fleet {
		s.alive = l.alive[program.CircularBuffer].Snapshot()
	}
	return s
}

// coreGroups divides the cores of a device by their registered bytes and by the peak of live programs: alone, or
// in the fleet that has it, if it has the device.
func (s *lastState) coreGroups(registered, alive *device.DeviceSnapshot, alone *corepeaks.Marks) []answer.CoreGroup {
	key := lastKey{registered.Content(), -1, textOf(alone, &s.spelt)}
	if alive != nil {
		key.alive = alive.Content()
	}
	out, ok := s.known[key]
	if !ok {
		out = s.divide(registered, alive, alone)
		s.known[key] = out
	}
	return out
}

func (s *lastState) divide(registered, alive *device.DeviceSnapshot, alone *corepeaks.Marks) (out []answer.CoreGroup) {
	if alive != nil {
		for p := range alive.Peaks() {
			alone = alone.RaiseOn(p.Cores, p.Bytes)
		}
	}
	var peaks []device.PeakGroup
	for bytes, cores := range alone.ByBytes() {
		peaks = append(peaks, device.PeakGroup{Cores: cores, Bytes: bytes})
	}
	for g := range registered.Groups() {
		rest := g.Cores
		add := func(cores l1.CoreSet, peak uint64) {
			if !cores.IsEmpty() {
				out = append(out, answer.CoreGroup{
					Cores: cores, Count: cores.Len(), Registered: g.Registered, AlivePeak: peak,
					Regions: answer.List(slices.Collect(g.Regions())), Programs: g.Programs,
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
	slices.SortStableFunc(out, func(a, b answer.CoreGroup) int { return a.Cores.CompareFirst(b.Cores) })
	return out
}

// textOf spells peaks: equal ones have one text.
func textOf(peaks *corepeaks.Marks, s *spelling) string {
	var out []byte
	for bytes, cores := range peaks.ByBytes() {
		out = append(binary.LittleEndian.AppendUint64(out, bytes), s.of(cores)...)
	}
	return string(out)
}
