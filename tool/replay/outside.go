package replay

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/layered"
)

// leaksOf lists the buffers that were not freed on any of the rows, which are in the order of their first devices.
// In a capture an id has one buffer on all devices. Where a sum is beyond 2^63-1, big is the buffer that made it
// so.
func leaksOf(rows []*row, byID bool) (out answer.LiveBuffers, big *buffer) {
	ids := map[fit.BufferID]bool{}
	var all []*buffer
	seen := layered.Visited[fit.BufferID]{}
	for _, d := range rows {
		for _, b := range d.memory.live.Unseen(seen) {
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
		sum := map[fit.Kind]*uint64{
			fit.KindL1: &out.L1, fit.KindGlobalCB: &out.L1, fit.KindService: &out.L1, fit.KindL1Small: &out.L1Small, fit.KindDRAM: &out.DRAM,
		}[b.info.Kind]
		if sum != nil {
			if *sum > l1.MaxAddr-b.info.Size {
				return out, b
			}
			*sum += b.info.Size
		}
		if len(out.List) < answer.MaxListed {
			out.List = append(out.List, b.info)
		} else {
			out.More++
		}
	}
	return out, nil
}

// An outside counts buffers with unknown places, and notes buffers beyond L1.
type outside struct {
	earlier answer.EarlierBuffers
	noted   map[odd]uint64 // what was noted of buffers that live: at which node or line
}

// An odd is a note about a buffer.
type odd struct {
	id   fit.BufferID
	code answer.Code
}

// note notes something about a buffer, once for all events of its node.
func (o *outside) note(code answer.Code, e *event.Event, notes notes) {
	one := odd{e.Buffer.ID, code}
	if node, ok := o.noted[one]; ok && node == e.Node {
		return
	}
	if o.noted == nil {
		o.noted = map[odd]uint64{}
	}
	o.noted[one] = e.Node
	notes.note(code, at(e), "")
}

// compareEnd notes a buffer that ends beyond L1.
func (o *outside) compareEnd(e *event.Event, b *buffer, on []*row, notes notes) {
	if !b.info.Kind.InL1() {
		return
	}
	for _, d := range on {
		if size := d.dev.Spec().L1Size; size > 0 && b.span.End > size {
			o.note(answer.CodeBufferBeyondL1, e, notes)
			return
		}
	}
}

// describe notes what an allocation does not say.
func (o *outside) describe(e *event.Event, notes notes) {
	if !e.Buffer.Hidden.IsEmpty() {
		o.note(answer.CodePerCoreHidden, e, notes)
	}
	if e.Buffer.Unsized {
		o.note(answer.CodeBufferUnsized, e, notes)
	}
	if e.Unplaced != "" && e.Unplaced != event.UnplacedSmall { // no source says where L1_SMALL is
		o.note(answer.CodeBufferUnplaced, e, notes)
	}
}

// allocated counts the facts of an allocation that the fleet does not keep.
func (o *outside) allocated(e *event.Event, rows *rows, notes notes) error {
	if !e.Earlier || len(e.Parts) > 0 || !e.Buffer.Hidden.IsEmpty() {
		for _, d := range rows.named(e) {
			d.allocated(e)
		}
		o.describe(e, notes)
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
	for _, code := range []answer.Code{answer.CodeBufferBeyondL1, answer.CodePerCoreHidden, answer.CodeBufferUnsized, answer.CodeBufferUnplaced} {
		delete(o.noted, odd{e.Buffer.ID, code})
	}
	switch {
	case e.Again:
		notes.note(answer.CodeFreeAgain, at(e), "")
		return
	case !e.Unknown:
		return
	}
	notes.note(answer.CodeFreeUnknown, at(e), "")
	if !e.Earlier && e.Buffer.Kind.InL1() && e.Buffer.Kind >= fit.KindL1 && ran {
		o.earlier.Freed++
	}
}
