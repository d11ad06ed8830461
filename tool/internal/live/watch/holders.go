package watch

import (
	"maps"
	"slices"
	"strconv"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// maxLeaks is how many of the last leaks are kept.
const maxLeaks = 3

// holders are the processes of a recording: the owners of live things, and the leaks of dead
// processes.
type holders struct {
	on     map[device.ID]map[thing]stake
	sizes  map[uint64]uint64 // of the CBs of a program, by its last definition
	leaked int64
	leaks  []Leak
	dying  bool // the last event was one of the process that leaked last
}

// A thing is a program that is registered, or a buffer.
type thing struct {
	program bool
	id      uint64
}

// A stake is a thing as one process has it.
type stake struct {
	pid   int32
	kind  fit.Kind
	bytes uint64
}

// take applies an event that happened. A process whose name is no number has no row.
func (h *holders) take(e *event.Event) {
	buffer := thing{false, uint64(e.Buffer.ID)}
	switch e.Kind {
	case event.KindProgram:
		h.define(e)
	case event.KindRegister:
		h.comes(e, thing{true, uint64(e.Program)}, fit.KindCB, h.sizes[uint64(e.Program)])
	case event.KindAllocate:
		h.comes(e, buffer, e.Buffer.Kind, e.Buffer.Size)
	case event.KindUnregister:
		h.goes(e, thing{true, uint64(e.Program)})
	case event.KindFree:
		h.goes(e, buffer)
	case event.KindRemove:
		for _, id := range h.devices(e) {
			delete(h.on, id)
		}
	}
}

// define notes the bytes of a program. Sizes whose sum wraps are refused when it is registered.
func (h *holders) define(e *event.Event) {
	bytes := uint64(0)
	for _, cb := range e.CBs {
		if !cb.Global {
			bytes += cb.Size
		}
	}
	h.sizes[uint64(e.Program)] = bytes
}

func (h *holders) devices(e *event.Event) []device.ID {
	if e.Devices.OK {
		return e.Devices.V
	}
	return slices.Collect(maps.Keys(h.on))
}

// comes gives a thing to a process. A known thing keeps its owner, unless the event corrects it.
func (h *holders) comes(e *event.Event, t thing, kind fit.Kind, bytes uint64) {
	pid, err := strconv.ParseInt(e.Process, 10, 32)
	h.dying = h.dying && e.Corrects
	for _, id := range e.Devices.V {
		if h.on[id] == nil {
			h.on[id] = map[thing]stake{}
		}
		if e.Corrects {
			delete(h.on[id], t)
		}
		if _, there := h.on[id][t]; err == nil && !there {
			h.on[id][t] = stake{int32(pid), kind, bytes}
		}
	}
}

// goes removes a thing.
func (h *holders) goes(e *event.Event, t thing) {
	kind := fit.KindL1 // of an unknown buffer
	if t.program {
		kind = fit.KindCB
	}
	for _, id := range h.devices(e) {
		if was, there := h.on[id][t]; there {
			kind = was.kind
			delete(h.on[id], t)
		}
	}
	pid, err := strconv.ParseInt(e.Process, 10, 32)
	if !e.Leaked || err != nil {
		h.dying = false
		return
	}
	h.leaked++
	if !h.dying || h.leaks[len(h.leaks)-1].PID != int32(pid) {
		h.dying = true
		h.leaks = append(h.leaks, Leak{PID: int32(pid)})
		h.leaks = h.leaks[max(0, len(h.leaks)-maxLeaks):]
	}
	switch of := &h.leaks[len(h.leaks)-1]; kind {
	case fit.KindCB:
		of.CBs++
	case fit.KindKernel:
		of.Kernels++
	default:
		of.Buffers++
	}
}

// add adds the rows of processes, by their ids, and the leaks. Cost: O(n) in the live things.
func (h *holders) add(to *Snapshot) {
	for id, things := range h.on {
		sums := map[int32]wire.Sums{}
		for _, s := range things {
			sum := sums[s.pid]
			if s.kind == fit.KindCB {
				sum.CB += s.bytes
			} else {
				sum.Add(&fit.Buffer{Kind: s.kind, Size: s.bytes}, 1)
			}
			sums[s.pid] = sum
		}
		for pid, sum := range sums {
			to.Processes = append(to.Processes, ProcessOn(uint64(id), pid, sum))
		}
	}
	SortProcesses(to.Processes)
	to.Leaked += h.leaked
	to.Leaks = append(to.Leaks, h.leaks...)
}
