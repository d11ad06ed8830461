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
	id       ID
	spec     l1.Spec
	totals   Totals
	programs []*program.Program // by id
	groups   []CoreGroup        // by first core
	shared   *DeviceSnapshot    // while the snapshot is taken: what devices of its state have
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
	s := &Snapshot{}
	// What can be done outside of the lock is done there.
	for _, shared := range f.takeDown(s) {
		slices.SortFunc(shared.programs, byID)
		shared.groups = joinEqual(shared.groups)
	}
	for _, d := range s.devices {
		d.programs, d.groups = d.shared.programs, d.shared.groups
		d.shared = nil
	}
	slices.SortFunc(s.devices, func(a, b *DeviceSnapshot) int { return cmp.Compare(a.id, b.id) })
	return s
}

// takeDown adds the devices of the fleet to a snapshot, and returns what states hold, as
// it is found.
func (f *Fleet) takeDown(s *Snapshot) []*DeviceSnapshot {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var states []*DeviceSnapshot
	held := map[*state]*DeviceSnapshot{}
	for slot := range f.live.all() {
		c := f.slots[slot]
		same := held[c.group.state]
		if same == nil {
			same = &DeviceSnapshot{programs: f.programsOf(c.group.state), groups: coreGroups(&f.view(c.group.state).occupied)}
			held[c.group.state] = same
			states = append(states, same)
		}
		s.devices = append(s.devices, &DeviceSnapshot{id: c.id, spec: *c.spec, totals: c.totals(), shared: same})
	}
	return states
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
	return groups
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
	slices.SortFunc(out, func(a, b CoreGroup) int { return first(a.Cores).Compare(first(b.Cores)) })
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
