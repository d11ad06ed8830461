package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/cbl1/cbl1/internal/asciijson"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// writeReport writes one line of JSON for one capture, in ASCII only. Its fields are
// described in cbl1.report-2.schema.json. There may be hundreds of thousands of devices and
// programs: each one is written when it is encoded.
func writeReport(w io.Writer, r *answer.Result) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
	doc := answer.ReportDocument{ReportHead: r.ReportHead(), L1: []answer.DeviceL1{}, Devices: map[string]answer.Device{}}
	e.around(doc, `"l1":[],"devices":{}`, func() {
		e.text(`"l1":[`)
		before := 0
		for d := range r.ReportL1() {
			e.comma(before)
			e.value(d)
			before++
		}
		e.text(`],"devices":{`)
		for i := range r.Devices {
			key, d := answer.DeviceKey(r.Devices[i].ID), r.Devices[i].Document(r.Only)
			programs := d.ProgramsDetail
			d.ProgramsDetail = &answer.Programs{}
			e.comma(i)
			e.value(key)
			e.text(":")
			e.around(d, `"programs_detail":[]`, func() {
				e.text(`"programs_detail":[`)
				for k, p := range programs.All() {
					e.comma(k)
					e.value(p)
				}
				e.text("]")
			})
		}
		e.text("}")
	})
	return e.end()
}

// clip returns a name as JSON has it.
func clip(name string) string { return shown.Clip(name, shown.MaxOutput) }

// An encoder writes JSON piece by piece and remembers the first error.
type encoder struct {
	w   *bufio.Writer
	b   bytes.Buffer
	err error
}

func (e *encoder) text(s string) {
	if e.err == nil {
		_, e.err = e.w.WriteString(s)
	}
}

// comma separates a member from those before it.
func (e *encoder) comma(before int) {
	if before > 0 {
		e.text(",")
	}
}

// end ends the line.
func (e *encoder) end() error {
	e.text("\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

// encode returns the JSON of a value, valid until the next call.
func (e *encoder) encode(v any) []byte {
	e.b.Reset()
	enc := json.NewEncoder(&e.b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && e.err == nil {
		e.err = fmt.Errorf("encode report: %w", err)
	}
	return bytes.TrimSuffix(e.b.Bytes(), []byte("\n"))
}

func (e *encoder) value(v any) {
	if text := asciijson.Escape(e.encode(v)); e.err == nil {
		_, e.err = e.w.Write(text)
	}
}

// around writes a value, and inside writes in the place of an empty member of it. No text in the value can look
// like the member: its quotes would be escaped.
func (e *encoder) around(v any, member string, inside func()) {
	before, after, _ := strings.Cut(string(asciijson.Escape(e.encode(v))), member)
	e.text(before)
	inside()
	e.text(after)
}

// writeJSON writes a document as one line in ASCII.
func writeJSON(w io.Writer, v any) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
	e.value(v)
	return e.end()
}
