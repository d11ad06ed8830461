package device

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Snapshot is what a fleet held at one moment. It never changes and may be read
// from any number of goroutines.
type Snapshot struct {
	devices []*DeviceSnapshot // by id
}

// A DeviceSnapshot is what one device held.
type DeviceSnapshot struct {
	id     ID
	spec   l1.Spec
	totals Totals
	held
}

// held is what devices hold that are in one state and had the same peaks.
type held struct {
	number   int
	programs []*program.Program // by id
	groups   []CoreGroup        // by first core
	peaks    []PeakGroup        // by bytes
}

// A PeakGroup is a set of cores of which each held as much at most: more than 0 bytes.
type PeakGroup struct {
	Cores l1.CoreSet
	Bytes uint64 // high-water mark of Registered
}

// A CoreGroup is a set of cores that hold the same.
type CoreGroup struct {
	Cores      l1.CoreSet
	Registered uint64 // bytes on each core
	Logical    uint64 // bytes on each core
	Programs   int    // live programs with a local CB on these cores
	regions    []l1.Range
}

// Regions returns the merged registered regions of each core, lowest first.
func (g CoreGroup) Regions() iter.Seq[l1.Range] { return slices.Values(g.regions) }

// Snapshot returns what the fleet holds now, on all devices at one moment. Devices
// that hold the same share what the snapshot says of them: it costs a few words for
// each device, and the rest once for each distinct state.
func (f *Fleet) Snapshot() *Snapshot {
	f.mu.RLock()
	defer f.mu.RUnlock()
	s := &Snapshot{}
	all := f.held()
	for slot := range f.live.all() {
		c := f.slots[slot]
		s.devices = append(s.devices, &DeviceSnapshot{c.id, *c.spec, c.totals(), *all[c.group]})
	}
	slices.SortFunc(s.devices, func(a, b *DeviceSnapshot) int { return cmp.Compare(a.id, b.id) })
	return s
}

// held returns what the devices of each group hold. Groups in one state share it, but for
// their peaks. Each program is looked at once.
func (f *Fleet) held() map[*group]*held {
	all, byState, bySlot := map[*group]*held{}, map[*state]*held{}, map[int]*held{}
	views := map[*state]*partition{}
	var first bitset // a device of each state
	for i, g := range f.groups {
		of := byState[g.state]
		if of == nil {
			views[g.state] = &f.view(g.state).occupied // behind others on a line it is a copy
			of = &held{groups: coreGroups(views[g.state])}
			byState[g.state], bySlot[g.anySlot()] = of, of
			first = first.with(g.anySlot())
		}
		all[g] = &held{number: i, groups: of.groups, peaks: g.cores.groups(views[g.state])}
	}
	for _, r := range f.programs {
		on, _ := first.and(r.on)
		for slot := range on.all() {
			bySlot[slot].programs = append(bySlot[slot].programs, r.program)
		}
	}
	for _, of := range byState {
		slices.SortFunc(of.programs, byID)
	}
	for g, one := range all {
		one.programs = byState[g.state].programs
	}
	return all
}

// coreGroups copies out what the classes of a partition hold.
func coreGroups(p *partition) []CoreGroup {
	var groups []CoreGroup
	for _, c := range p.classes {
		groups = append(groups, CoreGroup{
			Cores:      c.cores,
			Registered: c.covered.Bytes(),
			Logical:    c.logical,
			Programs:   c.programs,
			regions:    slices.Collect(c.covered.Regions()),
		})
	}
	return joinEqual(groups)
}

// joinEqual joins groups that hold the same and orders them by their first core, so
// that a snapshot does not show on which way its state was reached.
func joinEqual(groups []CoreGroup) []CoreGroup {
	var out []CoreGroup
next:
	for _, g := range groups {
		for i := range out {
			o := &out[i]
			if o.Logical == g.Logical && o.Programs == g.Programs && slices.Equal(o.regions, g.regions) {
				o.Cores = o.Cores.Union(g.Cores)
				continue next
			}
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b CoreGroup) int { return a.Cores.CompareFirst(b.Cores) })
	return out
}

// first returns the first core of a set that is not empty.
func first(s l1.CoreSet) l1.Core {
	c, _ := s.First()
	return c
}

// All returns the devices by id.
func (s *Snapshot) All() iter.Seq[*DeviceSnapshot] { return slices.Values(s.devices) }

// Device returns one device, if the fleet had it.
func (s *Snapshot) Device(id ID) (*DeviceSnapshot, bool) {
	i, ok := slices.BinarySearchFunc(s.devices, id, func(d *DeviceSnapshot, id ID) int { return cmp.Compare(d.id, id) })
	if !ok {
		return nil, false
	}
	return s.devices[i], true
}

// ID returns the id of the device.
func (d *DeviceSnapshot) ID() ID { return d.id }

// Spec returns what the device is.
func (d *DeviceSnapshot) Spec() l1.Spec { return d.spec }

// Totals returns the figures of the device.
func (d *DeviceSnapshot) Totals() Totals { return d.totals }

// Programs returns the programs that were registered, by id.
func (d *DeviceSnapshot) Programs() iter.Seq[*program.Program] { return slices.Values(d.programs) }

// Groups returns the cores that held anything, grouped by what they held, by first
// core.
func (d *DeviceSnapshot) Groups() iter.Seq[CoreGroup] { return slices.Values(d.groups) }

// Peaks returns the cores that ever held anything since their peaks were reset, by how much
// that was at most.
func (d *DeviceSnapshot) Peaks() iter.Seq[PeakGroup] { return slices.Values(d.peaks) }

// Number is one for the devices of a snapshot that held the same, on the same cores, now and
// at most. Others have other numbers; so may some of which the fleet does not know that they
// are equal.
func (d *DeviceSnapshot) Number() int { return d.number }

// Cores returns the cores that held anything, by x and then y.
func (d *DeviceSnapshot) Cores() iter.Seq2[l1.Core, CoreGroup] {
	return func(yield func(l1.Core, CoreGroup) bool) {
		var all l1.CoreSet
		for _, g := range d.groups {
			all = all.Union(g.Cores)
		}
		for c := range all.All() {
			i := slices.IndexFunc(d.groups, func(g CoreGroup) bool { return g.Cores.Has(c) })
			if !yield(c, d.groups[i]) {
				return
			}
		}
	}
}

// Regions returns the merged registered regions of a core, lowest first.
func (d *DeviceSnapshot) Regions(core l1.Core) iter.Seq[l1.Range] {
	for _, g := range d.groups {
		if g.Cores.Has(core) {
			return g.Regions()
		}
	}
	return slices.Values[[]l1.Range](nil)
}
