package device

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// An EventKind names the operation of an event.
type EventKind uint8

// The kinds of events: one for each operation that changes the content of a fleet,
// and one for a refusal because a program does not fit.
const (
	EventDeviceAdded   EventKind = iota + 1 // Set: one device; Spec
	EventMeshAdded                          // Set: its devices; Spec, Rows, Cols
	EventDeviceRemoved                      // Set
	EventRegistered                         // Set: the devices that did not have Program
	EventUnregistered                       // Set, Program
	EventReplaced                           // Set, Program, Old
	EventDispatched                         // Set, Program
	EventEvicted                            // Set: the devices that held a piece of Program
	EventTraceBegun                         // Set, Trace
	EventTraceRecorded                      // Trace, Program
	EventTraceEnded                         // Trace
	EventTraceReplayed                      // Set, Trace
	EventTraceReleased                      // Trace
	EventAllocated                          // Set, Buffer
	EventFreed                              // Set, Buffer
	EventRefused                            // Set, Program, Verdict: refused by Enqueue, or with a Trace by Replay
	EventHybridSet                          // Set: the devices whose mode changed; Hybrid
	EventPeaksReset                         // Set: one device
)

// An Event is one operation that has happened, as a whole, or one that was refused
// because a program does not fit. The comment of its kind lists its fields.
type Event struct {
	Kind    EventKind
	Set     Set
	Program *program.Program
	Old     *program.Program
	Trace   TraceID
	Buffer  fit.Buffer // its Parts are not to be written
	Verdict fit.Verdict
	Hybrid  bool // the mode of the devices now

	Spec       l1.Spec
	Rows, Cols int
}

// Observe calls fn for every operation that changes something from now on, in the
// order in which they happen, and for each Enqueue or Replay of a program that does
// not fit. A nil fn ends it. Operations that changed nothing, or failed otherwise,
// are left out. fn runs inside the operation, after it is done: it must return soon
// and must not call the fleet, its devices or meshes. If it panics, so does the
// operation, which has happened as a whole.
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
