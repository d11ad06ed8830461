package serve

import (
	"fmt"

	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// maxLatest is how much of each kind a latest has.
const maxLatest = 3

// latest keeps the most recent refused records, as text, and the leaks of the most recent dead
// processes.
type latest struct {
	refused []string
	leaks   []watch.Leak
}

// refuses adds a record that changed nothing.
func (l *latest) refuses(e *wire.Effect) {
	if e.What != wire.Unknown && e.What != wire.Refused {
		return
	}
	l.refused = last(append(l.refused, fmt.Sprintf("process %d, device %d: %v of 0x%x, %d bytes: %s", e.PID, e.Device, e.Type, e.ID, e.Bytes, e.Odd)))
}

// closes adds a closed client.
func (l *latest) closes(pid int32, reason string) {
	l.refused = last(append(l.refused, fmt.Sprintf("process %d was closed: %s", pid, reason)))
}

// leaked adds the allocations of a dead process.
func (l *latest) leaked(pid int32, effects []wire.Effect) {
	of := watch.Leak{PID: pid}
	for i := range effects {
		switch effects[i].Type {
		case wire.TypeCBAlloc:
			of.CBs++
		case wire.TypeKernelLoad:
			of.Kernels++
		default:
			of.Buffers++
		}
	}
	l.leaks = last(append(l.leaks, of))
}

// last returns the end of a list.
func last[T any](all []T) []T { return all[max(0, len(all)-maxLatest):] }
