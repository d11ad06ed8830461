package replay

import (
	"maps"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// finish ends what is still open and makes the Result, which holds nothing else of the
// replay.
func (r *replay) finish() (*Result, error) {
	end := &event.Event{Kind: event.KindEnd, Node: uint64(max(r.result.Nodes, 0))}
	if err := r.end(end); err != nil {
		return nil, err
	}
	if err := r.checks.grow(); err != nil {
		return nil, r.internal(end, err)
	}
	out := r.result
	if out.Spec == (Spec{}) { // nothing was declared
		out.Spec = Spec{Spec: l1.ArchSpec(l1.Blackhole), ArchFrom: event.FromAssumed, BaseFrom: event.FromAssumed, SmallFrom: event.FromAssumed}
	}
	r.finishDevices(&out)
	r.finishRoom(&out)
	out.Checks = r.checks.result
	out.Checks.Apart = r.result.Checks.Apart
	var err error
	if out.Live, err = r.leaks(); err != nil {
		return nil, err
	}
	r.finishNotes(&out)
	return &out, nil
}

// end ends what is open after the last event, and answers what was asked.
func (r *replay) end(e *event.Event) error {
	r.judge(e)
	if !r.asked && r.opt.Ask != nil {
		r.ask()
	}
	if !r.grouped && r.opt.GroupsAt.OK {
		r.group()
	}
	r.keepMoments()
	for _, d := range r.rows.sorted() {
		if err := r.close(d, e); err != nil {
			return err
		}
		r.settle(d)
		if r.opt.OnePeak {
			d.leave()
		} else {
			d.compose()
		}
		r.keep(d)
	}
	return nil
}

// finishDevices completes the rows, each once, and gives every device its own.
func (r *replay) finishDevices(out *Result) {
	ends, shown, rows, rowsL1 := r.lastState(), r.rows.shown(), 0, 0
	for _, d := range r.rows.All() {
		out.uneven = out.uneven || !d.declared() && shown(d) && d.spec.Usable().Len() != out.Spec.Usable().Len()
	}
	for _, d := range r.rows.All() {
		if d.declared() || d.ran {
			r.finishDevice(d, ends)
			rows += d.members.Len()
		}
		if shown(d) {
			r.finishL1(d)
			rowsL1 += d.members.Len()
		}
	}
	out.Devices, out.L1 = slices.Grow(out.Devices, rows), slices.Grow(out.L1, rowsL1)
	var highest *row
	for d, id := range r.rows.each() {
		named := d.id
		if named.OK {
			named.V = uint64(id)
		}
		if len(d.chips) > 0 {
			out.Meshes = append(out.Meshes, Mesh{named.V, slices.Clone(d.chips)})
		}
		if !r.opt.Only.HasDevice(named) {
			continue
		}
		if d.declared() || d.ran {
			out.Devices = append(out.Devices, d.figures)
			out.Devices[len(out.Devices)-1].ID = named
		}
		if d.timeline.taken > 0 {
			out.Timeline = append(out.Timeline, Timeline{named, d.timeline.list, d.moments.list})
		}
		if shown(d) {
			out.L1 = append(out.L1, d.on)
			last := &out.L1[len(out.L1)-1]
			last.ID = named
			r.finishExecuted(d, id, last)
			if d.on.Peak != nil && (highest == nil || d.best() > highest.best()) {
				highest = d
			}
		}
	}
	if highest != nil {
		highest.compose()
	}
}

func (r *replay) finishNotes(out *Result) {
	var cbs, others int64
	for _, d := range out.Devices {
		cbs += d.CBNodes
		others += d.Dataflow.Nodes + d.Scratchpad.Nodes
	}
	if out.Log && !r.begun {
		out.Nodes = 1 // the header
		r.notes.note(CodeNoNodes, -1, "")
	} else if out.Nodes == 0 {
		r.notes.note(CodeNoNodes, -1, "")
	} else if cbs == 0 && (!out.Log || others == 0) {
		r.notes.note(CodeNoCBs, -1, "")
	}
	for range r.session.ops {
		r.notes.note(CodeUnfinished, -1, r.session.ops[len(r.session.ops)-1])
	}
	if r.ofRuns() && !r.ended {
		r.notes.note(CodeUnfinished, -1, "the source is cut")
	}
	if out.Upstream.Wrapped {
		r.notes.note(CodeUpstreamWrapped, -1, "")
	}
	if r.respecified {
		r.notes.note(CodeSpecsDiffer, -1, "")
	}
	for _, code := range slices.Sorted(maps.Keys(r.notes)) {
		out.Anomalies = append(out.Anomalies, *r.notes[code])
	}
}

// finishDevice completes the figures of a row.
func (r *replay) finishDevice(d *row, ends *lastState) {
	f := &d.figures
	f.Kind, f.Chips = d.kind()
	f.Cores = d.cores.Len()
	for kind, of := range f.others() {
		if of == nil {
			continue
		}
		if t, ok := totalsOf(r.registered[kind], d.slot); ok {
			of.Registered, of.RegisteredCorePeak = t.Registered, t.Core
			if !r.ofRuns() {
				of.RegisteredLogical = t.Logical
			}
		}
	}
	t := d.dev.Totals()
	f.Registered, f.RegisteredCorePeak, f.RegisteredRangeGranular = t.Registered, t.Core, t.Reserved
	if !r.ofRuns() {
		f.RegisteredLogical = t.Logical
	}
	alive, ok := ends.alive.Device(d.slot)
	if f.ResidentFinal = d.final; ok {
		f.ResidentFinal += alive.Totals().Registered
	}
	if registered, ok := ends.registered.Device(d.slot); ok {
		f.CoreGroups = r.opt.Only.groups(ends.coreGroups(registered, alive, d.crest))
		f.Fullest = d.fullest(registered)
	}
}

// finishL1 completes what lived in the L1 of a row, but for what was executed.
func (r *replay) finishL1(d *row) {
	on := &d.on
	on.Kind, on.Chips = d.kind()
	t := d.dev.Totals()
	made := d.made(t.Buffers)
	on.TotalFinal, on.L1Final, on.SmallFinal, on.DRAMFinal = t.Tracked, made.L1, made.L1Small, made.DRAM
	on.BuffersFinal = uint64(made.Count)
	on.NumCores, on.Cols, on.Rows, on.CoresFrom = d.spec.NumCores(), d.spec.Cols, d.spec.Rows, d.grid
	on.Spec = r.ownSpec(d)
	if d.executed.Executions > 0 {
		d.executed.Final = t.Resident
	}
}

// ownSpec returns the Spec of a row, if it is not that of the result. Devices that a source met
// differ from each other in the size of L1_SMALL alone.
func (r *replay) ownSpec(d *row) *Spec {
	of := r.result.Spec
	if d.declared() {
		if own := r.specs[gridless(d.spec)]; own != nil && *own != of.Spec {
			return &Spec{Spec: *own, ArchFrom: event.FromFile, BaseFrom: event.FromFile, SmallFrom: event.FromFile}
		}
		return nil
	}
	if d.spec.L1Small == of.L1Small && d.small == of.SmallFrom {
		return nil
	}
	of.L1Small, of.SmallFrom = d.spec.L1Small, d.small
	return &of
}

// finishExecuted adds what was executed on a device.
func (r *replay) finishExecuted(d *row, id device.ID, on *DeviceL1) {
	if of := r.dispatchedOn(d, id); of != nil && d.id.OK {
		on.Dispatched = of
	} else if d.executed.Executions > 0 {
		row := d.executed
		on.Dispatched = &row
	}
}

// fullest finds the core on which most is registered and the program with the largest
// share of it, the first one of equals.
func (d *row) fullest(end *device.DeviceSnapshot) *Fullest {
	var f *Fullest
	for _, g := range d.figures.CoreGroups {
		switch {
		case f == nil || g.Registered > f.Bytes:
			core, _ := g.Cores.First() // no group is empty
			f = &Fullest{Core: core, Cores: g.Cores.Len(), Bytes: g.Registered}
			if n := len(g.Regions); n > 0 {
				f.End = g.Regions[n-1].End
			}
		case g.Registered == f.Bytes:
			f.Cores += g.Cores.Len()
		}
	}
	if f == nil || f.Bytes == 0 {
		return nil
	}
	best := math.MaxInt
	for p := range end.Programs() {
		g, ok := p.Occupied(program.CircularBuffer).On(f.Core)
		if !ok || g.Bytes() < f.Share {
			continue
		}
		row, ok := d.detail.get(p.ID())
		if ok && (g.Bytes() > f.Share || row < best) {
			best, f.Share = row, g.Bytes()
		}
	}
	if best < math.MaxInt {
		f.Program = d.figures.ProgramsDetail.At(best)
	}
	return f
}
