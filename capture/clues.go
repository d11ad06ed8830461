package capture

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// A clue is a node that stands for a buffer from before the capture, or may.
type clue struct {
	named   device.ID
	kind    fit.Kind
	node    event.Opt[uint64] // the buffer node, if it is one
	size    event.Opt[uint64]
	address uint64         // as its first tensor says it; 0 = none does
	tensor  uint64         // counter of that tensor
	shards                 // of that tensor, if it is sharded
	parts   []deviceTensor // of that tensor, if they lie at different addresses
}

// clues are all clues of a capture.
type clues struct {
	byNode  map[uint64]*clue  // by buffer node
	tensors map[uint64]uint64 // tensors to come -> the clue that names them
	backed  counters          // tensors that a buffer node names
	loose   map[uint64]clue   // of tensors that none names so far, by counter
	found   []clue            // of those that the last buffer node names
	later   map[uint64]bool   // buffer nodes that looked like clues, and were allocated later
}

func newClues() clues {
	return clues{
		byNode: map[uint64]*clue{}, tensors: map[uint64]uint64{}, backed: counters{}, loose: map[uint64]clue{},
		later: map[uint64]bool{},
	}
}

// all yields the clues in no order.
func (s *clues) all() iter.Seq[clue] {
	return func(yield func(clue) bool) {
		for _, one := range s.byNode {
			if !yield(*one) {
				return
			}
		}
		for _, one := range s.loose {
			if !yield(one) {
				return
			}
		}
	}
}

// allocated records that a buffer node is of an allocation.
func (s *clues) allocated(node uint64) {
	if s.byNode[node] != nil {
		delete(s.byNode, node)
		s.later[node] = true
	}
}

// used records a buffer node that is not of an allocation.
func (s *clues) used(n *node, kind fit.Kind) {
	c := &clue{named: idOf(n.DeviceID), kind: kind, node: event.Some(n.Counter), size: n.Size}
	if len(s.found) > 0 {
		c.address, c.tensor, c.shards, c.parts = s.found[0].address, s.found[0].tensor, s.found[0].shards, s.found[0].parts
	}
	s.byNode[n.Counter] = c
	for _, c := range n.Connections {
		if len(s.tensors) < maxTensors {
			s.tensors[c] = n.Counter
		}
	}
}

// names records that a buffer node names tensors.
func (s *clues) names(n *node) {
	s.found = s.found[:0]
	for _, c := range n.Connections {
		s.backed.add(c)
		if t, ok := s.loose[c]; ok {
			s.found = append(s.found, t)
			delete(s.loose, c)
		}
	}
}

// tensor records a tensor, which may say where its buffer lies.
func (s *clues) tensor(n *node) {
	node, named := s.tensors[n.Counter]
	delete(s.tensors, n.Counter)
	if n.Address.V == 0 {
		return
	}
	if of := s.byNode[node]; named && of != nil {
		if of.address == 0 {
			of.address, of.tensor = n.Address.V, n.Counter
			of.shards, _ = shardsOf(n)
			of.parts = partsOf(n)
		}
		return
	}
	kind, ok := bufferKind(n)
	if !ok || !kind.InL1() || s.backed.has(n.Counter) {
		return
	}
	if len(s.loose) < maxTensors {
		c := clue{named: idOf(n.DeviceID), kind: kind, address: n.Address.V, tensor: n.Counter}
		c.shards, _ = shardsOf(n)
		c.parts = partsOf(n)
		s.loose[n.Counter] = c
	}
}

// partsOf returns the parts of a tensor on chips if they lie at different addresses, else nil.
func partsOf(n *node) []deviceTensor {
	all := slices.DeleteFunc(slices.Clone(n.Tensor.DeviceTensors), func(t deviceTensor) bool { return t.Address.V == 0 })
	if slices.ContainsFunc(all, func(t deviceTensor) bool { return t.Address != all[0].Address }) {
		return all
	}
	return nil
}
