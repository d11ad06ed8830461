package capture

import (
	"cmp"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// forever is the end of what no node ends.
const forever = math.MaxUint64

// A resident is a buffer in L1 from before the capture, of which a place is known.
type resident struct {
	named   device.ID
	kind    fit.Kind
	address uint64
	perCore event.Opt[uint64]
	shards         // without known cores: on all
	told    bool   // a tensor says how it lies
	since   uint64 // counter of the node before which it is there
	until   uint64 // counter of its free, or forever
}

// A lostFree is the free of a buffer in L1 that the capture did not allocate.
type lostFree struct {
	named   device.ID
	kind    fit.Kind
	address uint64
	perCore event.Opt[uint64]
	node    event.Opt[uint64] // buffer node that it names
	at      uint64
	after   uint64 // where the last allocation of the address ended before it
	doubt   bool   // it may be of a hidden allocation, or of another memory
}

// A clue is a node that stands for a buffer from before the capture, or may.
type clue struct {
	named   device.ID
	kind    fit.Kind
	node    event.Opt[uint64] // the buffer node, if it is one
	size    event.Opt[uint64]
	address uint64 // as its first tensor says it; 0 = none does
	tensor  uint64 // counter of that tensor
	shards         // of that tensor, if it is sharded
}

// past gathers what a capture tells of buffers from before it. Where they lay shows only
// later, so it is of use to a second reading alone.
type past struct {
	lives   map[uint64]*lives   // by address
	frees   map[uint64]*frees   // by address
	byNode  map[uint64]lostFree // the first one that names a buffer node, with the largest address
	clues   map[uint64]*clue    // by buffer node
	tensors map[uint64]uint64   // tensors to come -> the clue that names them
	backed  counters            // tensors that a buffer node names
	loose   map[uint64]clue     // of tensors that none names so far, by counter
	found   []clue              // of those that the last buffer node names
	lists   lists
	spans   []span // of functions, if there may be lists
	open    []int  // of spans that did not end

	sliced   bool               // it is a database: spans are its slices
	starts   []uint64           // of its slices
	spoken   map[device.ID]bool // ids of which it says what lived when operations ended, asked at the end
	blind    []uint64           // frees of a database of L1 buffers that no address or node tells
	listable bool               // there may be lists, so each life of an address counts for itself
	later    map[uint64]bool    // buffer nodes that looked like clues, and were allocated later
	windows  []uint64           // first nodes of the windows of a run; empty: it is one file
	firsts   map[placeOf]uint64 // when a buffer lay there first, asked at the end
	hidden   event.Opt[uint64]  // the first hidden allocation: what shows later may be its buffer
}

func newPast() *past {
	return &past{
		lives: map[uint64]*lives{}, frees: map[uint64]*frees{}, byNode: map[uint64]lostFree{}, clues: map[uint64]*clue{}, tensors: map[uint64]uint64{}, backed: counters{},
		loose: map[uint64]clue{}, later: map[uint64]bool{}, spoken: map[device.ID]bool{}, firsts: map[placeOf]uint64{},
	}
}

// allocated takes in an allocation of the capture. It returns its life, if its place is
// recorded.
func (p *past) allocated(b *buffer) *life {
	if p == nil {
		return nil
	}
	if b.node.OK && p.clues[b.node.V] != nil {
		delete(p.clues, b.node.V)
		p.later[b.node.V] = true
	}
	if !b.kind.InL1() || b.recorded == 0 {
		return nil
	}
	if p.lives[b.recorded] == nil {
		p.lives[b.recorded] = &lives{named: map[device.ID]*history{}}
	}
	return p.lives[b.recorded].begin(b, p.origin(b.at), p.listable)
}

// seesReport takes in whether the capture is a report, which may list buffers.
func (p *past) seesReport(is bool) {
	if p != nil {
		p.listable = is
	}
}

// ended takes in the free of a buffer of the capture.
func (p *past) ended(b *buffer, at uint64) {
	if b.life != nil {
		p.lives[b.recorded].end(b, p.origin(at), at)
	}
}

// lost takes in a free of which no allocation is known.
func (p *past) lost(n *node, members *members) {
	kind, ok := bufferKind(n)
	if p == nil || ok && !kind.InL1() {
		return
	}
	if p.sliced && n.Address.V == 0 {
		p.blind = append(p.blind, n.Counter)
	}
	f := lostFree{named: idOf(n.DeviceID), kind: kind, address: n.Address.V, perCore: n.MaxSizePerBank, at: n.Counter, doubt: p.hidden.OK || !ok}
	if len(n.Connections) > 0 {
		f.node = event.Some(n.Connections[0])
	}
	// A life of an earlier window was of another size.
	f.after = max(p.lives[f.address].ended(members, f.named, p.origin(f.at), f.at), p.frees[f.address].last(members, f.named))
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

// used takes in a buffer node that is not of an allocation.
func (p *past) used(n *node, kind fit.Kind) {
	if p == nil || p.hidden.OK {
		return
	}
	c := &clue{named: idOf(n.DeviceID), kind: kind, node: event.Some(n.Counter), size: n.Size}
	if len(p.found) > 0 {
		c.address, c.tensor, c.shards = p.found[0].address, p.found[0].tensor, p.found[0].shards
	}
	p.clues[n.Counter] = c
	for _, c := range n.Connections {
		if len(p.tensors) < maxTensors {
			p.tensors[c] = n.Counter
		}
	}
}

// names takes in that a buffer node names tensors.
func (p *past) names(n *node) {
	if p == nil {
		return
	}
	p.found = p.found[:0]
	for _, c := range n.Connections {
		p.backed.add(c)
		if t, ok := p.loose[c]; ok {
			p.found = append(p.found, t)
			delete(p.loose, c)
		}
	}
}

// tensor takes in a tensor, which may say where its buffer lies.
func (p *past) tensor(n *node) {
	if p == nil || p.hidden.OK {
		return
	}
	node, named := p.tensors[n.Counter]
	delete(p.tensors, n.Counter)
	if n.Address.V == 0 {
		return
	}
	if of := p.clues[node]; named && of != nil {
		if of.address == 0 {
			of.address, of.tensor = n.Address.V, n.Counter
			of.shards, _ = shardsOf(n)
		}
		return
	}
	kind, ok := bufferKind(n)
	if !ok || !kind.InL1() || p.backed.has(n.Counter) {
		return
	}
	if len(p.loose) < maxTensors {
		c := clue{named: idOf(n.DeviceID), kind: kind, address: n.Address.V, tensor: n.Counter}
		c.shards, _ = shardsOf(n)
		p.loose[n.Counter] = c
	}
}

// at returns a node of the clue.
func (c *clue) at() uint64 { return max(c.tensor, c.node.V) }

// origin returns the first node of the window that has a node.
func (p *past) origin(at uint64) uint64 {
	if i := p.window(at); i > 0 {
		return p.windows[i-1]
	}
	return 0
}

// border returns the first node of the window behind the one that has a node, or forever.
func (p *past) border(at uint64) uint64 {
	if i := p.window(at); i < len(p.windows) {
		return p.windows[i]
	}
	return forever
}

// window returns the number of the window that has a node, from 1; 0 if there is one file.
func (p *past) window(at uint64) int {
	i, exact := slices.BinarySearch(p.windows, at)
	if exact {
		i++
	}
	return i
}

// A span is where a function begins and ends.
type span struct{ start, end uint64 }

// enters and leaves take in that a function begins, or that the innermost one ends.
func (p *past) enters(at uint64) {
	if p != nil && p.listable && !p.sliced {
		p.open = append(p.open, len(p.spans))
		p.spans = append(p.spans, span{at, forever})
	}
}

func (p *past) leaves(at uint64) {
	if p == nil || len(p.open) == 0 {
		return
	}
	last := len(p.open) - 1
	p.spans[p.open[last]].end = at
	p.open = p.open[:last]
}

// endOf returns where the function ends that begins at a node.
func (p *past) endOf(at uint64) uint64 {
	i, ok := slices.BinarySearchFunc(p.spans, at, func(s span, at uint64) int { return cmp.Compare(s.start, at) })
	if !ok {
		return forever
	}
	return p.spans[i].end
}

// An absentee is a buffer in L1 from before the capture of which no place is known.
type absentee struct {
	told  *event.Event
	named device.ID
}

func (a absentee) compare(b absentee) int { return cmp.Compare(a.told.Node, b.told.Node) }

// absentees are those that are not told yet.
type absentees struct {
	byNode map[uint64]absentee
	byName map[device.ID][]absentee // those that were dropped too
}

func newAbsentees() *absentees {
	return &absentees{map[uint64]absentee{}, map[device.ID][]absentee{}}
}

func (l *absentees) add(a absentee) {
	l.byNode[a.told.Node] = a
	l.byName[a.named] = append(l.byName[a.named], a)
}

// drop takes out the absentee of a buffer node. It reports whether there was one.
func (l *absentees) drop(node uint64) bool {
	_, ok := l.byNode[node]
	delete(l.byNode, node)
	return ok
}

// shown takes out the absentees beside which something has run by now: the first program of some
// units.
func (l *absentees) shown(members *members, first []*unit) (all []absentee) {
	for _, u := range first {
		for id := range members.above(u.id) {
			all = append(all, l.byName[id]...)
			delete(l.byName, id)
		}
	}
	slices.SortFunc(all, absentee.compare)
	return slices.DeleteFunc(all, func(a absentee) bool { return !l.drop(a.told.Node) })
}
