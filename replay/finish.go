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

// finish ends what is still open and makes the Result.
func (r *replay) finish() (*Result, error) {
	out := &r.result
	end := &event.Event{Kind: event.KindEnd, Node: uint64(max(out.Nodes, 0))}
	r.judge(end)
	if !r.asked && r.opt.Ask != nil {
		r.ask()
	}
	for _, d := range r.sorted() {
		if err := r.close(d, end); err != nil {
			return nil, err
		}
		r.settle(d)
		r.keep(d)
	}
	if err := r.checks.grow(); err != nil {
		return nil, r.internal(end, err)
	}
	if out.Spec == (Spec{}) { // nothing was declared
		out.Spec = Spec{Spec: l1.ArchSpec(l1.Blackhole), ArchFrom: event.FromAssumed, BaseFrom: event.FromAssumed}
	}
	ends, anyRan := r.lastState(), r.anyRan()
	for _, d := range r.sorted() {
		if len(d.chips) > 0 {
			out.Meshes = append(out.Meshes, Mesh{d.id.V, slices.Clone(d.chips)})
		}
		if d.declared() || d.ran {
			out.Devices = append(out.Devices, r.finishDevice(d, ends))
		}
		if d.timeline.taken > 0 {
			out.Timeline = append(out.Timeline, Timeline{d.id, d.timeline.list})
		}
		if d.shown(anyRan) {
			out.L1 = append(out.L1, r.finishL1(d))
		}
	}
	apart := out.Checks.Apart
	out.Checks = r.checks.result
	out.Checks.Apart = apart
	var err error
	if out.Live, err = r.leaks(); err != nil {
		return nil, err
	}
	r.finishNotes()
	return out, nil
}

// shown reports whether a device has a row of what lives in L1: one of a log, one under
// which something ran or, where nothing ran anywhere, one with buffers.
func (d *row) shown(anyRan bool) bool { return d.declared() || d.ran || d.touched && !anyRan }

// anyRan reports whether something ran anywhere.
func (r *replay) anyRan() bool {
	return slices.ContainsFunc(r.sorted(), func(d *row) bool { return d.ran })
}

func (r *replay) finishNotes() {
	out := &r.result
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

// finishDevice completes and returns the figures of a device.
func (r *replay) finishDevice(d *row, ends *lastState) Device {
	f := &d.figures
	f.Kind, f.Chips = d.kind()
	f.Cores = d.cores.Len()
	for kind, of := range f.others() {
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
	if alive, ok := ends.alive.Device(d.slot); ok {
		f.ResidentFinal = alive.Totals().Registered
		if registered, ok := ends.registered.Device(d.slot); ok {
			f.CoreGroups = ends.coreGroups(registered, alive)
			f.Fullest = d.fullest(registered)
		}
	}
	return *f
}

// finishL1 completes and returns what lived in the L1 of a device.
func (r *replay) finishL1(d *row) DeviceL1 {
	on := &d.on
	on.Kind, on.Chips = d.kind()
	t := d.dev.Totals()
	made := d.made(t.Buffers)
	on.Total.Final, on.L1.Final, on.L1Small.Final, on.DRAM.Final = t.Tracked, made.L1, made.L1Small, made.DRAM
	on.Buffers.Final = uint64(made.Count)
	on.NumCores, on.Cols, on.Rows, on.CoresFrom = d.spec.NumCores(), d.spec.Cols, d.spec.Rows, d.grid
	if x := r.executions[d.slot]; x != nil && d.id.OK {
		x.row.Peak, x.row.Final = x.dev.Totals().Peak.Resident, x.dev.Resident()
		on.Dispatched = &x.row
	} else if d.executed.Executions > 0 {
		d.executed.Final = t.Resident
		on.Dispatched = &d.executed
	}
	return *on
}

// fullest finds the core on which most is registered and the program with the largest
// share of it, the first one of equals.
func (d *row) fullest(end *device.DeviceSnapshot) *Fullest {
	var f *Fullest
	for _, g := range d.figures.CoreGroups {
		switch {
		case f == nil || g.Registered > f.Bytes:
			f = &Fullest{Core: firstCore(g.Cores), Cores: g.Cores.Len(), Bytes: g.Registered}
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
	for _, p := range d.registered(end) {
		row := d.detail[p.ID()]
		g, ok := p.Occupied(program.CircularBuffer).On(f.Core)
		if ok && (g.Bytes() > f.Share || g.Bytes() == f.Share && row < best) {
			best, f.Share = row, g.Bytes()
			f.Program = d.figures.ProgramsDetail[row]
		}
	}
	return f
}
