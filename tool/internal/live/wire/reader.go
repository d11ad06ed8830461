package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Reader reads the records of one client. It must be made by NewReader, and belongs to
// one goroutine.
type Reader struct {
	// Hurry, if it is not nil, is called with true before a read in which silence would decide the
	// dialect: that read is to fail with os.ErrDeadlineExceeded after a while. It is called with
	// false when the read is over. Without it the read waits.
	Hurry func(bool)

	in      *bufio.Reader
	dialect Dialect
	records int64
	offset  int64
	err     error
}

// NewReader returns a Reader of the records in r. They have the dialect d or, if that is zero, the
// one recognised by the first record and the bytes after it.
func NewReader(r io.Reader, d Dialect) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 8<<10), dialect: d}
}

// Dialect returns the dialect of the stream, zero while it is not known.
func (r *Reader) Dialect() Dialect { return r.dialect }

// Records returns how many records were read.
func (r *Reader) Records() int64 { return r.records }

// Offset returns how many bytes these records had.
func (r *Reader) Offset() int64 { return r.offset }

// Next reads the next record into rec. A request whose bytes behind its head are not zero, as every
// client leaves them, is not understood either. The error is io.EOF where the stream ends between
// records, the error of the source, or a *RecordError, after which nothing more is read: a client
// whose records are not understood is not understood later. It allocates nothing unless it fails.
func (r *Reader) Next(rec *Record) error {
	if r.err != nil {
		return r.err
	}
	if err := r.next(rec); err != nil {
		if wrong, ok := errors.AsType[*RecordError](err); ok {
			wrong.Record, wrong.Offset = r.records, r.offset
		}
		r.err = err
		return err
	}
	r.records++
	r.offset += int64(r.dialect.Size)
	return nil
}

// Torn returns the type and the device of the record in which the stream has ended. ok is false if the
// stream ended before the device.
func (r *Reader) Torn() (half Record, ok bool) {
	b, err := r.in.Peek(deviceEnd)
	if err != nil {
		return half, false
	}
	return Record{Type: Type(b[0]), Device: int32(binary.LittleEndian.Uint32(b[deviceEnd-4:]))}, true
}

func (r *Reader) next(rec *Record) error {
	if r.dialect == (Dialect{}) {
		d, err := r.recognise()
		if err != nil {
			return err
		}
		r.dialect = d
	}
	b, err := r.peek(r.dialect.Size)
	if err != nil {
		return err
	}
	if err := r.dialect.checkHead(b); err != nil {
		return err
	}
	if Type(b[0]).request() {
		// Two records of 72 bytes would pass for one of 144.
		if i := nonzero(b, headSize); i < len(b) {
			return &RecordError{Field: "byte", Value: int64(i), Reason: "of it is not zero, as every one of a request is"}
		}
	}
	if err := r.dialect.Decode(b, rec); err != nil {
		return err
	}
	_, err = r.in.Discard(len(b))
	return err
}

// peek returns the next bytes of a record. A stream that ends inside of it is torn.
func (r *Reader) peek(n int) ([]byte, error) {
	b, err := r.in.Peek(n)
	if errors.Is(err, io.EOF) && len(b) > 0 {
		return nil, &RecordError{Field: "record", Value: int64(len(b)), Reason: "bytes of it came before the end", Err: io.ErrUnexpectedEOF}
	}
	return b, err
}

// recognise finds the dialect by the size of the first record: the next one begins with a type,
// which is not zero, and the tail of a request is zero.
func (r *Reader) recognise() (Dialect, error) {
	b, err := r.peek(headSize)
	if err != nil {
		return Dialect{}, err
	}
	if err := Newest().checkHead(b); err != nil {
		return Dialect{}, err
	}
	first := Type(b[0])
	if !first.request() {
		return Dialect{}, &RecordError{Field: "type", Value: int64(first), Reason: "is an answer, and no request", Err: ErrUnrecognised}
	}
	all := worlds()
	for i, d := range all {
		if !d.Knows(first) {
			continue
		}
		if b, err = r.peek(d.Size); err != nil {
			return Dialect{}, err
		}
		if at := nonzero(b, headSize); at < d.Size {
			return Dialect{}, &RecordError{Field: "byte", Value: int64(at), Reason: "of it is not zero, as every one of a first record is: say which dialect it is", Err: ErrUnrecognised}
		}
		if i == len(all)-1 {
			return d, nil
		}
		if next, err := r.behind(d.Size); err != nil || next {
			return d, err
		}
	}
	return Dialect{}, fmt.Errorf("%w: %v", ErrUnrecognised, first) // the newest knows all types
}

// nonzero returns the index of the first byte from i on that is not zero, len(b) if there
// is none.
func nonzero(b []byte, i int) int {
	for i < len(b) && b[i] == 0 {
		i++
	}
	return i
}

// behind reports whether a record ends after size bytes: a type follows, or nothing.
func (r *Reader) behind(size int) (bool, error) {
	if r.in.Buffered() <= size && r.Hurry != nil {
		r.Hurry(true)
		defer r.Hurry(false)
	}
	b, err := r.in.Peek(size + 1)
	switch {
	case err == nil:
		return b[size] != 0, nil
	case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded):
		return true, nil
	}
	return false, err
}
