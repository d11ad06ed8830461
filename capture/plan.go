package capture

import "github.com/cbl1/cbl1/event"

// shows records whether a capture is a plan or a run. A plan shows everything.
type shows struct {
	placed, recorded, executed bool // something; with an address; an execution

	operation event.Opt[uint64] // start of the last function that counts as not shown
}

// plan reports whether the capture shows everything that would run: it was recorded
// instead of dispatched.
func (s *shows) plan() bool { return s.placed && !s.recorded && !s.executed }

// not notes that a function ran a program that the capture does not show. All frees and
// executions of the function count once.
func (s *shows) not(in notes, name string, start uint64) {
	if s.operation != event.Some(start) {
		s.operation = event.Some(start)
		in.add(hiddenNotShown, int64(start), name)
	}
}
