package export

import (
	"cmp"
	"container/heap"
	"slices"
	"strconv"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// A Moment holds the contents of some cores of one device after one event. All cores of a Moment
// held the same.
type Moment struct {
	File   string
	Device string
	When   string
	Cores  l1.CoreSet
	Held   []replay.L1Resident
}

// AtPeak returns the contents of the fullest core at its peak, of the device with the highest peak.
// It reports false if nothing was ever in L1. Only the cores that held the same are in it,
// with Options.Groups; else the first one.
func AtPeak(r *replay.Result) (m Moment, ok bool) {
	var best *replay.DeviceL1
	for i := range r.L1 {
		if d := &r.L1[i]; d.Peak != nil && (best == nil || d.Peak.Bytes > best.Peak.Bytes) {
			best = d
		}
	}
	if best == nil {
		return m, false
	}
	p := best.Peak.Composed()
	cores := l1.CoreSetOf(p.Core)
	for _, g := range p.Groups {
		if g.Cores.Has(p.Core) {
			cores = g.Cores
		}
	}
	return Moment{r.File, deviceName(best.ID), "at the peak of the fullest core, " + r.Where(p.At, "") + " in " + cmp.Or(shown.Clip(string(p.Op), shown.MaxOutput), "no operation"), cores, p.Residents}, true
}

// After returns the contents of the fullest cores after the node of Options.GroupsAt, of the device
// with the fullest core. It reports false if nothing was in L1 then.
func After(r *replay.Result, node uint64) (m Moment, ok bool) {
	var most uint64
	seen := map[replay.Composition]bool{}
	for _, d := range r.L1 {
		name, named := d.Laid()
		if named && seen[name] {
			continue // a device before it held the same
		}
		seen[name] = true
		for _, g := range d.LaidGroups() {
			if !ok || g.Bytes > most {
				m, ok, most = Moment{r.File, deviceName(d.ID), "after " + r.Where(node, ""), g.Cores, g.Residents}, true, g.Bytes
			}
		}
	}
	return m, ok
}

func deviceName(id event.Opt[uint64]) string {
	if !id.OK {
		return "a device without an id"
	}
	return "device " + strconv.FormatUint(id.V, 10)
}

// A holding is a resident of a core with the bytes that it owns.
type holding struct {
	replay.L1Resident
	bytes uint64
}

// from returns the counter of the node that brought a resident.
func (o holding) from() uint64 {
	switch {
	case o.Program != nil:
		return o.Program.At
	case o.Buffer != nil:
		return o.Buffer.At
	}
	return 0
}

// ownerRule describes owners in the files.
const ownerRule = "a byte that two hold belongs to the one that came later, and of one program to the one that begins higher"

// owners gives each byte to one owner, by ownerRule. Kernels and the reserved area are left out, as
// in tracked bytes. They are ordered by address. Cost: O(n log n).
func (m Moment) owners() []holding {
	var all []holding
	var cuts []uint64
	for _, held := range m.Held {
		if !held.Kind.Below() && !held.Range().IsEmpty() {
			all = append(all, holding{L1Resident: held})
			cuts = append(cuts, held.Start, held.End)
		}
	}
	slices.SortStableFunc(all, func(a, b holding) int { return cmp.Compare(a.Start, b.Start) })
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	there := latest{all: all}
	next := 0
	for i := 1; i < len(cuts); i++ {
		for ; next < len(all) && all[next].Start < cuts[i]; next++ {
			heap.Push(&there, next)
		}
		for there.Len() > 0 && all[there.at[0]].End < cuts[i] {
			heap.Pop(&there)
		}
		if there.Len() > 0 {
			all[there.at[0]].bytes += cuts[i] - cuts[i-1]
		}
	}
	return slices.DeleteFunc(all, func(o holding) bool { return o.bytes == 0 })
}

// latest is a heap of residents, the one that came last at its top.
type latest struct {
	all []holding
	at  []int // in all
}

func (l *latest) Len() int { return len(l.at) }

func (l *latest) Less(i, j int) bool {
	a, b := l.at[i], l.at[j]
	return cmp.Or(cmp.Compare(l.all[a].from(), l.all[b].from()), cmp.Compare(a, b)) > 0
}

func (l *latest) Swap(i, j int) { l.at[i], l.at[j] = l.at[j], l.at[i] }
func (l *latest) Push(x any)    { l.at = append(l.at, x.(int)) }

func (l *latest) Pop() any {
	last := len(l.at) - 1
	x := l.at[last]
	l.at = l.at[:last]
	return x
}
