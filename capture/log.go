package capture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/cbl1/cbl1/internal/jsonscan"
	"github.com/cbl1/cbl1/internal/magic"
	"github.com/cbl1/cbl1/internal/packed"
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

	in   *bufio.Reader
	line []byte // what ReadSlice could not give in one piece
	pos  Pos    // of the line at hand
	next int64  // offset of the next line
}

// NewLog returns a Log of the events in r, plain or compressed with gzip or zstd. The
// name file is only shown in errors.
func NewLog(r io.Reader, file string) *Log { return &Log{file: file, src: r} }

// Events returns the events and queries in file order. The last pair has a nil event
// and an *InputError if the log cannot be read to its end. Events can be called once.
//
// An event is yielded as soon as its line has come: nothing behind its line end is
// waited for. Unknown fields are skipped; a line with an unknown event is yielded with
// that Kind, and a last line that is cut with LogTorn, so that whoever reads may count
// them. Memory does not depend on the length of the log.
func (l *Log) Events() iter.Seq2[*LogEvent, error] {
	return func(yield func(*LogEvent, error) bool) {
		if err := l.run(func(e *LogEvent) bool { return yield(e, nil) }); err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

func (l *Log) run(yield func(*LogEvent) bool) error {
	if l.used {
		return &InputError{File: l.file, Node: -1, Reason: "is read already"}
	}
	l.used = true
	l.in = bufio.NewReaderSize(l.src, 64<<10)
	// No line starts like compressed data, and nobody has to wait for a second byte.
	if start, _ := l.in.Peek(1); len(start) == 1 && (start[0] == 0x1f || start[0] == 0x28 || start[0]&0xf0 == 0x50) {
		plain := packed.Open(l.in)
		defer plain.Close()
		l.in = bufio.NewReaderSize(plain, 64<<10)
	}
	d := newLogDecoder(l.file)
	for header := false; ; {
		raw, whole, err := l.read()
		switch {
		case errors.Is(err, errEnd) && !header:
			return l.fail(nil, "has no header, which is a line like "+headerLine, io.ErrUnexpectedEOF)
		case errors.Is(err, errEnd):
			return nil
		case err != nil:
			return err
		}
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		if err := l.check(raw); err != nil {
			switch {
			case header && whole:
				return err
			case header:
				yield(&LogEvent{Pos: l.pos, Kind: LogTorn, Process: d.process, Tag: d.tag})
				return nil
			}
			if raw[0] == '[' {
				err.Reason += "; this begins as a graph capture does"
			}
			err.Reason += "; an event log begins with a line like " + headerLine
			return err
		}
		if !header {
			if err := d.header(raw, l.pos); err != nil {
				return err
			}
			header = true
		} else {
			e, err := d.event(raw, l.pos)
			if err != nil {
				return err
			}
			if !yield(e) {
				return errStop
			}
		}
		l.pos.Node++
	}
}

// isLog reports whether an input that starts like this is an event log: its first line
// is a header, of any version.
func isLog(start []byte) bool {
	first, _, _ := bytes.Cut(start, []byte("\n"))
	if !bytes.HasPrefix(first, []byte("{")) || !json.Valid(first) {
		return false
	}
	d := newLogDecoder("")
	return LogKind(d.start(first, Pos{}).text("event")) == LogHeader
}

// headerLine is the shortest header.
const headerLine = `{"event":"log","version":1}`

// errEnd says that there are no more lines.
var errEnd = errors.New("end of the log")

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

// strip takes away the line end, and the byte order mark that a log may begin with.
func (l *Log) strip(raw []byte) []byte {
	raw = bytes.TrimRight(raw, "\r\n")
	if l.pos.Line == 1 {
		return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	}
	return raw
}

// check refuses a line that is not one JSON value, or nests too deeply.
func (l *Log) check(raw []byte) *InputError {
	brackets := bytes.Count(raw, []byte("{")) + bytes.Count(raw, []byte("["))
	if brackets <= jsonscan.MaxDepth && json.Valid(raw) {
		return nil
	}
	// The exact scanner says what is wrong.
	s := jsonscan.New(bytes.NewReader(raw), min(len(raw)+1, bufferSize))
	err := s.Skip()
	if err == nil {
		err = s.End()
	}
	if err == nil {
		return nil
	}
	if what := magic.Name(raw); what != "" && l.pos.Node == 0 {
		return l.fail(nil, "this is "+what, ErrNotCapture)
	}
	var e *jsonscan.Error
	if !errors.As(err, &e) {
		return l.fail(raw, err.Error(), err)
	}
	out := l.fail(raw, e.Msg, e.Err)
	out.Offset += e.Offset
	if errors.Is(e, jsonscan.ErrDepth) {
		out.Err = ErrTooDeep
	}
	return out
}

// fail returns an error about the line at hand.
func (l *Log) fail(raw []byte, reason string, cause error) *InputError {
	return &InputError{File: l.file, Offset: l.pos.Offset, Line: l.pos.Line, Node: -1, Value: clip(raw), Reason: reason, Err: cause}
}
