package shm

import (
	"errors"
	"fmt"

	"github.com/cbl1/cbl1/internal/shown"
)

// Faults of a region.
var (
	ErrNotReady = errors.New("the region is not set up")
	ErrFault    = errors.New("the memory of the region is gone, or may not be written")
	ErrFull     = errors.New("the region has no free slot")
	ErrLost     = errors.New("the slot was given away")
	ErrAlign    = errors.New("the bytes of a region begin at a multiple of 8")
	ErrPlatform = errors.New("shared memory needs Linux")
)

// A VersionError is a region of a layout that is not known.
type VersionError struct {
	Version uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("a region of version %d: want 2, 3 or 4", e.Version)
}

// A SizeError is a region with another size than its layout's.
type SizeError struct {
	Size, Want int64 // bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("a region of %d bytes: want %d", e.Size, e.Want)
}

// A HeldError is a region in which another live process has a slot.
type HeldError struct {
	PID  int32
	Name string
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("process %d (%s) holds the region", e.PID, shown.Escape(shown.Clip(e.Name, nameSize)))
}
