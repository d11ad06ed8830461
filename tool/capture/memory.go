package capture

import (
	"slices"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// memory knows which buffers live, and where.
type memory struct {
	*shared
	live     *buffers
	heights  heights
	attended int  // of the residents that are known
	unread   bool // an allocation cannot be read
	borders  borders
	leaving  *btree.BTreeG[expiring] // buffers that go where no node frees them: residents, and those of a database, by their end
	own      map[device.ID]bool      // ids under which L1 buffers lie
	running  []*unit                 // on which programs run; nil: not looked for
	path     string                  // functions that run at the node at hand
}

func newMemory(g *shared) *memory {
	return &memory{
		shared: g, live: newBuffers(g.known), heights: newHeights(g.known), own: map[device.ID]bool{},
		leaving: newExpiring(),
	}
}

// allocate records an allocation.
func (m *memory) allocate(n *graph.Node, id device.ID) {
	b := m.live.allocation(n)
	if b == nil {
		m.out.notes.add(noteBufferUnplaced, int64(n.Counter), "unknown type "+n.Buffer.TypeName)
		m.hideAllocation(n, id)
		return
	}
	b.op = m.path
	if of := m.live.backed(b); of != nil {
		m.back(of, b)
		return
	}
	m.add(b)
}

// add adds a new buffer and writes its event.
func (m *memory) add(b *buffer) {
	m.live.add(b)
	if until, ok := m.known.before.ends[b.said.at]; ok { // it is gone when an operation ends
		m.leaving.ReplaceOrInsert(expiring{b, until})
	}
	if b.said.kind.InL1() { // how much of a core it takes, and where, as far as the capture says so
		if b.said.perCore = m.perCore(b); !b.said.perCore.OK {
			least, ok := m.known.before.least[b.said.at]
			b.said.perCore = event.Opt[uint64]{V: least, OK: ok}
		}
		b.place.address = event.Opt[uint64]{V: b.said.recorded, OK: b.said.recorded > 0}
	}
	if s := m.known.shards[b.said.at]; s != nil && b.sharded {
		b.shards = *s
	}
	m.lay(b)
}

// perCore returns how many bytes of a core the allocation of a buffer in L1 takes, as far as it says so.
func (g *shared) perCore(b *buffer) event.Opt[uint64] {
	grid, page := g.grids.of(b.said.named), b.said.page
	if b.said.perCore.OK || b.sharded || grid.from == event.FromAssumed || !b.said.sized || page == 0 || page > jsonobject.MaxL1 {
		return b.said.perCore
	}
	each := divideUp(divideUp(b.said.size, page), uint64(grid.cores.Len()))
	align := max(g.specs.spec().L1Align, 1)
	page = divideUp(page, align) * align // each page begins at a multiple
	return event.Opt[uint64]{V: each * page, OK: each == 0 || page <= jsonobject.MaxL1/each}
}

func divideUp(n, by uint64) uint64 {
	if n%by == 0 {
		return n / by
	}
	return n/by + 1
}

// back yields an allocation on a chip while the allocation of its mesh is live: one of the two backs the
// other.
func (m *memory) back(of, b *buffer) {
	if of.back(b); of.hidden {
		return
	}
	e := m.allocation(b)
	e.Buffer.Backing, e.Address = true, event.Some(b.said.recorded)
	e.Devices = event.Some([]device.ID{b.said.named})
	m.out.tell(&e)
}

// free records a free. It reports whether the allocation is known.
func (m *memory) free(n *graph.Node, id device.ID) bool {
	e := &event.Event{Kind: event.KindFree, Node: n.Counter, Op: event.Some(m.path)}
	b, backing := m.live.pair(n)
	switch {
	case b == nil && m.unread && !m.live.freed(n):
		m.lost(n, id) // it may be of a hidden allocation
		return false
	case b == nil:
		e.Unknown, e.Again = true, m.live.freed(n)
		if !e.Again {
			e.Earlier = m.lost(n, id)
		}
		e.Buffer.Kind, _ = graph.BufferKind(n)
		if id != event.NoDevice {
			e.Named = event.Some(id) // which perhaps nothing else does
		}
	case backing != 0:
		if b.hidden {
			return true
		}
		e.Buffer.ID, e.Devices = backing, event.Some([]device.ID{id})
	default:
		m.borders.cross(b, m.borders.next)
		m.live.remove(b)
		m.heights.remove(b)
		if b.hidden {
			return true
		}
		e.Buffer.ID, e.Devices = b.id, event.Some(idsOf(b.place.on))
	}
	m.out.tell(e)
	return b != nil
}

// lost records the free of a buffer that the capture did not allocate. It reports whether that hides
// nothing: an event has its place, or nothing ran beside it.
func (m *memory) lost(n *graph.Node, id device.ID) bool {
	kind, ok := graph.BufferKind(n)
	if !ok { // it ends what lay there, or something of another memory
		m.out.notes.add(noteBufferUnplaced, int64(n.Counter), "unknown type "+n.Buffer.TypeName)
	}
	for _, c := range n.Connections {
		delete(m.out.absent, c)
	}
	told := n.Address.V != 0                            // a reading knows all residents, or another one will
	named := n.Address.V == 0 && len(n.Connections) > 0 // what stands for it has a node of its own
	if ok && !told && !named && !m.unread {
		m.owns(id, kind)
	}
	return told || named || !m.units.ranOn(id)
}

// lay finds the place of a new buffer and writes its event. A buffer whose tensor cannot
// be read is hidden.
func (m *memory) lay(b *buffer) {
	if lies := b.said.perCore.OK || b.place.address.OK; lies && b.sharded && !b.shards.described() {
		b.shards.unknown = m.known.mayDescribe(b.said.named, b.said.recorded)
	}
	b.place.on = m.units.reached(b.said.named)
	if b.shards.unknown {
		m.live.hide(b)
		return
	}
	if b.said.bare && m.known.members.recorded {
		m.unread = true
	}
	m.owns(b.said.named, b.said.kind)
	if b.said.kind.InL1() {
		m.heights.locate(b, m.specs.spec())
	}
	e := m.allocation(b)
	if b.said.kind.InL1() {
		if e.Unplaced = b.unplaced(m.known.members.recorded); e.Unplaced == "" && b.sharded && !b.shards.known {
			e.CoresFrom = event.FromAssumed
		}
	}
	m.tellBuffer(&e, b, b.place.on)
}

// tellBuffer writes the allocation of a buffer on some units. Units with the buffer on the same cores
// share one event.
func (m *memory) tellBuffer(e *event.Event, b *buffer, on []*unit) {
	for len(on) > 0 {
		rest := []*unit(nil)
		if b.place.address.OK && (b.said.perCore.OK || b.place.unsized) {
			part := event.Part{Cores: event.Some(b.shards.cores), Range: b.place.r, Synthesised: b.place.placed}
			switch {
			case b.place.r.IsEmpty() && !b.place.unsized:
				part.Cores.OK = false
			case !b.shards.known:
				part.Cores.V = m.grids.of(on[0].id).cores
				on, rest = m.likeFirst(on)
			}
			e.Parts = []event.Part{part}
			b.apart(e)
		}
		e.Devices = event.Some(idsOf(on))
		m.out.tell(e)
		on = rest
	}
}

// apart splits the cores of an L1 buffer that was allocated per core: its address is known on the first
// core, and hidden on the others.
func (b *buffer) apart(e *event.Event) {
	if b.said.kind != fit.KindL1 {
		return
	}
	e.Buffer.Mode = b.shards.mode
	all := &e.Parts[0].Cores
	if b.shards.mode != fit.PerCore || !all.OK || b.proven {
		return
	}
	first := l1.CoreSetOf(b.shards.first)
	if e.Buffer.Hidden = all.V; !b.shards.known { // nor is it known which core is the first
		e.Parts = nil
		return
	}
	all.V, e.Buffer.Hidden = first, all.V.Minus(first)
}

// likeFirst divides units into those with the grid of the first one, and the rest.
func (m *memory) likeFirst(all []*unit) (like, rest []*unit) {
	cores := m.grids.of(all[0].id).cores
	differs := func(u *unit) bool { return !m.grids.of(u.id).cores.Equal(cores) }
	if !slices.ContainsFunc(all, differs) {
		return all, nil
	}
	like = slices.DeleteFunc(slices.Clone(all), differs)
	rest = slices.DeleteFunc(slices.Clone(all), func(u *unit) bool { return !differs(u) })
	return like, rest
}

// allocation returns the event of an allocation without its devices and parts.
func (m *memory) allocation(b *buffer) event.Event {
	e := event.Event{
		Kind: event.KindAllocate, Node: b.said.at, Op: event.Some(b.op), PerCore: b.said.perCore,
		Address: b.place.address, Layout: b.said.layout,
		Buffer:  fit.Buffer{ID: b.id, Kind: b.said.kind, Size: b.said.size, Name: b.op, Unsized: b.place.unsized},
		Earlier: b.earlier,
	}
	if b.said.named != event.NoDevice {
		e.Named = event.Some(b.said.named)
	}
	return e
}

// departing returns a buffer that ends before the node next, where no node frees it. ok is false if there is none.
func (m *memory) departing(next uint64) (b expiring, ok bool) {
	for b, ok = m.leaving.Min(); ok && b.until < next; b, ok = m.leaving.Min() {
		if b.earlier || m.live.live[b.said.named][b.id] != nil {
			return b, true
		}
		m.leaving.DeleteMin()
	}
	return b, false
}

// depart removes a buffer that departing has returned, and writes its free.
func (m *memory) depart(b expiring) {
	if m.leaving.DeleteMin(); !b.earlier {
		m.live.remove(b.buffer)
	}
	m.gone(b.buffer, b.until)
}

// arriving returns a resident that is there from the node next on. ok is false if there is none.
func (m *memory) arriving(next uint64) (b expiring, ok bool) {
	for all := m.known.before.residents; m.attended < len(all) && all[m.attended].since <= next; {
		r := all[m.attended]
		if m.attended++; next >= r.until {
			continue
		}
		b = expiring{&buffer{
			id: m.live.next(), op: r.op(), shards: r.shards, earlier: true,
			said:  allocation{at: r.since, named: r.named, kind: r.kind, perCore: r.perCore, recorded: r.address},
			place: placement{on: m.unitsOf(r)}, proven: r.proven > 0, unit: r.unit,
		}, r.until}
		m.owns(r.named, r.kind)
		if len(b.place.on) > 0 && r.address <= jsonobject.MaxL1 { // else it is where nothing else is, or in no L1
			return b, true
		}
	}
	return b, false
}

// owns records that a buffer lies under an id.
func (m *memory) owns(id device.ID, kind fit.Kind) {
	if kind == fit.KindL1 {
		m.own[id] = true
	}
}

// unitsOf returns the units on which a resident lies. One that names no device lies where programs run, if any do: on each
// device that a capture names, frees without a device would cost the square of its size.
func (m *memory) unitsOf(r resident) []*unit {
	if r.unit {
		return slices.DeleteFunc([]*unit{m.units.byID[r.named]}, func(u *unit) bool { return u == nil })
	}
	if r.named == event.NoDevice && len(m.known.runs) > 0 {
		if m.running == nil {
			m.running = slices.DeleteFunc(slices.Clone(m.units.order), func(u *unit) bool { return !m.known.runs[u.id] })
		}
		return m.running
	}
	return m.units.reached(r.named)
}

// arrive places a resident that arriving has returned, and writes its allocation.
func (m *memory) arrive(b expiring) {
	b.place.address = event.Some(b.said.recorded)
	m.heights.locate(b.buffer, m.specs.spec())
	m.leaving.ReplaceOrInsert(b)
	e := m.allocation(b.buffer)
	m.tellBuffer(&e, b.buffer, b.place.on)
}

// gone writes the free of a buffer.
func (m *memory) gone(b *buffer, at uint64) {
	m.heights.remove(b)
	m.out.tell(&event.Event{Kind: event.KindFree, Node: at, Buffer: fit.Buffer{ID: b.id}, Devices: event.Some(idsOf(b.place.on))})
}

// tellEarlier writes the allocation of the last buffer node if its buffer is from before the capture.
func (m *memory) tellEarlier(next *graph.Node) {
	old := m.live.earlier(next)
	if old == nil || m.unread {
		return
	}
	kind, ok := graph.BufferKind(old)
	if !ok {
		m.out.notes.add(noteBufferUnplaced, int64(old.Counter), "unknown type "+old.Buffer.TypeName)
		return
	}
	if kind != fit.KindL1 && kind != fit.KindL1Small {
		e := m.earlier(old, kind)
		m.out.tell(&e)
		return
	}
	if !m.known.before.harmless[old.Counter] {
		m.unplace(old, kind)
	}
}

// earlier returns the allocation of a buffer from before the capture that a node stands for.
func (m *memory) earlier(n *graph.Node, kind fit.Kind) event.Event {
	return event.Event{
		Kind: event.KindAllocate, Node: n.Counter, Op: event.Some(m.path), Earlier: true, Unplaced: event.UnplacedEarlier,
		Buffer: fit.Buffer{ID: m.live.next(), Kind: kind, Size: n.Size.V},
	}
}

// unplace writes the allocation of a buffer from before the capture without a known place, or keeps it until a program
// runs beside it.
func (m *memory) unplace(n *graph.Node, kind fit.Kind) {
	e := m.earlier(n, kind)
	id := graph.DeviceOf(n.DeviceID)
	m.owns(id, kind)
	if m.units.ranOn(id) {
		m.out.tell(&e)
		return
	}
	m.out.absent[n.Counter], m.out.beside[id] = &e, append(m.out.beside[id], n.Counter)
}

// hideAllocation keeps a buffer of an unreadable allocation out of L1. Its frees are recognised by the
// buffer node.
func (m *memory) hideAllocation(n *graph.Node, id device.ID) {
	m.unread = true
	m.live.hidden(n, id)
}

// hideBuffers takes all buffers out of the devices that a hidden free may have reached.
func (m *memory) hideBuffers(at uint64, id device.ID) {
	for _, b := range m.live.sharing(id) {
		m.hideBuffer(b, at)
	}
	var residents []expiring
	m.leaving.Ascend(func(b expiring) bool {
		if b.earlier && m.known.members.share(b.said.named, id) {
			residents = append(residents, b)
		}
		return true
	})
	for _, b := range residents {
		m.leaving.Delete(b)
		m.hideBuffer(b.buffer, at)
	}
}

// hideBuffer takes a buffer out of L1. Its own free finds it still.
func (m *memory) hideBuffer(b *buffer, at uint64) {
	m.live.hide(b)
	m.gone(b, at)
}
