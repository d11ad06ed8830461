package device

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// An EventKind says what an operation has done.
type EventKind uint8

// The kinds of events, one for each operation that changes what a fleet holds, and one
// for what was refused because it does not fit.
const (
	EventDeviceAdded   EventKind = iota + 1 // Set: one device; Spec
	EventMeshAdded                          // Set: its devices; Spec, Rows, Cols
	EventDeviceRemoved                      // Set
	EventRegistered                         // Set: the devices that did not have Program
	EventUnregistered                       // Set, Program
	EventReplaced                           // Set, Program, Old
	EventDispatched                         // Set, Program
	EventEvicted                            // Set: the devices that held something of Program
	EventTraceBegun                         // Set, Trace
	EventTraceRecorded                      // Trace, Program
	EventTraceEnded                         // Trace
	EventTraceReplayed                      // Set, Trace
	EventTraceReleased                      // Trace
	EventAllocated                          // Set, Buffer
	EventFreed                              // Set, Buffer
	EventRefused                            // Set, Program, Verdict: Enqueue did not; Trace too: Replay did not
	EventHybridSet                          // Set: the devices whose mode changed; Hybrid
	EventPeaksReset                         // Set: one device
)

// An Event is one operation that has happened, as a whole, or one that was refused because
// a program does not fit. Which fields it has stands at its kind.
type Event struct {
	Kind    EventKind
	Set     Set
	Program *program.Program
	Old     *program.Program
	Trace   TraceID
	Buffer  fit.Buffer // its Parts are not to be written
	Verdict fit.Verdict
	Hybrid  bool // the mode that the devices are in now

	Spec       l1.Spec
	Rows, Cols int
}

// Observe has every operation that changes something told to fn from now on, in the
// order in which they happen, and each Enqueue or Replay of what does not fit; nil ends
// it. An operation that changed nothing, or failed otherwise, is not told. fn runs inside
// the operation, after it is done: it must return soon and must not call the fleet, its
// devices or meshes. If it panics, so does the operation, which has happened as a whole.
func (f *Fleet) Observe(fn func(Event)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.observer = fn
}

func (f *Fleet) emit(e Event) {
	if f.observer != nil {
		f.observer(e)
	}
}
