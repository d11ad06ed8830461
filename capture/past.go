package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// past gathers the traces of buffers from before a capture. Their places show only later,
// so a second reading alone uses them.
type past struct {
	members *members
	time    timeline
	clues   clues
	census  census
	lives   map[uint64]*lives   // by address
	frees   map[uint64]*frees   // by address
	byNode  map[uint64]lostFree // the first one that names a buffer node, with the largest address
	blind   []uint64            // frees of L1 buffers without an address or node, in a database
	spoken  map[device.ID]bool  // answers of speaks, found at the end
	firsts  map[placeOf]uint64  // when a buffer lay there first, found at the end
	bare    map[device.ID]bool  // ids of allocations in L1 without an address
	// placeless are tensors in L1 without an address. No allocation that lacks one too may be theirs.
	placeless counters
	hidden    event.Opt[uint64] // the first hidden allocation: what shows later may be its buffer
}

// A placeOf is an address of an id.
type placeOf struct {
	id      device.ID
	address uint64
}

func newPast(m *members) *past {
	return &past{
		members: m, clues: newClues(), lives: map[uint64]*lives{}, frees: map[uint64]*frees{},
		byNode: map[uint64]lostFree{}, spoken: map[device.ID]bool{}, firsts: map[placeOf]uint64{},
		bare: map[device.ID]bool{}, placeless: counters{},
	}
}

// next records a node.
func (p *past) next(n *node) {
	switch n.Type {
	case typeFunctionStart:
		p.time.enters(n.Counter)
	case typeFunctionEnd:
		p.time.leaves(n.Counter)
	case typeBuffer:
		if n.Unreadable == nil {
			p.clues.names(n)
		}
	case typeTensor:
		if n.Unreadable == nil && !p.hidden.OK {
			p.clues.tensor(n)
			if kind, ok := bufferKind(n); ok && kind == fit.KindL1 && n.Address.V == 0 && !p.isBare(idOf(n.DeviceID)) {
				p.placeless.add(n.Counter)
			}
		}
	}
}

// isBare reports whether an allocation in L1 on a device of an id had no address.
func (p *past) isBare(id device.ID) bool {
	for range sharing(p.members, p.bare, id) {
		return true
	}
	return false
}

// allocated records an allocation of the capture. It returns its life, if its place is
// recorded.
func (p *past) allocated(b *buffer) *life {
	if b.node.OK {
		p.clues.allocated(b.node.V)
	}
	if b.said.kind == fit.KindL1 && b.said.recorded == 0 {
		p.bare[b.said.named] = true
	}
	if !b.said.kind.InL1() || b.said.recorded == 0 {
		return nil
	}
	if p.lives[b.said.recorded] == nil {
		p.lives[b.said.recorded] = &lives{named: map[device.ID]*history{}}
	}
	return p.lives[b.said.recorded].begin(b.said.named, life{from: b.said.at, to: forever}, p.time.listable)
}

// ended records the free of a buffer of the capture.
func (p *past) ended(b *buffer, at uint64) {
	if b.life != nil {
		p.lives[b.said.recorded].end(b.said.named, b.life, at)
	}
}

// lost records a free without a known allocation.
func (p *past) lost(n *node) {
	kind, ok := bufferKind(n)
	if ok && !kind.InL1() {
		return
	}
	if p.time.sliced && n.Address.V == 0 {
		p.blind = append(p.blind, n.Counter)
	}
	f := lostFree{
		named: idOf(n.DeviceID), kind: kind, address: n.Address.V, perCore: n.Buffer.MaxSizePerBank, at: n.Counter,
		doubt: p.hidden.OK || !ok,
	}
	if len(n.Connections) > 0 {
		f.node = event.Some(n.Connections[0])
	}
	f.after = max(p.lives[f.address].ended(p.members, f.named, f.at), p.frees[f.address].last(p.members, f.named))
	if f.address != 0 {
		if p.frees[f.address] == nil {
			p.frees[f.address] = &frees{named: map[device.ID][]lostFree{}}
		}
		p.frees[f.address].add(f)
	}
	if !f.node.OK {
		return
	}
	if was, ok := p.byNode[f.node.V]; ok {
		was.address = max(was.address, f.address)
		f = was
	}
	p.byNode[f.node.V] = f
}
