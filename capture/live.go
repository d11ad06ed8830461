package capture

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
)

// bufferEvent takes in an allocation or free of a buffer. Runs on its units are
// complete by then.
func (w *walk) bufferEvent(n *node) error {
	w.settle()
	delete(w.buffers.tensors, n.Counter) // a buffer named it, and it is no tensor
	id := idOf(n.DeviceID)
	if err := w.complete(n.Counter, w.open.on(id)); err != nil {
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
		w.out.notes.add(noteBufferUnplaced, int64(n.Counter), "unknown type "+n.TypeName)
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
	w.out.tell(&e)
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
		w.crossed.add(b, w.crossed.border)
		w.buffers.remove(b)
		w.places.remove(b)
		w.past.ended(b, n.Counter)
		if b.hidden {
			return true
		}
		e.Buffer.ID, e.Devices = b.id, event.Some(idsOf(b.on))
	}
	w.out.tell(e)
	return b != nil
}

// lost takes in the free of a buffer that the capture did not allocate. It reports whether
// that hides nothing: where it lay is told, or nothing ran beside it.
func (w *walk) lost(n *node, id device.ID) bool {
	w.past.lost(n, w.known.members)
	if _, ok := bufferKind(n); !ok { // it ends what lay there, or something of another memory
		w.out.notes.add(noteBufferUnplaced, int64(n.Counter), "unknown type "+n.TypeName)
	}
	for _, c := range n.Connections {
		w.absent.drop(c)
	}
	told := n.Address.V != 0 && (w.past != nil || w.again) // a reading knows all residents, or another one will
	named := n.Address.V == 0 && len(n.Connections) > 0    // what stands for it has a node of its own
	return told || named || !w.units.ranOn(id)
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
		w.known.tooLate(noteMeshLate)
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
		w.out.tell(e)
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

// attend brings the residents up to date with the node that comes. Those that ended
// before it go, and those that are there by then come.
func (w *walk) attend(next uint64) error {
	if err := w.depart(next); err != nil {
		return err
	}
	for len(w.attending) > 0 && w.attending[0].until < next {
		b := w.attending[0]
		w.settle() // what was allocated before comes before
		if err := w.complete(next, w.open.of(b.on...)); err != nil {
			return err
		}
		w.attending = w.attending[1:] // slices.Delete would move all that is left, for each buffer
		w.gone(b.buffer, b.until)
	}
	for ; w.attended < len(w.known.residents) && w.known.residents[w.attended].since <= next; w.attended++ {
		if r := w.known.residents[w.attended]; next < r.until {
			if err := w.arrive(r, next); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrive tells a resident that is there from now on.
func (w *walk) arrive(r resident, now uint64) error {
	b := guest{&buffer{
		id: w.buffers.next(), at: r.since, named: r.named, kind: r.kind, perCore: r.perCore, recorded: r.address,
		op: event.UnplacedEarlier, shards: r.shards, told: true, earlier: true,
	}, r.until}
	b.on = w.units.reached(r.named)
	if len(b.on) == 0 || r.address > jsonobject.MaxL1 {
		return nil // where nothing else is, or in no L1
	}
	w.settle() // what was allocated before comes before
	if err := w.complete(now, w.open.of(b.on...)); err != nil {
		return err
	}
	b.address = event.Some(r.address)
	w.places.locate(b.buffer, w.specs.spec())
	i, _ := slices.BinarySearchFunc(w.attending, b, func(a, b guest) int {
		return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.id, b.id))
	})
	w.attending = slices.Insert(w.attending, i, b)
	e := w.allocation(b.buffer)
	w.tellBuffer(&e, b.buffer, b.on)
	return nil
}

// depart tells a free for each buffer that ends before the node next, where no node frees it.
func (w *walk) depart(next uint64) error {
	for len(w.leaving) > 0 && w.leaving[0].until < next {
		b := heap.Pop(&w.leaving).(guest)
		if w.buffers.live[b.named][b.id] == nil {
			continue
		}
		w.settle()
		if err := w.complete(next, w.open.of(b.on...)); err != nil {
			return err
		}
		w.crossed.add(b.buffer, w.crossed.border)
		w.buffers.remove(b.buffer)
		w.gone(b.buffer, b.until)
	}
	return nil
}

// gone tells that a buffer is not in L1 any more.
func (w *walk) gone(b *buffer, at uint64) {
	w.places.remove(b)
	w.out.tell(&event.Event{Kind: event.KindFree, Node: at, Buffer: fit.Buffer{ID: b.id}, Devices: event.Some(idsOf(b.on))})
}

// tellEarlier tells the last buffer node if it is of a buffer from before the capture.
func (w *walk) tellEarlier(next *node) {
	old := w.buffers.earlier(next)
	if old == nil || w.unread.made {
		return
	}
	kind, ok := bufferKind(old)
	if !ok {
		w.out.notes.add(noteBufferUnplaced, int64(old.Counter), "unknown type "+old.TypeName)
		return
	}
	a := absentee{&event.Event{
		Kind: event.KindAllocate, Node: old.Counter, Op: event.Some(w.functions.path()), Earlier: true, Unplaced: event.UnplacedEarlier,
		Buffer: fit.Buffer{ID: w.buffers.next(), Kind: kind, Size: old.Size.V},
	}, idOf(old.DeviceID)}
	if kind != fit.KindL1 && kind != fit.KindL1Small {
		w.out.tell(a.told)
		return
	}
	w.past.used(old, kind)
	switch {
	case w.known.harmless[old.Counter]:
	case w.units.ranOn(a.named):
		w.out.tell(a.told)
	default:
		w.absent.add(a)
	}
}
