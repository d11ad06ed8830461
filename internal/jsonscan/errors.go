package jsonscan

import (
	"errors"
	"fmt"
)

// Reasons other than plain syntax, found with errors.Is. Input that ends inside a
// value matches io.ErrUnexpectedEOF; a failing reader's own error is wrapped.
var (
	// ErrDepth: arrays and objects nest deeper than MaxDepth.
	ErrDepth = errors.New("jsonscan: nested too deeply")
	// ErrLimit: a value is longer than the limit of the capture.
	ErrLimit = errors.New("jsonscan: value too large")
	// ErrTrailing: something other than white space follows the value.
	ErrTrailing = errors.New("jsonscan: data after the value")
)

// An Error says where and why scanning stopped. A Scanner that has failed returns
// the same Error from then on.
type Error struct {
	Offset int64 // bytes before the offending one, a byte order mark included
	Line   int64 // from 1; LF, CRLF and CR each end one line
	Msg    string
	Err    error // the reason if it is not plain syntax, or nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d: byte %d: %s", e.Line, e.Offset, e.Msg)
}

func (e *Error) Unwrap() error { return e.Err }
