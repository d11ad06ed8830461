package jsonobject

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A textReader decodes a string whose opening quote is consumed.
type textReader struct {
	s        *Scanner
	escaped  [utf8.UTFMax]byte // what the last escape stands for
	from, to int               // of that, not handed out yet
	done     bool              // the closing quote is consumed
}

// Read fills p unless the text ends.
func (t *textReader) Read(p []byte) (n int, err error) {
	s := t.s
	for n < len(p) && !t.done {
		if t.from < t.to {
			m := copy(p[n:], t.escaped[t.from:t.to])
			t.from += m
			n += m
			continue
		}
		piece := s.buf[s.pos:min(s.end, s.pos+len(p)-n)]
		if m := copy(p[n:], piece[:plain(piece)]); m > 0 {
			s.pos += m
			n += m
			continue
		}
		if err := t.special(); err != nil {
			return n, err
		}
	}
	if n == 0 && t.done {
		return 0, io.EOF
	}
	return n, nil
}

// special consumes the end of plain text: the quote, or an escape.
func (t *textReader) special() error {
	s := t.s
	if !s.has(1) {
		return s.ends("inside a string")
	}
	switch c := s.buf[s.pos]; {
	case c == '"':
		s.pos++
		t.done = true
	case c == '\\':
		r, err := s.escape()
		t.from, t.to = 0, utf8.EncodeRune(t.escaped[:], r)
		return err
	case c < ' ':
		return s.unexpected(c, "inside a string")
	}
	return nil
}

// rest consumes the rest of the text.
func (t *textReader) rest() error {
	for !t.done {
		t.s.pos += simple(t.s.Ahead())
		if err := t.special(); err != nil {
			return err
		}
	}
	return nil
}

// text consumes a string after its opening quote.
func (s *Scanner) text() error {
	t := textReader{s: s}
	return t.rest()
}

// Unquote returns the text of a JSON string. Half surrogate pairs and bytes that
// are not UTF-8 become U+FFFD.
func Unquote(raw []byte) string { return strings.ToValidUTF8(string(unescaped(raw)), "\ufffd") }

// unescaped returns the text of a JSON string.
func unescaped(raw []byte) []byte {
	text := raw[1 : len(raw)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	var s string
	_ = json.Unmarshal(raw, &s) // raw is valid JSON
	return []byte(s)
}

// same reports whether two JSON values are equal: up to white space, escapes and
// the spelling of whole numbers.
func same(a, b []byte) bool { return bytes.Equal(a, b) || plainest(a) == plainest(b) }

// plainest returns a text that is the same for equal values, and for no others.
func plainest(raw []byte) string {
	if raw[0] == '"' {
		return `"` + Unquote(raw)
	}
	if v, wrong := Whole(raw); wrong == "" {
		return strconv.FormatUint(v, 10)
	}
	var b bytes.Buffer
	_ = json.Compact(&b, raw) // raw is valid JSON
	return b.String()
}
