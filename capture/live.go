package capture

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
)

// maxTensors bounds how many tensors to come are remembered with their buffers, and
// how many cores that came late. Beyond it cores of sharded buffers are not known.
const maxTensors = 1 << 16

// A buffer is an allocation that was not freed yet.
type buffer struct {
	id       fit.BufferID
	at       uint64 // counter of its allocation
	op       string
	named    device.ID // by its allocation
	kind     fit.Kind
	size     uint64 // of all banks
	perCore  event.Opt[uint64]
	recorded uint64            // address in the capture; 0 = none
	address  event.Opt[uint64] // as recorded or placed
	layout   string
	node     event.Opt[uint64]          // buffer node that the allocation names
	backing  map[device.ID]fit.BufferID // chips whose own allocation is shown too

	sharded bool
	shards

	told   bool     // it lies on its units
	placed bool     // r and address are chosen here
	r      l1.Range // empty if it lies nowhere, or is unsized
	on     []*unit

	earlier bool  // it is from before the capture
	hidden  bool  // nobody can tell whether it is there
	life    *life // nil if nobody asks
	unsized bool  // it has an address, and nobody says how many bytes of a core
}

// Shards say how a sharded buffer lies, as its tensor does.
type shards struct {
	known   bool // cores are
	unknown bool // how it was allocated: the tensor cannot be read, and the buffer is hidden
	cores   l1.CoreSet
	mode    fit.Mode // in lockstep, also if nothing says it
	first   l1.Core  // of one that was allocated per core: its address is that on this core
}

// shardsOf returns what a tensor says. ok is false if that is nothing.
func shardsOf(n *node) (s shards, ok bool) {
	if n.HidesMode {
		return shards{unknown: true}, true
	}
	s = shards{known: n.ShardGrid.Len() > 0, cores: n.ShardGrid.Cores(), mode: n.Mode}
	for r := range n.ShardGrid.All() {
		s.first = r.Start
		break
	}
	return s, s.known || s.mode != fit.Lockstep
}

// described reports whether a tensor says anything.
func (s shards) described() bool { return s.known || s.unknown || s.mode != fit.Lockstep }

func (s shards) equal(o shards) bool {
	return s.known == o.known && s.unknown == o.unknown && s.mode == o.mode && s.first == o.first && s.cores.Equal(o.cores)
}

// An addressKey is all that pairs the events of a buffer that names no buffer node.
type addressKey struct {
	named   device.ID
	address uint64
	kind    fit.Kind
}

// bufferKind returns the kind of a buffer: its buffer_type, or else its type, as which
// L1_SMALL buffers say L1.
func bufferKind(n *node) (kind fit.Kind, ok bool) {
	if n.BufferType.OK {
		kinds := []fit.Kind{fit.KindDRAM, fit.KindL1, fit.KindSystem, fit.KindL1Small, fit.KindTrace}
		if n.BufferType.V < uint64(len(kinds)) {
			return kinds[n.BufferType.V], true
		}
	}
	switch n.TypeName {
	case "DRAM":
		return fit.KindDRAM, true
	case "L1":
		return fit.KindL1, true
	case "L1_SMALL":
		return fit.KindL1Small, true
	case "SYSTEM_MEMORY":
		return fit.KindSystem, true
	case "TRACE":
		return fit.KindTrace, true
	}
	return 0, false
}

func (b *buffer) key() addressKey { return addressKey{b.named, b.recorded, b.kind} }

// buffers are the allocations that live, by all that a free may know of them.
type buffers struct {
	known  *learnt
	serial fit.BufferID
	live   map[device.ID]map[fit.BufferID]*buffer // by the id that they name
	byNode map[uint64][]*buffer                   // in the order of their allocations
	loose  map[addressKey][]*buffer               // of allocations that name no node

	sliced  bool              // a free may name a buffer node of another slice, or none
	joined  bool              // the same of windows
	began   uint64            // first node of the window at hand
	made    counters          // buffer nodes that an allocation named
	waiting *buffer           // a sharded buffer of which the next tensor tells the cores
	tensors map[uint64]uint64 // tensors to come -> the buffer node that names them
	newest  *node             // the last buffer node, while nothing followed it: last
	last    node
}

func newBuffers(known *learnt) *buffers {
	return &buffers{
		known: known, live: map[device.ID]map[fit.BufferID]*buffer{}, byNode: map[uint64][]*buffer{}, loose: map[addressKey][]*buffer{},
		tensors: map[uint64]uint64{}, made: counters{},
	}
}

func (l *buffers) next() fit.BufferID {
	l.serial++
	return l.serial
}

// node takes in that operations know a buffer, and which tensors belong to it.
func (l *buffers) node(n *node) {
	l.last = *n
	l.newest = &l.last
	added := 0
	for _, c := range n.Connections {
		if c > n.Counter && len(l.tensors) < maxTensors && added < 8 {
			l.tensors[c] = n.Counter
			added++
		}
	}
}

// earlier returns the last buffer node if the node that follows it does not allocate
// the buffer: then it lives since before the capture.
func (l *buffers) earlier(next *node) *node {
	old := l.newest
	l.newest = nil
	if old == nil || next.Type == typeBufferAllocate && slices.Contains(next.Connections, old.Counter) {
		return nil
	}
	if next.Unreadable != nil && len(next.Connections) == 0 {
		return nil // it may be the allocation
	}
	return old
}

// ids returns the ids that live buffers name, in their order.
func (l *buffers) ids() []device.ID { return slices.SortedFunc(maps.Keys(l.live), byID) }

// hide takes out a buffer that may be gone. Its own free finds it still.
func (l *buffers) hide(b *buffer) {
	b.hidden = true
	if delete(l.live[b.named], b.id); len(l.live[b.named]) == 0 {
		delete(l.live, b.named)
	}
}

func (l *buffers) add(b *buffer) {
	if l.live[b.named] == nil {
		l.live[b.named] = map[fit.BufferID]*buffer{}
	}
	l.live[b.named][b.id] = b
	if b.node.OK {
		l.made.add(b.node.V)
		l.byNode[b.node.V] = append(l.byNode[b.node.V], b)
	}
	if !b.node.OK || l.sliced || l.joined {
		l.loose[b.key()] = append(l.loose[b.key()], b)
	}
}

func (l *buffers) remove(b *buffer) {
	if delete(l.live[b.named], b.id); len(l.live[b.named]) == 0 {
		delete(l.live, b.named)
	}
	if b.node.OK {
		removeFrom(l.byNode, b.node.V, b)
	}
	if !b.node.OK || l.sliced || l.joined {
		removeFrom(l.loose, b.key(), b)
	}
}

func removeFrom[K comparable](lists map[K][]*buffer, key K, b *buffer) {
	list := lists[key]
	if len(list) > 0 && list[0] == b {
		list = list[1:]
	} else {
		for i, o := range slices.Backward(list) { // the last one is freed first, mostly
			if o == b {
				list = slices.Delete(list, i, i+1)
				break
			}
		}
	}
	if lists[key] = list; len(list) == 0 {
		delete(lists, key)
	}
}

// reaching returns the live buffers of some ids in the order of their allocations.
func (l *buffers) reaching(ids iter.Seq[device.ID]) (all []*buffer) {
	for id := range ids {
		all = slices.AppendSeq(all, maps.Values(l.live[id]))
	}
	slices.SortFunc(all, func(a, b *buffer) int { return cmp.Compare(a.id, b.id) })
	return all
}

// backed returns the live buffer of a mesh of which b is the same on one of its chips:
// same address and size, by the same buffer node or by none.
func (l *buffers) backed(b *buffer) *buffer {
	if b.named == event.NoDevice || b.recorded == 0 {
		return nil
	}
	same := func(o *buffer) bool {
		return o.named != event.NoDevice && o.named != b.named && o.recorded == b.recorded && o.size == b.size &&
			o.kind == b.kind && (!o.hidden || o.unknown) && l.known.reaches(o.named, b.named) && o.backing[b.named] == 0
	}
	if b.node.OK && !l.sliced {
		return firstOf(l.byNode[b.node.V], same)
	}
	for _, mesh := range l.known.meshesOf(b.named) {
		if o := firstOf(l.loose[addressKey{mesh, b.recorded, b.kind}], same); o != nil {
			return o
		}
	}
	return nil
}

func firstOf(list []*buffer, which func(*buffer) bool) *buffer {
	if i := slices.IndexFunc(list, which); i >= 0 {
		return list[i]
	}
	return nil
}

// pair finds the allocation that a free ends: that of its buffer node and id, or the
// last one of the node. backing is 0, or the id of the chip's allocation that backs it if
// the free ends no more than this one.
func (l *buffers) pair(n *node) (found *buffer, backing fit.BufferID) {
	id, list := idOf(n.DeviceID), []*buffer(nil)
	for _, c := range n.Connections {
		if list = l.byNode[c]; len(list) > 0 {
			break
		}
	}
	if len(n.Connections) == 0 || l.sliced && len(list) == 0 {
		list = l.byAddress(n, id)
	} else if len(list) == 0 && !l.freed(n) {
		list = l.earlierWindows(l.byAddress(n, id))
	}
	other := func(b *buffer) bool { return l.joined && b.at < l.began && b.differs(n) }
	for _, b := range slices.Backward(list) {
		if b.named == id && !other(b) {
			return b, 0
		}
	}
	for _, b := range list {
		if other(b) {
			continue
		}
		if backing := b.backing[id]; backing != 0 {
			delete(b.backing, id)
			return b, backing
		}
	}
	for _, b := range slices.Backward(list) {
		if !other(b) {
			return b, 0
		}
	}
	return nil, 0
}

// freed reports whether a free names a buffer of the capture. If it ends nothing, the
// buffer was freed before.
func (l *buffers) freed(n *node) bool { return slices.ContainsFunc(n.Connections, l.made.has) }

// byAddress returns the buffers that a free without a buffer node may end.
func (l *buffers) byAddress(n *node, id device.ID) (list []*buffer) {
	kind, _ := bufferKind(n)
	if list = l.loose[addressKey{id, n.Address.V, kind}]; len(list) > 0 || id == event.NoDevice || n.Address.V == 0 {
		return list
	}
	for _, mesh := range l.known.meshesOf(id) {
		for _, b := range l.loose[addressKey{mesh, n.Address.V, kind}] {
			if b.backing[id] != 0 {
				list = append(list, b)
			}
		}
	}
	return list
}

// of returns the buffers that may be those of a tensor, whose buffer node is in another slice or
// window.
func (l *buffers) of(n *node) []*buffer {
	kind, ok := bufferKind(n)
	if !ok || n.Address.V == 0 {
		return nil
	}
	list := l.loose[addressKey{idOf(n.DeviceID), n.Address.V, kind}]
	if !l.sliced {
		list = l.earlierWindows(list)
	}
	return list
}

// earlierWindows returns those that were allocated before the window at hand.
func (l *buffers) earlierWindows(list []*buffer) (out []*buffer) {
	if l.began == 0 {
		return nil
	}
	for _, b := range list {
		if b.at < l.began {
			out = append(out, b)
		}
	}
	return out
}

// differs reports whether a free is of a buffer of another size: one that took the place
// between two windows.
func (b *buffer) differs(n *node) bool {
	return n.Size.V != 0 && n.Size.V != b.size || n.MaxSizePerBank.OK && b.perCore.OK && n.MaxSizePerBank != b.perCore
}

// bufferEvent takes in an allocation or free of a buffer. Runs on its units are
// complete by then.
func (w *walk) bufferEvent(n *node) error {
	w.settle()
	delete(w.buffers.tensors, n.Counter) // a buffer named it, and it is no tensor
	id := idOf(n.DeviceID)
	if err := w.complete(n.Counter, w.openOn(id)); err != nil {
		return err
	}
	w.upstream.buffer(n)
	if n.Type == typeBufferAllocate {
		w.upstream.pair(n, true)
		return w.allocate(n, id)
	}
	w.upstream.pair(n, w.free(n, id))
	return nil
}

// allocate takes in an allocation.
func (w *walk) allocate(n *node, id device.ID) error {
	kind, ok := bufferKind(n)
	if !ok {
		w.notes.add(noteBufferUnplaced, int64(n.Counter), "unknown type "+n.TypeName)
		return w.hideAllocation(n, id)
	}
	b := &buffer{
		id: w.buffers.next(), at: n.Counter, op: w.functions.path(), named: id, kind: kind, size: n.Size.V,
		perCore: n.MaxSizePerBank, recorded: n.Address.V, layout: n.Layout,
	}
	if len(n.Connections) > 0 {
		b.node = event.Some(n.Connections[0])
	}
	if of := w.buffers.backed(b); of != nil {
		w.back(of, b)
		return nil
	}
	w.buffers.add(b)
	b.life = w.past.allocated(b)
	w.leaves(b)
	if kind.InL1() {
		w.measure(b, n)
	}
	if s, ok := w.known.shards[n.Counter]; ok && b.sharded {
		b.shards = s
		w.lay(b)
	} else if b.sharded && b.node.OK && w.unread.lost.has(b.node.V) {
		b.unknown = true
		w.lay(b)
	} else if !b.sharded || !b.perCore.OK && !b.address.OK {
		w.lay(b)
	} else {
		w.buffers.waiting = b
	}
	return nil
}

// measure finds how much of a core a buffer in L1 takes, and where, as far as its
// allocation says so.
func (w *walk) measure(b *buffer, n *node) {
	b.sharded = n.NumCores.V > 0 || strings.HasSuffix(n.Layout, "SHARDED")
	grid := w.grids.use(b.named)
	pages := !b.perCore.OK && !b.sharded && grid.from != event.FromAssumed && n.Size.OK
	if pages && 0 < n.PageSize.V && n.PageSize.V <= jsonobject.MaxL1 {
		each := divideUp(divideUp(n.Size.V, n.PageSize.V), uint64(grid.cores.Len()))
		align := max(w.specs.spec().L1Align, 1)
		page := divideUp(n.PageSize.V, align) * align // each page begins at a multiple
		if each == 0 || page <= jsonobject.MaxL1/each {
			b.perCore = event.Some(each * page)
		}
	}
	if b.recorded > 0 {
		b.address = event.Some(b.recorded)
	}
}

func divideUp(n, by uint64) uint64 {
	if n%by == 0 {
		return n / by
	}
	return n/by + 1
}

// back tells an allocation on a chip of which the mesh's is live: one of the two backs
// the other.
func (w *walk) back(of, b *buffer) {
	if of.backing == nil {
		of.backing = map[device.ID]fit.BufferID{}
	}
	of.backing[b.named] = b.id
	if of.hidden {
		return
	}
	w.meet(b.named)
	e := w.allocation(b)
	e.Buffer.Backing, e.Address = true, event.Some(b.recorded)
	e.Devices = event.Some([]device.ID{b.named})
	w.tell(&e)
}

// free takes in a free. It reports whether the allocation is known.
func (w *walk) free(n *node, id device.ID) bool {
	e := &event.Event{Kind: event.KindFree, Node: n.Counter, Op: event.Some(w.functions.path())}
	b, backing := w.buffers.pair(n)
	switch {
	case b == nil && w.unread.made && !w.buffers.freed(n):
		w.lost(n, id) // it may be of a hidden allocation
		return false
	case b == nil:
		e.Unknown, e.Again = true, w.buffers.freed(n)
		if !e.Again {
			e.Earlier = w.lost(n, id)
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
		w.crosses(b, w.border)
		w.buffers.remove(b)
		w.places.remove(b)
		w.past.ended(b, n.Counter)
		if b.hidden {
			return true
		}
		e.Buffer.ID, e.Devices = b.id, event.Some(idsOf(b.on))
	}
	w.tell(e)
	return b != nil
}

// lost takes in the free of a buffer that the capture did not allocate. It reports whether
// that hides nothing: where it lay is told, or nothing ran beside it.
func (w *walk) lost(n *node, id device.ID) bool {
	w.past.lost(n, w.known)
	if _, ok := bufferKind(n); !ok { // it ends what lay there, or something of another memory
		w.notes.add(noteBufferUnplaced, int64(n.Counter), "unknown type "+n.TypeName)
	}
	for _, c := range n.Connections {
		w.absent.drop(c)
	}
	told := n.Address.V != 0 && (w.past != nil || w.again) // a reading knows all residents, or another one will
	named := n.Address.V == 0 && len(n.Connections) > 0    // what stands for it has a node of its own
	return told || named || !w.ranOn(id)
}

// tensor takes in a tensor, which tells the cores of a sharded buffer.
func (w *walk) tensor(n *node) {
	l := w.buffers
	node, named := l.tensors[n.Counter]
	delete(l.tensors, n.Counter)
	s, ok := shardsOf(n)
	if !ok {
		return
	}
	w.grids.see(n.ShardGrid)
	if b := l.waiting; b != nil && (named && b.node == event.Some(node) || slices.Contains(l.of(n), b)) {
		b.shards, l.waiting = s, nil
		w.lay(b)
		return
	}
	list := l.byNode[node]
	switch {
	case named && len(list) > 0:
	case s.unknown:
		w.blind(n)
		return
	default:
		list = l.of(n)
	}
	if len(list) == 0 {
		return
	}
	b := list[len(list)-1]
	if !b.sharded || b.described() {
		return
	}
	// It came after something that its cores matter for.
	b.shards = s
	if len(w.known.shards) < maxTensors {
		w.known.shards[b.at] = s
		w.known.late = true
	}
	if b.hidden {
		return
	}
	if s.unknown {
		w.hideBuffer(b, n.Counter)
		return
	}
	e := w.allocation(b)
	e.Corrects = true
	w.tellBuffer(&e, b, b.on)
}

// settle lays the buffer that waits for its cores, because something to come depends on it.
func (w *walk) settle() {
	if b := w.buffers.waiting; b != nil {
		w.buffers.waiting = nil
		w.lay(b)
	}
}

// lay finds the place of a new buffer and tells it. A buffer whose tensor cannot be read is hidden.
func (w *walk) lay(b *buffer) {
	if lies := b.perCore.OK || b.address.OK; lies && b.sharded && !b.described() {
		b.unknown = w.known.mayDescribe(b.named, b.recorded)
		w.undescribed = true
	}
	w.meet(b.named)
	b.on = w.units.reached(b.named)
	if b.unknown {
		smallAt(b.kind, b.recorded, b.on)
		w.buffers.hide(b)
		return
	}
	for _, u := range b.on {
		u.touched = true
		u.own = u.own || b.kind.InL1() && u.id == b.named
	}
	if b.kind.InL1() {
		smallAt(b.kind, b.recorded, b.on)
		w.places.locate(b, w.specs.spec())
	}
	b.told = true
	e := w.allocation(b)
	if b.kind.InL1() {
		if e.Unplaced = b.unplaced(); e.Unplaced == "" && b.sharded && !b.known {
			e.CoresFrom = event.FromAssumed
		}
	}
	w.tellBuffer(&e, b, b.on)
}

// tellBuffer tells the allocation of a buffer on some units, in one event for all units on
// whose same cores it lies.
func (w *walk) tellBuffer(e *event.Event, b *buffer, on []*unit) {
	for len(on) > 0 {
		rest := []*unit(nil)
		if b.address.OK && (b.perCore.OK || b.unsized) {
			part := event.Part{Cores: event.Some(b.cores), Range: b.r, Synthesised: b.placed}
			switch {
			case b.r.IsEmpty() && !b.unsized:
				part.Cores.OK = false
			case !b.known:
				part.Cores.V = w.grids.use(on[0].id).cores
				on, rest = w.likeFirst(on)
			}
			e.Parts = []event.Part{part}
			b.apart(e)
		}
		e.Devices = event.Some(idsOf(on))
		w.tell(e)
		on = rest
	}
}

// apart parts the cores of an L1 buffer that was allocated per core: what its address is on
// others than the first is hidden.
func (b *buffer) apart(e *event.Event) {
	if b.kind != fit.KindL1 {
		return
	}
	e.Buffer.Mode = b.mode
	all := &e.Parts[0].Cores
	if b.mode != fit.PerCore || !all.OK {
		return
	}
	first := l1.CoreSetOf(b.first)
	if e.Buffer.Hidden = all.V; !b.known { // nor is it known which core is the first
		e.Parts = nil
		return
	}
	all.V, e.Buffer.Hidden = first, all.V.Minus(first)
}

// likeFirst divides units into those with the grid of the first one, and the rest.
func (w *walk) likeFirst(all []*unit) (like, rest []*unit) {
	cores := w.grids.use(all[0].id).cores
	differs := func(u *unit) bool { return !w.grids.use(u.id).cores.Equal(cores) }
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
func (w *walk) allocation(b *buffer) event.Event {
	e := event.Event{
		Kind: event.KindAllocate, Node: b.at, Op: event.Some(b.op), PerCore: b.perCore, Address: b.address, Layout: b.layout,
		Buffer:  fit.Buffer{ID: b.id, Kind: b.kind, Size: b.size, Name: b.op, Unsized: b.unsized},
		Earlier: b.earlier,
	}
	if b.named != event.NoDevice {
		e.Named = event.Some(b.named)
	}
	return e
}

// tellEarlier tells the last buffer node if it is of a buffer from before the capture.
func (w *walk) tellEarlier(next *node) {
	old := w.buffers.earlier(next)
	if old == nil || w.unread.made {
		return
	}
	kind, ok := bufferKind(old)
	if !ok {
		w.notes.add(noteBufferUnplaced, int64(old.Counter), "unknown type "+old.TypeName)
		return
	}
	a := w.absentee(old, kind)
	if kind != fit.KindL1 && kind != fit.KindL1Small {
		w.tell(a.told)
		return
	}
	w.past.used(old, kind)
	if !w.known.harmless[old.Counter] && !w.hides(a) {
		w.absent.add(a)
	}
}

// meet returns the unit with an id. A new one begins with what its meshes have.
func (w *walk) meet(id device.ID) *unit {
	if u := w.units.byID[id]; u != nil {
		return u
	}
	u := &unit{id: id, met: w.counter}
	w.known.met[id] = true
	if u.blind = w.hiddenFrom(id); u.blind {
		w.unread.blind++
	}
	like := event.Opt[device.ID]{}
	spec, _ := w.specs.of(id)
	for _, from := range w.units.meshesOf(id) {
		if !from.touched {
			continue
		}
		cores := w.grids.use(from.id).cores
		if like.OK || from.ran || !cores.Equal(w.grids.use(id).cores) || from.told.spec.L1Small != spec.L1Small {
			w.known.late = true // its history is not the mesh's
		}
		if !like.OK {
			like, u.touched = event.Some(from.id), true
		}
	}
	w.units.add(u)
	w.declare(u, like)
	w.allocatedBy(u)
	w.join(u, w.known.above(id))
	return u
}

// join tells that the live buffers of some ids also lie on a unit, as is known only now. Why they lie
// nowhere, or on all cores, was told before.
func (w *walk) join(u *unit, named iter.Seq[device.ID]) {
	ids := slices.Collect(named)
	var all []*buffer
	for _, b := range w.attending {
		if slices.Contains(ids, b.named) {
			all = append(all, b.buffer)
		}
	}
	for _, b := range append(all, w.buffers.reaching(named)...) {
		if b.told && !slices.Contains(b.on, u) {
			b.on = append(b.on, u) // which has no room for it where others have the list too
			w.known.late = w.known.late || b.placed && b.crossesBorder(u)
			e := w.allocation(b)
			w.tellBuffer(&e, b, []*unit{u})
		}
	}
}
