package jsonobject

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 1000

// maxKey is how much of a key is kept, in bytes of decoded text.
const maxKey = 256

// A Kind is the first byte of a value, with all numbers named by KindNumber.
type Kind byte

// The kinds of a value.
const (
	KindObject Kind = '{'
	KindArray  Kind = '['
	KindString Kind = '"'
	KindNumber Kind = '0'
	KindTrue   Kind = 't'
	KindFalse  Kind = 'f'
	KindNull   Kind = 'n'
)

// String returns the kind in words: "an object", "a number", "null".
func (k Kind) String() string {
	switch k {
	case KindObject:
		return "an object"
	case KindArray:
		return "an array"
	case KindString:
		return "a string"
	case KindNumber:
		return "a number"
	case KindTrue:
		return "true"
	case KindFalse:
		return "false"
	case KindNull:
		return "null"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// A Scanner reads JSON from an io.Reader. It stands before a value at the start and
// after [Scanner.More] or [Scanner.Key] said that one comes.
type Scanner struct {
	r    io.Reader
	size int // of buf when nothing is captured

	// buf[pos:end] is read and not yet consumed; buf[0] is at input offset base. The byte
	// before pos is there too, unless a capture or the input begins at pos.
	buf      []byte
	pos, end int
	base     int64
	line     int64

	// While a value is captured, mark is the index of its first byte in buf and
	// fill keeps everything from there; otherwise mark is -1.
	mark  int
	limit int

	depth   int
	closers [MaxDepth + 1]byte // closers[depth] closes the innermost container
	fresh   bool               // the innermost container was entered and nothing read from it

	readErr error            // why the reader gives no more, reported once buf is used up
	err     error            // the first failure, kept for ever
	key     [maxKey + 1]byte // the decoded key that Key returned last
}

// New returns a Scanner that reads r through a buffer of size bytes.
func New(r io.Reader, size int) *Scanner {
	size = max(size, minBuffer)
	return &Scanner{r: r, size: size, buf: make([]byte, size), mark: -1, line: 1}
}

// Reset begins anew with another input, in the memory of the one before.
func (s *Scanner) Reset(r io.Reader) {
	*s = Scanner{r: r, size: s.size, buf: s.buf, mark: -1, line: 1}
}

// Offset returns the number of bytes consumed: after Kind, the offset of the value.
func (s *Scanner) Offset() int64 { return s.base + int64(s.pos) }

// Line returns the line, from 1, of the byte at Offset.
func (s *Scanner) Line() int64 { return s.line }

// Kind returns the kind of the next value, which it does not consume.
func (s *Scanner) Kind() (Kind, error) {
	c, ok := s.space()
	switch {
	case !ok:
		return 0, s.ends("where a value belongs")
	case c == '-' || isDigit(c):
		return KindNumber, nil
	case strings.IndexByte(`{["tfn`, c) < 0:
		return 0, s.unexpected(c, "where a value belongs")
	}
	return Kind(c), nil
}

// Skip checks the next value and throws it away.
func (s *Scanner) Skip() error {
	for outer := s.depth; ; {
		if err := s.token(); err != nil {
			return err
		}
		for more := false; !more; {
			if s.depth == outer {
				return nil
			}
			var err error
			if more, err = s.More(); err != nil {
				return err
			}
		}
		if s.closers[s.depth] == '}' {
			n, lines := members(s.buf[s.pos:s.end], s.depth > outer+1 && s.closers[s.depth-1] == ']')
			s.Pass(n, lines)
			if err := s.skipKey(); err != nil {
				return err
			}
		}
	}
}

// Capture checks the next value and returns its bytes, which stay valid until the
// next call of any method. A value of more than limit bytes is refused with ErrLimit.
func (s *Scanner) Capture(limit int) ([]byte, error) {
	if _, err := s.Kind(); err != nil {
		return nil, err
	}
	offset, line := s.Offset(), s.line
	s.mark, s.limit = s.pos, limit
	err := s.Skip()
	mark := s.mark
	s.mark = -1
	switch {
	case err == nil && s.pos-mark > limit, errors.Is(err, ErrLimit):
		s.err = &Error{Offset: offset, Line: line, Reason: fmt.Sprintf("value of more than %d bytes", limit), Err: ErrLimit}
		s.end = s.pos
		return nil, s.err
	case err != nil:
		return nil, err
	}
	return s.buf[mark:s.pos:s.pos], nil
}

// Ahead returns the bytes at hand that are not consumed yet. After Kind they begin with the
// value, which may not be there to its end. They stay valid until the next call of any
// method.
func (s *Scanner) Ahead() []byte { return s.buf[s.pos:s.end:s.end] }

// Pass consumes an array or object in Ahead, n bytes with so many ends of lines. It must be
// equal to one that was consumed in a container as deep as this, up to digits of its whole numbers, and
// have no carriage return: nothing is checked.
func (s *Scanner) Pass(n int, lines int64) {
	s.pos += n
	s.line += lines
}

// Enter goes into the next value, an array or object; More leads through it.
func (s *Scanner) Enter() error {
	k, err := s.Kind()
	if err != nil {
		return err
	}
	if k != KindArray && k != KindObject {
		return s.fail(nil, "%v where an array or object belongs", k)
	}
	return s.open(k)
}

// Each goes through the next value, an array or object, and calls read before each element or
// member, which read consumes. It stops at the first error.
func (s *Scanner) Each(read func() error) error {
	if err := s.Enter(); err != nil {
		return err
	}
	for {
		if more, err := s.More(); err != nil || !more {
			return err
		}
		if err := read(); err != nil {
			return err
		}
	}
}

// More reports whether another element or member comes in the innermost entered
// container. If not, it has left the container. Before a member, Key comes next.
func (s *Scanner) More() (bool, error) {
	c, ok := s.space()
	if !ok {
		return false, s.ends("inside " + s.inside())
	}
	fresh := s.fresh
	s.fresh = false
	switch {
	case c == s.closers[s.depth]:
		s.pos++
		s.depth--
		return false, nil
	case fresh:
		return true, nil
	case c != ',':
		return false, s.unexpected(c, "after a value in "+s.inside())
	}
	s.pos++
	s.space() // so that Offset and Line belong to the next value; its end is found later
	return true, nil
}

// Key reads the key of a member and its colon. It returns the decoded text, valid
// until the next call, and reports whether that is the whole key: of a longer one
// than 256 bytes the rest is checked and thrown away.
func (s *Scanner) Key() (key []byte, whole bool, err error) {
	if err := s.expect('"', "where a key belongs"); err != nil {
		return nil, false, err
	}
	text := textReader{s: s}
	n, _ := text.Read(s.key[:]) // an error is found again below
	whole = text.done
	if err := text.rest(); err != nil {
		return nil, false, err
	}
	return s.key[:min(n, maxKey)], whole, s.expect(':', "after a key")
}

// Text consumes the opening quote of the next value, which must be a string, and
// returns a reader of its decoded text. The Scanner stands behind the string once
// that reader has returned io.EOF; until then it must not be used otherwise. Half
// surrogate pairs become U+FFFD; bytes that are not UTF-8 pass as they are.
func (s *Scanner) Text() (io.Reader, error) {
	k, err := s.Kind()
	if err != nil {
		return nil, err
	}
	if k != KindString {
		return nil, s.fail(nil, "%v where a string belongs", k)
	}
	s.pos++
	return &textReader{s: s}, nil
}

// End checks that nothing but white space follows and that the reader ends without
// an error.
func (s *Scanner) End() error {
	c, ok := s.space()
	switch {
	case !ok && s.err == nil && errors.Is(s.readErr, io.EOF):
		return nil
	case !ok:
		return s.ends("")
	case c == 0:
		return s.fail(ErrTrailing, "NUL bytes after the end of the JSON value")
	case c == '{' || c == '[':
		return s.fail(ErrTrailing, "a second JSON value after the first")
	}
	return s.fail(ErrTrailing, "%s after the end of the JSON value", name(c))
}

// fail records the first failure, at the current position, and returns it. No byte is at
// hand from then on.
func (s *Scanner) fail(cause error, format string, args ...any) error {
	if s.err == nil {
		s.err = &Error{Offset: s.Offset(), Line: s.line, Reason: fmt.Sprintf(format, args...), Err: cause}
		s.end = s.pos
	}
	return s.err
}

func (s *Scanner) unexpected(c byte, where string) error {
	return s.fail(nil, "unexpected %s %s", name(c), where)
}

// ends fails because no byte comes where one is needed: the input is cut, a value
// is too long to capture, or the reader failed.
func (s *Scanner) ends(where string) error {
	if s.readErr == nil || errors.Is(s.readErr, io.EOF) {
		return s.fail(io.ErrUnexpectedEOF, "input ends %s", where)
	}
	return s.fail(s.readErr, "cannot read on: %v", s.readErr)
}

// name returns a byte in words that are safe to print.
func name(c byte) string {
	switch {
	case c == 0:
		return "NUL byte"
	case c < ' ' || c > '~':
		return fmt.Sprintf("byte 0x%02x", c)
	}
	return fmt.Sprintf("%q", c)
}

// inside names the innermost container.
func (s *Scanner) inside() string {
	if s.closers[s.depth] == '}' {
		return KindObject.String()
	}
	return KindArray.String()
}
