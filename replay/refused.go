package replay

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// maxText is the length in bytes that no error text exceeds.
const maxText = 300

// A RefusedError says why a Session refused an event, which then has changed nothing.
type RefusedError struct {
	Event event.Event
	Op    string // operations that were running, outermost first, joined by " > "
	Name  string // of the program that the event names; "" if nobody knows one
	Code  event.Code
	Err   error // of package device or program, or a text
}

// Error is one line of at most 300 bytes.
func (e *RefusedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d: %s", e.Event.Pos.Line, shown.Name(string(e.Event.Kind), 60))
	if e.Name != "" {
		fmt.Fprintf(&b, " (%s)", shown.Name(e.Name, 40))
	}
	b.WriteString(": ")
	b.WriteString(shown.Escape(e.Err.Error()))
	return shown.Head(b.String(), maxText)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// codeOf finds the code of an error of packages device, program and l1.
func codeOf(err error) event.Code {
	for _, c := range []struct {
		is   error
		code event.Code
	}{
		{device.ErrNotRegistered, event.CodeNotRegistered},
		{device.ErrNoDevice, event.CodeNoDevice},
		{device.ErrDeviceExists, event.CodeDeviceExists},
		{device.ErrAllocated, event.CodeAllocated},
		{device.ErrNotAllocated, event.CodeNotAllocated},
		{device.ErrNoTrace, event.CodeNoTrace},
		{device.ErrTraceOpen, event.CodeTraceOpen},
		{device.ErrTraceEnded, event.CodeTraceEnded},
		{device.ErrConflict, event.CodeConflict},
		{device.ErrMesh, event.CodeMesh},
		{device.ErrSpec, event.CodeSpec},
		{device.ErrGrid, event.CodeGrid},
		{device.ErrOverflow, event.CodeOverflow},
		{device.ErrBuffer, event.CodeBuffer},
	} {
		if errors.Is(err, c.is) {
			return c.code
		}
	}
	if v, ok := errors.AsType[fit.Verdict](err); ok {
		if v.CannotTell() {
			return event.CodeCannotTell
		}
		return event.CodeDoesNotFit
	}
	switch {
	case isType[*l1.SpecError](err):
		return event.CodeSpec
	case isType[*program.BuildError](err), isType[*program.CBError](err):
		return event.CodeProgram
	}
	return event.CodeBadQuery
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// A RefusalCount says how often something was odd, and where first.
type RefusalCount struct {
	Code   event.Code
	Count  int64
	Line   int64  // of the first one
	Detail string // of the first one
}
