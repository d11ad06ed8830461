package replay

import (
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// register takes in that a log has registered a program on a device: it has a row there,
// and is alive until it is unregistered.
func (r *replay) register(d *row, p *program.Program, e *event.Event) error {
	c, err := r.contentOf(p)
	if err != nil {
		return r.internal(e, err)
	}
	op := r.label(p, e)
	if c.places() {
		d.starts.disorder(d.figures.ProgramsDetail)
		detail := c.detail
		detail.First, detail.Last, detail.T, detail.Op = uint64(at(e)), uint64(at(e)), json.Number(e.T), op
		if i, ok := d.detail.get(p.ID()); ok {
			d.figures.ProgramsDetail.Set(i, detail)
			r.forgets.rows.came++
			r.setBuffers(d, i, c)
		} else {
			row := d.figures.ProgramsDetail.Len()
			d.detail.set(p.ID(), row)
			d.figures.ProgramsDetail.Add(detail)
			d.figures.Programs++
			r.setBuffers(d, row, c)
		}
	}
	d.held.set(p.ID(), c)
	r.counts(d, c, e.Node, op)
	if !d.alive(c) {
		return r.tooMuch(e, nil)
	}
	if r.ofRuns() {
		if err := r.lives(d, c, r.alive[:], e); err != nil {
			return err
		}
	}
	return r.lives(d, c, r.registered[:], e)
}

// unregister takes in that a log has unregistered a program.
func (r *replay) unregister(d *row, id program.ID, e *event.Event) error {
	c := d.held.of(id)
	if c == nil {
		return nil
	}
	d.held.delete(id)
	return r.ends(d, c, e)
}

// counts takes what a program places into the row of a device, once for each time that
// it was registered or ran.
func (r *replay) counts(d *row, c *content, first uint64, op Name) {
	f := &d.figures
	n := c.nodes[program.CircularBuffer]
	f.CBNodes, f.LocalCBs, f.GlobalCBs = f.CBNodes+n.local+n.global, f.LocalCBs+n.local, f.GlobalCBs+n.global
	for kind, of := range f.others() {
		if of == nil {
			continue
		}
		n := c.nodes[kind]
		of.Nodes, of.Local, of.Borrowed = of.Nodes+n.local+n.global, of.Local+n.local, of.Borrowed+n.global
	}
	r.result.Placed = r.result.Placed || c.placed
	if c.beyond {
		r.notes.noteAll(CodeBeyondL1, int64(first), string(op), d.members.Len())
	}
	if !c.places() {
		return
	}
	d.cores = d.cores.Union(c.cores)
	f.HighestEnd = max(f.HighestEnd, c.detail.HighestEnd)
	if c.detail.Overlapping {
		r.notes.noteAll(CodeOverlap, int64(first), string(op), d.members.Len())
	}
	if c.mixed() && r.ofRuns() {
		r.notes.noteAll(CodeMixedAddresses, int64(first), string(op), d.members.Len())
	}
	r.result.Addresses = r.result.Addresses.with(c.recorded, c.synthesised)
}

// lives counts a program on a device in the fleets of one for each kind. That of the
// session has its circular buffers as registered.
func (r *replay) lives(d *row, c *content, in []*device.Fleet, e *event.Event) error {
	for kind, counted := range c.counted {
		if f := in[kind]; counted != nil && f != &r.session.fleet {
			set, err := d.in(f, counted.Spec)
			if err != nil {
				return r.internal(e, err)
			}
			if _, err := f.Register(counted, set); err != nil {
				return r.tooMuch(e, err)
			}
		}
	}
	return nil
}

// alive counts the sizes of what is alive on a device. It reports whether they can be
// counted: c.loose is part of c.sizes.
func (d *row) alive(c *content) bool {
	if d.sizes > l1.MaxAddr-c.sizes {
		return false
	}
	d.sizes, d.loose = d.sizes+c.sizes, d.loose+c.loose
	d.figures.LogicalSizesPeak, d.figures.UnattributedPeak = max(d.figures.LogicalSizesPeak, d.sizes), max(d.figures.UnattributedPeak, d.loose)
	return true
}

// ends takes in that a program is not alive any more.
func (r *replay) ends(d *row, c *content, e *event.Event) error {
	for kind, counted := range c.counted {
		if counted == nil || r.alive[kind] == &r.session.fleet {
			continue
		}
		set, err := d.in(r.alive[kind], nil)
		if err == nil {
			err = r.alive[kind].Unregister(counted.ID(), set)
		}
		if err != nil {
			return r.internal(e, err)
		}
	}
	d.sizes, d.loose = d.sizes-min(d.sizes, c.sizes), d.loose-min(d.loose, c.loose)
	return nil
}

// run takes in a run: what the fleet has registered and dispatched has a row on each of
// its devices. What ran outside the grid has one too, and no part in what is registered
// and resident.
func (r *replay) run(e *event.Event, outside bool) error {
	contents := contentsOf(r.session.launched)
	for _, at := range r.runsOn(e) {
		d, c := at.row, contents(at.on.Device)
		run := r.rowFor(d, c, at.on, e)
		if last := len(d.open) - 1; outside && !e.Inferred {
			d.open[last].outside = true
		}
		if !e.Aborted && !outside {
			if err := r.dispatched(d, c.programs, run, at.on.Last, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// A ranAt is a row all of whose devices a run calls the same.
type ranAt struct {
	row *row
	on  event.RunOn // of the first one
}

// runsOn returns the rows of the devices of a run, in the order in which it names their
// first ones. Those on which it has other nodes are parted.
func (r *replay) runsOn(e *event.Event) (out []ranAt) {
	if len(e.On) == 1 {
		return []ranAt{{r.rows.alone(e.On[0].Device), e.On[0]}}
	}
	type alike struct {
		row *row
		on  event.RunOn // without its device
		n   int         // how often the device was named before
	}
	var order []alike
	named := map[device.ID]int{}
	first, ids := map[alike]event.RunOn{}, map[alike][]device.ID{}
	for _, on := range e.On {
		d := r.rows.Get(on.Device)
		key := alike{d, on, named[on.Device]}
		key.on.Device = 0
		named[on.Device]++
		if ids[key] == nil {
			order, first[key] = append(order, key), on
		}
		ids[key] = append(ids[key], on.Device)
	}
	for _, key := range order {
		some := slices.Sorted(slices.Values(ids[key]))
		out = append(out, ranAt{r.rows.met(r.rows.Part(r.rows.Get(some[0]), some)), first[key]})
	}
	return out
}

// contentsOf returns what runs place, by device.
func contentsOf(all []launched) func(device.ID) *content {
	if len(all) == 1 {
		return func(device.ID) *content { return all[0].content }
	}
	contents := map[device.ID]*content{}
	for _, l := range all {
		for _, id := range l.ids {
			contents[id] = l.content
		}
	}
	return func(id device.ID) *content { return contents[id] }
}

// named returns how a run is called on a device where it is told now.
func (d *row) named(c *content, on event.RunOn, e *event.Event) ProgramRun {
	run := ProgramRun{Row: -1, At: on.First, Op: Name(e.Op.V), Inferred: e.Inferred}
	if !c.places() {
		return run
	}
	if e.Inferred {
		if i, ok := d.starts.of(d.figures.ProgramsDetail, on.CBFirst); ok {
			run.Row = i
			return run
		}
	}
	if run.Row = d.figures.ProgramsDetail.Len(); e.Continues && len(d.open) > 0 && d.open[len(d.open)-1].row >= 0 {
		run.Row = d.open[len(d.open)-1].row
	}
	return run
}

// rowFor gives a run its row, or makes a row what it is since the run went on.
func (r *replay) rowFor(d *row, c *content, on event.RunOn, e *event.Event) ProgramRun {
	run := d.named(c, on, e)
	if e.Inferred {
		return run
	}
	d.ran = true
	o := &openRun{content: c, id: e.Program, row: -1, on: on, op: Name(on.CBOp.Or(string(run.Op)))}
	if e.Continues && len(d.open) > 0 {
		was := d.open[len(d.open)-1]
		d.open = d.open[:len(d.open)-1]
		if i, ok := d.detail.get(was.content.id); ok && i == was.row && was.row >= 0 {
			d.detail.delete(was.content.id)
		}
		o.row = was.row
	}
	d.open = append(d.open, o)
	if !c.places() {
		return run
	}
	detail := c.detail
	detail.First, detail.Last, detail.Op = on.CBFirst, on.CBLast, o.op
	rows := d.figures.ProgramsDetail
	if o.row < 0 {
		o.row = rows.Len()
		d.starts.add(rows, o.row, on.CBFirst)
		rows.Add(detail)
		d.figures.Programs++
	} else {
		d.starts.add(rows, o.row, on.CBFirst)
		rows.Set(o.row, detail)
		r.forgets.rows.came++
	}
	r.setBuffers(d, o.row, c)
	if _, seen := d.detail.get(c.id); !seen {
		d.detail.set(c.id, o.row)
	}
	return run
}

// close counts the runs of a device that were not counted yet: they are whole, and all of
// them alive.
func (r *replay) close(d *row, e *event.Event) error {
	if o := r.lone(d); o != nil {
		d.passes(o.content)
		d.final = o.content.detail.Bytes
		return r.ran(d, o, e)
	}
	for _, o := range d.open {
		if o.counted {
			continue
		}
		if err := r.ran(d, o, e); err != nil {
			return err
		}
		if err := r.lives(d, o.content, r.alive[:], e); err != nil {
			return err
		}
	}
	return nil
}

// ran counts a run that is whole.
func (r *replay) ran(d *row, o *openRun, e *event.Event) error {
	o.counted = true
	first := o.on.CBFirst
	if !o.content.places() {
		first = o.on.First
	}
	r.counts(d, o.content, first, o.op)
	if !d.alive(o.content) {
		return r.tooMuch(e, nil)
	}
	if o.outside {
		return nil
	}
	if err := r.lives(d, o.content, r.registered[:], e); err != nil {
		return err
	}
	sums := [numKinds]*uint64{&d.figures.RegisteredLogical, &d.figures.Dataflow.RegisteredLogical, &d.figures.Scratchpad.RegisteredLogical}
	for kind, sum := range sums {
		if *sum > l1.MaxAddr-o.content.logical[kind] {
			return r.tooMuch(e, nil)
		}
		*sum += o.content.logical[kind]
	}
	return nil
}

// cbsFreed ends what runs left alive.
func (r *replay) cbsFreed(e *event.Event) error {
	for _, d := range r.named(e) {
		if o := r.lone(d); o != nil {
			d.passes(o.content)
			if err := r.ran(d, o, e); err != nil {
				return err
			}
			d.sizes, d.loose = d.sizes-o.content.sizes, d.loose-o.content.loose
			d.ended()
			continue
		}
		if err := r.close(d, e); err != nil {
			return err
		}
		ended := map[*content]bool{}
		for _, o := range d.open {
			if ended[o.content] {
				d.sizes, d.loose = d.sizes-min(d.sizes, o.content.sizes), d.loose-min(d.loose, o.content.loose)
				continue
			}
			ended[o.content] = true
			if err := r.ends(d, o.content, e); err != nil {
				return err
			}
		}
		d.ended()
	}
	return nil
}

// ended forgets the runs that are not alive any more.
func (d *row) ended() {
	clear(d.open)
	d.open = d.open[:0]
}

// named returns the devices that an event names, or all.
func (r *replay) named(e *event.Event) []*row {
	if e.Devices.OK {
		return r.rows.pick(slices.Values(e.Devices.V))
	}
	all := r.rows.sorted()
	for _, d := range all {
		r.rows.met(d)
	}
	return all
}

// with is what addresses are that come from here and from there.
func (a Addresses) with(recorded, synthesised bool) Addresses {
	recorded = recorded || a == AddressesRecorded || a == AddressesMixed
	synthesised = synthesised || a == AddressesSynthesised || a == AddressesMixed
	switch {
	case recorded && synthesised:
		return AddressesMixed
	case recorded:
		return AddressesRecorded
	case synthesised:
		return AddressesSynthesised
	}
	return a
}
