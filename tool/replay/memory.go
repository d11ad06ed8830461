package replay

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/layered"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A memory has the content of one device's L1, as far as the fleet does not have it.
type memory struct {
	live   layered.Map[fit.BufferID, *buffer]
	low    *lowest                                // of live, for all rows that have the same; nil: there never was any
	before fit.BufferTotals                       // of buffers from before the source
	beside sum128                                 // of the buffers in L1, by content: equal ones make equal sums
	names  sum128                                 // of all buffers, by the event that made them, and of what ran last
	last   layered.Map[*program.Program, lastRun] // of each program
}

// clone returns a memory with the same content. Cost: O(1) if nothing has changed since the last clone.
func (m *memory) clone() memory {
	to := *m
	to.live, to.last = m.live.Clone(), m.last.Clone()
	return to
}

// A buffer is an allocation that was not freed yet.
type buffer struct {
	id          fit.BufferID
	info        answer.BufferInfo
	parts       []fit.Part
	span        l1.Range // empty if it lies nowhere, or is unsized
	unsized     bool
	hides       bool                 // its place on some cores
	named       event.Opt[device.ID] // by the node of a capture
	earlier     bool                 // from before the source: no total of allocations has it
	synthesised bool                 // the source placed it
	leaked      bool                 // it was not freed, and leaksOf has counted it
	hash        sum128
	name        sum128 // of this one alone
	count       int64  // of events before it
}

// newBuffer describes a buffer by its event. It has no hash and no name yet.
func newBuffer(e *event.Event, given fit.Buffer, now source.When, count int64) *buffer {
	b := &buffer{id: given.ID, unsized: given.Unsized, hides: !given.Hidden.IsEmpty(), earlier: e.Earlier, count: count}
	b.parts = slices.Collect(given.All())
	b.info = answer.BufferInfo{
		At: now.At, T: now.T, Op: now.Op, Kind: given.Kind, Size: given.Size,
		PerCore: e.PerCore, Address: e.Address, Layout: e.Layout,
	}
	if e.Named.OK && e.Named.V != event.NoDevice {
		b.info.Device, b.named = event.Some(uint64(e.Named.V)), e.Named
	}
	for i, part := range b.parts {
		if i == 0 {
			b.span = part.Range
		}
		b.span = l1.Range{Start: min(b.span.Start, part.Range.Start), End: max(b.span.End, part.Range.End)}
	}
	b.synthesised = slices.ContainsFunc(e.Parts, func(p event.Part) bool { return p.Synthesised })
	return b
}

// ofLog completes a buffer of a log, which says some facts in other words. slot is its first device.
func (b *buffer) ofLog(name string, slot event.Opt[uint64]) {
	b.info.Op = cmp.Or(answer.Name(name), b.info.Op)
	if slot.OK {
		b.info.Device = slot
	}
	for _, part := range b.parts {
		b.info.PerCore = event.Some(max(b.info.PerCore.V, part.Range.Len()))
		b.info.Address = event.Some(b.span.Start)
	}
}

// place returns one number for buffers that check alike: of one kind, in one place and mode.
func (n *naming) place(b *buffer, given fit.Buffer) sum128 {
	var room [64]byte
	text := append(room[:0], byte(b.info.Kind), byte(given.Mode))
	if b.hides {
		text = append(text, n.spelt.of(given.Hidden)...)
	}
	for _, part := range b.parts {
		text = binary.LittleEndian.AppendUint64(text, part.Range.Start)
		text = binary.LittleEndian.AppendUint64(text, part.Range.End)
		text = append(text, n.spelt.of(part.Cores)...)
	}
	return sum128{maphash.Bytes(n.seeds[0], text), maphash.Bytes(n.seeds[1], text)}
}

// claims reports whether the buffer is in the way of programs: it has bytes, or hides where they are.
func (b *buffer) claims() bool { return len(b.parts) > 0 || b.hides }

// measured reports whether it is known how many bytes the buffer takes on which cores.
func (b *buffer) measured() bool { return len(b.parts) > 0 && !b.unsized }

// add adds a buffer. Another one under its id is not there any more.
func (m *memory) add(b *buffer) {
	if was := m.live.Of(b.id); was != nil {
		m.names = m.names.minus(was.name)
	}
	m.live.Set(b.id, b)
	m.low = &lowest{}
	m.names = m.names.plus(b.name)
	if b.claims() {
		m.beside = m.beside.plus(b.hash)
	}
}

// drop removes a buffer.
func (m *memory) drop(b *buffer) {
	m.live.Delete(b.id)
	m.low = &lowest{}
	m.names = m.names.minus(b.name)
	if b.claims() {
		m.beside = m.beside.minus(b.hash)
	}
}

// ran records the last run of a program.
func (m *memory) ran(p *program.Program, now lastRun) {
	if was, ok := m.last.Get(p); ok {
		m.names = m.names.minus(was.name)
	}
	m.names = m.names.plus(now.name)
	m.last.Set(p, now)
}

// countEarlier adds n buffers from before the source like this one; n is -1 where it is gone.
func (m *memory) countEarlier(b *buffer, n int) {
	m.before.Count += n
	of := &m.before.L1
	if b.info.Kind == fit.KindL1Small {
		of = &m.before.L1Small
	}
	*of += uint64(n) * b.info.Size // wraps and comes back
}

// made returns the live buffers of a device that the source itself has allocated.
func (m *memory) made(t fit.BufferTotals) fit.BufferTotals {
	t.Count -= m.before.Count
	t.L1 -= m.before.L1
	t.L1Small -= m.before.L1Small
	return t
}

// resident says whose bytes a range is now.
func (m *memory) resident(r fit.Resident) answer.L1Resident {
	out := answer.L1Resident{ResidentRow: fit.NewResidentRow(r.Kind, r.Range)}
	if r.Program != nil {
		run := m.last.Of(r.Program).ProgramRun
		out.CB, out.Program = event.Some(uint64(r.CB)), &run
		return out
	}
	if b := m.live.Of(r.Buffer.ID); b != nil {
		info := b.info
		out.Buffer = &info
	}
	return out
}

// A lowest is the L1 buffers that lie lowest on a device.
type lowest struct {
	known       bool
	list        []answer.BufferInfo
	synthesised bool
	cores       int // of the one on the fewest cores
}

// lowest returns the L1 buffers that lie lowest on a device. Cost: O(live buffers), once for all rows that part
// while nothing of them changes.
func (m *memory) lowest() *lowest {
	if m.low == nil || m.low.known {
		return cmp.Or(m.low, &lowest{})
	}
	m.low.known = true
	var found []*buffer
	for _, b := range m.live.All() {
		if b.span.IsEmpty() || b.info.Kind != fit.KindL1 && b.info.Kind != fit.KindGlobalCB {
			continue
		}
		if len(found) > 0 && b.span.Start < found[0].span.Start {
			found = found[:0]
		}
		if len(found) == 0 || b.span.Start == found[0].span.Start {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b *buffer) int { return cmp.Compare(a.id, b.id) })
	for _, b := range found {
		m.low.list = append(m.low.list, b.info)
		m.low.synthesised = m.low.synthesised || b.synthesised
		var cores l1.CoreSet
		for _, part := range b.parts {
			cores = cores.Union(part.Cores)
		}
		if n := cores.Len(); m.low.cores == 0 || n < m.low.cores {
			m.low.cores = n
		}
	}
	return m.low
}

// fills reports whether a core has the buffer from its first byte to its last.
func (b *buffer) fills(core l1.Core) bool {
	var on []l1.Range
	for _, part := range b.parts {
		if part.Cores.Has(core) {
			on = append(on, part.Range)
		}
	}
	return slices.Contains(l1.Merge(on), b.span)
}

// need counts a buffer that was allocated on a device.
func need(n *answer.Needs, b *buffer, dev device.Device) {
	lower := func(to *answer.Need) {
		if at := b.span.Start; at > 0 && (to.Value == 0 || at < to.Value) {
			*to = answer.Need{Value: at, At: b.info.At, T: b.info.T}
		}
	}
	switch b.info.Kind {
	case fit.KindL1, fit.KindGlobalCB:
		lower(&n.Lowest)
	case fit.KindTrace:
		if sum := dev.Totals().Buffers.Trace; sum > n.Trace.Value {
			n.Trace = answer.Need{Value: sum, At: b.info.At, T: b.info.T}
		}
	case fit.KindL1Small:
		lower(&n.Small)
		if len(b.parts) == 0 || b.synthesised {
			spec := dev.Spec()
			banks, align := uint64(max(spec.NumCores(), 1)), fit.Alignment(spec)
			each := b.info.PerCore.Or((b.info.Size + banks - 1) / banks)
			n.Kept = answer.Need{Value: min(n.Kept.Value+(each+align-1)/align*align, l1.MaxAddr), At: b.info.At, T: b.info.T}
		}
	}
}
