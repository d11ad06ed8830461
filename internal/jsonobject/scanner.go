package jsonobject

import (
	"errors"
	"fmt"
	"io"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 1000

// minBuffer is the smallest buffer, in bytes: a byte order mark must fit.
const minBuffer = 16

// shrinkAbove is the size in bytes above which a buffer that grew for a capture is
// given back at the next opportunity.
const shrinkAbove = 4 << 20

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

	// buf[pos:end] is read and not yet consumed; buf[0] is at input offset base.
	buf      []byte
	pos, end int
	base     int64

	// While a value is captured, mark is the index of its first byte in buf and
	// fill keeps everything from there; otherwise mark is -1.
	mark  int
	limit int

	line int64
	cr   bool // the byte before pos is a CR, so that an LF there ends no further line

	// Bit d of stack says whether the container at depth d+1 is an object.
	depth int
	stack [MaxDepth/64 + 1]uint64
	fresh bool // the innermost container was entered and nothing read from it

	started bool
	readErr error  // why the reader gives no more, reported once buf is used up
	err     error  // the first failure, kept for ever
	key     []byte // the decoded key that Key returned last
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
	if !ok {
		return 0, s.ends("where a value belongs")
	}
	switch c {
	case '{', '[', '"', 't', 'f', 'n':
		return Kind(c), nil
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return KindNumber, nil
	}
	return 0, s.unexpected(c, "where a value belongs")
}

// Skip checks the next value and throws it away.
func (s *Scanner) Skip() error {
	if s.err != nil {
		return s.err
	}
	return s.value()
}

// Capture checks the next value and returns its bytes, which stay valid until the
// next call of any method. A value of more than limit bytes is refused with ErrLimit.
func (s *Scanner) Capture(limit int) ([]byte, error) {
	if _, err := s.Kind(); err != nil {
		return nil, err
	}
	offset, line := s.Offset(), s.line
	s.mark, s.limit = s.pos, limit
	err := s.value()
	mark := s.mark
	s.mark = -1
	switch {
	case err == nil && s.pos-mark > limit, errors.Is(err, ErrLimit):
		s.err = &Error{Offset: offset, Line: line, Reason: fmt.Sprintf("value of more than %d bytes", limit), Err: ErrLimit}
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
// equal to one that was consumed in a container as deep as this, and have no carriage
// return: nothing is checked.
func (s *Scanner) Pass(n int, lines int64) {
	s.pos += n
	s.line += lines
	s.cr = false
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
	if err := s.push(k == KindObject); err != nil {
		return err
	}
	s.fresh = true
	return nil
}

// More reports whether another element or member comes in the innermost entered
// container. If not, it has left the container. Before a member, Key comes next.
func (s *Scanner) More() (bool, error) {
	if s.err != nil {
		return false, s.err
	}
	c, ok := s.space()
	if !ok {
		return false, s.ends("inside %s", s.inside())
	}
	fresh := s.fresh
	s.fresh = false
	switch {
	case c == s.closer():
		s.pos++
		s.depth--
		return false, nil
	case fresh:
		return true, nil
	case c != ',':
		return false, s.unexpected(c, "after a value in "+s.inside())
	}
	s.pos++
	s.space() // so that Offset and Line are those of what comes; its end is found later
	return true, nil
}

// maxKey is how much of a key is kept, in bytes of decoded text.
const maxKey = 256

// Key reads the key of a member and its colon. It returns the decoded text, valid
// until the next call, and reports whether that is the whole key: of a longer one
// than 256 bytes the rest is checked and thrown away.
func (s *Scanner) Key() (key []byte, whole bool, err error) {
	if err := s.quote(); err != nil {
		return nil, false, err
	}
	if s.key == nil {
		s.key = make([]byte, 2*maxKey) // the upper half takes what is thrown away
	}
	text := textReader{s: s}
	n := 0
	for {
		m, err := text.Read(s.key[n:])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, err
		}
		n = min(n+m, maxKey)
	}
	return s.key[:n], text.read <= maxKey, s.colon()
}

// End checks that nothing but white space follows and that the reader ends without
// an error.
func (s *Scanner) End() error {
	if s.err != nil {
		return s.err
	}
	c, ok := s.space()
	switch {
	case !ok && errors.Is(s.readErr, io.EOF):
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

// fail records the first failure, at the current position, and returns it.
func (s *Scanner) fail(reason error, format string, args ...any) error {
	if s.err == nil {
		s.err = &Error{Offset: s.Offset(), Line: s.line, Reason: fmt.Sprintf(format, args...), Err: reason}
	}
	return s.err
}

func (s *Scanner) unexpected(c byte, where string) error {
	return s.fail(nil, "unexpected %s %s", name(c), where)
}

// ends fails because no byte comes where one is needed: the input is cut, a value
// is too long to capture, or the reader failed.
func (s *Scanner) ends(where string, args ...any) error {
	switch {
	case s.err != nil:
		return s.err
	case s.readErr == nil || errors.Is(s.readErr, io.EOF):
		return s.fail(io.ErrUnexpectedEOF, "input ends "+where, args...)
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

func (s *Scanner) inObject() bool {
	d := s.depth - 1
	return d >= 0 && s.stack[d>>6]>>(d&63)&1 != 0
}

func (s *Scanner) inside() string {
	if s.inObject() {
		return "an object"
	}
	return "an array"
}

func (s *Scanner) closer() byte {
	if s.inObject() {
		return '}'
	}
	return ']'
}

// push consumes an opening bracket.
func (s *Scanner) push(object bool) error {
	if s.depth == MaxDepth {
		return s.fail(ErrDepth, "arrays and objects nest more than %d deep", MaxDepth)
	}
	s.nest(object)
	s.pos++
	return nil
}

// nest goes one deeper.
func (s *Scanner) nest(object bool) {
	d := s.depth
	if object {
		s.stack[d>>6] |= 1 << (d & 63)
	} else {
		s.stack[d>>6] &^= 1 << (d & 63)
	}
	s.depth++
}

// fill reads more, keeping what is unconsumed or marked, and reports whether there
// is more. It is called when pos == end.
func (s *Scanner) fill() bool {
	if s.err != nil || s.readErr != nil {
		return false
	}
	keep := s.pos
	if s.mark >= 0 {
		if keep = s.mark; s.end-keep > s.limit {
			_ = s.fail(ErrLimit, "value of more than %d bytes", s.limit)
			return false
		}
	}
	held := s.end - keep
	switch {
	case held == len(s.buf): // a captured value fills the buffer
		grown := make([]byte, min(2*len(s.buf), s.limit+s.size))
		copy(grown, s.buf[keep:s.end])
		s.buf = grown
	case s.mark < 0 && len(s.buf) > max(s.size, shrinkAbove):
		shrunk := make([]byte, max(s.size, held))
		copy(shrunk, s.buf[keep:s.end])
		s.buf = shrunk
	case keep > 0:
		copy(s.buf, s.buf[keep:s.end])
	}
	s.base += int64(keep)
	s.pos -= keep
	s.end -= keep
	if s.mark >= 0 {
		s.mark = 0
	}
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
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	s.readErr = io.ErrNoProgress
	return false
}

// start consumes a byte order mark.
func (s *Scanner) start() {
	s.started = true
	for s.end < 3 && s.fillAhead() {
	}
	if s.end >= 3 && string(s.buf[:3]) == "\xef\xbb\xbf" {
		s.pos = 3
	}
}

// fillAhead reads more although bytes are left; only at the start of the input,
// where the buffer has room.
func (s *Scanner) fillAhead() bool { return s.readErr == nil && s.read() }
