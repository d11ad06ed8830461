package model

import "errors"

// The classes of errors. Errors of the product, and of other subjects, are translated to these.
var (
	ErrNoProgram     = errors.New("program is nil")
	ErrNoDevice      = errors.New("no such device")
	ErrDeviceExists  = errors.New("device exists already")
	ErrNotRegistered = errors.New("program is not registered")
	ErrConflict      = errors.New("id is registered with another footprint")
	ErrSpec          = errors.New("program was built for another spec")
	ErrBadSpec       = errors.New("spec makes no sense")
	ErrGrid          = errors.New("core outside the grid")
	ErrOverflow      = errors.New("sums beyond 2^63-1")
	ErrMesh          = errors.New("no such mesh can be")
	ErrNoTrace       = errors.New("no such trace")
	ErrTraceOpen     = errors.New("trace is still being captured")
	ErrTraceEnded    = errors.New("trace is not being captured any more")
	ErrBuffer        = errors.New("buffer makes no sense")
	ErrAllocated     = errors.New("buffer is allocated already")
	ErrNotAllocated  = errors.New("buffer is not allocated")
	ErrFit           = errors.New("program does not fit")
	ErrNoSpace       = errors.New("no free gap is large enough")
	ErrHidden        = errors.New("address that decides is hidden")

	ErrRange   = errors.New("not a range")
	ErrNotHeld = errors.New("owner does not hold the range")
)

// Errors returns all classes of errors.
func Errors() []error {
	return []error{
		ErrNoProgram, ErrNoDevice, ErrDeviceExists, ErrNotRegistered, ErrConflict,
		ErrSpec, ErrBadSpec, ErrGrid, ErrOverflow, ErrMesh, ErrNoTrace, ErrTraceOpen,
		ErrTraceEnded, ErrBuffer, ErrAllocated, ErrNotAllocated, ErrFit, ErrNoSpace, ErrHidden, ErrRange, ErrNotHeld,
	}
}

// complaints are the errors that apply to a call. nil is none.
type complaints []error

// when adds an error if it applies.
func (c *complaints) when(applies bool, err error) {
	if applies {
		*c = append(*c, err)
	}
}

// err joins them.
func (c complaints) err() error { return errors.Join(c...) }

// SameError reports whether got is a right answer where the model returns want: both nil, or got
// matches one of the classes that want matches. Where several things are wrong with a call, any of
// them may be named.
func SameError(want, got error) bool {
	if want == nil || got == nil {
		return want == nil && got == nil
	}
	for _, class := range Errors() {
		if errors.Is(want, class) && errors.Is(got, class) {
			return true
		}
	}
	return false
}
