package capture

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/live/wire"
	"github.com/cbl1/cbl1/internal/magic"
	"github.com/cbl1/cbl1/internal/packed"
)

// bufferSize is how much of the (decompressed) input is held at a time, in bytes.
const bufferSize = 256 << 10

// errStop says that the caller wants no more nodes.
var errStop = errors.New("stopped by the caller")

// A Reader yields the nodes of one graph capture. It must be made by NewReader or
// Input.Events.
type Reader struct {
	file string
	src  io.Reader
	used bool
	info reportInfo // complete when nodes has ended; see Early for what is known before

	// Of a file that this package opened itself.
	regular fs.FileInfo // nil if it is a pipe or the like, which can be read once
	grows   bool        // it may be written to at its end
	close   func() error
	stat    func() (fs.FileInfo, error)

	listed func(listedBuffer) // takes the rows of per_operation_buffers; nil = nobody asks
	object bool               // the input is a report around a graph

	part  *part                          // of a database, read instead of src; nil if it is a file
	ended func(start, next uint64) error // takes the end of a slice or window: its first node, and that of the next one

	windows *windows // of one run, read instead of src; nil if it is one file

	log   func(iter.Seq2[*event.Event, error]) error // takes what is told if that is events already; nil = refuse it
	yield func(*node) bool
	count int64 // nodes yielded of the array at hand

	before shifted // of a slice or window
}

// NewReader returns a Reader of the capture in r: JSON in any dialect, plain or
// compressed with gzip or zstd. The name file is only shown in errors.
func NewReader(r io.Reader, file string) *Reader {
	return &Reader{file: file, src: r}
}

// shut closes the file of a Reader made by Input.open. It is needed only if nodes
// is never iterated over, and harmless otherwise.
func (r *Reader) shut() error {
	r.used = true
	if r.close == nil {
		return nil
	}
	closing := r.close
	r.close = nil
	return closing()
}

// changed returns an error if a file was written to: it may have been read half old and
// half new.
func (r *Reader) changed() error {
	if r.regular == nil {
		return nil
	}
	after, err := r.stat()
	switch {
	case err != nil:
		return err
	case r.grows && os.SameFile(r.regular, after) && after.Size() >= r.regular.Size():
	case !unchanged(r.regular, after):
		return fmt.Errorf("file %w", event.ErrChanged)
	}
	return nil
}

// rereads reports whether the input can be read again.
func (r *Reader) rereads() bool { return r.regular != nil || r.part != nil || r.windows != nil }

// graph reads an array of nodes.
func (r *Reader) graph(s *jsonobject.Scanner, file string) error { return r.array(s, newDecoder(file)) }

// array reads an array of nodes with a decoder that may have read others.
func (r *Reader) array(s *jsonobject.Scanner, d *decoder) error {
	file := d.file
	if err := s.Enter(); err != nil {
		return r.scanError(err)
	}
	for r.count = 0; ; r.count++ {
		more, err := s.More()
		if err != nil {
			return scanError(file, -1, err)
		}
		if !more {
			return nil
		}
		if _, err := s.Kind(); err != nil {
			return scanError(file, r.count, err)
		}
		pos := event.Pos{Offset: s.Offset(), Line: s.Line(), Node: r.count}
		n, err := d.next(s, pos)
		if err != nil {
			return err
		}
		if r.shift(n); !r.yield(n) {
			return errStop
		}
	}
}

// errorAt returns an error at the place where s stands.
func (r *Reader) errorAt(s *jsonobject.Scanner, field, reason string, cause error) error {
	return &event.InputError{File: r.file, Offset: s.Offset(), Line: s.Line(), Node: -1, Field: field, Reason: reason, Err: cause}
}

func (r *Reader) scanError(err error) error { return scanError(r.file, -1, err) }

// scanError turns an error of the scanner into ours.
func scanError(file string, node int64, err error) error {
	if err == nil {
		return nil
	}
	var e *jsonobject.Error
	if !errors.As(err, &e) {
		return &event.InputError{File: file, Node: node, Reason: err.Error(), Err: err}
	}
	out := &event.InputError{File: file, Offset: e.Offset, Line: e.Line, Node: node, Reason: e.Reason, Err: e.Err}
	switch {
	case errors.Is(e, jsonobject.ErrLimit):
		out.Err = event.ErrTooLarge
	case errors.Is(e, jsonobject.ErrDepth):
		out.Err = event.ErrTooDeep
	}
	return out
}

// nodes returns the nodes in file order. A node is valid until the next one is asked for; the
// lists in it stay. The last pair has a nil node and an
// *event.InputError if the input cannot be read to its end; whatever was yielded before is
// then part of a broken capture. nodes can be called once: a Reader does not rewind.
func (r *Reader) nodes() iter.Seq2[*node, error] {
	return func(yield func(*node, error) bool) {
		defer func() { _ = r.shut() }() // of a file open for reading only
		r.yield = func(n *node) bool { return yield(n, nil) }
		if err := r.run(); err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

func (r *Reader) run() error {
	if r.used {
		return &event.InputError{File: r.file, Node: -1, Reason: "is read already, or closed"}
	}
	r.used = true
	if r.part != nil {
		return r.slices()
	}
	if r.windows != nil {
		return r.join()
	}
	plain := packed.Open(r.src)
	defer plain.Close()
	err := r.document(plain)
	if errors.Is(err, errStop) {
		return err
	}
	// This is the true reason of any other error.
	if changed := r.changed(); changed != nil {
		return &event.InputError{File: r.file, Node: -1, Reason: changed.Error(), Err: changed}
	}
	return err
}

// eventLog reads an input that is an event log and no capture. A log's file may grow.
func (r *Reader) eventLog(in io.Reader, compressed bool) error {
	log := event.NewLog(in, r.file)
	if r.regular != nil && !compressed {
		log.OfFile(r.regular, r.stat)
		r.regular = nil
	}
	return r.told(log.Events(), "an event log, not a graph capture; cbl1 stream reads it")
}

// told takes an input that is no capture and tells its events itself.
func (r *Reader) told(events iter.Seq2[*event.Event, error], what string) error {
	if r.log == nil {
		return &event.InputError{File: r.file, Line: 1, Node: -1, Reason: "this is " + what, Err: event.ErrNotCapture}
	}
	return r.log(events)
}

// document reads the whole input.
func (r *Reader) document(plain *packed.Input) error {
	start, rest, err := packed.Peek(plain)
	if event.IsLog(start) {
		return r.eventLog(rest, plain.Format != "")
	}
	if wire.IsLines(start) {
		r.grows = true
		return r.told(wire.NewLines(rest, r.file).Events(), "what an allocation server has printed, not a graph capture")
	}
	if what := magic.Name(start); what != "" && (err == nil || errors.Is(err, io.EOF)) {
		return &event.InputError{File: r.file, Line: 1, Node: -1, Reason: "this is " + what, Err: event.ErrNotCapture}
	}
	s := jsonobject.New(rest, bufferSize)
	k, err := s.Kind()
	if err != nil {
		return r.scanError(err)
	}
	switch k {
	case jsonobject.KindArray:
		err = r.graph(s, r.file)
	case jsonobject.KindObject:
		err = r.report(s)
	default:
		err = r.errorAt(s, "", k.String()+" is not a capture, which is an array or a report object", event.ErrNotCapture)
	}
	if err != nil {
		return err
	}
	return r.scanError(s.End())
}
