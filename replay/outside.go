package replay

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// leaksOf lists the buffers that were not freed on any of the rows, which are in the order of their first devices.
// In a capture an id has one buffer on all devices. Where a sum is beyond 2^63-1, big is the buffer that made it
// so.
func leaksOf(rows []*row, byID bool) (out LiveBuffers, big *buffer) {
	ids := map[fit.BufferID]bool{}
	var all []*buffer
	seen := sight[fit.BufferID]{}
	for _, d := range rows {
		for _, b := range d.memory.live.unseen(seen) {
			if !b.earlier && !b.leaked && (!byID || !ids[b.id]) {
				b.leaked, ids[b.id] = true, true
				all = append(all, b)
			}
		}
	}
	inL1 := func(b *buffer) int {
		if b.info.Kind.InL1() {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b *buffer) int {
		return cmp.Or(inL1(a)-inL1(b), cmp.Compare(b.info.Size, a.info.Size), cmp.Compare(a.id, b.id),
			cmp.Compare(a.info.Device.V, b.info.Device.V), cmp.Compare(a.info.At, b.info.At))
	})
	for _, b := range all {
		out.Buffers++
		sum := map[fit.Kind]*uint64{fit.KindL1: &out.L1, fit.KindL1Small: &out.L1Small, fit.KindDRAM: &out.DRAM}[b.info.Kind]
		if sum != nil {
			if *sum > l1.MaxAddr-b.info.Size {
				return out, b
			}
			*sum += b.info.Size
		}
		if len(out.List) < MaxListed {
			out.List = append(out.List, b.info)
		} else {
			out.More++
		}
	}
	return out, nil
}

// An outside counts buffers with unknown places, and notes buffers beyond L1.
type outside struct {
	earlier EarlierBuffers
	last    struct { // the last buffer that ended beyond L1
		id fit.BufferID
		at uint64
	}
}

// compareEnd notes a buffer that ends beyond L1, once for all its events.
func (o *outside) compareEnd(e *event.Event, b *buffer, on []*row, notes notes) {
	again := b.id == o.last.id && e.Node == o.last.at
	if !b.info.Kind.InL1() || again && notes[CodeBufferBeyondL1] != nil {
		return
	}
	for _, d := range on {
		if size := d.dev.Spec().L1Size; size > 0 && b.span.End > size {
			o.last.id, o.last.at = b.id, e.Node
			notes.note(CodeBufferBeyondL1, at(e), "")
			return
		}
	}
}

// allocated counts the facts of an allocation that the fleet does not keep.
func (o *outside) allocated(e *event.Event, rows *rows, notes notes) error {
	if !e.Earlier || len(e.Parts) > 0 || !e.Buffer.Hidden.IsEmpty() {
		for _, d := range rows.named(e) {
			d.allocated(e)
		}
		notes.noteAllocation(e)
		return nil
	}
	if kind := e.Buffer.Kind; kind != fit.KindL1 && kind != fit.KindL1Small {
		o.earlier.Other++
		return nil
	}
	if o.earlier.Bytes > l1.MaxAddr-e.Buffer.Size {
		return device.ErrOverflow
	}
	o.earlier.L1++
	o.earlier.Bytes += e.Buffer.Size
	return nil
}

// freed notes a free whose allocation the source does not know. ran: a program ran before.
func (o *outside) freed(e *event.Event, ran bool, notes notes) {
	switch {
	case e.Again:
		notes.note(CodeFreeAgain, at(e), "")
		return
	case !e.Unknown:
		return
	}
	notes.note(CodeFreeUnknown, at(e), "")
	if !e.Earlier && e.Buffer.Kind.InL1() && e.Buffer.Kind >= fit.KindL1 && ran {
		o.earlier.Freed++
	}
}
