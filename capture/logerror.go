package capture

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A LogCode names what is odd about a line of an event log, or why there is no answer.
type LogCode string

// What can be odd about an event log without making it unreadable: events that a
// fleet refuses, and lines that say nothing. The list is fixed within a version of
// the log.
const (
	LogCodeDuplicateKey  LogCode = "duplicate-key"  // a key comes twice with equal values; the event happens
	LogCodeTornLine      LogCode = "torn-line"      // the last line is cut
	LogCodeUnknownEvent  LogCode = "unknown-event"  // of a later version, or misspelt
	LogCodeHeaderAgain   LogCode = "header-again"   // logs were put together: ids go on as they were
	LogCodeNoOp          LogCode = "no-op"          // op_end without op_start
	LogCodeNoDevice      LogCode = "no-device"      // device.ErrNoDevice
	LogCodeDeviceExists  LogCode = "device-exists"  // device.ErrDeviceExists
	LogCodeTooMany       LogCode = "too-many"       // more than 65,536 devices
	LogCodeMesh          LogCode = "mesh"           // *device.MeshError
	LogCodeSpec          LogCode = "spec"           // *l1.SpecError, *device.SpecError; devices differ in their grids
	LogCodeGrid          LogCode = "grid"           // *device.GridError; a core outside the grid
	LogCodeUndefined     LogCode = "undefined"      // a program that no event has defined
	LogCodeProgram       LogCode = "program"        // *program.BuildError: it cannot be placed
	LogCodeNotRegistered LogCode = "not-registered" // device.ErrNotRegistered
	LogCodeConflict      LogCode = "conflict"       // *device.ConflictError: replace it instead
	LogCodeDoesNotFit    LogCode = "does-not-fit"   // *device.FitError
	LogCodeOverflow      LogCode = "overflow"       // *device.OverflowError, *device.BufferOverflowError
	LogCodeBuffer        LogCode = "buffer"         // *device.BufferError with a Field
	LogCodeAllocated     LogCode = "allocated"      // device.ErrAllocated
	LogCodeNotAllocated  LogCode = "not-allocated"  // device.ErrNotAllocated
	LogCodeNoTrace       LogCode = "no-trace"       // device.ErrNoTrace
	LogCodeTraceExists   LogCode = "trace-exists"   // it was begun and not released
	LogCodeTraceOpen     LogCode = "trace-open"     // device.ErrTraceOpen
	LogCodeTraceEnded    LogCode = "trace-ended"    // device.ErrTraceEnded

	// Of answers only.
	LogCodeUnknownQuery LogCode = "unknown-query"
	LogCodeBadQuery     LogCode = "bad-query" // a field is missing or makes no sense
)

// A LogError says why a Session refused an event, which then has changed nothing.
type LogError struct {
	Event LogEvent
	Op    string // operations that were running, outermost first, joined by " > "
	Code  LogCode
	Err   error // of package device or program, or a text
}

// Error is one line of at most 300 bytes.
func (e *LogError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d: %s: ", e.Event.Pos.Line, head(visible(string(e.Event.Kind)), 60))
	b.WriteString(visible(e.Err.Error()))
	return head(b.String(), maxError)
}

func (e *LogError) Unwrap() error { return e.Err }

// codeOf finds the code of an error of packages device, program and l1.
func codeOf(err error) LogCode {
	for _, c := range []struct {
		is   error
		code LogCode
	}{
		{device.ErrNotRegistered, LogCodeNotRegistered}, // also inside a *device.TraceError
		{device.ErrNoDevice, LogCodeNoDevice},
		{device.ErrDeviceExists, LogCodeDeviceExists},
		{device.ErrAllocated, LogCodeAllocated},
		{device.ErrNotAllocated, LogCodeNotAllocated},
		{device.ErrNoTrace, LogCodeNoTrace},
		{device.ErrTraceOpen, LogCodeTraceOpen},
		{device.ErrTraceEnded, LogCodeTraceEnded},
	} {
		if errors.Is(err, c.is) {
			return c.code
		}
	}
	switch {
	case isType[*device.FitError](err):
		return LogCodeDoesNotFit
	case isType[*device.ConflictError](err):
		return LogCodeConflict
	case isType[*device.MeshError](err):
		return LogCodeMesh
	case isType[*device.SpecError](err), isType[*l1.SpecError](err):
		return LogCodeSpec
	case isType[*device.GridError](err):
		return LogCodeGrid
	case isType[*device.OverflowError](err), isType[*device.BufferOverflowError](err):
		return LogCodeOverflow
	case isType[*device.BufferError](err):
		return LogCodeBuffer
	case isType[*program.BuildError](err), isType[*program.CBError](err):
		return LogCodeProgram
	}
	return LogCodeBadQuery
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// A LogAnomaly says how often something was odd, and where first.
type LogAnomaly struct {
	Code   LogCode
	Count  int64
	Line   int64  // of the first one
	Detail string // of the first one
}
