package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/magic"
	"github.com/cbl1/cbl1/internal/packed"
	"github.com/cbl1/cbl1/internal/shown"
)

// LogVersion is the version of the event log that this package reads and writes.
const LogVersion = 1

// A Log yields the events of one event log, the form for simulators in any language:
// JSON Lines, one event a line, described in docs/events.md and
// cbl1.events-1.schema.json. It must be made by NewLog.
type Log struct {
	file string
	src  io.Reader
	used bool

	before fs.FileInfo // of a regular file that may grow, or nil
	stat   func() (fs.FileInfo, error)

	in   *bufio.Reader
	line []byte // what ReadSlice could not give in one piece
	pos  Pos    // of the line at hand
	next int64  // offset of the next line
}

// NewLog returns a Log of the events in r, plain or compressed with gzip or zstd. The
// name file is only shown in errors.
func NewLog(r io.Reader, file string) *Log { return &Log{file: file, src: r} }

// OfFile declares that the reader of l is at the start of a file, and returns l. The file may grow
// while it is read: l reads the bytes that were there when before was taken, up to the last line
// end. The rest is left unread, and is no torn line. If the file has not grown by then, the rest is
// the last line, as in any other log. stat is the Stat of the open file. A file that has shrunk, is
// another one, or changed without growing is refused at the end with ErrChanged.
//
// Pipes and the like are read as they come; before identifies them. A compressed file is read to
// the end that it had, and one that still grows is cut.
func (l *Log) OfFile(before fs.FileInfo, stat func() (fs.FileInfo, error)) *Log {
	if before.Mode().IsRegular() && before.Size() > 0 { // files that the kernel makes up have no size
		l.before, l.stat = before, stat
	}
	return l
}

// Events returns the events and queries in file order; the first is the header. The last pair has a
// nil event and an *InputError if the log cannot be read to its end. Events can be called once. An
// event is valid until the next one; copy it to keep it. The lists and texts in it stay.
//
// An event is yielded as soon as its line has come: the Log does not wait for bytes behind its line
// end. Unknown fields are skipped. A line with an unknown event is yielded with its Kind, and a
// last line that is cut with KindTorn, so that both may be counted. Memory does not depend on the
// length of the log.
func (l *Log) Events() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		err := l.run(func(e *Event) bool { return yield(e, nil) })
		if errors.Is(err, errStop) {
			return
		}
		// This is the true reason of any other error.
		if changed := l.changed(); changed != nil {
			err = changed
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// errStop: the caller wants no more events. errEnd: there are none.
var (
	errStop = errors.New("stopped by the caller")
	errEnd  = errors.New("end of the log")
)

func (l *Log) run(yield func(*Event) bool) error {
	if l.used {
		return &InputError{File: l.file, Node: -1, Reason: "is read already"}
	}
	l.used = true
	defer l.open()()
	d := newDecoder(l.file)
	for header := false; ; l.pos.Node++ {
		raw, whole, err := l.text()
		switch {
		case errors.Is(err, errEnd) && !header:
			return l.fail(nil, "has no header, which is a line like "+headerLine, io.ErrUnexpectedEOF)
		case errors.Is(err, errEnd):
			return nil
		case err != nil:
			return err
		}
		if err := l.check(raw); err != nil {
			switch {
			case !header:
				return noHeader(err, raw)
			case whole:
				return err
			}
			yield(&Event{Pos: l.pos, Node: uint64(l.pos.Node), Kind: KindTorn, Process: d.process, Tag: d.tag})
			return nil
		}
		read := d.event
		if !header {
			read, header = d.header, true
		}
		e, err := read(raw, l.pos)
		if err != nil {
			return err
		}
		if !yield(e) {
			return errStop
		}
	}
}

// open prepares the input, and returns a function to call after the last read.
func (l *Log) open() (done func()) {
	src := l.src
	if l.before != nil {
		src = io.LimitReader(src, l.before.Size())
	}
	l.in = bufio.NewReaderSize(src, 64<<10)
	// No line starts like compressed data, so one byte suffices.
	if start, _ := l.in.Peek(1); len(start) == 1 && (start[0] == 0x1f || start[0] == 0x28 || start[0]&0xf0 == 0x50) {
		plain := packed.Open(l.in)
		l.in = bufio.NewReaderSize(plain, 64<<10)
		return plain.Close
	}
	return func() {}
}

// text returns the next line that is not blank, and whether a line end follows it.
func (l *Log) text() (raw []byte, whole bool, err error) {
	for {
		raw, whole, err = l.read()
		if err != nil {
			return nil, false, err
		}
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		if !whole && l.grown() {
			return nil, false, errEnd // it is still being written
		}
		return raw, whole, nil
	}
}

// grown reports whether the file is longer than it was at the start.
func (l *Log) grown() bool {
	if l.before == nil {
		return false
	}
	now, err := l.stat()
	return err == nil && now.Size() > l.before.Size()
}

// changed returns an error if the file is not the one that it was, or one that grew.
func (l *Log) changed() error {
	if l.before == nil {
		return nil
	}
	now, err := l.stat()
	switch {
	case err != nil:
	case !os.SameFile(l.before, now), now.Size() < l.before.Size(),
		now.Size() == l.before.Size() && !now.ModTime().Equal(l.before.ModTime()):
		err = fmt.Errorf("file %w", ErrChanged)
	default:
		return nil
	}
	return &InputError{File: l.file, Node: -1, Reason: err.Error(), Err: err}
}

// noHeader adds the expected header to the error of a first line.
func noHeader(err *InputError, raw []byte) error {
	if raw[0] == '[' {
		err.Reason += "; this begins as a graph capture does"
	}
	err.Reason += "; an event log begins with a line like " + headerLine
	return err
}

// headerLine is the shortest header.
const headerLine = `{"event":"log","version":1}`

// IsLog reports whether an input that starts like this is an event log: its first line,
// which must be there as a whole, is a header of any version.
func IsLog(start []byte) bool {
	start = bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\xef\xbb\xbf")), " \t\r\n")
	first, _, _ := bytes.Cut(start, []byte("\n"))
	if !bytes.HasPrefix(first, []byte("{")) || !json.Valid(first) {
		return false
	}
	var r jsonobject.Reader
	kind, _ := r.Read(first).Text("event")
	return Kind(kind) == KindHeader
}

// read returns the next line, valid until the next call, and whether a line end
// follows it.
func (l *Log) read() (raw []byte, whole bool, err error) {
	l.pos.Line++
	l.pos.Offset = l.next
	if cap(l.line) > shrinkLine {
		l.line = nil
	}
	l.line = l.line[:0]
	for {
		piece, err := l.in.ReadSlice('\n')
		l.next += int64(len(piece))
		if len(l.line)+len(piece) > MaxNode+1 {
			return nil, false, l.fail(nil, fmt.Sprintf("line of more than %d bytes", MaxNode), ErrTooLarge)
		}
		if err == nil && len(l.line) == 0 {
			return l.strip(piece), true, nil
		}
		l.line = append(l.line, piece...)
		switch {
		case err == nil:
			return l.strip(l.line), true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case !errors.Is(err, io.EOF):
			return nil, false, l.fail(nil, "cannot read on: "+err.Error(), err)
		case len(l.line) == 0:
			return nil, false, errEnd
		default:
			return l.strip(l.line), false, nil
		}
	}
}

// shrinkLine is the size in bytes above which memory that a long line took is given
// back.
const shrinkLine = 1 << 20

// strip removes the line end, and the byte order mark that a log may begin with.
func (l *Log) strip(raw []byte) []byte {
	raw = bytes.TrimRight(raw, "\r\n")
	if l.pos.Line == 1 {
		return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	}
	return raw
}

// check refuses a line that is not one JSON value, or nests too deeply.
func (l *Log) check(raw []byte) *InputError {
	err := scan(raw)
	if err == nil {
		return nil
	}
	if what := magic.Name(raw); what != "" && l.pos.Node == 0 {
		return l.fail(nil, "this is "+what, ErrNotCapture)
	}
	var e *jsonobject.Error
	if !errors.As(err, &e) {
		return l.fail(raw, err.Error(), err)
	}
	out := l.fail(raw, "is no JSON: "+e.Reason, e.Err)
	out.Offset += e.Offset
	if errors.Is(e, jsonobject.ErrDepth) {
		out.Reason, out.Err = e.Reason, ErrTooDeep
	}
	return out
}

// scan returns why a text is not one JSON value, or nests too deeply.
func scan(raw []byte) error {
	brackets := bytes.Count(raw, []byte("{")) + bytes.Count(raw, []byte("["))
	if brackets <= jsonobject.MaxDepth && json.Valid(raw) {
		return nil
	}
	s := jsonobject.New(bytes.NewReader(raw), min(len(raw)+1, 256<<10)) // to find the fault
	if err := s.Skip(); err != nil {
		return err
	}
	return s.End()
}

// fail returns an error about the line at hand.
func (l *Log) fail(raw []byte, reason string, cause error) *InputError {
	return &InputError{File: l.file, Offset: l.pos.Offset, Line: l.pos.Line, Node: -1, Value: shown.Value(raw), Reason: reason, Err: cause}
}
