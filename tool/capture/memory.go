package capture

import (
	"cmp"
	"slices"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// memory knows which buffers live, and where.
type memory struct {
	*shared
	live    *survey.Buffers
	heights heights
	placed  int  // of the residents that are known
	unread  bool // an allocation cannot be read
	borders borders
	leaving *btree.BTreeG[expiring] // buffers that go where no node frees them: residents, and those of a database, by their end
	own     map[device.ID]bool      // ids under which L1 buffers lie
	running []device.ID             // on which programs run; nil: not looked for
	path    string                  // functions that run at the node at hand
}

func newMemory(g *shared) *memory {
	return &memory{
		shared: g, live: survey.NewBuffers(g.Known), heights: newHeights(g), own: map[device.ID]bool{},
		leaving: newExpiring(),
	}
}

// An expiring is a buffer whose end is known before.
type expiring struct {
	*survey.Buffer
	until uint64
}

// newExpiring orders buffers by their end.
func newExpiring() *btree.BTreeG[expiring] {
	return btree.NewG(16, func(a, b expiring) bool { return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.ID, b.ID)) < 0 })
}

// allocate records an allocation.
func (m *memory) allocate(n *graph.Node, id device.ID) {
	b := m.live.Allocation(n)
	if b == nil {
		m.out.notes.add(noteBufferUnplaced, int64(n.Counter), "unknown type "+n.Buffer.TypeName)
		m.hideAllocation(n, id)
		return
	}
	b.Op = m.path
	if of := m.live.Backed(b); of != nil {
		m.back(of, b)
		return
	}
	m.add(b)
}

// add adds a new buffer and writes its event.
func (m *memory) add(b *survey.Buffer) {
	m.live.Add(b)
	if until, ok := m.Known.Before.Ends[b.Said.At]; ok { // it is gone when an operation ends
		m.leaving.ReplaceOrInsert(expiring{b, until})
	}
	if b.Said.Kind.InL1() { // how much of a core it takes, and where, as far as the capture says so
		if b.Said.PerCore = m.PerCore(b); !b.Said.PerCore.OK {
			least, ok := m.Known.Before.Least[b.Said.At]
			b.Said.PerCore = event.Opt[uint64]{V: least, OK: ok}
		}
		b.Place.Address = event.Opt[uint64]{V: b.Said.Recorded, OK: b.Said.Recorded > 0}
	}
	if s := m.Known.Shards[b.Said.At]; s != nil && b.Sharded {
		b.Shards = *s
	}
	m.placeBuffer(b)
}

// back yields an allocation on a chip while the allocation of its mesh is live: one of the two backs the
// other.
func (m *memory) back(of, b *survey.Buffer) {
	if of.Back(b); of.Hidden {
		return
	}
	e := m.allocation(b)
	e.Buffer.Backing, e.Address = true, event.Some(b.Said.Recorded)
	e.Devices = event.Some([]device.ID{b.Said.Named})
	m.out.emit(&e)
}

// free records a free. It reports whether the allocation is known.
func (m *memory) free(n *graph.Node, id device.ID) bool {
	e := &event.Event{Kind: event.KindFree, Node: n.Counter, Op: event.Some(m.path)}
	b, backing := m.live.Pair(n)
	switch {
	case b == nil && m.unread && !m.live.Freed(n):
		m.lost(n, id) // it may be of a hidden allocation
		return false
	case b == nil:
		e.Unknown, e.Again = true, m.live.Freed(n)
		if !e.Again {
			e.Earlier = m.lost(n, id)
		}
		e.Buffer.Kind, _ = graph.BufferKind(n)
		if id != event.NoDevice {
			e.Named = event.Some(id) // which perhaps nothing else does
		}
	case backing != 0:
		if b.Hidden {
			return true
		}
		e.Buffer.ID, e.Devices = backing, event.Some([]device.ID{id})
	default:
		m.borders.recordLife(b, m.borders.next)
		m.live.Remove(b)
		m.heights.remove(b)
		if b.Hidden {
			return true
		}
		e.Buffer.ID, e.Devices = b.ID, event.Some(b.Place.On)
	}
	m.out.emit(e)
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
	placed := n.Address.V != 0                          // a reading knows all residents, or another one will
	named := n.Address.V == 0 && len(n.Connections) > 0 // what stands for it has a node of its own
	if ok && !placed && !named && !m.unread {
		m.owns(id, kind)
	}
	return placed || named || !m.units.ranOn(id)
}

// placeBuffer finds the place of a new buffer and writes its event. A buffer whose tensor cannot
// be read is hidden.
func (m *memory) placeBuffer(b *survey.Buffer) {
	if lies := b.Said.PerCore.OK || b.Place.Address.OK; lies && b.Sharded && !b.Shards.Described() {
		b.Shards.Unknown = m.Known.MayDescribe(b.Said.Named, b.Said.Recorded)
	}
	b.Place.On = m.units.idsOn(b.Said.Named)
	if b.Shards.Unknown {
		m.live.Hide(b)
		return
	}
	if b.Said.Bare && m.Known.Members.Recorded {
		m.unread = true
	}
	m.owns(b.Said.Named, b.Said.Kind)
	if b.Said.Kind.InL1() {
		m.heights.locate(b, m.Specs.Spec())
	}
	e := m.allocation(b)
	if b.Said.Kind.InL1() {
		if e.Unplaced = unplaced(b, m.Known.Members.Recorded); e.Unplaced == "" && b.Sharded && !b.Shards.Known {
			e.CoresFrom = event.FromAssumed
		}
	}
	m.emitBuffer(&e, b, b.Place.On)
}

// emitBuffer writes the allocation of a buffer on some units. Units with the buffer on the same cores
// share one event.
func (m *memory) emitBuffer(e *event.Event, b *survey.Buffer, on []device.ID) {
	for len(on) > 0 {
		rest := []device.ID(nil)
		if b.Place.Address.OK && (b.Said.PerCore.OK || b.Place.Unsized) {
			part := event.Part{Cores: event.Some(b.Shards.Cores), Range: b.Place.Range, Synthesised: b.Place.Placed}
			switch {
			case b.Place.Range.IsEmpty() && !b.Place.Unsized:
				part.Cores.OK = false
			case !b.Shards.Known:
				part.Cores.V = m.Grids.Of(on[0]).Cores
				on, rest = m.likeFirst(on)
			}
			e.Parts = []event.Part{part}
			apart(e, b)
		}
		e.Devices = event.Some(on)
		m.out.emit(e)
		on = rest
	}
}

// apart splits the cores of an L1 buffer that was allocated per core: its address is known on the first
// core, and hidden on the others.
func apart(e *event.Event, b *survey.Buffer) {
	if b.Said.Kind != fit.KindL1 {
		return
	}
	e.Buffer.Mode = b.Shards.Mode
	all := &e.Parts[0].Cores
	if b.Shards.Mode != fit.PerCore || !all.OK || b.Proven {
		return
	}
	first := l1.CoreSetOf(b.Shards.First)
	if e.Buffer.Hidden = all.V; !b.Shards.Known { // nor is it known which core is the first
		e.Parts = nil
		return
	}
	all.V, e.Buffer.Hidden = first, all.V.Minus(first)
}

// likeFirst divides units into those with the grid of the first one, and the rest.
func (m *memory) likeFirst(all []device.ID) (like, rest []device.ID) {
	cores := m.Grids.Of(all[0]).Cores
	differs := func(id device.ID) bool { return !m.Grids.Of(id).Cores.Equal(cores) }
	if !slices.ContainsFunc(all, differs) {
		return all, nil
	}
	like = slices.DeleteFunc(slices.Clone(all), differs)
	rest = slices.DeleteFunc(slices.Clone(all), func(id device.ID) bool { return !differs(id) })
	return like, rest
}

// allocation returns the event of an allocation without its devices and parts.
func (m *memory) allocation(b *survey.Buffer) event.Event {
	e := event.Event{
		Kind: event.KindAllocate, Node: b.Said.At, Op: event.Some(b.Op), PerCore: b.Said.PerCore,
		Address: b.Place.Address, Layout: b.Said.Layout,
		Buffer:  fit.Buffer{ID: b.ID, Kind: b.Said.Kind, Size: b.Said.Size, Name: b.Op, Unsized: b.Place.Unsized},
		Earlier: b.Earlier,
	}
	if b.Said.Named != event.NoDevice {
		e.Named = event.Some(b.Said.Named)
	}
	return e
}

// departing returns a buffer that ends before the node next, where no node frees it. ok is false if there is none.
func (m *memory) departing(next uint64) (b expiring, ok bool) {
	for b, ok = m.leaving.Min(); ok && b.until < next; b, ok = m.leaving.Min() {
		if b.Earlier || m.live.Live[b.Said.Named][b.ID] != nil {
			return b, true
		}
		m.leaving.DeleteMin()
	}
	return b, false
}

// depart removes a buffer that departing has returned, and writes its free.
func (m *memory) depart(b expiring) {
	if m.leaving.DeleteMin(); !b.Earlier {
		m.live.Remove(b.Buffer)
	}
	m.gone(b.Buffer, b.until)
}

// arriving returns a resident that is there from the node next on. ok is false if there is none.
func (m *memory) arriving(next uint64) (b expiring, ok bool) {
	for all := m.Known.Before.Residents; m.placed < len(all) && all[m.placed].Since <= next; {
		r := all[m.placed]
		if m.placed++; next >= r.Until {
			continue
		}
		b = expiring{&survey.Buffer{
			ID: m.live.Next(), Op: r.Op(), Shards: r.Shards, Earlier: true,
			Said:  survey.Allocation{At: r.Since, Named: r.Named, Kind: r.Kind, PerCore: r.PerCore, Recorded: r.Address},
			Place: survey.Placement{On: m.unitsOf(r)}, Proven: r.Proven > 0, Unit: r.Unit,
		}, r.Until}
		m.owns(r.Named, r.Kind)
		if len(b.Place.On) > 0 && r.Address <= jsonobject.MaxL1 { // else it is where nothing else is, or in no L1
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
func (m *memory) unitsOf(r survey.Resident) []device.ID {
	if r.Unit {
		if m.units.byID[r.Named] == nil {
			return nil
		}
		return []device.ID{r.Named}
	}
	if r.Named == event.NoDevice && len(m.Known.Runs) > 0 {
		if m.running == nil {
			m.running = slices.DeleteFunc(idsOf(m.units.order), func(id device.ID) bool { return !m.Known.Runs[id] })
		}
		return m.running
	}
	return m.units.idsOn(r.Named)
}

// arrive places a resident that arriving has returned, and writes its allocation.
func (m *memory) arrive(b expiring) {
	b.Place.Address = event.Some(b.Said.Recorded)
	m.heights.locate(b.Buffer, m.Specs.Spec())
	m.leaving.ReplaceOrInsert(b)
	e := m.allocation(b.Buffer)
	m.emitBuffer(&e, b.Buffer, b.Place.On)
}

// gone writes the free of a buffer.
func (m *memory) gone(b *survey.Buffer, at uint64) {
	m.heights.remove(b)
	m.out.emit(&event.Event{Kind: event.KindFree, Node: at, Buffer: fit.Buffer{ID: b.ID}, Devices: event.Some(b.Place.On)})
}

// emitEarlier writes the allocation of the last buffer node if its buffer is from before the capture.
func (m *memory) emitEarlier(next *graph.Node) {
	old := m.live.Earlier(next)
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
		m.out.emit(&e)
		return
	}
	if !m.Known.Before.Harmless[old.Counter] {
		m.unplace(old, kind)
	}
}

// earlier returns the allocation of a buffer from before the capture that a node stands for.
func (m *memory) earlier(n *graph.Node, kind fit.Kind) event.Event {
	return event.Event{
		Kind: event.KindAllocate, Node: n.Counter, Op: event.Some(m.path), Earlier: true, Unplaced: event.UnplacedEarlier,
		Buffer: fit.Buffer{ID: m.live.Next(), Kind: kind, Size: n.Size.V},
	}
}

// unplace writes the allocation of a buffer from before the capture without a known place, or keeps it until a program
// runs beside it.
func (m *memory) unplace(n *graph.Node, kind fit.Kind) {
	e := m.earlier(n, kind)
	id := graph.DeviceOf(n.DeviceID)
	m.owns(id, kind)
	if m.units.ranOn(id) {
		m.out.emit(&e)
		return
	}
	m.out.absent[n.Counter], m.out.beside[id] = &e, append(m.out.beside[id], n.Counter)
}

// hideAllocation keeps a buffer of an unreadable allocation out of L1. Its frees are recognised by the
// buffer node.
func (m *memory) hideAllocation(n *graph.Node, id device.ID) {
	m.unread = true
	m.live.Hidden(n, id)
}

// hideBuffers takes all buffers out of the devices that a hidden free may have reached.
func (m *memory) hideBuffers(at uint64, id device.ID) {
	for _, b := range m.live.Sharing(id) {
		m.hideBuffer(b, at)
	}
	var residents []expiring
	m.leaving.Ascend(func(b expiring) bool {
		if b.Earlier && m.Known.Members.Share(b.Said.Named, id) {
			residents = append(residents, b)
		}
		return true
	})
	for _, b := range residents {
		m.leaving.Delete(b)
		m.hideBuffer(b.Buffer, at)
	}
}

// hideBuffer takes a buffer out of L1. Its own free finds it still.
func (m *memory) hideBuffer(b *survey.Buffer, at uint64) {
	m.live.Hide(b)
	m.gone(b, at)
}
