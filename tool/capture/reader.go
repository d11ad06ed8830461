package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/magic"
	"github.com/cbl1/cbl1/internal/packed"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/dump"
)

// A Reader yields the events of one capture ([Reader.Events]). NewReader makes it.
type Reader struct {
	doc    graph.Document
	src    io.Reader
	start  int64 // of the input in src, if src can seek
	used   bool
	kept   bool // for another call of Events
	opened openFile
	spool  *spool                                     // of a source that cannot seek
	most   int64                                      // bytes that it keeps
	beside string                                     // the path of a file, beside which others may lie; "" if it is none
	part   *part                                      // of a database, read instead of src; nil if it is a file
	log    func(iter.Seq2[*event.Event, error]) error // reads an event log, or a dump; nil = refuse it
	dump   dump.Options                               // how a dump is read
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
	return &Reader{doc: graph.Document{File: file}, src: r, most: maxSpool}
}

// Close removes what Options.Again keeps, and closes the files that the Reader has opened.
func (r *Reader) Close() error { return r.shut() }

// callers returns from where operations were called, as far as something beside the capture says so.
func (r *Reader) callers() *callers {
	switch {
	case r.part != nil:
		return callersOf(r.part)
	case r.beside != "":
		return callersBeside(r.beside)
	}
	return nil
}

// shut closes the files that a Reader has opened.
func (r *Reader) shut() (err error) {
	if r.spool != nil {
		err = r.spool.close()
	}
	if r.opened.close != nil {
		err = cmp.Or(r.opened.close(), err)
	}
	return err
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

// keep prepares the source to be read again. Of a source that cannot seek, a copy is kept from here on.
func (r *Reader) keep(dir string) {
	if r.part != nil {
		return
	}
	var err error
	seeker, seeks := r.src.(io.Seeker)
	if f, ok := r.src.(interface{ Stat() (fs.FileInfo, error) }); ok { // others than regular files may seek, to nowhere
		info, err := f.Stat()
		if seeks = err == nil && info.Mode().IsRegular(); seeks && r.opened.regular == nil {
			r.opened.regular, r.opened.stat = info, f.Stat
		}
	}
	if seeks {
		if r.start, err = seeker.Seek(0, io.SeekCurrent); err == nil {
			return
		}
	}
	r.spool = &spool{src: r.src, dir: dir, most: r.most}
	r.src = r.spool
}

// again returns a Reader of the same input from its start. The one before it is not read any more.
func (r *Reader) again() (*Reader, error) {
	next := &Reader{doc: graph.Document{File: r.doc.File}, src: r.src, start: r.start, opened: r.opened, spool: r.spool, part: r.part, beside: r.beside}
	var err error
	switch {
	case r.part != nil:
	case r.spool != nil:
		next.src, err = r.spool.again()
	default:
		_, err = r.src.(io.Seeker).Seek(r.start, io.SeekStart)
	}
	if err != nil {
		return nil, &event.InputError{File: r.doc.File, Node: -1, Reason: "cannot be read again: " + err.Error(), Err: err}
	}
	return next, nil
}

// nodes returns the nodes in file order. A node is valid until the next one is read; the lists in it stay.
// The last pair has a nil node and an *event.InputError if the input cannot be read to its end; whatever
// was yielded before is then part of a broken capture. nodes can be called once: a Reader does not rewind.
func (r *Reader) nodes() iter.Seq2[*graph.Node, error] {
	return stream(func(yield func(*graph.Node, error) bool) error {
		r.doc.Yield = func(n *graph.Node) bool { return yield(n, nil) }
		return r.run()
	})
}

func (r *Reader) run() error {
	if r.used {
		return &event.InputError{File: r.doc.File, Node: -1, Reason: "is read already, or closed"}
	}
	r.used = true
	if r.part != nil {
		return (&partReader{&r.doc, r.part}).slices()
	}
	plain := packed.Open(r.src)
	defer plain.Close()
	err := graph.ScanError(r.doc.File, -1, r.text(plain))
	if errors.Is(err, graph.ErrStop) {
		return err
	}
	if r.spool != nil && r.spool.err != nil { // whatever the reader of compressed data says of it
		return &event.InputError{File: r.doc.File, Node: -1, Reason: r.spool.reason, Err: r.spool.err}
	}
	// This is the true reason of any other error.
	if changed := r.changed(); changed != nil {
		return &event.InputError{File: r.doc.File, Node: -1, Reason: changed.Error(), Err: changed}
	}
	return err
}

// eventLog reads an input that is an event log and no capture. A log's file may grow.
func (r *Reader) eventLog(in io.Reader, compressed bool) error {
	log := event.NewLog(in, r.doc.File)
	if r.opened.regular != nil && !compressed {
		log.OfFile(r.opened.regular, r.opened.stat)
		r.opened.regular = nil
	}
	if r.spool != nil && !r.kept {
		r.spool.drop()
	}
	if r.log == nil {
		return &event.InputError{File: r.doc.File, Line: 1, Node: -1, Reason: "this is an event log, not a graph capture; cbl1 stream reads it", Err: event.ErrNotCapture}
	}
	return r.log(log.Events())
}

// text reads the whole input.
func (r *Reader) text(plain *packed.Stream) error {
	start, rest, err := packed.Peek(plain, event.IsLog)
	if event.IsLog(start) {
		return r.eventLog(rest, plain.Format != "")
	}
	if r.log != nil && dump.Is(start) {
		if r.spool != nil {
			r.spool.drop()
		}
		return r.log(dump.Events(rest, r.doc.File, r.dump))
	}
	if what := magic.Name(start); what != "" && (err == nil || errors.Is(err, io.EOF)) {
		return &event.InputError{File: r.doc.File, Line: 1, Node: -1, Reason: "this is " + what, Err: event.ErrNotCapture}
	}
	return r.doc.Read(rest)
}

// unchanged reports whether a file looks as it did before.
func unchanged(before, after fs.FileInfo) bool {
	return os.SameFile(before, after) && after.Size() == before.Size() && after.ModTime().Equal(before.ModTime())
}
