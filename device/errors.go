package device

import (
	"errors"
	"fmt"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Wrong calls, to be matched with errors.Is. The errors returned carry the device
// and program in question.
var (
	ErrNotRegistered = errors.New("program is not registered")
	ErrNoDevice      = errors.New("no such device")
	ErrDeviceExists  = errors.New("device exists already")
	ErrForeignSet    = errors.New("set of devices of another fleet")
	ErrNoProgram     = errors.New("program is nil")
	ErrNoFleet       = errors.New("device, mesh or set belongs to no fleet")
)

// A DeviceError says which device an operation failed on. Unwrap gives the sentinel.
type DeviceError struct {
	Device ID
	Err    error // ErrNoDevice, ErrDeviceExists
	More   int   // number of further devices with the same trouble
}

func (e *DeviceError) Error() string {
	return fmt.Sprintf("device %d%s: %v", e.Device, more(e.More), e.Err)
}

func (e *DeviceError) Unwrap() error { return e.Err }

// A ProgramError says which program an operation failed for, and on which device.
// Unwrap gives the sentinel.
type ProgramError struct {
	Program program.ID
	Device  ID
	Err     error // ErrNotRegistered
	More    int   // number of further devices with the same trouble
}

func (e *ProgramError) Error() string {
	return fmt.Sprintf("device %d%s: program %d: %v", e.Device, more(e.More), e.Program, e.Err)
}

func (e *ProgramError) Unwrap() error { return e.Err }

// A ConflictError says that an id is registered with another footprint.
type ConflictError struct {
	Registered, Given string // descriptions of the two programs
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: its id is registered with another footprint: %s", e.Given, e.Registered)
}

// A SpecError says that a program was built for another Spec than a device has.
type SpecError struct {
	Program program.ID
	Device  ID
	Built   l1.Spec
	Has     l1.Spec
}

func (e *SpecError) Error() string {
	return fmt.Sprintf("device %d is %.80q, program %d was built for %.80q", e.Device, e.Has.String(), e.Program, e.Built.String())
}

// A GridError names a core of a program that lies outside the grid of a device.
type GridError struct {
	Program program.ID
	Device  ID
	Core    l1.Core
	Spec    l1.Spec
}

func (e *GridError) Error() string {
	return fmt.Sprintf("device %d: program %d: core %v lies outside the grid of %dx%d", e.Device, e.Program, e.Core, e.Spec.Cols, e.Spec.Rows)
}

// An OverflowError says that the logical bytes of a device or mesh, or what its
// programs reserve, would exceed 2^63-1.
type OverflowError struct {
	Program program.ID
	Device  ID // the device, or the first of the mesh
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("device %d: program %d: sums would exceed 2^63-1 bytes", e.Device, e.Program)
}

// A MeshError says why a mesh or a part of one cannot be.
type MeshError struct {
	First      ID
	Rows, Cols int
	Reason     string
}

func (e *MeshError) Error() string {
	return fmt.Sprintf("mesh of %dx%d devices from %d: %s", e.Rows, e.Cols, e.First, e.Reason)
}

// An InvariantError says which kept number differs from a recount. It means a bug
// in this package.
type InvariantError struct {
	Device ID
	What   string
	Have   uint64
	Want   uint64
}

func (e *InvariantError) Error() string {
	return fmt.Sprintf("device %d: %s is %d, recounted %d", e.Device, e.What, e.Have, e.Want)
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (+%d more)", n)
}
