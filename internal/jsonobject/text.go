package jsonobject

import (
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

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

// A textReader decodes a string whose opening quote is consumed.
type textReader struct {
	s    *Scanner
	half rune   // the first half of a surrogate pair, waiting for the second; or 0
	out  []byte // decoded, not handed out yet; in store
	read int64  // bytes handed out
	done bool

	store [2 * utf8.UTFMax]byte
}

func (t *textReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(t.out) > 0 {
			m := copy(p[n:], t.out)
			t.out = t.out[m:]
			n += m
			continue
		}
		if t.done {
			break
		}
		b := t.s.buf[t.s.pos:t.s.end]
		m := plain(b[:min(len(b), len(p)-n)])
		if m > 0 && t.half == 0 {
			copy(p[n:], b[:m])
			t.s.pos += m
			n += m
			continue
		}
		if err := t.next(); err != nil {
			t.read += int64(n)
			return n, err
		}
	}
	t.read += int64(n)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// next consumes one special thing: the end, an escape, or whatever follows half a
// pair.
func (t *textReader) next() error {
	if t.s.err != nil {
		return t.s.err
	}
	c, ok := t.s.peek()
	t.out = t.store[:0]
	switch {
	case !ok:
		return t.s.ends("inside a string")
	case c == '\\':
		r, unit, err := t.s.escape()
		if err != nil {
			return err
		}
		// DecodeRune gives U+FFFD for what is not a pair, which no pair stands for.
		if whole := utf16.DecodeRune(t.half, r); unit && whole != utf8.RuneError {
			t.half = 0
			t.out = utf8.AppendRune(t.out, whole)
			return nil
		}
		t.flush()
		if unit && 0xd800 <= r && r < 0xdc00 {
			t.half = r
			return nil
		}
		t.out = utf8.AppendRune(t.out, r) // U+FFFD for a lone second half
	case c == '"':
		t.s.pos++
		t.done = true
		t.flush()
	case c < ' ':
		return t.s.unexpected(c, "inside a string")
	default:
		t.flush() // plain text after half a pair
	}
	return nil
}

// flush gives up waiting for the second half of a pair.
func (t *textReader) flush() {
	if t.half != 0 {
		t.half = 0
		t.out = utf8.AppendRune(t.out, utf8.RuneError)
	}
}
