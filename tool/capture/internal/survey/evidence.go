package survey

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// A evidence is a node that stands for a buffer from before the capture, or may.
type evidence struct {
	named device.ID
	kind  fit.Kind
	node  event.Opt[uint64] // the buffer node, if it is one
	size  event.Opt[uint64]
	described
}

// described has the facts about a buffer that its first tensor shows.
type described struct {
	address uint64 // 0 = there is no tensor
	tensor  uint64 // its counter
	Shards
	parts []graph.DeviceTensor // if they lie at different addresses
}

func describedBy(n *graph.Node) described {
	d := described{address: n.Address.V, tensor: n.Counter, parts: partsOf(n)}
	d.Shards, _ = shardsOf(n)
	return d
}

// allEvidence is all evidence of a capture.
type allEvidence struct {
	byNode map[uint64]*evidence // by buffer node
	backed graph.Counters       // tensors that a buffer node names
	loose  map[uint64]evidence  // of tensors that none names so far, by counter
	found  described            // by a tensor before the last buffer node, which names it
	later  map[uint64]bool      // buffer nodes that looked like evidence, and were allocated later
}

func newEvidence() allEvidence {
	return allEvidence{
		byNode: map[uint64]*evidence{}, backed: graph.Counters{}, loose: map[uint64]evidence{}, later: map[uint64]bool{},
	}
}

// all yields the evidence in no order.
func (s *allEvidence) all() iter.Seq[evidence] {
	return func(yield func(evidence) bool) {
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
func (s *allEvidence) allocated(node uint64) {
	if s.byNode[node] != nil {
		delete(s.byNode, node)
		s.later[node] = true
	}
}

// used records a buffer node that is not of an allocation.
func (s *allEvidence) used(n *graph.Node, kind fit.Kind) {
	s.byNode[n.Counter] = &evidence{named: graph.DeviceOf(n.DeviceID), kind: kind, node: event.Some(n.Counter), size: n.Size, described: s.found}
}

// names records that a buffer node names tensors.
func (s *allEvidence) names(n *graph.Node) {
	s.found = described{}
	for _, c := range n.Connections {
		s.backed.Add(c)
		if t, ok := s.loose[c]; ok {
			if s.found.address == 0 {
				s.found = t.described
			}
			delete(s.loose, c)
		}
	}
}

// tensor records a tensor, which may say where its buffer lies. of is the evidence of the buffer node that names it, if
// there is one.
func (s *allEvidence) tensor(n *graph.Node, of *evidence) {
	if n.Address.V == 0 {
		return
	}
	if of != nil {
		if of.address == 0 {
			of.described = describedBy(n)
		}
		return
	}
	kind, ok := graph.BufferKind(n)
	if ok && kind.InL1() && !s.backed.Has(n.Counter) && len(s.loose) < MaxTensors {
		s.loose[n.Counter] = evidence{named: graph.DeviceOf(n.DeviceID), kind: kind, described: describedBy(n)}
	}
}

// partsOf returns the parts of a tensor on chips if they lie at different addresses, else nil.
func partsOf(n *graph.Node) []graph.DeviceTensor {
	all := slices.DeleteFunc(slices.Clone(n.Tensor.DeviceTensors), func(t graph.DeviceTensor) bool { return t.Address.V == 0 })
	if slices.ContainsFunc(all, func(t graph.DeviceTensor) bool { return t.Address != all[0].Address }) {
		return all
	}
	return nil
}
