package device

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A NoticeKind names the operation of a Notice.
type NoticeKind uint8

// The kinds of notices: one for each operation that changes the content of a fleet,
// and one for a refusal because a program does not fit.
const (
	NoticeDeviceAdded   NoticeKind = iota + 1 // Set: one device; Spec
	NoticeMeshAdded                           // Set: its devices; Spec, Rows, Cols
	NoticeDeviceRemoved                       // Set
	NoticeRegistered                          // Set: the devices that did not have Program
	NoticeUnregistered                        // Set, Program
	NoticeReplaced                            // Set, Program, Old
	NoticeDispatched                          // Set, Program
	NoticeEvicted                             // Set: the devices that held a piece of Program
	NoticeTraceBegun                          // Set, Trace
	NoticeTraceRecorded                       // Trace, Program
	NoticeTraceEnded                          // Trace
	NoticeTraceReplayed                       // Set, Trace
	NoticeTraceReleased                       // Trace
	NoticeAllocated                           // Set, Buffer
	NoticeFreed                               // Set, Buffer
	NoticeRefused                             // Set, Program, Verdict: refused by Enqueue, or with a Trace by Replay
	NoticeHybridSet                           // Set: the devices whose mode changed; Hybrid
	NoticePeaksReset                          // Set: one device
)

// A Notice is one operation that has happened, as a whole, or one that was refused
// because a program does not fit. The comment of its kind lists its fields.
type Notice struct {
	Kind    NoticeKind
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
// are left out. It begins with what happens next: call it before devices are added, or
// fn does not learn of them. fn runs inside the operation, after it is done: it must return soon
// and must not call the fleet, its devices or meshes. If it panics, so does the
// operation, which has happened as a whole.
func (f *Fleet) Observe(fn func(Notice)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.observer = fn
}

func (f *Fleet) emit(e Notice) {
	if f.observer != nil {
		f.observer(e)
	}
}
