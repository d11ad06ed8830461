package jsonobject

import (
	"errors"
	"fmt"
)

// Causes of errors, found with errors.Is. Input that ends inside a value matches
// io.ErrUnexpectedEOF; a failing reader's own error is wrapped.
var (
	// ErrDepth: arrays and objects nest deeper than MaxDepth.
	ErrDepth = errors.New("jsonobject: nested too deeply")
	// ErrLimit: a value is longer than the limit of the capture.
	ErrLimit = errors.New("jsonobject: value too large")
	// ErrTrailing: something other than white space follows the value.
	ErrTrailing = errors.New("jsonobject: data after the value")
	// ErrNoObject: the text is a JSON value, but no object.
	ErrNoObject = errors.New("not an object")
)

// An Error names an unreadable value, and its place. A Scanner that has failed returns the same
// Error from then on.
type Error struct {
	Path   string // of the member, as "cbs[2].size"; "" for a text itself, and from a Scanner
	Offset int64  // bytes before the value, a byte order mark included; 0 if it is missing
	Line   int64  // from 1; LF, CRLF and CR each end one line. 0 from a Reader, which knows no lines
	Value  []byte // as it stands in the text, valid as long as that is; nil if it is missing, and from a Scanner
	Reason string // the end of a sentence: "is negative", "missing"
	Err    error  // the cause, or nil
}

func (e *Error) Error() string {
	text := e.Reason
	if len(e.Value) > 0 {
		text = string(e.Value) + " " + text
	}
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: byte %d: %s", e.Line, e.Offset, text)
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }
