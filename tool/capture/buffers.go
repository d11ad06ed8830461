package capture

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// A buffer is an allocation that was not freed yet.
type buffer struct {
	id      fit.BufferID
	op      string
	said    allocation
	node    event.Opt[uint64]          // buffer node that the allocation names
	backing map[device.ID]fit.BufferID // chips whose own allocation is shown too
	sharded bool
	shards  shards
	place   placement
	earlier bool  // it is from before the capture
	proven  bool  // by a circular buffer
	unit    bool  // as of resident
	hidden  bool  // it may be gone
	life    *life // of the survey; nil if its address is not recorded
}

// An allocation has the facts of the node that allocates a buffer.
type allocation struct {
	at       uint64 // counter of the node
	named    device.ID
	kind     fit.Kind
	size     uint64 // of all banks
	sized    bool   // it says size
	page     uint64 // bytes of a page; 0 = it does not say
	perCore  event.Opt[uint64]
	recorded uint64 // address; 0 = none
	bare     bool   // of kind L1, and the node has no address, not even 0
	layout   string
}

// A placement is the place of a buffer.
type placement struct {
	address event.Opt[uint64] // as recorded or chosen
	r       l1.Range          // empty if it lies nowhere, or is unsized
	placed  bool              // r and address are chosen here
	unsized bool              // it has an address, and no known size on a core
	on      []*unit
}

// An addressKey pairs an allocation with its free if both name no buffer node.
type addressKey struct {
	named   device.ID
	address uint64
	kind    fit.Kind
}

func (b *buffer) key() addressKey { return addressKey{b.said.named, b.said.recorded, b.said.kind} }

// buffers are the allocations that live, by all that a free may know of them.
type buffers struct {
	known  *knowledge
	serial fit.BufferID
	live   map[device.ID]map[fit.BufferID]*buffer // by the id that they name
	byNode map[uint64][]*buffer                   // in the order of their allocations
	loose  map[addressKey][]*buffer               // of allocations that name no node

	sliced bool           // a free may name a buffer node of another slice, or none
	made   graph.Counters // buffer nodes that an allocation named
	newest *graph.Node    // the last buffer node, while nothing followed it: last
	last   graph.Node
}

func newBuffers(known *knowledge) *buffers {
	return &buffers{
		known: known, live: map[device.ID]map[fit.BufferID]*buffer{}, byNode: map[uint64][]*buffer{}, loose: map[addressKey][]*buffer{},
		made: graph.Counters{},
	}
}

func (l *buffers) next() fit.BufferID {
	l.serial++
	return l.serial
}

// node records that operations know a buffer.
func (l *buffers) node(n *graph.Node) {
	l.last = *n
	l.newest = &l.last
}

// earlier returns the last buffer node if the node that follows it does not allocate
// the buffer: then it lives since before the capture.
func (l *buffers) earlier(next *graph.Node) *graph.Node {
	old := l.newest
	l.newest = nil
	if old == nil || next.Type == graph.TypeBufferAllocate && slices.Contains(next.Connections, old.Counter) {
		return nil
	}
	if next.Unreadable != nil && len(next.Connections) == 0 && (next.Type == graph.TypeBufferAllocate || next.Type == "") {
		return nil // it may be the allocation
	}
	return old
}

// allocation returns the buffer of an allocation, nil if its type is not known.
func (l *buffers) allocation(n *graph.Node) *buffer {
	kind, ok := graph.BufferKind(n)
	if !ok {
		return nil
	}
	b := &buffer{id: l.next(), said: allocation{
		at: n.Counter, named: graph.DeviceOf(n.DeviceID), kind: kind, size: n.Size.V, sized: n.Size.OK, bare: kind == fit.KindL1 && !n.Address.OK,
		page: n.Buffer.PageSize.V, perCore: n.Buffer.MaxSizePerBank, recorded: n.Address.V,
		layout: n.Buffer.Layout,
	}}
	if len(n.Connections) > 0 {
		b.node = event.Some(n.Connections[0])
	}
	b.sharded = kind.InL1() && (n.Buffer.NumCores.V > 0 || strings.HasSuffix(n.Buffer.Layout, "SHARDED"))
	return b
}

// hidden adds the buffer of an allocation that cannot be read, if its frees can be recognised by its buffer node. It
// returns nil otherwise.
func (l *buffers) hidden(n *graph.Node, id device.ID) *buffer {
	if len(n.Connections) == 0 {
		return nil
	}
	kind, _ := graph.BufferKind(n)
	b := &buffer{
		id: l.next(), said: allocation{at: n.Counter, named: id, kind: kind, recorded: n.Address.V},
		node: event.Some(n.Connections[0]), hidden: true,
	}
	l.add(b)
	l.hide(b)
	return b
}

// back records the allocation of a chip, which repeats b, the allocation of its mesh.
func (b *buffer) back(on *buffer) {
	if b.backing == nil {
		b.backing = map[device.ID]fit.BufferID{}
	}
	b.backing[on.said.named] = on.id
}

// hide takes out a buffer that may be gone. Its own free finds it still.
func (l *buffers) hide(b *buffer) {
	b.hidden = true
	if delete(l.live[b.said.named], b.id); len(l.live[b.said.named]) == 0 {
		delete(l.live, b.said.named)
	}
}

func (l *buffers) add(b *buffer) {
	if l.live[b.said.named] == nil {
		l.live[b.said.named] = map[fit.BufferID]*buffer{}
	}
	l.live[b.said.named][b.id] = b
	if b.node.OK {
		l.made.Add(b.node.V)
		l.byNode[b.node.V] = append(l.byNode[b.node.V], b)
	}
	if !b.node.OK || l.sliced {
		l.loose[b.key()] = append(l.loose[b.key()], b)
	}
}

func (l *buffers) remove(b *buffer) {
	if delete(l.live[b.said.named], b.id); len(l.live[b.said.named]) == 0 {
		delete(l.live, b.said.named)
	}
	if b.node.OK {
		removeFrom(l.byNode, b.node.V, b)
	}
	if !b.node.OK || l.sliced {
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

// sharing returns the live buffers that may lie on one device with an id, in the order of their allocations.
func (l *buffers) sharing(id device.ID) (all []*buffer) {
	for named := range sharing(l.known.members, l.live, id) {
		all = slices.AppendSeq(all, maps.Values(named))
	}
	slices.SortFunc(all, func(a, b *buffer) int { return cmp.Compare(a.id, b.id) })
	return all
}

// backed returns the live buffer of a mesh that b repeats on one of its chips: same address and sizes, by
// the same buffer node or by none.
func (l *buffers) backed(b *buffer) *buffer {
	if b.said.named == event.NoDevice || b.said.recorded == 0 {
		return nil
	}
	same := func(o *buffer) bool {
		same := o.said.recorded == b.said.recorded && o.said.size == b.said.size && o.said.kind == b.said.kind
		same = same && (o.said.perCore == b.said.perCore || !o.said.perCore.OK || !b.said.perCore.OK)
		return same && o.said.named != event.NoDevice && o.said.named != b.said.named && (!o.hidden || o.shards.unknown) &&
			l.known.members.reaches(o.said.named, b.said.named) && o.backing[b.said.named] == 0
	}
	if b.node.OK && !l.sliced {
		return firstOf(l.byNode[b.node.V], same)
	}
	for _, mesh := range l.known.members.meshesOf(b.said.named) {
		if o := firstOf(l.loose[addressKey{mesh, b.said.recorded, b.said.kind}], same); o != nil {
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

// pair finds the allocation that a free ends: the one with its buffer node and id, or the last one of the
// node. backing is 0, or the id of the chip's allocation that backs it if the free ends no more than this
// one.
func (l *buffers) pair(n *graph.Node) (found *buffer, backing fit.BufferID) {
	id, list := graph.DeviceOf(n.DeviceID), []*buffer(nil)
	for _, c := range n.Connections {
		if list = l.byNode[c]; len(list) > 0 {
			break
		}
	}
	if len(n.Connections) == 0 || l.sliced && len(list) == 0 {
		list = l.byAddress(n, id)
	}
	for _, b := range slices.Backward(list) {
		if b.said.named == id {
			return b, 0
		}
	}
	for _, b := range list {
		if backing := b.backing[id]; backing != 0 {
			delete(b.backing, id)
			return b, backing
		}
	}
	if len(list) == 0 {
		return nil, 0
	}
	return list[len(list)-1], 0
}

// freed reports whether a free names a buffer of the capture. If it ends nothing, the
// buffer was freed before.
func (l *buffers) freed(n *graph.Node) bool { return slices.ContainsFunc(n.Connections, l.made.Has) }

// byAddress returns the buffers that a free without a buffer node may end.
func (l *buffers) byAddress(n *graph.Node, id device.ID) (list []*buffer) {
	kind, _ := graph.BufferKind(n)
	if list = l.loose[addressKey{id, n.Address.V, kind}]; len(list) > 0 || id == event.NoDevice || n.Address.V == 0 {
		return list
	}
	for _, mesh := range l.known.members.meshesOf(id) {
		for _, b := range l.loose[addressKey{mesh, n.Address.V, kind}] {
			if b.backing[id] != 0 {
				list = append(list, b)
			}
		}
	}
	return list
}

// of returns the buffers that may belong to a tensor whose buffer node is in another slice.
func (l *buffers) of(n *graph.Node) []*buffer {
	kind, ok := graph.BufferKind(n)
	if !ok || n.Address.V == 0 || !l.sliced {
		return nil
	}
	return l.loose[addressKey{graph.DeviceOf(n.DeviceID), n.Address.V, kind}]
}

// An expiring is a buffer whose end is known before.
type expiring struct {
	*buffer
	until uint64
}

// newExpiring orders buffers by their end.
func newExpiring() *btree.BTreeG[expiring] {
	return btree.NewG(16, func(a, b expiring) bool { return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.id, b.id)) < 0 })
}
