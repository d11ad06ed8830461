package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// overlaps find buffers in L1 that share a byte of a core with another one: no allocator does that. A source may free the
// other one at the node that brings the first, so they are compared when another node follows.
type overlaps struct {
	notes    notes
	only     answer.Filter
	pending  []overlap
	node     uint64 // of pending
	compared int    // buffers
}

// maxCompared bounds how many buffers are compared in a source: 20,000 at one address took 60 s without it. What is not
// compared counts as sharing bytes.
const maxCompared = 1 << 17

// An overlap is a buffer that shares bytes on some devices.
type overlap struct {
	on []device.ID
	of *buffer
}

// join adds the calls that are needed.
func (o *overlaps) join(s *subscribers) {
	s.before, s.laid, s.gone = append(s.before, o.before), append(s.laid, o.laid), append(s.gone, o.gone)
}

// laid keeps a buffer if more bytes than before lie in several buffers.
func (o *overlaps) laid(d *row, _ fit.Buffer, b *buffer) {
	now := d.dev.Overlap()
	if now > d.overlap {
		o.pending, o.node = append(o.pending, overlap{slices.Clone(d.members.List()), b}), b.info.At
	}
	d.overlap = now
}

func (o *overlaps) gone(d *row, _ *buffer, _ source.When) {
	if d.overlap > 0 {
		d.overlap = d.dev.Overlap()
	}
}

// before notes the buffers that still share bytes where the next event is of another node.
func (o *overlaps) before(next *event.Event, rows *rows, _ *marker) {
	if len(o.pending) == 0 || next != nil && next.Node == o.node {
		return
	}
	for _, p := range o.pending {
		for _, id := range p.on {
			if d := rows.Get(id); d.slot == id && d.memory.live.Of(p.of.id) == p.of && o.only.HasDevice(d.id) {
				o.note(d, p.of, rows)
			}
		}
	}
	o.pending = o.pending[:0]
}

// note notes a buffer with the lowest one that shares bytes with it.
func (o *overlaps) note(d *row, of *buffer, rows *rows) {
	text := func(b *buffer) string { return fmt.Sprintf("%s (%d)", cmp.Or(b.info.Op, "a buffer"), b.info.At) }
	detail := text(of)
	if o.compared < maxCompared {
		var other *buffer
		for _, b := range d.memory.live.All() {
			if o.compared++; of.overlaps(b) && !rows.back(of, b) && !rows.back(b, of) && (other == nil || cmp.Or(cmp.Compare(b.span.Start, other.span.Start), cmp.Compare(b.id, other.id)) < 0) {
				other = b
			}
		}
		if other == nil {
			return
		}
		detail += " and " + text(other)
	}
	o.notes.add(answer.AnomalyCount{
		Code: answer.CodeBuffersOverlap, Count: int64(d.members.Len()), First: answer.NodeNumber(of.info.At), Detail: detail, Hidden: true,
	})
}

// back reports whether two buffers are one: a chip backs the buffer of its mesh, and the source shows both.
func (r *rows) back(mesh, chip *buffer) bool {
	d := r.Get(mesh.named.V)
	return mesh.named.OK && chip.named.OK && mesh.named != chip.named && mesh.span == chip.span &&
		d != nil && slices.Contains(d.facts.chips, uint64(chip.named.V))
}

// overlaps reports whether two buffers share a byte of a core. At one address, what several nodes show from before the
// source is one buffer.
func (b *buffer) overlaps(o *buffer) bool {
	lies := func(b *buffer) bool { return b.info.Kind.InL1() && !b.info.Kind.Below() && !b.unsized }
	one := b.span.Start == o.span.Start && b.earlier && o.earlier
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
