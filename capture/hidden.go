package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// maxOperations bounds how many operations are remembered. Beyond it all are forgotten
// and found anew.
const maxOperations = 1 << 16

// hiddenPrograms are the programs that nodes hide which cannot be read.
type hiddenPrograms struct {
	all    event.Opt[uint64]    // last node that hid the programs of all devices
	lifted map[device.ID]uint64 // last free by id since then
	blind  int                  // units whose programs are hidden
	calls  bool                 // it is not known which functions run
	ran    map[hiddenRun]bool   // operations that ran a hidden program
}

// A hiddenRun is an operation that ran a hidden program on one unit, or on any of them.
type hiddenRun struct {
	operation
	on  device.ID
	any bool
}

func newHiddenPrograms() hiddenPrograms {
	return hiddenPrograms{lifted: map[device.ID]uint64{}, ran: map[hiddenRun]bool{}}
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

// everywhere records that a node hides the programs of all devices.
func (h *hiddenPrograms) everywhere(at uint64) {
	h.all, h.lifted = event.Some(at), map[device.ID]uint64{}
}

// from reports whether the programs of a unit that is met now are hidden.
func (h *hiddenPrograms) from(m *members, id device.ID) bool {
	if !h.all.OK {
		return false
	}
	for of := range m.above(id) {
		if at, ok := h.lifted[of]; ok && at >= h.all.V {
			return false
		}
	}
	return true
}
