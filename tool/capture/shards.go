package capture

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// maxTensors bounds how many tensors to come are remembered with their buffers, and
// how many cores that came late. Beyond it cores of sharded buffers are not known.
const maxTensors = 1 << 16

// Shards say how a sharded buffer lies, as its tensor does.
type shards struct {
	known   bool // cores are
	unknown bool // how it was allocated: the tensor cannot be read, and the buffer is hidden
	cores   l1.CoreSet
	mode    fit.Mode // in lockstep, also if nothing says it
	first   l1.Core  // of one that was allocated per core: its address is that on this core
}

// shardsOf returns what a tensor says. ok is false if that is nothing.
func shardsOf(n *graph.Node) (s shards, ok bool) {
	if n.Tensor.HidesMode {
		return shards{unknown: true}, true
	}
	s = shards{known: n.Tensor.ShardGrid.Len() > 0, cores: n.Tensor.ShardGrid.Cores(), mode: n.Tensor.Mode}
	for r := range n.Tensor.ShardGrid.All() {
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
