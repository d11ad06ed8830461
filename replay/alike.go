package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
)

// Devices that have had the same events since they were met are alike: they share one row.
// An event that names all of them, or none, costs what it costs for one. One that names some
// of them parts the row:
//
//	mesh 0..3            row {0 1 2 3}
//	dispatch on 0..3     row {0 1 2 3}            taken in once
//	dispatch on 2        row {0 1 3}  row {2}     a copy, and then taken in once
//
// Rows do not meet again.

// A likeness is what devices that nothing has happened to are alike in.
type likeness struct {
	spec        l1.Spec
	role        event.Role
	grid, small event.Source
}

// of returns the rows of some devices, by their first devices. Those that have others too
// are parted.
func (r *replay) of(set device.Set) []*row {
	switch {
	case set.Len() == 0:
		return nil
	case r.lately.rows != nil && r.lately.set.Equal(set):
		return r.lately.rows
	}
	var out []*row
	// Most sets are far from all devices: what all are is not asked for them.
	if 2*set.Len() >= len(r.rows) && set == r.session.fleet.Set() {
		for _, d := range r.sorted() {
			if !d.gone {
				out = append(out, r.met(d))
			}
		}
	} else {
		out = r.pick(set.All())
	}
	r.lately.set, r.lately.rows = set, out
	return out
}

// pick returns the rows of devices as of does, of those of them that there are or were.
func (r *replay) pick(ids func(func(device.ID) bool)) (out []*row) {
	if id, ok := lone(ids); ok {
		if d := r.rows[id]; d != nil {
			out = append(out, r.alone(id))
		}
		return out
	}
	some := map[*row][]device.ID{}
	for id := range ids {
		if d := r.rows[id]; d != nil {
			some[d] = append(some[d], id)
		}
	}
	for d, ids := range some {
		slices.Sort(ids)
		out = append(out, r.met(r.part(d, slices.Compact(ids))))
	}
	slices.SortFunc(out, compareRows)
	return out
}

// lone returns the device if there is exactly one.
func lone(ids func(func(device.ID) bool)) (one device.ID, ok bool) {
	n := 0
	for id := range ids {
		if n++; n > 1 {
			break
		}
		one = id
	}
	return one, n == 1
}

// alone returns the row of one device, which something happens to.
func (r *replay) alone(id device.ID) *row {
	d := r.rows[id]
	if d.members.len() > 1 {
		d = r.part(d, []device.ID{id})
	}
	return r.met(d)
}

// met notes that something happens to the devices of a row: new ones are not like them.
func (r *replay) met(d *row) *row {
	if like := d.likeness(); r.fresh[like] == d {
		delete(r.fresh, like)
	}
	return d
}

func (d *row) likeness() likeness { return likeness{d.spec, d.role, d.grid, d.small} }

// part returns the row of some of the devices of a row, ascending, and of no others.
func (r *replay) part(d *row, ids []device.ID) *row {
	all := d.members.len()
	if len(ids) == all {
		return d
	}
	few := 2*len(ids) <= all // whoever has fewer gets the new row
	leaving := ids
	if !few {
		leaving = d.members.without(ids)
	}
	other := d.clone()
	other.members = crowd{ids: leaving}
	d.members.leave(leaving)
	r.all, r.order, r.lately.rows = append(r.all, other), nil, nil
	if other.moments.due {
		r.due.rows = append(r.due.rows, other)
	}
	r.led(d)
	r.led(other)
	for _, id := range leaving {
		r.rows[id] = other
	}
	r.checks.part(d, other)
	if few {
		return other
	}
	return d
}

// led takes in that a row has other devices now.
func (r *replay) led(d *row) {
	d.slot, d.sets = d.members.first(), nil
	if dev, err := r.session.fleet.Device(d.slot); err == nil {
		d.dev = dev // else it was removed, and counts nothing
	}
	if d.id.OK {
		d.id = event.Some(uint64(d.slot))
	}
}

// clone returns a row with the same history.
func (d *row) clone() *row {
	to := *d
	to.figures.ProgramsDetail = d.figures.ProgramsDetail.clone()
	to.figures.ProgramsBuffers = slices.Clone(d.figures.ProgramsBuffers)
	to.open = slices.Clone(d.open)
	for i, o := range to.open {
		own := *o
		to.open[i] = &own
	}
	to.detail, to.held = d.detail.clone(), d.held.clone()
	to.starts = d.starts.clone()
	to.timeline.list, to.moments.list = slices.Clone(d.timeline.list), slices.Clone(d.moments.list)
	to.standing = d.standing.clone()
	if d.execution != nil {
		own := *d.execution
		to.execution = &own
	}
	to.live, to.last = d.live.clone(), d.last.clone()
	to.ownPeak(d)
	return &to
}

// ownPeak gives a row a peak of its own, like that of another: what follows may show that
// it was a spike. So it does with what lay there after a node.
func (d *row) ownPeak(from *row) {
	d.after = from.after.own()
	if d.spike, d.pending = nil, nil; from.on.Peak == nil {
		return
	}
	peak := *from.on.Peak
	d.on.Peak = &peak
	if w := from.pending; w != nil && w.peak == from.on.Peak {
		d.pending = w.own()
		d.pending.peak = &peak
	}
	if s := from.spike; s != nil && s.of == from.on.Peak {
		d.spike = &spike{&peak, s.new}
	}
}

// in returns the devices of a row as those of one of the fleets beside that of the
// session, which has none until they are asked for.
func (d *row) in(f *device.Fleet, spec func() l1.Spec) (device.Set, error) {
	if set, ok := d.sets[f]; ok {
		return set, nil
	}
	for _, id := range d.members.list() {
		if _, err := f.Device(id); err == nil {
			continue
		}
		if spec == nil {
			return device.Set{}, nil
		}
		if _, err := f.AddDevice(id, spec()); err != nil {
			return device.Set{}, err
		}
	}
	set, err := f.Of(d.members.list()...)
	if err != nil {
		return set, err
	}
	if d.sets == nil {
		d.sets = map[*device.Fleet]device.Set{}
	}
	d.sets[f] = set
	return set, nil
}
