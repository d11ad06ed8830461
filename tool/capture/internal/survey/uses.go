package survey

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/tensor"
)

// Uses tells what the nodes of a survey say of tensors. A nil *uses does nothing.
type Uses struct {
	*tensor.Uses
	members *Members
	callers Callsites
	running int // functions
}

// Callsites are the places from which operations were called.
type Callsites interface {
	Of(name string, outermost bool) string // where a function was called, asked once for each call
	Next()                                 // the next slice of a database begins
}

// NewUses returns uses that fill a table. Members are those of the survey.
func NewUses(to *tensor.Table, m *Members, c Callsites) *Uses {
	return &Uses{Uses: tensor.NewUses(to), members: m, callers: c}
}

// next records a node, allocations and frees left out.
func (u *Uses) next(n *graph.Node) {
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
		u.Enter(n.Counter, tensor.Function{Name: n.Function.Name, Caller: u.callers.Of(n.Function.Name, u.running == 1)}, n.Function.Inputs)
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
func (u *Uses) tensor(n *graph.Node) {
	if n.Tensor.Names == nil { // its fields cannot be read
		return
	}
	parts := []tensor.Place{{ID: uint64(graph.DeviceOf(n.DeviceID)), Address: n.Address.V}}
	for _, part := range n.Tensor.DeviceTensors {
		for _, id := range u.idsOver(device.ID(part.DeviceID)) { // buffers name the mesh
			parts = append(parts, tensor.Place{ID: id, Address: part.Address.V})
		}
	}
	kind, ok := graph.BufferKind(n)
	if ok && !kind.InL1() {
		parts = nil
	}
	u.Tensor(n.Counter, n.Tensor.Names, n.Connections, parts, ok && kind.InL1())
}

// idsOver returns the ids whose buffers may lie on the device of a circular buffer.
func (u *Uses) idsOver(id device.ID) (ids []uint64) {
	for over := range u.members.Above(id) {
		ids = append(ids, uint64(over))
	}
	return ids
}

// allocated and freed record the life of a buffer.
func (u *Uses) allocated(b *Buffer) {
	if u != nil && b.Said.Kind.InL1() {
		u.Allocate(b.Said.At, b.node, b.placeInL1(), b.Said.Kind == fit.KindL1Small)
	}
}

func (u *Uses) freed(b *Buffer, at uint64) {
	if u != nil && b.Said.Kind.InL1() {
		u.Free(at, b.Said.At, b.placeInL1())
	}
}

// placeInL1 returns where a buffer lies.
func (b *Buffer) placeInL1() tensor.Place {
	return tensor.Place{ID: uint64(b.Said.Named), Address: b.Said.Recorded, Size: cmp.Or(b.Said.PerCore.V, b.Said.Size)}
}

// endSlice ends the functions of a slice of a database, which ends before a node.
func (u *Uses) endSlice(next uint64) {
	if u == nil {
		return
	}
	for ; u.running > 0; u.running-- {
		u.Leave(next-1, nil)
	}
	u.Cut()
	u.callers.Next()
}

func (u *Uses) end() {
	if u != nil {
		u.End()
	}
}
