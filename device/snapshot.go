package device

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/internal/corepeaks"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Snapshot holds the content of a fleet at one moment. It never changes and may be
// read from any number of goroutines.
type Snapshot struct {
	devices []*DeviceSnapshot // by id
}

// A DeviceSnapshot holds the content of one device.
type DeviceSnapshot struct {
	id   ID
	part *part // nil of the zero DeviceSnapshot
}

// A part is the content of the n devices of a cohort. A device points to it: with 65,536 equal devices a snapshot takes a
// fifth of the time that a copy for each takes.
type part struct {
	n      int
	spec   *l1.Spec
	totals Totals
	holding
}

// holding is the content of devices that are in one state and had the same peaks.
type holding struct {
	number   int
	programs []*program.Program // by id
	groups   []CoreGroup        // by first core
	peaks    []PeakGroup        // by bytes
}

// A PeakGroup is a set of cores with one high-water mark, above 0 bytes.
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

// Snapshot returns the present content of the fleet, on all devices at one moment.
// Devices that hold the same share their part of the snapshot. It costs a few words
// for each device, and the rest once for each distinct state. Others wait for the few
// words alone.
func (f *Fleet) Snapshot() *Snapshot {
	p := f.picture(func() {})
	p.hold()
	all, s := make([]DeviceSnapshot, len(p.ids)), &Snapshot{devices: make([]*DeviceSnapshot, len(p.ids))}
	for k, i := range p.each() {
		all[k] = DeviceSnapshot{p.ids[k], &p.parts[i]}
		s.devices[k] = &all[k]
	}
	slices.SortFunc(s.devices, func(a, b *DeviceSnapshot) int { return cmp.Compare(a.id, b.id) })
	return s
}

// A picture holds the parts of a fleet that are copied under the lock.
type picture struct {
	ids    []ID                   // of the devices, by slot
	parts  []part                 // by slot; hold fills in their content
	at     []partKey              // of the parts
	states map[*state]contentView // of the devices
	roster classes.Roster
}

// A partKey names the content and marks of a part. Its state is not read: it may have
// ended.
type partKey struct {
	state *state
	cores *corepeaks.Marks
	peak  registeredPeaks
}

// picture returns a picture, and calls more under the lock. It allocates the memory
// beforehand, as far as the size is known.
func (f *Fleet) picture(more func()) (p picture) {
	f.mu.RLock()
	devices, parts, states, numbers := f.live.Count(), 0, f.states.Len(), len(f.roster.Of)
	for range f.shares(f.live) {
		parts++
	}
	f.mu.RUnlock()
	p.ids, p.parts, p.at = prefaulted[ID](devices), prefaulted[part](parts), prefaulted[partKey](parts)
	p.states = make(map[*state]contentView, min(states, devices))
	p.roster.Of = prefaulted[*classes.Holder](numbers)
	f.mu.RLock()
	defer f.mu.RUnlock()
	for c := range f.shares(f.live) {
		p.ids = append(p.ids, f.ids[c.slot:c.slot+c.n]...)
		p.parts = append(p.parts, part{n: c.n, spec: c.spec, totals: c.totals()})
		p.at = append(p.at, partKey{c.state, c.cores, c.peak})
	}
	for s := range f.states.All() {
		if s.Users > 0 {
			p.states[s] = s.contentView()
		}
	}
	f.pictured.Store(f.numbers.Last + 1)
	p.roster.Of = append(p.roster.Of, f.roster.Of...)
	more()
	return p
}

// prefaulted returns room for n elements that was written once, so that the page faults happen before the lock is taken.
func prefaulted[E any](n int) []E {
	room := make([]E, n)
	clear(room)
	return room[:0]
}

// each yields the numbers of the devices, each with the number of its part.
func (p *picture) each() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		k := 0
		for i := range p.parts {
			for range p.parts[i].n {
				if !yield(k, i) {
					return
				}
				k++
			}
		}
	}
}

// hold works out the content of the parts. Parts in one state share it, except
// their peaks.
func (p *picture) hold() {
	type view struct {
		holding
		now *classes.Partition
	}
	views, known := make(map[*state]view, len(p.states)), make(map[partKey]holding, len(p.states))
	for i, at := range p.at {
		if i > 0 && at == p.at[i-1] { // parts in a row are mostly alike
			p.parts[i].holding = p.parts[i-1].holding
			continue
		}
		h, ok := known[at]
		if !ok {
			v, ok := views[at.state]
			if !ok {
				s := p.states[at.state]
				v.now = &s.open(&p.roster).Occupied
				v.holding = holding{programs: s.list(&p.roster), groups: coreGroups(v.now)}
				slices.SortFunc(v.programs, byID)
				views[at.state] = v
			}
			h = holding{len(known), v.programs, v.groups, peakGroups(reached(at.cores, v.now))}
			known[at] = h
		}
		p.parts[i].holding = h
	}
}

// coreGroups copies the classes of a partition into groups.
func coreGroups(p *classes.Partition) []CoreGroup {
	var groups []CoreGroup
	for _, c := range p.Classes {
		groups = append(groups, CoreGroup{
			Cores:      c.Cores,
			Registered: c.Covered.Bytes(),
			Logical:    c.Logical,
			Programs:   c.Programs,
			regions:    slices.Collect(c.Covered.Regions()),
		})
	}
	return joinEqual(groups)
}

// joinEqual joins groups that hold the same and orders them by their first core, so
// that a snapshot does not depend on the way to its state.
func joinEqual(groups []CoreGroup) []CoreGroup {
	slices.SortFunc(groups, compareHeld)
	out := groups[:0]
	for _, g := range groups {
		if last := len(out) - 1; last >= 0 && compareHeld(out[last], g) == 0 {
			out[last].Cores = out[last].Cores.Union(g.Cores)
			continue
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b CoreGroup) int { return a.Cores.CompareFirst(b.Cores) })
	return out
}

// compareHeld orders groups by their contents.
func compareHeld(a, b CoreGroup) int {
	return cmp.Or(cmp.Compare(a.Logical, b.Logical), cmp.Compare(a.Programs, b.Programs), slices.CompareFunc(a.regions, b.regions, l1.Range.Compare))
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

// held returns the content.
func (d *DeviceSnapshot) held() *part {
	if d.part == nil {
		return new(part)
	}
	return d.part
}

// Spec returns the board of the device.
func (d *DeviceSnapshot) Spec() l1.Spec {
	if d.held().spec == nil {
		return l1.Spec{}
	}
	return *d.held().spec
}

// Totals returns the figures of the device.
func (d *DeviceSnapshot) Totals() Totals { return d.held().totals }

// Programs returns the programs that were registered, by id.
func (d *DeviceSnapshot) Programs() iter.Seq[*program.Program] {
	return slices.Values(d.held().programs)
}

// Groups returns the cores that held anything, grouped by content, by first core.
func (d *DeviceSnapshot) Groups() iter.Seq[CoreGroup] { return slices.Values(d.held().groups) }

// Peaks returns the cores that ever held anything since their peaks were reset, by
// the bytes of the peak.
func (d *DeviceSnapshot) Peaks() iter.Seq[PeakGroup] { return slices.Values(d.held().peaks) }

// Content returns a number for what the device holds. Devices of one snapshot with equal numbers have the same contents,
// and peaks on the same cores.
func (d *DeviceSnapshot) Content() int { return d.held().number }
