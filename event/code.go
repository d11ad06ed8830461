package event

import (
	"errors"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Code names an oddity of an event of a log, or the reason why there is no answer.
type Code string

// The oddities of a readable event log: events that a fleet refuses, and lines without effect. The
// list is fixed within a version of the log.
const (
	CodeDuplicateKey  Code = "duplicate-key"  // a key comes twice with equal values; the event happens
	CodeTornLine      Code = "torn-line"      // the last line is cut
	CodeUnknownEvent  Code = "unknown-event"  // of a later version, or misspelt
	CodeHeaderAgain   Code = "header-again"   // logs were put together: ids go on as they were
	CodeNoOp          Code = "no-op"          // op_end without op_start
	CodeNoDevice      Code = "no-device"      // device.ErrNoDevice
	CodeDeviceExists  Code = "device-exists"  // device.ErrDeviceExists
	CodeTooMany       Code = "too-many"       // more than 65,536 devices
	CodeMesh          Code = "mesh"           // device.ErrMesh
	CodeSpec          Code = "spec"           // *l1.SpecError, device.ErrSpec; devices differ in their grids
	CodeGrid          Code = "grid"           // device.ErrGrid; a core outside the grid
	CodeUndefined     Code = "undefined"      // a program that no event has defined
	CodeProgram       Code = "program"        // *program.BuildError: it cannot be placed
	CodeNotRegistered Code = "not-registered" // device.ErrNotRegistered
	CodeConflict      Code = "conflict"       // device.ErrConflict: replace it instead
	CodeDoesNotFit    Code = "does-not-fit"   // fit.Verdict, fit.ErrNoSpace
	CodeCannotTell    Code = "cannot-tell"    // fit.Verdict with reasons for "cannot tell", fit.ErrHidden
	CodeOverflow      Code = "overflow"       // device.ErrOverflow
	CodeBuffer        Code = "buffer"         // device.ErrBuffer
	CodeAllocated     Code = "allocated"      // device.ErrAllocated
	CodeNotAllocated  Code = "not-allocated"  // device.ErrNotAllocated
	CodeNoTrace       Code = "no-trace"       // device.ErrNoTrace
	CodeTraceExists   Code = "trace-exists"   // it was begun and not released
	CodeTraceOpen     Code = "trace-open"     // device.ErrTraceOpen
	CodeTraceEnded    Code = "trace-ended"    // device.ErrTraceEnded

	// Of answers only.
	CodeUnknownQuery Code = "unknown-query"
	CodeBadQuery     Code = "bad-query" // a field is missing or makes no sense
)

// CodeOf returns the code of an error of packages device, fit, program and l1. Any other error is a CodeBadQuery.
func CodeOf(err error) Code {
	for _, c := range []struct {
		is   error
		code Code
	}{
		{device.ErrNotRegistered, CodeNotRegistered},
		{device.ErrNoDevice, CodeNoDevice},
		{device.ErrDeviceExists, CodeDeviceExists},
		{device.ErrAllocated, CodeAllocated},
		{device.ErrNotAllocated, CodeNotAllocated},
		{device.ErrNoTrace, CodeNoTrace},
		{device.ErrTraceOpen, CodeTraceOpen},
		{device.ErrTraceEnded, CodeTraceEnded},
		{device.ErrConflict, CodeConflict},
		{device.ErrMesh, CodeMesh},
		{device.ErrSpec, CodeSpec},
		{device.ErrGrid, CodeGrid},
		{device.ErrOverflow, CodeOverflow},
		{device.ErrBuffer, CodeBuffer},
		{fit.ErrNoSpace, CodeDoesNotFit},
		{fit.ErrHidden, CodeCannotTell},
	} {
		if errors.Is(err, c.is) {
			return c.code
		}
	}
	if v, ok := errors.AsType[fit.Verdict](err); ok {
		if v.CannotTell() {
			return CodeCannotTell
		}
		return CodeDoesNotFit
	}
	if _, ok := errors.AsType[*l1.SpecError](err); ok {
		return CodeSpec
	}
	if _, ok := errors.AsType[*program.Error](err); ok {
		return CodeProgram
	}
	return CodeBadQuery
}
