package survey

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// past gathers the traces of buffers from before a capture. Their places show only later,
// so a second reading alone uses them.
type past struct {
	members  *Members
	time     timeline
	evidence allEvidence
	census   census
	lives    map[uint64]*byDevice[history] // by address
	frees    map[uint64]*byDevice[frees]   // by address
	byNode   map[uint64]lostFree           // the first one that names a buffer node, with the largest address
	nameless []uint64                      // frees of L1 buffers without an address or node, in a database
	bare     map[device.ID]bool            // ids of allocations in L1 without an address
	// placeless are tensors in L1 without an address. No allocation that lacks one too may be theirs.
	placeless graph.Counters
	hidden    event.Opt[uint64] // the first hidden allocation: what shows later may be its buffer
}

func newPast(m *Members) *past {
	return &past{
		members: m, evidence: newEvidence(), lives: map[uint64]*byDevice[history]{}, frees: map[uint64]*byDevice[frees]{},
		byNode: map[uint64]lostFree{}, bare: map[device.ID]bool{}, placeless: graph.Counters{},
	}
}

// next records a node.
func (p *past) next(n *graph.Node) {
	switch n.Type {
	case graph.TypeFunctionStart:
		p.time.enters(n.Counter)
	case graph.TypeFunctionEnd:
		p.time.leaves(n.Counter)
	case graph.TypeBuffer:
		if n.Unreadable == nil {
			p.evidence.names(n)
		}
	}
}

// tensor records a tensor. of is the evidence of the buffer node that names it, if there is one.
func (p *past) tensor(n *graph.Node, of *evidence) {
	if n.Unreadable != nil || p.hidden.OK {
		return
	}
	p.evidence.tensor(n, of)
	if kind, ok := graph.BufferKind(n); ok && kind == fit.KindL1 && n.Address.V == 0 && !AnySharing(p.members, p.bare, graph.DeviceOf(n.DeviceID)) {
		p.placeless.Add(n.Counter)
	}
}

// allocated records an allocation of the capture. It returns its life, if its place is
// recorded. Where there are no lists, it is one life with the allocation before it.
func (p *past) allocated(b *Buffer) *life {
	if b.node.OK {
		p.evidence.allocated(b.node.V)
	}
	if b.Said.Kind == fit.KindL1 && b.Said.Recorded == 0 {
		p.bare[b.Said.Named] = true
	}
	if !b.Said.Kind.InL1() || b.Said.Recorded == 0 {
		return nil
	}
	named, all := ofAddress(p.lives, b.Said.Recorded).by(b.Said.Named)
	named.open++
	all.open++
	if n := len(named.lives); n > 0 && !p.time.listable && named.lives[n-1].to != Forever {
		named.lives[n-1].to = Forever
		return named.lives[n-1]
	}
	one := &life{b.Said.At, Forever}
	named.lives, all.lives = append(named.lives, one), append(all.lives, one)
	return one
}

// ended records the free of a buffer of the capture.
func (p *past) ended(b *Buffer, at uint64) {
	if b.life == nil {
		return
	}
	b.life.to = at
	named, all := ofAddress(p.lives, b.Said.Recorded).by(b.Said.Named)
	named.open, named.last = named.open-1, at
	all.open, all.last = all.open-1, at
}

// lost records a free without a known allocation.
func (p *past) lost(n *graph.Node) {
	kind, ok := graph.BufferKind(n)
	if ok && !kind.InL1() {
		return
	}
	if p.time.sliced && n.Address.V == 0 {
		p.nameless = append(p.nameless, n.Counter)
	}
	f := &lostFree{
		named: graph.DeviceOf(n.DeviceID), kind: kind, address: n.Address.V, perCore: n.Buffer.MaxSizePerBank, at: n.Counter,
		doubt: p.hidden.OK || !ok,
	}
	if len(n.Connections) > 0 {
		f.node = event.Some(n.Connections[0])
	}
	for h := range p.lives[f.address].sharing(p.members, f.named) {
		f.after = max(f.after, h.ended(f.at))
	}
	for list := range p.frees[f.address].sharing(p.members, f.named) {
		f.after = max(f.after, (*list)[len(*list)-1].at)
	}
	if f.address != 0 {
		named, all := ofAddress(p.frees, f.address).by(f.named)
		*named, *all = append(*named, f), append(*all, f)
	}
	if !f.node.OK {
		return
	}
	first, ok := p.byNode[f.node.V]
	if !ok {
		first = *f
	}
	first.address = max(first.address, f.address)
	p.byNode[f.node.V] = first
}
