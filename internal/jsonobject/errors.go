package jsonobject

import "errors"

// ErrNoObject: the text is a JSON value, but no object.
var ErrNoObject = errors.New("not an object")

// An Error says what in a text cannot be read, and where.
type Error struct {
	Path   string // of the member, as "cbs[2].size", or "" for the text itself
	Offset int    // bytes of the text before the value; 0 if it is missing
	Value  []byte // as it stands in the text, valid as long as that is; nil if it is missing
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
	return text
}

func (e *Error) Unwrap() error { return e.Err }
