package survey

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

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
