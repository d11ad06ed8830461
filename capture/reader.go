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
	document
	src     io.Reader
	used    bool
	opened  openFile
	part    *part                                      // of a database, read instead of src; nil if it is a file
	windows *windows                                   // of one run, read instead of src; nil if it is one file
	log     func(iter.Seq2[*event.Event, error]) error // reads an event log; nil = refuse it
}

// An openFile is a file that this package opened.
type openFile struct {
	regular fs.FileInfo // nil if it is a pipe or the like, which can be read once
	close   func() error
	stat    func() (fs.FileInfo, error)
}

// NewReader returns a Reader of the capture in r: JSON in any dialect, plain or
// compressed with gzip or zstd. The name file is only shown in errors.
func NewReader(r io.Reader, file string) *Reader {
	return &Reader{document: document{file: file}, src: r}
}

// shut closes the file of a Reader made by Input.open. It is needed only if nodes
// is never iterated over, and harmless otherwise.
func (r *Reader) shut() error {
	r.used = true
	if r.opened.close == nil {
		return nil
	}
	closing := r.opened.close
	r.opened.close = nil
	return closing()
}

// changed returns an error if a file was written to: it may have been read half old and
// half new.
func (r *Reader) changed() error {
	if r.opened.regular == nil {
		return nil
	}
	after, err := r.opened.stat()
	switch {
	case err != nil:
		return err
	case !unchanged(r.opened.regular, after):
		return fmt.Errorf("file %w", event.ErrChanged)
	}
	return nil
}

// sameAs refuses, and closes, a file that is not the one that was read before. Windows are compared
// as they are opened.
func (r *Reader) sameAs(before *Reader) error {
	if r.windows != nil {
		r.windows.stats = before.windows.stats
		return nil
	}
	if r.part != nil || r.opened.regular != nil && unchanged(before.opened.regular, r.opened.regular) {
		return nil
	}
	_ = r.shut() // nothing was read from it
	return errChanged(r.file)
}

// rereads reports whether the input can be read again.
func (r *Reader) rereads() bool { return r.opened.regular != nil || r.part != nil || r.windows != nil }

// nodes returns the nodes in file order. A node is valid until the next one is read; the lists in it stay.
// The last pair has a nil node and an *event.InputError if the input cannot be read to its end; whatever
// was yielded before is then part of a broken capture. nodes can be called once: a Reader does not rewind.
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
		return (&partReader{&r.document, r.part}).slices()
	}
	if r.windows != nil {
		return (&joined{&r.document, r.windows}).join()
	}
	plain := packed.Open(r.src)
	defer plain.Close()
	err := scanError(r.file, -1, r.text(plain))
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
	if r.opened.regular != nil && !compressed {
		log.OfFile(r.opened.regular, r.opened.stat)
		r.opened.regular = nil
	}
	if r.log == nil {
		return &event.InputError{File: r.file, Line: 1, Node: -1, Reason: "this is an event log, not a graph capture; cbl1 stream reads it", Err: event.ErrNotCapture}
	}
	return r.log(log.Events())
}

// text reads the whole input.
func (r *Reader) text(plain *packed.Stream) error {
	start, rest, err := packed.Peek(plain)
	if event.IsLog(start) {
		return r.eventLog(rest, plain.Format != "")
	}
	if what := magic.Name(start); what != "" && (err == nil || errors.Is(err, io.EOF)) {
		return &event.InputError{File: r.file, Line: 1, Node: -1, Reason: "this is " + what, Err: event.ErrNotCapture}
	}
	s := jsonobject.New(rest, bufferSize)
	k, err := s.Kind()
	if err != nil {
		return err
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
	return s.End()
}

// unchanged reports whether a file looks as it did before.
func unchanged(before, after fs.FileInfo) bool {
	return os.SameFile(before, after) && after.Size() == before.Size() && after.ModTime().Equal(before.ModTime())
}
