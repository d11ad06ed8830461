package event

import (
	"fmt"
	"io"

	"github.com/cbl1/cbl1/program"
)

// A Writer writes events as an event log. It must be made by NewWriter, and belongs to one
// goroutine.
//
// Each line is written with one call of Write, in ASCII, its fields in a fixed order, and
// reading it gives an event that is equal but for its place. The header is written with
// the first event, unless that is a header.
//
// Observe writes the operations of a fleet:
//
//	w := event.NewWriter(file)
//	fleet.Observe(w.Observe)
//
// Begin before devices are added: a log does not have those that exist already, and its reader refuses what they do.
// It then writes while the fleet is locked: give it something with a buffer if that is
// slow. It keeps the latest definition of each program that is registered.
type Writer struct {
	// T is the time of the events that are observed, a number as it is to be written; ""
	// leaves it out. Process and Tag likewise.
	T, Process, Tag string

	w       io.Writer
	defined map[program.ID]*program.Program // as it stands in the log
	err     error

	line         line
	object       object // of the line
	lines        uint64 // written
	source       string // of the header
	process, tag string
}

// NewWriter returns a Writer of a log to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, defined: map[program.ID]*program.Program{}}
}

// Err returns the first error of writing, after which nothing more is written, or the reason why an
// observed event cannot be written.
func (w *Writer) Err() error { return w.err }

// Write writes an event. The error is a *WriteError if no log can hold it: nothing is written then,
// and other events may follow. Node is left out where it equals the number of the line. Where the
// header names no source, it is left out of an event without a place too.
//
// KindTorn stands for no line. A copy of a log has an anomaly for a line that was cut.
func (w *Writer) Write(e *Event) error {
	if w.err != nil {
		return w.err
	}
	if w.lines == 0 && e.Kind != KindHeader {
		if err := w.write(&Event{Kind: KindHeader}); err != nil {
			return err
		}
	}
	return w.write(e)
}

func (w *Writer) write(e *Event) error {
	if err := w.encode(e); err != nil {
		return err
	}
	if _, err := w.w.Write(w.line.b); err != nil {
		w.err = err
		return err
	}
	if w.lines == 0 {
		w.source, w.process, w.tag = e.Source, e.Process, e.Tag
	}
	w.lines++
	if cap(w.line.b) > shrinkLine {
		w.line.b = nil
	}
	return nil
}

// encode makes the line of an event.
func (w *Writer) encode(e *Event) error {
	l := &w.line
	l.b, l.kind, l.err = append(l.b[:0], '{'), e.Kind, nil
	switch e.Kind {
	case KindTorn:
		l.fail("", "stands for no line of a log")
	case KindQuery:
		l.text("query", e.Query.Name)
	default:
		l.text("event", string(e.Kind))
	}
	if e.Kind == KindHeader {
		l.number("version", LogVersion)
	}
	o := &w.object
	o.l = l
	o.common(e, w.process, w.tag, w.hasNode(e))
	o.fields(e)
	l.end('}')
	if l.err == nil && e.ID != nil {
		if err := scan(l.b); err != nil { // only an id has a depth of its own
			l.fail("id", err.Error())
		}
	}
	if len(l.b) > MaxNode {
		l.fail("", fmt.Sprintf("takes a line of more than %d bytes", MaxNode))
	}
	l.end('\n')
	return l.err
}

// hasNode reports whether the node of an event must be written.
func (w *Writer) hasNode(e *Event) bool {
	switch {
	case e.Kind == KindAnomaly, e.Kind == KindHidden:
		return e.Pos.Node >= 0
	case e.Node == w.lines:
		return false
	}
	return w.source != "" || e.Node != 0 || e.Pos != Pos{}
}
