package replay

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A RefusalCode names what is odd about an event, or why there is no answer.
type RefusalCode string

// What can be odd about an event log without making it unreadable: events that a
// fleet refuses, and lines that say nothing. The list is fixed within a version of
// the log.
const (
	refusedDuplicateKey  RefusalCode = "duplicate-key"  // a key comes twice with equal values; the event happens
	refusedTornLine      RefusalCode = "torn-line"      // the last line is cut
	refusedUnknownEvent  RefusalCode = "unknown-event"  // of a later version, or misspelt
	refusedHeaderAgain   RefusalCode = "header-again"   // logs were put together: ids go on as they were
	refusedNoOp          RefusalCode = "no-op"          // op_end without op_start
	refusedNoDevice      RefusalCode = "no-device"      // device.ErrNoDevice
	refusedDeviceExists  RefusalCode = "device-exists"  // device.ErrDeviceExists
	refusedTooMany       RefusalCode = "too-many"       // more than 65,536 devices
	refusedMesh          RefusalCode = "mesh"           // *device.MeshError
	refusedSpec          RefusalCode = "spec"           // *l1.SpecError, *device.SpecError; devices differ in their grids
	refusedGrid          RefusalCode = "grid"           // *device.GridError; a core outside the grid
	refusedUndefined     RefusalCode = "undefined"      // a program that no event has defined
	refusedProgram       RefusalCode = "program"        // *program.BuildError: it cannot be placed
	refusedNotRegistered RefusalCode = "not-registered" // device.ErrNotRegistered
	refusedConflict      RefusalCode = "conflict"       // *device.ConflictError: replace it instead
	refusedDoesNotFit    RefusalCode = "does-not-fit"   // *device.FitError
	refusedOverflow      RefusalCode = "overflow"       // *device.OverflowError, *device.BufferOverflowError
	refusedBuffer        RefusalCode = "buffer"         // *device.BufferError with a Field
	refusedAllocated     RefusalCode = "allocated"      // device.ErrAllocated
	refusedNotAllocated  RefusalCode = "not-allocated"  // device.ErrNotAllocated
	refusedNoTrace       RefusalCode = "no-trace"       // device.ErrNoTrace
	refusedTraceExists   RefusalCode = "trace-exists"   // it was begun and not released
	refusedTraceOpen     RefusalCode = "trace-open"     // device.ErrTraceOpen
	refusedTraceEnded    RefusalCode = "trace-ended"    // device.ErrTraceEnded

	// Of answers only.
	refusedUnknownQuery RefusalCode = "unknown-query"
	refusedBadQuery     RefusalCode = "bad-query" // a field is missing or makes no sense
)

// maxText is the length in bytes that no error text exceeds.
const maxText = 300

// A RefusedError says why a Session refused an event, which then has changed nothing.
type RefusedError struct {
	Event event.Event
	Op    string // operations that were running, outermost first, joined by " > "
	Code  RefusalCode
	Err   error // of package device or program, or a text
}

// Error is one line of at most 300 bytes.
func (e *RefusedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d: %s: ", e.Event.Pos.Line, shown.Name(string(e.Event.Kind), 60))
	b.WriteString(shown.Escape(e.Err.Error()))
	return shown.Head(b.String(), maxText)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// codeOf finds the code of an error of packages device, program and l1.
func codeOf(err error) RefusalCode {
	for _, c := range []struct {
		is   error
		code RefusalCode
	}{
		{device.ErrNotRegistered, refusedNotRegistered}, // also inside a *device.TraceError
		{device.ErrNoDevice, refusedNoDevice},
		{device.ErrDeviceExists, refusedDeviceExists},
		{device.ErrAllocated, refusedAllocated},
		{device.ErrNotAllocated, refusedNotAllocated},
		{device.ErrNoTrace, refusedNoTrace},
		{device.ErrTraceOpen, refusedTraceOpen},
		{device.ErrTraceEnded, refusedTraceEnded},
	} {
		if errors.Is(err, c.is) {
			return c.code
		}
	}
	switch {
	case isType[*device.FitError](err):
		return refusedDoesNotFit
	case isType[*device.ConflictError](err):
		return refusedConflict
	case isType[*device.MeshError](err):
		return refusedMesh
	case isType[*device.SpecError](err), isType[*l1.SpecError](err):
		return refusedSpec
	case isType[*device.GridError](err):
		return refusedGrid
	case isType[*device.OverflowError](err), isType[*device.BufferOverflowError](err):
		return refusedOverflow
	case isType[*device.BufferError](err):
		return refusedBuffer
	case isType[*program.BuildError](err), isType[*program.CBError](err):
		return refusedProgram
	}
	return refusedBadQuery
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// A RefusalCount says how often something was odd, and where first.
type RefusalCount struct {
	Code   RefusalCode
	Count  int64
	Line   int64  // of the first one
	Detail string // of the first one
}
