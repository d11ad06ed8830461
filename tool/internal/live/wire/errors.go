package wire

import (
	"errors"
	"fmt"
	"io"

	"github.com/cbl1/cbl1/internal/shown"
)

// ErrUnrecognised: the dialect of a stream is not recognised.
var ErrUnrecognised = errors.New("the dialect is not recognised")

// A RecordError names an unreadable record of a stream, and the reason. It matches
// io.ErrUnexpectedEOF where the stream ends inside of it, and ErrUnrecognised.
type RecordError struct {
	Record int64 // how many came before it on the stream
	Offset int64 // bytes before it
	Field  string
	Value  int64
	Reason string
	Err    error // the cause, or nil
}

// Error is one line of at most 300 bytes.
func (e *RecordError) Error() string {
	s := fmt.Sprintf("record %d, byte %d: %s", e.Record, e.Offset, e.Reason)
	switch e.Field {
	case "":
	case "byte":
		s = fmt.Sprintf("record %d, byte %d: byte %d %s", e.Record, e.Offset, e.Value, e.Reason)
	default:
		s = fmt.Sprintf("record %d, byte %d: %s: %d %s", e.Record, e.Offset, e.Field, e.Value, e.Reason)
	}
	if e.Err != nil && !errors.Is(e.Err, io.ErrUnexpectedEOF) && !errors.Is(e.Err, ErrUnrecognised) {
		s += ": " + shown.Escape(e.Err.Error())
	}
	return shown.Clip(s, 300)
}

func (e *RecordError) Unwrap() error { return e.Err }

// A DialectError is a text that names no dialect.
type DialectError struct {
	Text string
}

func (e *DialectError) Error() string {
	return fmt.Sprintf("dialect %s: want auto, 72, 112, 128 or 144, or one of 72/4, 72/5, 112/7, 128/11, 144/11, 144/12", shown.Escape(shown.Clip(e.Text, 60)))
}

// A DeviceError is a record that names a device which cannot be one. Most likely the
// sender's records have another size than the recognised one.
type DeviceError struct {
	Type   Type
	Device int32
	PID    int32 // of the sender, 0 if it is not known
}

func (e *DeviceError) Error() string {
	if e.Device == e.PID {
		return fmt.Sprintf("%v names device %d, which is the id of the sender's process: its records have another size than the recognised one", e.Type, e.Device)
	}
	return fmt.Sprintf("%v names device %d, not one of 0 to %d and not declared: perhaps a process id, if records have another size than the recognised one", e.Type, e.Device, MaxDevice)
}
