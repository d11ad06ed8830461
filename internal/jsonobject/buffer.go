package jsonobject

import (
	"errors"
	"io"
	"strings"
)

// minBuffer is the smallest buffer, in bytes: a byte order mark, and two escapes, must fit.
const minBuffer = 16

// shrinkAbove is the size in bytes above which a buffer that grew for a capture is
// given back at the next opportunity.
const shrinkAbove = 4 << 20

// space consumes white space, counts lines, and returns the byte that follows
// without consuming it.
func (s *Scanner) space() (byte, bool) {
	if s.pos < s.end && s.buf[s.pos] > ' ' {
		return s.buf[s.pos], true
	}
	return s.blank()
}

// blank is space where there may be white space.
func (s *Scanner) blank() (byte, bool) {
	if s.Offset() == 0 && s.has(3) && string(s.buf[:3]) == "\xef\xbb\xbf" {
		s.pos = 3
	}
	for s.has(1) {
		switch c := s.buf[s.pos]; c {
		case ' ', '\t':
			s.pos += blanks(s.buf[s.pos+1 : s.end])
		case '\r':
			s.line++
		case '\n':
			if s.pos == 0 || s.buf[s.pos-1] != '\r' {
				s.line++
			}
		default:
			return c, true
		}
		s.pos++
	}
	return 0, false
}

// has reports whether n bytes are at hand, after reading more if need be. While a value is
// captured these must be bytes of the value.
func (s *Scanner) has(n int) bool {
	for s.end-s.pos < n {
		if !s.fill() {
			return false
		}
	}
	return true
}

// accept consumes the next byte if it is one of some, and reports whether it is.
func (s *Scanner) accept(these string) bool {
	ok := s.has(1) && strings.IndexByte(these, s.buf[s.pos]) >= 0
	if ok {
		s.pos++
	}
	return ok
}

// fill reads more, keeps unconsumed and marked bytes, and reports whether there is more.
func (s *Scanner) fill() bool {
	if s.err != nil || s.readErr != nil {
		return false
	}
	keep := max(s.pos-1, 0) // for what comes after a carriage return
	if s.mark >= 0 {
		if keep = s.mark; s.end-keep > s.limit {
			_ = s.fail(ErrLimit, "value of more than %d bytes", s.limit)
			return false
		}
		s.mark = 0
	}
	size := len(s.buf)
	switch {
	case s.end-keep == size: // a captured value fills the buffer
		size = min(2*size, s.limit+s.size)
	case s.mark < 0 && size > max(s.size, shrinkAbove):
		size = s.size
	}
	to := s.buf
	if size != len(to) {
		to = make([]byte, size)
	}
	copy(to, s.buf[keep:s.end])
	s.buf = to
	s.base += int64(keep)
	s.pos -= keep
	s.end -= keep
	return s.read()
}

// read appends what the reader gives to the buffer.
func (s *Scanner) read() bool {
	const patience = 100 // empty reads in a row, as in bufio
	for range patience {
		n, err := s.r.Read(s.buf[s.end:])
		if n < 0 || n > len(s.buf)-s.end {
			s.readErr = errors.New("reader returned an impossible count")
			return false
		}
		s.end += n
		s.readErr = err
		if n > 0 || err != nil {
			return n > 0
		}
	}
	s.readErr = io.ErrNoProgress
	return false
}
