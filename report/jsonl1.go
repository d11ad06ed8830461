package report

import (
	"bufio"
	"io"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/internal/shown"
)

// The names of the forms of JSON, as the field "schema" has them.
const (
	CheckSchema = "cbl1.check/1"
	WhoSchema   = "cbl1.who/1"
)

// clip returns a name as JSON has it.
func clip(name string) string { return shown.Clip(name, shown.MaxOutput) }

// deviceID is the id of a device as a capture has it; nil if it has none.
func deviceID(id device.ID) *uint64 { return optional(captureID(id)) }

// writeJSON writes a document as one line in ASCII.
func writeJSON(w io.Writer, v any) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
	e.value(v)
	e.text("\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}
