package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// An unreadable field hides its node, and everything that depends on the node:
//
//	a circular buffer      the program that it is part of
//	a free                 everything that was alive on its device, from there on
//	a tensor               its sharded buffer, if the memory_config is the field: on which cores such
//	                       a buffer counts depends on its mode
//	a buffer node          its buffer, if that is sharded: no tensor is known to be its own
//	an allocation          that buffer, and residents that show later: each may be this buffer
//	a free of CBs          also the programs up to the next free, which it may have announced
//	a chip of a mesh       everything on devices that a free of a mesh may have reached
//	a node without a type  all of that on all devices, and which functions run
//
// A row of a report hides itself; a device its grid, and where no other one says them, the size
// of L1 and the programs that are placed from its base.
//
// Everything else stays. So the rest is certain: hidden things could only add to it.

// unreadable hides a node and what depends on it.
func (p *places) unreadable(s *step) {
	n, id := s.node, graph.DeviceOf(s.node.DeviceID)
	p.out.hidden.add(hiddenUnreadable, int64(s.at), graph.ReasonOf(n.Unreadable))
	switch n.Type {
	case graph.TypeCircularBufferAllocate, graph.TypeDataflowBufferAllocate, graph.TypeScratchpadAllocate:
		p.upstream.hidden = true
		p.programs.hidePlaced(s.at, id)
	case graph.TypeCircularBufferDeallocateAll:
		p.upstream.hidden = true
		p.programs.hideFree(s.at, id)
	case graph.TypeBufferAllocate:
		p.upstream.hidden = true
		p.completeOn(id)
		p.memory.hideAllocation(n, id)
	case graph.TypeBufferDeallocate:
		p.upstream.hidden = true
		p.completeOn(id)
		p.memory.hideBuffers(s.at, id)
	case graph.TypeProgramExecution:
		on := p.units.ofChip(graph.DeviceOf(n.PhysicalDeviceID))
		p.programs.complete(s.at, p.programs.open.of(on...))
		p.programs.hideExecution(on)
	case graph.TypeFunctionStart:
		p.enter(s)
	case graph.TypeFunctionEnd:
		p.end(s)
	case graph.TypeError:
		p.out.notes.failed(n)
	case "":
		p.hideAll(n)
	}
}

// hideAll hides everything: a node without a type may be any.
func (p *places) hideAll(n *graph.Node) {
	p.upstream.hidden = true
	p.programs.hidden.calls = true
	p.completeOn(event.NoDevice)
	p.memory.hideAllocation(n, event.NoDevice)
	p.memory.hideBuffers(n.Counter, event.NoDevice)
	p.programs.hideExecution(p.units.order)
	p.programs.hideFree(n.Counter, event.NoDevice)
}

// maxOperations bounds how many operations are remembered. Beyond it all are forgotten
// and found anew.
const maxOperations = 1 << 16

// hiddenPrograms are the programs that nodes hide which cannot be read.
type hiddenPrograms struct {
	units int                // units whose programs are hidden
	calls bool               // it is not known which functions run
	ran   map[hiddenRun]bool // operations that ran a hidden program
}

// A hiddenRun is an operation that ran a hidden program on one unit, or on any of them.
type hiddenRun struct {
	operation
	on  device.ID
	any bool
}

// covers reports whether an operation may have run a hidden program on a unit.
func (h *hiddenPrograms) covers(op operation, on device.ID) bool {
	return h.calls || h.ran[hiddenRun{operation: op, any: true}] || h.ran[hiddenRun{operation: op, on: on}]
}

func (h *hiddenPrograms) hide(run hiddenRun) {
	if len(h.ran) >= maxOperations {
		h.calls = true
		return
	}
	h.ran[run] = true
}
