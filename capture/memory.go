package capture

import (
	"iter"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
)

// memory knows which buffers live, and where.
type memory struct {
	*ground
	live        *buffers
	heights     heights
	past        *past  // nil in a reading that knows it already
	attending   guests // residents that are there now, by their end
	attended    int    // of the residents that are known
	absent      *absentees
	hidden      hiddenBuffers
	borders     borders
	undescribed bool   // no tensor has described a placed sharded buffer
	path        string // functions that run at the node at hand
}

func newMemory(g *ground, a *absentees) *memory {
	return &memory{
		ground: g, live: newBuffers(g.known), heights: newHeights(g.known), absent: a,
		attending: newGuests(), borders: borders{leaving: newGuests()},
		hidden: hiddenBuffers{freed: map[device.ID]bool{}, lost: counters{}},
	}
}

// hiddenBuffers are the nodes about buffers that cannot be read.
type hiddenBuffers struct {
	made  bool               // an allocation
	freed map[device.ID]bool // ids of frees
	lost  counters           // nodes that stand for buffers, or may
}

// allocate records an allocation. It returns nil if the type of the buffer is not known.
func (m *memory) allocate(n *node, id device.ID) *buffer {
	kind, ok := bufferKind(n)
	if !ok {
		m.out.notes.add(noteBufferUnplaced, int64(n.Counter), "unknown type "+n.Buffer.TypeName)
		m.hideAllocation(n, id)
		return nil
	}
	b := &buffer{id: m.live.next(), op: m.path, said: allocation{
		at: n.Counter, named: id, kind: kind, size: n.Size.V, perCore: n.Buffer.MaxSizePerBank, recorded: n.Address.V,
		layout: n.Buffer.Layout,
	}}
	if len(n.Connections) > 0 {
		b.node = event.Some(n.Connections[0])
	}
	return b
}

// add adds a new buffer. It reports whether it can be laid now; if not, it waits for its tensor.
func (m *memory) add(b *buffer, n *node) bool {
	m.live.add(b)
	b.life = m.past.allocated(b)
	m.leaves(b)
	if b.said.kind.InL1() {
		m.measure(b, n)
	}
	switch s, ok := m.known.shards[n.Counter]; {
	case !b.sharded:
	case ok:
		b.shards = s
	case b.node.OK && m.hidden.lost.has(b.node.V):
		b.shards.unknown = true
	case b.said.perCore.OK || b.place.address.OK:
		m.live.waiting = b
		return false
	}
	return true
}

// measure finds how much of a core a buffer in L1 takes, and where, as far as its
// allocation says so.
func (m *memory) measure(b *buffer, n *node) {
	b.sharded = n.Buffer.NumCores.V > 0 || strings.HasSuffix(n.Buffer.Layout, "SHARDED")
	grid := m.grids.use(b.said.named)
	pages := !b.said.perCore.OK && !b.sharded && grid.from != event.FromAssumed && n.Size.OK
	if pages && 0 < n.Buffer.PageSize.V && n.Buffer.PageSize.V <= jsonobject.MaxL1 {
		each := divideUp(divideUp(n.Size.V, n.Buffer.PageSize.V), uint64(grid.cores.Len()))
		align := max(m.specs.spec().L1Align, 1)
		page := divideUp(n.Buffer.PageSize.V, align) * align // each page begins at a multiple
		if each == 0 || page <= jsonobject.MaxL1/each {
			b.said.perCore = event.Some(each * page)
		}
	}
	if b.said.recorded > 0 {
		b.place.address = event.Some(b.said.recorded)
	}
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
	if of.backing == nil {
		of.backing = map[device.ID]fit.BufferID{}
	}
	of.backing[b.said.named] = b.id
	if of.hidden {
		return
	}
	e := m.allocation(b)
	e.Buffer.Backing, e.Address = true, event.Some(b.said.recorded)
	e.Devices = event.Some([]device.ID{b.said.named})
	m.out.tell(&e)
}

// free records a free. It reports whether the allocation is known.
func (m *memory) free(n *node, id device.ID) bool {
	e := &event.Event{Kind: event.KindFree, Node: n.Counter, Op: event.Some(m.path)}
	b, backing := m.live.pair(n)
	switch {
	case b == nil && m.hidden.made && !m.live.freed(n):
		m.lost(n, id) // it may be of a hidden allocation
		return false
	case b == nil:
		e.Unknown, e.Again = true, m.live.freed(n)
		if !e.Again {
			e.Earlier = m.lost(n, id)
		}
		e.Buffer.Kind, _ = bufferKind(n)
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
		m.past.ended(b, n.Counter)
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
func (m *memory) lost(n *node, id device.ID) bool {
	m.past.lost(n)
	kind, ok := bufferKind(n)
	if !ok { // it ends what lay there, or something of another memory
		m.out.notes.add(noteBufferUnplaced, int64(n.Counter), "unknown type "+n.Buffer.TypeName)
	}
	for _, c := range n.Connections {
		m.absent.drop(c)
	}
	if m.known.once && ok && kind.InL1() && n.Address.V != 0 && !m.units.ranOn(id) {
		m.out.notes.add(hiddenListed, int64(n.Counter), "") // no program is in its way, but a budget may be
	}
	told := n.Address.V != 0 && !m.known.once           // a reading knows all residents, or another one will
	named := n.Address.V == 0 && len(n.Connections) > 0 // what stands for it has a node of its own
	return told || named || !m.units.ranOn(id)
}

// tensor records a tensor, which names the cores of a sharded buffer. It returns the buffer if that can be
// laid now.
func (m *memory) tensor(n *node) *buffer {
	l := m.live
	node, named := l.tensors[n.Counter]
	delete(l.tensors, n.Counter)
	s, ok := shardsOf(n)
	if !ok {
		return nil
	}
	m.grids.see(n.Tensor.ShardGrid)
	if b := l.waiting; b != nil && (named && b.node == event.Some(node) || slices.Contains(l.of(n), b)) {
		b.shards, l.waiting = s, nil
		return b
	}
	list := l.byNode[node]
	switch {
	case named && len(list) > 0:
	case s.unknown:
		m.blind(n)
		return nil
	default:
		list = l.of(n)
	}
	if len(list) == 0 {
		return nil
	}
	b := list[len(list)-1]
	if !b.sharded || b.shards.described() {
		return nil
	}
	// It came after something that its cores matter for.
	b.shards = s
	if len(m.known.shards) < maxTensors {
		m.known.shards[b.said.at] = s
		m.known.tooLate(noteMeshLate)
	}
	if b.hidden {
		return nil
	}
	if s.unknown {
		m.hideBuffer(b, n.Counter)
		return nil
	}
	e := m.allocation(b)
	e.Corrects = true
	m.tellBuffer(&e, b, b.place.on)
	return nil
}

// waits takes out the buffer that waits for its tensor, nil if none does.
func (m *memory) waits() *buffer {
	b := m.live.waiting
	m.live.waiting = nil
	return b
}

// lay finds the place of a new buffer, whose unit is met, and writes its event. A buffer whose tensor cannot
// be read is hidden.
func (m *memory) lay(b *buffer) {
	if lies := b.said.perCore.OK || b.place.address.OK; lies && b.sharded && !b.shards.described() {
		b.shards.unknown = m.known.mayDescribe(b.said.named, b.said.recorded)
		m.undescribed = true
	}
	b.place.on = m.units.reached(b.said.named)
	if b.shards.unknown {
		smallAt(b.said.kind, b.said.recorded, b.place.on)
		m.live.hide(b)
		return
	}
	for _, u := range b.place.on {
		u.touched = true
		u.own = u.own || b.said.kind.InL1() && u.id == b.said.named
	}
	if b.said.kind.InL1() {
		smallAt(b.said.kind, b.said.recorded, b.place.on)
		m.heights.locate(b, m.specs.spec())
	}
	b.told = true
	e := m.allocation(b)
	if b.said.kind.InL1() {
		if e.Unplaced = b.unplaced(); e.Unplaced == "" && b.sharded && !b.shards.known {
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
				part.Cores.V = m.grids.use(on[0].id).cores
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
	if b.shards.mode != fit.PerCore || !all.OK {
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
	cores := m.grids.use(all[0].id).cores
	differs := func(u *unit) bool { return !m.grids.use(u.id).cores.Equal(cores) }
	if !slices.ContainsFunc(all, differs) {
		return all, nil
	}
	for _, u := range all {
		if differs(u) {
			rest = append(rest, u)
		} else {
			like = append(like, u)
		}
	}
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
func (m *memory) departing(next uint64) (b guest, ok bool) {
	for b, ok = m.borders.leaving.Min(); ok && b.until < next; b, ok = m.borders.leaving.Min() {
		if m.live.live[b.said.named][b.id] != nil {
			return b, true
		}
		m.borders.leaving.DeleteMin()
	}
	b, ok = m.attending.Min()
	return b, ok && b.until < next
}

// depart removes a buffer that departing has returned, and writes its free.
func (m *memory) depart(b guest) {
	if b.earlier {
		m.attending.DeleteMin()
	} else {
		m.borders.leaving.DeleteMin()
		m.borders.cross(b.buffer, m.borders.next)
		m.live.remove(b.buffer)
	}
	m.gone(b.buffer, b.until)
}

// arriving returns a resident that is there from the node next on. ok is false if there is none.
func (m *memory) arriving(next uint64) (b guest, ok bool) {
	for all := m.known.before.residents; m.attended < len(all) && all[m.attended].since <= next; {
		r := all[m.attended]
		if m.attended++; next >= r.until {
			continue
		}
		b = guest{&buffer{
			id: m.live.next(), op: event.UnplacedEarlier, shards: r.shards, told: true, earlier: true,
			said:  allocation{at: r.since, named: r.named, kind: r.kind, perCore: r.perCore, recorded: r.address},
			place: placement{on: m.units.reached(r.named)},
		}, r.until}
		if len(b.place.on) > 0 && r.address <= jsonobject.MaxL1 { // else it is where nothing else is, or in no L1
			return b, true
		}
	}
	return b, false
}

// arrive places a resident that arriving has returned, and writes its allocation.
func (m *memory) arrive(b guest) {
	b.place.address = event.Some(b.said.recorded)
	m.heights.locate(b.buffer, m.specs.spec())
	m.attending.ReplaceOrInsert(b)
	e := m.allocation(b.buffer)
	m.tellBuffer(&e, b.buffer, b.place.on)
}

// gone writes the free of a buffer.
func (m *memory) gone(b *buffer, at uint64) {
	m.heights.remove(b)
	m.out.tell(&event.Event{Kind: event.KindFree, Node: at, Buffer: fit.Buffer{ID: b.id}, Devices: event.Some(idsOf(b.place.on))})
}

// tellEarlier writes the allocation of the last buffer node if its buffer is from before the capture.
func (m *memory) tellEarlier(next *node) {
	old := m.live.earlier(next)
	if old == nil || m.hidden.made {
		return
	}
	kind, ok := bufferKind(old)
	if !ok {
		m.out.notes.add(noteBufferUnplaced, int64(old.Counter), "unknown type "+old.Buffer.TypeName)
		return
	}
	a := absentee{&event.Event{
		Kind: event.KindAllocate, Node: old.Counter, Op: event.Some(m.path), Earlier: true, Unplaced: event.UnplacedEarlier,
		Buffer: fit.Buffer{ID: m.live.next(), Kind: kind, Size: old.Size.V},
	}, idOf(old.DeviceID)}
	if kind != fit.KindL1 && kind != fit.KindL1Small {
		m.out.tell(a.told)
		return
	}
	if m.past != nil && !m.past.hidden.OK {
		m.past.clues.used(old, kind)
	}
	switch {
	case m.known.before.harmless[old.Counter]:
	case m.units.ranOn(a.named):
		m.out.tell(a.told)
	default:
		m.absent.add(a)
	}
}

// join writes that the live buffers of some ids also lie on a unit, as is known only now. Notes about
// their cores were written before.
func (m *memory) join(u *unit, named iter.Seq[device.ID]) {
	ids := slices.Collect(named)
	var all []*buffer
	for _, b := range m.attending.all() {
		if slices.Contains(ids, b.said.named) {
			all = append(all, b.buffer)
		}
	}
	for _, b := range append(all, m.live.reaching(named)...) {
		if b.told && !slices.Contains(b.place.on, u) {
			b.place.on = append(b.place.on, u) // which has no room for it where others have the list too
			e := m.allocation(b)
			m.tellBuffer(&e, b, []*unit{u})
		}
	}
}

// hideAllocation keeps a buffer of an unreadable allocation out of L1. Its frees are recognised by the
// buffer node.
func (m *memory) hideAllocation(n *node, id device.ID) {
	m.hidden.made = true
	if m.past != nil && !m.past.hidden.OK {
		m.past.hidden = event.Some(n.Counter)
	}
	if len(n.Connections) == 0 {
		return
	}
	kind, _ := bufferKind(n)
	b := &buffer{
		id: m.live.next(), said: allocation{at: n.Counter, named: id, kind: kind, recorded: n.Address.V},
		node: event.Some(n.Connections[0]), hidden: true,
	}
	m.live.add(b)
	m.live.hide(b)
	b.life = m.past.allocated(b)
}

// hideBuffers takes all buffers out of the devices that a hidden free may have reached.
func (m *memory) hideBuffers(at uint64, id device.ID) {
	m.hidden.freed[id] = true
	ids := slices.DeleteFunc(m.live.ids(), func(named device.ID) bool { return !m.known.members.share(named, id) })
	for _, b := range m.live.reaching(slices.Values(ids)) {
		m.hideBuffer(b, at)
	}
	for _, b := range m.attending.all() {
		if m.known.members.share(b.said.named, id) {
			m.attending.Delete(b)
			m.hideBuffer(b.buffer, at)
		}
	}
}

// hideBuffer takes a buffer out of L1. Its own free finds it still.
func (m *memory) hideBuffer(b *buffer, at uint64) {
	m.live.hide(b)
	m.gone(b, at)
}

// blind remembers such a tensor. No live buffer is known to be its own.
func (m *memory) blind(n *node) {
	kind, ok := bufferKind(n)
	if ok && !kind.InL1() || !n.Tensor.HidesPlace && n.Address.V == 0 {
		return
	}
	id, at, all := idOf(n.DeviceID), n.Address.V, m.known.blind
	if n.Tensor.HidesPlace || len(all) >= maxTensors {
		at = 0
	}
	if all[at] == nil {
		all[at] = map[device.ID]bool{}
	}
	if !all[at][id] {
		all[at][id] = true
		if m.undescribed {
			m.known.tooLate(noteMeshLate)
		}
	}
}

// leaves records a new buffer, which may be gone when an operation ends.
func (m *memory) leaves(b *buffer) {
	if until, ok := m.known.before.ends[b.said.at]; ok {
		m.borders.leaving.ReplaceOrInsert(guest{b, until})
	}
}
