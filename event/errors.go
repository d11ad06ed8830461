package event

import (
	"errors"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/internal/packed"
	"github.com/cbl1/cbl1/internal/shown"
)

// Errors that an *InputError may match with errors.Is, besides io.ErrUnexpectedEOF for input that
// is cut and the error of a reader or parser.
var (
	// ErrNotCapture: the input is something else; the error names the likely format.
	ErrNotCapture = errors.New("not a graph capture")
	// ErrTooLarge: a node, a section or a line is larger than MaxNode, or a capture that has to be kept to be read twice is
	// longer than what is kept. The text of the error says which.
	ErrTooLarge = errors.New("too large")
	// ErrTooDeep: arrays and objects nest more than 1,000 deep.
	ErrTooDeep = errors.New("nested too deeply")
	// ErrExpands: compressed input expands more than 1000:1 after 64 MiB of output.
	ErrExpands = packed.ErrExpands
	// ErrChanged: a file was written to while it was read.
	ErrChanged = errors.New("changed while it was read")
	// ErrVersion: an event log is of a later version than LogVersion, or a report database of
	// a later one than is known.
	ErrVersion = errors.New("unknown version")
)

// MaxNode is the largest line of a log, node of a capture or section of a report that is
// read, in bytes.
const MaxNode = 16 << 20

// An InputError names the unreadable part of an input, and its place. All failures of the readers
// of logs and captures are of this type.
type InputError struct {
	File   string // as given; "#captured_graph" is added for a capture inside a JSON string
	Offset int64  // bytes of (decompressed) input before the offending one
	Line   int64  // from 1; 0: the error has no position
	Node   int64  // counter of the node, -1 outside nodes
	Field  string // the key of the value at fault, or ""
	Value  string // that value as JSON text, cut to 128 bytes, or ""
	Reason string // the fault
	Err    error  // the cause, or nil

	// Of a report database. Offset, Line and Node are then those inside the cell.
	Table  string // "" if it is about no table
	Column string // or ""
	Row    int64  // rowid; 0: it is about no row
}

// maxError is the length in bytes that no error text exceeds.
const maxError = 300

// Error is one line of at most 300 bytes. The name of the file stands as in all output; text from
// the input is shown with everything but printable ASCII escaped.
func (e *InputError) Error() string {
	var b strings.Builder
	b.WriteString(shown.Path(e.File, 100))
	if e.Table != "" {
		b.WriteString(": table " + shown.Name(e.Table, 40))
	}
	if e.Row != 0 {
		b.WriteString(": row " + strconv.FormatInt(e.Row, 10))
	}
	if e.Column != "" {
		b.WriteString(": column " + shown.Name(e.Column, 40))
	}
	if e.Line > 0 {
		b.WriteString(":" + strconv.FormatInt(e.Line, 10) + ": byte " + strconv.FormatInt(e.Offset, 10))
	}
	if e.Node >= 0 {
		b.WriteString(": node " + strconv.FormatInt(e.Node, 10))
	}
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString(shown.Name(e.Field, 60) + ": ")
	}
	if e.Value != "" {
		b.WriteString(shown.Name(e.Value, 60) + " ")
	}
	b.WriteString(shown.Name(e.Reason, maxError))
	return shown.Head(strings.TrimPrefix(b.String(), ": "), maxError)
}

func (e *InputError) Unwrap() error { return e.Err }

// A WriteError is the reason why an event cannot be written to a log.
type WriteError struct {
	Kind   Kind
	Field  string // as a log names it, or ""
	Reason string
}

// Error is one line of at most 300 bytes.
func (e *WriteError) Error() string {
	text := "event " + shown.Name(string(e.Kind), 60) + ": "
	if e.Field != "" {
		text += e.Field + " "
	}
	return shown.Head(text+e.Reason, maxError)
}
