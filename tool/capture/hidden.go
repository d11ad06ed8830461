package capture

import "github.com/cbl1/cbl1/device"

// maxOperations bounds how many operations are remembered. Beyond it all are forgotten
// and found anew.
const maxOperations = 1 << 16

// hiddenPrograms are the programs that nodes hide which cannot be read.
type hiddenPrograms struct {
	blind int                // units whose programs are hidden
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
