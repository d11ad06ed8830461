package packed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// Compressed input may expand this much, once so many bytes have come out.
	// Real captures stay below 100:1.
	maxRatio  = 1000
	ratioFrom = 64 << 20

	// maxWindow is the largest window of zstd data, in bytes. The decoder holds
	// about as much. The zstd command stays below it up to level 19.
	maxWindow = 32 << 20
)

// PeekSize is how many bytes are read at most to recognise the format of an input.
const PeekSize = 4096

// ErrExpands: the data expands more than 1000:1 after 64 MiB of output.
var ErrExpands = errors.New("expands more than 1000:1")

// A Stream reads the content of the argument of Open.
type Stream struct {
	io.Reader
	Format string // "gzip", "zstd", or "" for plain content
	close  func()
}

// Close releases the decoder. It does not close the argument of Open.
func (in *Stream) Close() {
	if in.close != nil {
		in.close()
	}
}

// Open returns the content of r, which may be compressed: the first bytes decide, never a name. An
// error of r itself is passed on. An error of the data is put into words, and matches
// io.ErrUnexpectedEOF if the data is cut, or ErrExpands.
func Open(r io.Reader) *Stream {
	start, rest, _ := Peek(r, func(start []byte) bool { return len(start) >= 4 }) // the longest mark of a format
	e := &expander{src: &source{}}
	in := &Stream{Reader: e}
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		e.format = "gzip"
		e.open = func() (io.Reader, error) { return gzip.NewReader(e.src) }
	case isZstd(start):
		e.format = "zstd"
		e.open = func() (io.Reader, error) {
			// Of one block at a time, so without goroutines.
			dec, err := zstd.NewReader(e.src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderMaxWindow(maxWindow))
			if err == nil {
				in.close = dec.Close
			}
			return dec, err
		}
	default:
		in.Reader = rest
		return in
	}
	in.Format = e.format
	e.src.r = bufio.NewReaderSize(rest, 64<<10)
	return in
}

// isZstd reports whether a frame, or one that is to be skipped, begins here.
func isZstd(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	return string(b[:4]) == "\x28\xb5\x2f\xfd" || b[0]&0xf0 == 0x50 && string(b[1:4]) == "\x2a\x4d\x18"
}

// Peek returns the first bytes of r, the error met on the way if any, and a reader that gives both once more. It
// does not wait for more bytes than enough needs.
func Peek(r io.Reader, enough func(start []byte) bool) (start []byte, rest io.Reader, err error) {
	start = make([]byte, 0, PeekSize)
	for range PeekSize { // a reader may give one byte at a time, or none
		var n int
		n, err = r.Read(start[len(start):cap(start)])
		if n < 0 || n > cap(start)-len(start) {
			err = errors.New("reader returned an impossible count")
			break
		}
		start = start[:len(start)+n]
		if err != nil || len(start) == cap(start) || enough(start) {
			break
		}
	}
	return start, &peekReader{start, err, r}, err
}

// peekReader reads the peeked bytes, then returns the error of Peek or else reads the rest.
type peekReader struct {
	start []byte
	err   error
	r     io.Reader
}

func (p *peekReader) Read(b []byte) (int, error) {
	if len(p.start) > 0 {
		n := copy(b, p.start)
		p.start = p.start[n:]
		return n, nil
	}
	if p.err != nil {
		return 0, p.err
	}
	return p.r.Read(b)
}

// source counts the compressed bytes that a decoder reads, and keeps the error of
// the input, which is distinct from an error in the data.
type source struct {
	r   *bufio.Reader
	n   int64
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	return n, s.count(n, err)
}

// ReadByte keeps gzip from reading ahead, behind the count's back.
func (s *source) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	if err != nil {
		return 0, s.count(0, err)
	}
	return b, s.count(1, nil)
}

func (s *source) count(n int, err error) error {
	s.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return err
}

// expander reads from a decoder, limits the ratio of output to input, and puts errors into words.
type expander struct {
	format string
	src    *source
	open   func() (io.Reader, error)
	dec    io.Reader
	n      int64
	err    error
}

func (e *expander) Read(b []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	var n int
	var err error
	if e.dec == nil {
		e.dec, err = e.open()
	}
	if err == nil {
		n, err = e.dec.Read(b)
	}
	e.n += int64(n)
	switch {
	case e.n > ratioFrom && e.n/maxRatio > e.src.n:
		e.err = fmt.Errorf("%s data %w after 64 MiB", e.format, ErrExpands)
		return 0, e.err
	case err == nil || errors.Is(err, io.EOF):
	case e.src.err != nil:
		err = e.src.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%s data is cut: %w", e.format, io.ErrUnexpectedEOF)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		err = fmt.Errorf("zstd data needs more than 32 MiB of memory: %w", err)
	default:
		err = fmt.Errorf("%s data is corrupt: %w", e.format, err)
	}
	e.err = err
	return n, err
}
