package event

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// A decoder turns the bytes of one line after the other into events. Writers repeat the
// same few core range sets, which it therefore keeps.
type decoder struct {
	file         string
	process, tag string
	cores        map[string]l1.CoreRangeSet

	in     jsonobject.Reader
	pos    Pos    // of the line at hand
	object object // of that line
	at     Event  // of that line
}

func newDecoder(file string) *decoder {
	return &decoder{file: file, cores: map[string]l1.CoreRangeSet{}}
}

// header reads the first line.
func (d *decoder) header(raw []byte, pos Pos) (*Event, error) {
	d.pos = pos
	o := d.in.Read(raw)
	kind, _ := o.Text("event")
	if d.in.Err() == nil && Kind(kind) != KindHeader {
		return nil, &InputError{File: d.file, Offset: pos.Offset, Line: pos.Line, Node: -1, Field: "event", Value: shown.Value(raw),
			Reason: "is not the header of an event log, which is a line like " + headerLine, Err: ErrNotCapture}
	}
	version := o.Need("version", jsonobject.MaxWhole)
	switch {
	case d.in.Err() != nil:
	case version > LogVersion:
		o.Fail("version", fmt.Sprintf("is later than %d, the version that is known here", LogVersion), ErrVersion)
	case version == 0:
		o.Fail("version", "is no version", nil)
	}
	e := d.begin(pos, KindHeader)
	d.read(o, e)
	if err := d.err(); err != nil {
		return nil, err
	}
	d.process, d.tag = e.Process, e.Tag
	return e, nil
}

// event reads another line. An error in the fields of a query is kept with the query, so that it
// can be the answer.
func (d *decoder) event(raw []byte, pos Pos) (*Event, error) {
	d.pos = pos
	o := d.in.Read(raw)
	if err := d.err(); err != nil {
		return nil, err
	}
	if o.Has("query") {
		e := d.begin(pos, KindQuery)
		e.Query.Name, _ = o.Text("query")
		d.read(o, e)
		e.Anomaly |= d.anomaly()
		e.Query.Err = d.inputError()
		return e, nil
	}
	kind, ok := o.Text("event")
	if !ok {
		o.Missing("event")
	}
	e := d.begin(pos, kindOf(kind))
	d.read(o, e)
	e.Anomaly |= d.anomaly()
	if err := d.err(); err != nil {
		return nil, err
	}
	return e, nil
}

// anomaly returns the anomaly of the present line.
func (d *decoder) anomaly() Anomaly {
	if d.in.Twice() {
		return AnomalyDuplicateKey
	}
	return 0
}

// begin returns the event of the present line.
func (d *decoder) begin(pos Pos, kind Kind) *Event {
	d.at = Event{}
	d.at.Pos, d.at.Kind = pos, kind
	return &d.at
}

// read reads the fields of the present line.
func (d *decoder) read(in jsonobject.Object, e *Event) {
	switch {
	case e.Kind != KindAnomaly && e.Kind != KindHidden:
		e.Node = uint64(d.pos.Node)
	case !in.Has("node"):
		e.Pos.Node = -1
	}
	d.object = object{d: d, in: in}
	o := &d.object
	o.common(e, d.process, d.tag, true)
	o.fields(e)
}

// kindOf returns the kind that a line spells. It cannot spell a turn of its source.
func kindOf(word string) Kind {
	switch Kind(word) {
	case KindQuery, KindTorn:
		return Kind(strconv.Quote(word))
	}
	return Kind(word)
}

// err returns the error of the present line, if there is one.
func (d *decoder) err() error {
	if err := d.inputError(); err != nil {
		return err
	}
	return nil
}

func (d *decoder) inputError() *InputError {
	wrong := d.in.Err()
	if wrong == nil {
		return nil
	}
	out := &InputError{File: d.file, Offset: d.pos.Offset + wrong.Offset, Line: d.pos.Line, Node: -1,
		Field: wrong.Path, Value: shown.Value(wrong.Value), Reason: wrong.Reason, Err: wrong.Err}
	if errors.Is(wrong, jsonobject.ErrNoObject) {
		out.Reason, out.Err = "is not an event, which is an object", ErrNotCapture
	}
	return out
}

// maxCores is the number of core range sets that are kept, and maxCoresText how long each
// may be spelled, in bytes. When there are more, all are forgotten.
const (
	maxCores     = 1024
	maxCoresText = 1024
)

// coreRangeSet reads cores: a set, a rectangle or one core, in either spelling.
func (d *decoder) coreRangeSet(o jsonobject.Object, name string) (set l1.CoreRangeSet) {
	raw := o.Get(name)
	if raw == nil {
		o.Missing(name)
		return set
	}
	if set, ok := d.cores[string(raw)]; ok {
		return set
	}
	text, _ := o.Text(name)
	if d.in.Err() != nil {
		return set
	}
	set, err := parseCores(text)
	if err != nil {
		failParse(o, name, err)
		return set
	}
	if len(raw) <= maxCoresText {
		if len(d.cores) == maxCores {
			clear(d.cores)
		}
		d.cores[string(raw)] = set
	}
	return set
}

func parseCores(text string) (set l1.CoreRangeSet, err error) {
	switch trimmed := strings.TrimLeft(text, " \t\r\n"); {
	case strings.HasPrefix(trimmed, "{"):
		return l1.ParseCoreRangeSet(text)
	case strings.HasPrefix(trimmed, "["):
		r, err := l1.ParseCoreRange(text)
		if err != nil {
			return set, err
		}
		return l1.NewCoreRangeSet(r)
	}
	c, err := l1.ParseCore(text)
	if err != nil {
		return set, err
	}
	return l1.NewCoreRangeSet(l1.CoreRange{Start: c, End: c})
}

// failParse notes an error of package l1 about a text, which the error repeats.
func failParse(o jsonobject.Object, name string, err error) {
	reason := err.Error()
	if e, ok := errors.AsType[*l1.ParseError](err); ok {
		reason = fmt.Sprintf("is not a %s: position %d: %s", e.What, e.Pos, e.Reason)
	}
	o.Fail(name, reason, err)
}
