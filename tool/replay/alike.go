package replay

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/same"
)

// Devices that have had the same events since they were met are alike: they share one row. An event that names all
// of them, or none, costs the same as for one device. One that names some of them parts the row:
//
//	mesh 0..3            row {0 1 2 3}
//	dispatch on 0..3     row {0 1 2 3}            taken in once
//	dispatch on 2        row {0 1 3}  row {2}     a copy, and then taken in once
//
// Rows do not meet again.

// rows are the rows of all devices that there are or were.
type rows struct {
	same.Map[device.ID, *row]
	fleet  *device.Fleet
	fresh  map[likeness]*row // to which nothing has happened
	order  []*row            // by id, while there are no more
	lately struct {          // the last query, while there are no more
		set  device.Set
		rows []*row
		all  int
	}
}

// of returns the rows of some devices, by their first devices. Rows that have other devices too are parted.
func (r *rows) of(set device.Set) []*row {
	switch {
	case set.Len() == 0:
		return nil
	case r.lately.all == len(r.All()) && r.lately.set.Equal(set):
		return r.lately.rows
	}
	var out []*row
	// Most sets are much smaller than the fleet, and a comparison of sizes is cheap.
	if 2*set.Len() >= r.Len() && set == r.fleet.Set() {
		for _, d := range r.sorted() {
			if !d.gone {
				out = append(out, r.met(d))
			}
		}
	} else {
		out = r.pick(set.All())
	}
	r.lately.set, r.lately.rows, r.lately.all = set, out, len(r.All())
	return out
}

// pick returns the rows of some ids, like of. Unknown ids are skipped.
func (r *rows) pick(ids iter.Seq[device.ID]) (out []*row) {
	if id, ok := lone(ids); ok {
		if r.Get(id) != nil {
			out = append(out, r.alone(id))
		}
		return out
	}
	for _, d := range r.Pick(ids) {
		out = append(out, r.met(d))
	}
	slices.SortFunc(out, compareRows)
	return out
}

// lone returns the device if there is exactly one: a capture of one chip takes 1.1 times as long without it.
func lone(ids iter.Seq[device.ID]) (one device.ID, ok bool) {
	n := 0
	for id := range ids {
		if n++; n > 1 {
			break
		}
		one = id
	}
	return one, n == 1
}

// newRows returns no rows yet. part is called for devices of a row that have another one from then on.
func newRows(fleet *device.Fleet, part func(d, other *row)) rows {
	split := func(d *row, leaving *members) *row {
		other := d.clone()
		other.members = leaving
		d.setFirst(fleet)
		other.setFirst(fleet)
		part(d, other)
		return other
	}
	return rows{Map: same.New(split), fleet: fleet, fresh: map[likeness]*row{}}
}

// join gives a new device the row of others that are like it, if nothing has happened to them.
func (r *rows) join(id device.ID, like likeness) bool {
	d := r.fresh[like]
	if d == nil || d.members.Last() >= id {
		return false
	}
	r.Join(id, d)
	return true
}

// add gives a new device a row, which others may join.
func (r *rows) add(d *row) {
	d.members = r.Add(d.slot, d)
	r.fresh[d.facts.likeness] = d
}

// named returns the rows of devices that an event names, or all.
func (r *rows) named(e *event.Event) []*row {
	if e.Devices.OK {
		return r.pick(slices.Values(e.Devices.V))
	}
	all := r.sorted()
	for _, d := range all {
		r.met(d)
	}
	return all
}

// A rowRun is a row and its part of a run, which is the same on all its devices.
type rowRun struct {
	row *row
	on  event.RunDevice // of the first one
}

// ran returns the rows of the devices of a run, in the order in which it names their
// first ones. Those on which it has other nodes are parted.
func (r *rows) ran(e *event.Event) (out []rowRun) {
	if len(e.On) == 1 {
		return []rowRun{{r.alone(e.On[0].Device), e.On[0]}}
	}
	type alike struct {
		row *row
		on  event.RunDevice // without its device
		n   int             // how often the device was named before
	}
	var parts [][]event.RunDevice
	at, named := map[alike]int{}, map[device.ID]int{}
	for _, on := range e.On {
		key := alike{r.Get(on.Device), on, named[on.Device]}
		key.on.Device = 0
		named[on.Device]++
		part := fold.At(at, &parts, key)
		*part = append(*part, on)
	}
	for _, part := range parts {
		var some []device.ID
		for _, on := range part {
			some = append(some, on.Device)
		}
		slices.Sort(some)
		out = append(out, rowRun{r.met(r.Part(r.Get(some[0]), some)), part[0]})
	}
	return out
}

// alone returns the row of one device, which something happens to.
func (r *rows) alone(id device.ID) *row {
	d := r.Get(id)
	if d.members.Len() > 1 {
		d = r.Part(d, []device.ID{id})
	}
	return r.met(d)
}

// met marks a row as used: new devices do not join it any more.
func (r *rows) met(d *row) *row {
	if like := d.facts.likeness; r.fresh[like] == d {
		delete(r.fresh, like)
	}
	return d
}

// sorted returns the rows by their first devices, the one without an id first.
func (r *rows) sorted() []*row {
	if len(r.order) < len(r.All()) {
		r.order = slices.SortedFunc(slices.Values(r.All()), compareRows)
	}
	return r.order
}

// compareRows orders devices by id, the one without an id first.
func compareRows(a, b *row) int { return answer.CompareIDs(a.id, b.id) }

// each returns the rows of all devices with their ids, the one without an id first.
func (r *rows) each() iter.Seq2[*row, event.Opt[uint64]] {
	named := func(id device.ID) (of event.Opt[uint64]) {
		if r.Get(id).id.OK {
			of = event.Some(uint64(id))
		}
		return of
	}
	ids := slices.SortedFunc(r.Keys(), func(a, b device.ID) int { return answer.CompareIDs(named(a), named(b)) })
	return func(yield func(*row, event.Opt[uint64]) bool) {
		for _, id := range ids {
			if !yield(r.Get(id), named(id)) {
				return
			}
		}
	}
}

// shown reports whether a device has a DeviceL1: a device of a log, an id that ran something or, where nothing ran
// anywhere, an id with buffers.
func (r *rows) shown() func(d *row) bool {
	ran := slices.ContainsFunc(r.All(), func(o *row) bool { return o.programs.ran })
	onChips := func(d *row) bool { // what lies on a mesh lies on its chips
		return d.facts.role == event.RoleMesh && slices.ContainsFunc(d.facts.chips, func(id uint64) bool {
			chip := r.Get(device.ID(id))
			return chip != nil && chip.touched
		})
	}
	return func(d *row) bool { return d.declared() || d.programs.ran || d.touched && !ran && !onChips(d) }
}
