package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
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
func (p *places) unreadable(s *step) error {
	n := s.node
	p.out.hidden.add(hiddenUnreadable, int64(n.Counter), reasonOf(n.Unreadable))
	if n.Type != typeTensor && n.Type != "" { // the next tensor describes the buffer that waits
		p.settle()
	}
	id := idOf(n.DeviceID)
	switch n.Type {
	case typeCircularBufferAllocate, typeDataflowBufferAllocate, typeScratchpadAllocate:
		p.upstream.hidden = true
		if id != event.NoDevice {
			p.meet(id)
		}
		return p.programs.hidePrograms(n.Counter, id)
	case typeCircularBufferDeallocateAll:
		p.upstream.hidden = true
		return p.hideFree(n.Counter, id)
	case typeBufferAllocate:
		p.upstream.hidden = true
		return p.hideAllocation(n, id)
	case typeBufferDeallocate:
		p.upstream.hidden = true
		return p.hideBuffers(n.Counter, id)
	case typeBuffer:
		p.memory.hidden.lost.add(n.Counter)
	case typeTensor:
		p.members(n)
		if !n.HidesMode {
			n.Address, n.BufferType = event.Opt[uint64]{}, event.Opt[uint64]{}
		}
		p.tensor(n)
	case typeProgramExecution:
		p.shows.executed = true
		p.programs.hideMembers()
		chip := idOf(n.PhysicalDeviceID)
		if err := p.complete(n.Counter, p.programs.open.on(chip)); err != nil {
			return err
		}
		p.programs.hideExecution(chip)
	case typeFunctionStart:
		p.enter(s)
	case typeFunctionEnd:
		return p.end(s)
	case typeError:
		p.failed(n)
	case "":
		return p.hideAll(n)
	}
	return nil
}

// hideAll hides everything: a node without a type may be any.
func (p *places) hideAll(n *node) error {
	p.upstream.hidden = true
	p.programs.hidden.calls = true
	p.memory.hidden.lost.add(n.Counter)
	p.tensor(n)
	p.settle()
	p.programs.hideMembers()
	if err := p.hideAllocation(n, event.NoDevice); err != nil {
		return err
	}
	if err := p.hideBuffers(n.Counter, event.NoDevice); err != nil {
		return err
	}
	p.programs.hideExecution(event.NoDevice)
	return p.hideFree(n.Counter, event.NoDevice)
}

// hideFree ends all runs that a hidden free may have reached, and hides the programs up to
// the next free.
func (p *places) hideFree(at uint64, id device.ID) error {
	if err := p.complete(at, p.programs.open.on(id)); err != nil {
		return err
	}
	return p.programs.hideFree(at, id)
}

// hideAllocation keeps a buffer of an unreadable allocation out of L1.
func (p *places) hideAllocation(n *node, id device.ID) error {
	if err := p.complete(n.Counter, p.programs.open.on(id)); err != nil {
		return err
	}
	p.memory.hideAllocation(n, id)
	return nil
}

// hideBuffers takes all buffers out of the devices that a hidden free may have reached.
func (p *places) hideBuffers(at uint64, id device.ID) error {
	if err := p.complete(at, p.programs.open.on(id)); err != nil {
		return err
	}
	p.memory.hideBuffers(at, id)
	return nil
}
