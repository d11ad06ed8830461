package survey

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// A Buffer is an allocation that was not freed yet.
type Buffer struct {
	ID      fit.BufferID
	Op      string
	Said    Allocation
	node    event.Opt[uint64]          // buffer node that the allocation names
	backing map[device.ID]fit.BufferID // chips whose own allocation is shown too
	Sharded bool
	Shards  Shards
	Place   Placement
	Earlier bool  // it is from before the capture
	Proven  bool  // by a circular buffer
	Unit    bool  // as of resident
	Hidden  bool  // it may be gone
	life    *life // of the survey; nil if its address is not recorded
}

// An Allocation has the facts of the node that allocates a buffer.
type Allocation struct {
	At       uint64 // counter of the node
	Named    device.ID
	Kind     fit.Kind
	Size     uint64 // of all banks
	sized    bool   // it says size
	page     uint64 // bytes of a page; 0 = it does not say
	PerCore  event.Opt[uint64]
	Recorded uint64 // address; 0 = none
	Bare     bool   // of kind L1, and the node has no address, not even 0
	Layout   string
}

// A Placement is the place of a buffer.
type Placement struct {
	Address event.Opt[uint64] // as recorded or chosen
	Range   l1.Range          // empty if it lies nowhere, or is unsized
	Placed  bool              // Range and Address are chosen here
	Unsized bool              // it has an address, and no known size on a core
	On      []device.ID
}

// An addressKey pairs an allocation with its free if both name no buffer node.
type addressKey struct {
	named   device.ID
	address uint64
	kind    fit.Kind
}

func (b *Buffer) key() addressKey { return addressKey{b.Said.Named, b.Said.Recorded, b.Said.Kind} }

// Buffers are the allocations that live, by all that a free may know of them.
type Buffers struct {
	known  *Knowledge
	serial fit.BufferID
	Live   map[device.ID]map[fit.BufferID]*Buffer // by the id that they name
	byNode map[uint64][]*Buffer                   // in the order of their allocations
	loose  map[addressKey][]*Buffer               // of allocations that name no node

	Sliced bool           // a free may name a buffer node of another slice, or none
	made   graph.Counters // buffer nodes that an allocation named
	newest *graph.Node    // the last buffer node, while nothing followed it: last
	last   graph.Node
}

// NewBuffers returns no buffers.
func NewBuffers(known *Knowledge) *Buffers {
	return &Buffers{
		known: known, Live: map[device.ID]map[fit.BufferID]*Buffer{}, byNode: map[uint64][]*Buffer{}, loose: map[addressKey][]*Buffer{},
		made: graph.Counters{},
	}
}

// Next returns an id that no buffer has.
func (l *Buffers) Next() fit.BufferID {
	l.serial++
	return l.serial
}

// Node records that operations know a buffer.
func (l *Buffers) Node(n *graph.Node) {
	l.last = *n
	l.newest = &l.last
}

// Earlier returns the last buffer node if the node that follows it does not allocate
// the buffer: then it lives since before the capture.
func (l *Buffers) Earlier(next *graph.Node) *graph.Node {
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

// Allocation returns the buffer of an allocation, nil if its type is not known.
func (l *Buffers) Allocation(n *graph.Node) *Buffer {
	kind, ok := graph.BufferKind(n)
	if !ok {
		return nil
	}
	b := &Buffer{ID: l.Next(), Said: Allocation{
		At: n.Counter, Named: graph.DeviceOf(n.DeviceID), Kind: kind, Size: n.Size.V, sized: n.Size.OK, Bare: kind == fit.KindL1 && !n.Address.OK,
		page: n.Buffer.PageSize.V, PerCore: n.Buffer.MaxSizePerBank, Recorded: n.Address.V,
		Layout: n.Buffer.Layout,
	}}
	if len(n.Connections) > 0 {
		b.node = event.Some(n.Connections[0])
	}
	b.Sharded = kind.InL1() && (n.Buffer.NumCores.V > 0 || strings.HasSuffix(n.Buffer.Layout, "SHARDED"))
	return b
}

// Hidden adds the buffer of an allocation that cannot be read, if its frees can be recognised by its buffer node. It
// returns nil otherwise.
func (l *Buffers) Hidden(n *graph.Node, id device.ID) *Buffer {
	if len(n.Connections) == 0 {
		return nil
	}
	kind, _ := graph.BufferKind(n)
	b := &Buffer{
		ID: l.Next(), Said: Allocation{At: n.Counter, Named: id, Kind: kind, Recorded: n.Address.V},
		node: event.Some(n.Connections[0]), Hidden: true,
	}
	l.Add(b)
	l.Hide(b)
	return b
}

// Back records the allocation of a chip, which repeats b, the allocation of its mesh.
func (b *Buffer) Back(on *Buffer) {
	if b.backing == nil {
		b.backing = map[device.ID]fit.BufferID{}
	}
	b.backing[on.Said.Named] = on.ID
}

// Hide takes out a buffer that may be gone. Its own free finds it still.
func (l *Buffers) Hide(b *Buffer) {
	b.Hidden = true
	if delete(l.Live[b.Said.Named], b.ID); len(l.Live[b.Said.Named]) == 0 {
		delete(l.Live, b.Said.Named)
	}
}

// Add adds a buffer that lives.
func (l *Buffers) Add(b *Buffer) {
	if l.Live[b.Said.Named] == nil {
		l.Live[b.Said.Named] = map[fit.BufferID]*Buffer{}
	}
	l.Live[b.Said.Named][b.ID] = b
	if b.node.OK {
		l.made.Add(b.node.V)
		l.byNode[b.node.V] = append(l.byNode[b.node.V], b)
	}
	if !b.node.OK || l.Sliced {
		l.loose[b.key()] = append(l.loose[b.key()], b)
	}
}

// Remove takes out a buffer that was freed.
func (l *Buffers) Remove(b *Buffer) {
	if delete(l.Live[b.Said.Named], b.ID); len(l.Live[b.Said.Named]) == 0 {
		delete(l.Live, b.Said.Named)
	}
	if b.node.OK {
		removeFrom(l.byNode, b.node.V, b)
	}
	if !b.node.OK || l.Sliced {
		removeFrom(l.loose, b.key(), b)
	}
}

func removeFrom[K comparable](lists map[K][]*Buffer, key K, b *Buffer) {
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

// Sharing returns the live buffers that may lie on one device with an id, in the order of their allocations.
func (l *Buffers) Sharing(id device.ID) (all []*Buffer) {
	for named := range sharing(l.known.Members, l.Live, id) {
		all = slices.AppendSeq(all, maps.Values(named))
	}
	slices.SortFunc(all, func(a, b *Buffer) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Backed returns the live buffer of a mesh that b repeats on one of its chips: same address and sizes, by
// the same buffer node or by none.
func (l *Buffers) Backed(b *Buffer) *Buffer {
	if b.Said.Named == event.NoDevice || b.Said.Recorded == 0 {
		return nil
	}
	same := func(o *Buffer) bool {
		same := o.Said.Recorded == b.Said.Recorded && o.Said.Size == b.Said.Size && o.Said.Kind == b.Said.Kind
		same = same && (o.Said.PerCore == b.Said.PerCore || !o.Said.PerCore.OK || !b.Said.PerCore.OK)
		return same && o.Said.Named != event.NoDevice && o.Said.Named != b.Said.Named && (!o.Hidden || o.Shards.Unknown) &&
			l.known.Members.Reaches(o.Said.Named, b.Said.Named) && o.backing[b.Said.Named] == 0
	}
	if b.node.OK && !l.Sliced {
		return firstOf(l.byNode[b.node.V], same)
	}
	for _, mesh := range l.known.Members.MeshesOf(b.Said.Named) {
		if o := firstOf(l.loose[addressKey{mesh, b.Said.Recorded, b.Said.Kind}], same); o != nil {
			return o
		}
	}
	return nil
}

func firstOf(list []*Buffer, which func(*Buffer) bool) *Buffer {
	if i := slices.IndexFunc(list, which); i >= 0 {
		return list[i]
	}
	return nil
}

// Pair finds the allocation that a free ends: the one with its buffer node and id, or the last one of the
// node. backing is 0, or the id of the chip's allocation that backs it if the free ends no more than this
// one.
func (l *Buffers) Pair(n *graph.Node) (found *Buffer, backing fit.BufferID) {
	id, list := graph.DeviceOf(n.DeviceID), []*Buffer(nil)
	for _, c := range n.Connections {
		if list = l.byNode[c]; len(list) > 0 {
			break
		}
	}
	if len(n.Connections) == 0 || l.Sliced && len(list) == 0 {
		list = l.byAddress(n, id)
	}
	for _, b := range slices.Backward(list) {
		if b.Said.Named == id {
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

// Freed reports whether a free names a buffer of the capture. If it ends nothing, the
// buffer was freed before.
func (l *Buffers) Freed(n *graph.Node) bool { return slices.ContainsFunc(n.Connections, l.made.Has) }

// byAddress returns the buffers that a free without a buffer node may end.
func (l *Buffers) byAddress(n *graph.Node, id device.ID) (list []*Buffer) {
	kind, _ := graph.BufferKind(n)
	if list = l.loose[addressKey{id, n.Address.V, kind}]; len(list) > 0 || id == event.NoDevice || n.Address.V == 0 {
		return list
	}
	for _, mesh := range l.known.Members.MeshesOf(id) {
		for _, b := range l.loose[addressKey{mesh, n.Address.V, kind}] {
			if b.backing[id] != 0 {
				list = append(list, b)
			}
		}
	}
	return list
}

// of returns the buffers that may belong to a tensor whose buffer node is in another slice.
func (l *Buffers) of(n *graph.Node) []*Buffer {
	kind, ok := graph.BufferKind(n)
	if !ok || n.Address.V == 0 || !l.Sliced {
		return nil
	}
	return l.loose[addressKey{graph.DeviceOf(n.DeviceID), n.Address.V, kind}]
}

// MaxTensors bounds how many tensors to come are remembered with their buffers, and
// how many cores that came late. Beyond it cores of sharded buffers are not known.
const MaxTensors = 1 << 16

// Shards say how a sharded buffer lies, as its tensor does.
type Shards struct {
	Known   bool // cores are
	Unknown bool // how it was allocated: the tensor cannot be read, and the buffer is hidden
	Cores   l1.CoreSet
	Mode    fit.Mode // in lockstep, also if nothing says it
	First   l1.Core  // of one that was allocated per core: its address is that on this core
}

// shardsOf returns what a tensor says. ok is false if that is nothing.
func shardsOf(n *graph.Node) (s Shards, ok bool) {
	if n.Tensor.HidesMode {
		return Shards{Unknown: true}, true
	}
	s = Shards{Known: n.Tensor.ShardGrid.Len() > 0, Cores: n.Tensor.ShardGrid.Cores(), Mode: n.Tensor.Mode}
	for r := range n.Tensor.ShardGrid.All() {
		s.First = r.Start
		break
	}
	return s, s.Known || s.Mode != fit.Lockstep
}

// Described reports whether a tensor says anything.
func (s Shards) Described() bool { return s.Known || s.Unknown || s.Mode != fit.Lockstep }

func (s Shards) equal(o Shards) bool {
	return s.Known == o.Known && s.Unknown == o.Unknown && s.Mode == o.Mode && s.First == o.First && s.Cores.Equal(o.Cores)
}
