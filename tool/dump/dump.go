package dump

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// TensorsOnly is the code of the hidden fact of every dump: it lists no programs and no CBs.
const TensorsOnly = "tensors-only"

// errStop says that the caller wants no more events.
var errStop = errors.New("stopped by the caller")

// Options have what the caller knows of the chip. A base, or an architecture with the size of L1_SMALL, makes
// the addresses those of L1.
type Options struct {
	Arch    l1.Arch           // "" = by the size of the bank, or Blackhole
	Base    uint64            // where the bank starts; 0 = not known
	MaxL1   uint64            // size of L1; 0 = by architecture
	L1Small event.Opt[uint64] // size of L1_SMALL
}

// A form is a kind of text that the allocator writes.
type form int

const (
	formNone    form = iota
	formTable        // blocks, and lines with commas
	formSummary      // totals alone
	formView         // JSON
	formViews        // JSON: views by the numbers of operations
)

// Is reports whether an input is a dump, or a summary of one, by its first bytes.
func Is(start []byte) bool { return formOf(start) != formNone }

func formOf(start []byte) form {
	text := bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\xef\xbb\xbf")), " \t\r\n")
	line, _, _ := bytes.Cut(text, []byte("\n"))
	switch _, name, _, ok := sectionOf(string(line)); {
	case ok && name != "":
		return formTable
	case bytes.HasPrefix(line, []byte("This report indicates available space")),
		bytes.Contains(line, []byte(", Total Allocatable Size (")), bytes.Contains(line, []byte("Largest Contiguous Free Block (")):
		return formSummary
	}
	key := bytes.TrimLeft(text, "[{ \t\r\n") // the first one
	for _, name := range []string{
		"loc", "debug_str", "dram", "l1", "l1_small", "trace", "num_banks", "block_table", "device_", "total_bytes_", "largest_contiguous_bytes_",
	} {
		if bytes.HasPrefix(key, []byte(`"`+name)) && (strings.HasSuffix(name, "_") || bytes.HasPrefix(key[1+len(name):], []byte(`"`))) {
			return formView
		}
	}
	if number, rest, ok := bytes.Cut(bytes.TrimPrefix(key, []byte(`"`)), []byte(`"`)); ok && digits(string(number)) {
		if inner := bytes.TrimLeft(rest, ": \t\r\n"); bytes.HasPrefix(inner, []byte("{")) && formOf(inner) == formView {
			return formViews
		}
	}
	return formNone
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Events returns the events of a dump, which is not compressed. The name file is shown in errors. The last pair has
// a nil event and an *event.InputError if the dump cannot be read to its end.
func Events(in io.Reader, file string, opt Options) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		r := &reader{file: file, opt: opt, yield: yield, known: map[device.ID]*layout{}}
		if err := r.read(in); err != nil && !errors.Is(err, errStop) {
			yield(nil, r.typed(err))
		}
	}
}

// A reader yields the events of one dump.
type reader struct {
	file    string
	opt     Options
	yield   func(*event.Event, error) bool
	known   map[device.ID]*layout
	first   *layout      // of the first device
	buffers fit.BufferID // so far
	moments int64        // so far
}

// A place is where something stands in the input.
type place struct{ line, offset int64 }

func (r *reader) fail(at place, field, value, reason string, cause error) error {
	return &event.InputError{File: r.file, Line: at.line, Offset: at.offset, Node: -1, Field: field, Value: shown.Value([]byte(value)), Reason: reason, Err: cause}
}

// typed makes any error an InputError.
func (r *reader) typed(err error) error {
	if e, ok := errors.AsType[*event.InputError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*jsonobject.Error](err); ok {
		out := &event.InputError{File: r.file, Line: e.Line, Offset: e.Offset, Node: -1, Reason: e.Reason, Err: e.Err}
		if errors.Is(e, jsonobject.ErrLimit) {
			out.Err = event.ErrTooLarge
		}
		return out
	}
	return r.fail(place{}, "", "", err.Error(), err)
}

func (r *reader) read(in io.Reader) error {
	start := make([]byte, 4<<10)
	n, err := io.ReadFull(in, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	rest := io.MultiReader(bytes.NewReader(start[:n]), in)
	switch is := formOf(start[:n]); is {
	case formTable:
		err = newTable(r, rest).read()
	case formView, formViews:
		err = newView(r, rest).read(is == formViews)
	case formSummary:
		return r.fail(place{1, 0}, "", "", "this is a summary, which has no blocks; "+detailedName(r.file)+" has them", event.ErrNotCapture)
	default:
		return r.fail(place{1, 0}, "", "", "this is no dump of the allocator", event.ErrNotCapture)
	}
	if err != nil {
		return err
	}
	return r.finish()
}

// detailedName returns the name of the file with blocks that is written beside a summary.
func detailedName(file string) string {
	name := file[strings.LastIndexAny(file, `/\`)+1:]
	for _, summary := range []string{"memory_usage_summary.csv", "l1_usage_summary.csv"} {
		if prefix, ok := strings.CutSuffix(name, summary); ok {
			return shown.Start(prefix, 80) + "detailed_memory_usage.csv"
		}
	}
	return "*detailed_memory_usage.csv"
}

// emit yields an event of the moment at hand.
func (r *reader) emit(at place, e *event.Event) error {
	e.Pos, e.Node = event.Pos{Line: at.line, Offset: at.offset, Node: r.moments}, uint64(r.moments)
	if e.Kind == event.KindHidden { // of the whole source
		e.Pos.Node, e.Node = -1, 0
	}
	if !r.yield(e, nil) {
		return errStop
	}
	return nil
}
