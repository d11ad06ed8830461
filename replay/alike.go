package replay

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay/internal/same"
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

// members are the devices of a row.
type members = same.Keys[device.ID]

// A likeness is what devices that nothing has happened to are alike in.
type likeness struct {
	spec        l1.Spec
	role        event.Role
	grid, small event.Source
}

// rows are the rows of all devices that there are or were.
type rows struct {
	same.Map[device.ID, *row]
	fleet  *device.Fleet
	fresh  map[likeness]*row // to which nothing has happened
	order  []*row            // by id, while there are no more
	lately struct {          // what was asked of last, while there are no more
		set  device.Set
		rows []*row
		all  int
	}
}

// of returns the rows of some devices, by their first devices. Those that have others too
// are parted.
func (r *rows) of(set device.Set) []*row {
	switch {
	case set.Len() == 0:
		return nil
	case r.lately.all == len(r.All()) && r.lately.set.Equal(set):
		return r.lately.rows
	}
	var out []*row
	// Most sets are far from all devices: what all are is not asked for them.
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

// pick returns the rows of devices as of does. Devices that never were are skipped.
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

// lone returns the device if there is exactly one.
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

// alone returns the row of one device, which something happens to.
func (r *rows) alone(id device.ID) *row {
	d := r.Get(id)
	if d.members.Len() > 1 {
		d = r.Part(d, []device.ID{id})
	}
	return r.met(d)
}

// met notes that something happens to the devices of a row: new ones are not like them.
func (r *rows) met(d *row) *row {
	if like := d.likeness(); r.fresh[like] == d {
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
func compareRows(a, b *row) int {
	return cmp.Or(cmp.Compare(flag(a.id.OK), flag(b.id.OK)), cmp.Compare(a.id.V, b.id.V))
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// each returns the devices by id, the one without an id first, with their rows.
func (r *rows) each() iter.Seq2[*row, device.ID] {
	ids := slices.Sorted(r.Keys())
	slices.SortStableFunc(ids, func(a, b device.ID) int { // of those with and without an id
		return cmp.Compare(flag(r.Get(a).id.OK), flag(r.Get(b).id.OK))
	})
	return func(yield func(*row, device.ID) bool) {
		for _, id := range ids {
			if !yield(r.Get(id), id) {
				return
			}
		}
	}
}

// shown says whether a device has a row of what lives in L1: one of a log, one under
// which something ran or, where nothing ran anywhere, one with buffers.
func (r *rows) shown() func(d *row) bool {
	ran := slices.ContainsFunc(r.All(), func(o *row) bool { return o.ran })
	return func(d *row) bool { return d.declared() || d.ran || d.touched && !ran }
}

func (d *row) likeness() likeness { return likeness{d.spec, d.role, d.grid, d.small} }

// split returns a copy of a row for some of its devices, which have left it.
func (r *replay) split(d *row, leaving *members) *row {
	other := d.clone()
	other.members = leaving
	if other.moments.due {
		r.due.rows = append(r.due.rows, other)
	}
	d.led(&r.session.fleet)
	other.led(&r.session.fleet)
	r.checks.part(d, other)
	return other
}

// led takes in that a row has other devices now.
func (d *row) led(f *device.Fleet) {
	d.slot, d.sets = d.members.First(), nil
	if dev, err := f.Device(d.slot); err == nil {
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
	for _, id := range d.members.List() {
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
	set, err := f.Of(d.members.List()...)
	if err != nil {
		return set, err
	}
	if d.sets == nil {
		d.sets = map[*device.Fleet]device.Set{}
	}
	d.sets[f] = set
	return set, nil
}
