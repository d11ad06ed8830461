package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// take takes in one operation of the fleet.
func (r *replay) take(e *event.Event, told device.Event) error {
	switch told.Kind {
	case device.EventTraceBegun, device.EventTraceEnded, device.EventRefused, device.EventPeaksReset:
		return nil
	case device.EventTraceRecorded:
		r.traces[told.Trace] = append(r.traces[told.Trace], told.Program)
		return nil
	case device.EventTraceReleased:
		delete(r.traces, told.Trace)
		return nil
	case device.EventAllocated:
		b := r.describe(e, told.Buffer, told.Set)
		r.compareEnd(e, b, told.Set)
		for _, d := range r.rows.of(told.Set) {
			r.allocate(d, told.Buffer, b)
		}
		return nil
	case device.EventDeviceAdded, device.EventMeshAdded:
		for i := range told.Set.Len() {
			if err := r.add(e.Device+device.ID(i), e); err != nil {
				return err
			}
		}
		return nil
	case device.EventReplaced: // an id has one layout: the old one ends everywhere before the new one begins
		for _, d := range r.rows.of(told.Set) {
			if err := r.unregister(d, told.Old.ID(), e); err != nil {
				return err
			}
		}
	}
	for _, d := range r.rows.of(told.Set) {
		if err := r.takeOn(d, e, told); err != nil {
			return err
		}
	}
	return nil
}

// compareEnd notes a buffer that ends beyond L1, once however often it is told.
func (r *replay) compareEnd(e *event.Event, b *buffer, on device.Set) {
	again := b.id == r.beyond.id && e.Node == r.beyond.at
	if !b.info.Kind.InL1() || again && r.notes[CodeBufferBeyondL1] != nil {
		return
	}
	for _, d := range r.rows.of(on) {
		if size := d.dev.Spec().L1Size; size > 0 && b.span.End > size {
			r.beyond.id, r.beyond.at = b.id, e.Node
			r.notes.note(CodeBufferBeyondL1, at(e), "")
			return
		}
	}
}

// takeOn takes in what an operation of the fleet means for a row.
func (r *replay) takeOn(d *row, e *event.Event, told device.Event) error {
	switch told.Kind {
	case device.EventDeviceRemoved:
		return r.remove(d, e)
	case device.EventHybridSet:
		r.standsFree(d)
	case device.EventRegistered, device.EventReplaced:
		if e.Kind != event.KindRun { // which has rows of its own
			return r.register(d, told.Program, e)
		}
	case device.EventUnregistered:
		return r.unregister(d, told.Program.ID(), e)
	case device.EventDispatched:
		if e.Kind == event.KindRun {
			return nil
		}
		p := told.Program
		if err := r.dispatched(d, []*program.Program{p}, r.loggedRun(d, p, e), e.Node, e); err != nil {
			return err
		}
		d.executed.Executions++
		for g := range p.Occupied(program.CircularBuffer).Groups() {
			d.executed.CorePeak = max(d.executed.CorePeak, g.Bytes())
		}
	case device.EventTraceReplayed:
		if err := r.differs(d, e); err != nil {
			return err
		}
		r.traced(d, r.traces[told.Trace], e)
	case device.EventEvicted:
		return r.differs(d, e)
	case device.EventFreed:
		r.free(d, told.Buffer.ID, e)
	}
	return nil
}

// allocated takes in what an allocation says besides of what the fleet keeps.
func (r *replay) allocated(e *event.Event) error {
	kind := e.Buffer.Kind
	if e.Earlier && len(e.Parts) == 0 && e.Buffer.Hidden.IsEmpty() {
		if kind == fit.KindL1 || kind == fit.KindL1Small {
			if r.result.Earlier.Bytes > l1.MaxAddr-e.Buffer.Size {
				return r.tooMuch(e, nil)
			}
			r.result.Earlier.L1++
			r.result.Earlier.Bytes += e.Buffer.Size
		} else {
			r.result.Earlier.Other++
		}
		return nil
	}
	for _, d := range r.named(e) {
		if len(e.Parts) > 0 && !e.Buffer.Backing {
			synthesised := slices.ContainsFunc(e.Parts, func(p event.Part) bool { return p.Synthesised })
			d.on.Addresses = d.on.Addresses.with(!synthesised, synthesised)
		}
		if e.Unplaced != "" {
			d.on.Unplaced++
		}
		if e.CoresFrom == event.FromAssumed {
			d.on.Assumed++
		}
	}
	if !e.Buffer.Hidden.IsEmpty() {
		r.notes.note(CodePerCoreHidden, at(e), "")
	}
	if e.Buffer.Unsized {
		r.notes.note(CodeBufferUnsized, at(e), "")
	}
	if e.Unplaced != "" && e.Unplaced != event.UnplacedSmall { // no source says where L1_SMALL is
		r.notes.note(CodeBufferUnplaced, at(e), "")
	}
	return nil
}

// freedUnknown takes in a free of which the source knows no allocation.
func (r *replay) freedUnknown(e *event.Event) {
	switch {
	case e.Again:
		r.notes.note(CodeFreeAgain, at(e), "")
		return
	case !e.Unknown:
		return
	}
	r.notes.note(CodeFreeUnknown, at(e), "")
	if !e.Earlier && e.Buffer.Kind.InL1() && e.Buffer.Kind >= fit.KindL1 && r.checks.result.Runs > 0 {
		r.result.Earlier.Freed++
	}
}
