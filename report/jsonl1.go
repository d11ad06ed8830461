package report

import (
	"bufio"
	"io"

	"github.com/cbl1/cbl1/internal/shown"
)

// clip returns a name as JSON has it.
func clip(name string) string { return shown.Clip(name, shown.MaxOutput) }

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
