package capture

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/tensor"
)

// uses tells what the nodes of a survey say of tensors. A nil *uses does nothing.
type uses struct {
	*tensor.Uses
	members *members
	callers *callers
	running int // functions
}

func newUses(to *tensor.Table, m *members, c *callers) *uses {
	return &uses{Uses: tensor.NewUses(to), members: m, callers: c}
}

// next records a node, allocations and frees left out.
func (u *uses) next(n *graph.Node) {
	if u == nil {
		return
	}
	defer u.Pass(n.Counter)
	if n.Unreadable != nil {
		u.Unread()
	}
	switch n.Type {
	case graph.TypeFunctionStart:
		u.running++
		u.Enter(n.Counter, tensor.Function{Name: n.Function.Name, Caller: u.callers.of(n.Function.Name, u.running == 1)}, n.Function.Inputs)
	case graph.TypeFunctionEnd:
		u.running = max(0, u.running-1)
		u.Leave(n.Counter, n.Function.Returns)
	case graph.TypeBuffer:
		u.Describe(n.Counter, slices.Clone(n.Connections))
	case graph.TypeTensor:
		u.tensor(n)
	case graph.TypeCircularBufferAllocate, graph.TypeDataflowBufferAllocate:
		if n.Placed.Global {
			u.Global(tensor.Place{Address: n.Address.V}, u.idsOver(graph.DeviceOf(n.DeviceID)))
		}
	case graph.TypeBufferAllocate:
		if kind, ok := graph.BufferKind(n); ok && kind == fit.KindTrace {
			u.Trace(n.Counter)
		}
	}
}

// tensor records a tensor.
func (u *uses) tensor(n *graph.Node) {
	if n.Tensor.Names == nil { // its fields cannot be read
		return
	}
	parts := []tensor.Place{{ID: uint64(graph.DeviceOf(n.DeviceID)), Address: n.Address.V}}
	for _, part := range n.Tensor.DeviceTensors {
		parts = append(parts, tensor.Place{ID: part.DeviceID, Address: part.Address.V})
	}
	kind, ok := graph.BufferKind(n)
	if ok && !kind.InL1() {
		parts = nil
	}
	u.Tensor(n.Counter, n.Tensor.Names, n.Connections, parts, ok && kind.InL1())
}

// idsOver returns the ids whose buffers may lie on the device of a circular buffer.
func (u *uses) idsOver(id device.ID) (ids []uint64) {
	for over := range u.members.above(id) {
		ids = append(ids, uint64(over))
	}
	return ids
}

// allocated and freed record the life of a buffer.
func (u *uses) allocated(b *buffer) {
	if u != nil && b.said.kind.InL1() {
		u.Allocate(b.said.at, b.node, b.placeInL1(), b.said.kind == fit.KindL1Small)
	}
}

func (u *uses) freed(b *buffer, at uint64) {
	if u != nil && b.said.kind.InL1() {
		u.Free(at, b.said.at, b.placeInL1())
	}
}

// placeInL1 returns where a buffer lies.
func (b *buffer) placeInL1() tensor.Place {
	return tensor.Place{ID: uint64(b.said.named), Address: b.said.recorded, Size: cmp.Or(b.said.perCore.V, b.said.size)}
}

// endSlice ends the functions of a slice of a database, which ends before a node.
func (u *uses) endSlice(next uint64) {
	if u == nil {
		return
	}
	for ; u.running > 0; u.running-- {
		u.Leave(next-1, nil)
	}
	u.Cut()
	if u.callers != nil {
		u.callers.slice++
	}
}

func (u *uses) end() {
	if u != nil {
		u.End()
	}
}
