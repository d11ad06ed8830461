package replay

import (
	"cmp"
	"fmt"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// overlaps find buffers in L1 that share a byte of a core with another one: no allocator does that. A source may free the
// other one at the node that brings the first, so they are compared when another node follows.
type overlaps struct {
	notes   notes
	only    Filter
	bytes   map[*row]uint64 // shared so far
	pending []overlap
	node    uint64 // of pending
}

// An overlap is a buffer that shares bytes on a row.
type overlap struct {
	on *row
	of *buffer
}

// join adds the calls that are needed.
func (o *overlaps) join(s *subscribers) {
	s.before, s.laid, s.gone, s.part = append(s.before, o.before), append(s.laid, o.laid), append(s.gone, o.gone), append(s.part, o.part)
}

// laid keeps a buffer if more bytes than before lie in several buffers.
func (o *overlaps) laid(d *row, _ fit.Buffer, b *buffer) {
	if now := d.dev.Glance().Overlap(); now != o.bytes[d] {
		if now > o.bytes[d] {
			o.pending, o.node = append(o.pending, overlap{d, b}), b.info.At
		}
		o.bytes[d] = now
	}
}

func (o *overlaps) gone(d *row, _ *buffer, _ when) {
	if o.bytes[d] > 0 {
		o.bytes[d] = d.dev.Glance().Overlap()
	}
}

// part gives the new row of some devices the history of their old row.
func (o *overlaps) part(d, other *row) {
	if o.bytes[d] > 0 {
		o.bytes[other] = o.bytes[d]
	}
	for _, p := range o.pending {
		if p.on == d {
			o.pending = append(o.pending, overlap{other, p.of})
		}
	}
}

// before notes the buffers that still share bytes where the next event is of another node.
func (o *overlaps) before(next *event.Event, _ *rows, _ *marker) {
	if len(o.pending) == 0 || next != nil && next.Node == o.node {
		return
	}
	for _, p := range o.pending {
		if p.on.memory.live.of(p.of.id) != p.of || !o.only.HasDevice(p.on.id) {
			continue
		}
		var other *buffer // the lowest one
		for _, b := range p.on.memory.live.all() {
			if p.of.overlaps(b) && (other == nil || cmp.Or(cmp.Compare(b.span.Start, other.span.Start), cmp.Compare(b.id, other.id)) < 0) {
				other = b
			}
		}
		if other != nil {
			text := func(b *buffer) string { return fmt.Sprintf("%s (%d)", cmp.Or(b.info.Op, "a buffer"), b.info.At) }
			o.notes.add(AnomalyCount{
				Code: CodeBuffersOverlap, Count: int64(p.on.members.Len()), First: NodeNumber(p.of.info.At),
				Detail: text(p.of) + " and " + text(other), Hidden: true,
			})
		}
	}
	o.pending = o.pending[:0]
}

// overlaps reports whether two buffers share a byte of a core. At one address, what several nodes show from before the
// source is one buffer, and a buffer of a chip backs that of its mesh.
func (b *buffer) overlaps(o *buffer) bool {
	lies := func(b *buffer) bool { return b.info.Kind.InL1() && !b.info.Kind.Below() && !b.unsized }
	one := b.span.Start == o.span.Start && (b.earlier && o.earlier || b.named != o.named)
	if b == o || !lies(b) || !lies(o) || one || !b.span.Overlaps(o.span) {
		return false
	}
	for _, p := range b.parts {
		for _, q := range o.parts {
			if p.Range.Overlaps(q.Range) && p.Cores.Overlaps(q.Cores) {
				return true
			}
		}
	}
	return false
}

// doubled returns the bytes of a core that several buffers hold, once for each but the first.
func doubled(all []fit.Resident) (bytes uint64) {
	end := uint64(0)
	for _, r := range all { // by address
		if r.Program == nil && !r.Kind.Below() {
			bytes += min(max(end, r.Range.Start), r.Range.End) - r.Range.Start
			end = max(end, r.Range.End)
		}
	}
	return bytes
}
