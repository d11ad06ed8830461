package jsonobject

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// token consumes a value; of an array or object, the bracket that opens it.
func (s *Scanner) token() error {
	k, err := s.Kind()
	if err != nil {
		return err
	}
	switch k {
	case KindObject, KindArray:
		return s.open(k)
	case KindString:
		s.pos++
		return s.text()
	case KindNumber:
		return s.number()
	}
	return s.literal(k.String())
}

// open consumes the bracket that opens a container.
func (s *Scanner) open(k Kind) error {
	if s.depth == MaxDepth {
		return s.fail(ErrDepth, "arrays and objects nest more than %d deep", MaxDepth)
	}
	s.depth++
	s.closers[s.depth] = ']'
	if k == KindObject {
		s.closers[s.depth] = '}'
	}
	s.fresh = true
	s.pos++
	return nil
}

// skipKey consumes a key and its colon.
func (s *Scanner) skipKey() error {
	if err := s.expect('"', "where a key belongs"); err != nil {
		return err
	}
	if err := s.text(); err != nil {
		return err
	}
	return s.expect(':', "after a key")
}

// expect consumes white space and the byte that must come.
func (s *Scanner) expect(want byte, where string) error {
	c, ok := s.space()
	switch {
	case !ok:
		return s.ends(where)
	case c != want:
		return s.unexpected(c, where)
	}
	s.pos++
	return nil
}

// literal consumes true, false or null.
func (s *Scanner) literal(word string) error {
	for i := range len(word) {
		switch {
		case !s.has(1):
			return s.ends(`inside "` + word + `"`)
		case s.buf[s.pos] != word[i]:
			return s.unexpected(s.buf[s.pos], `in "`+word+`"`)
		}
		s.pos++
	}
	return nil
}

// number consumes a number, however long. A leading zero is the whole integer part: More refuses
// a digit after it.
func (s *Scanner) number() error {
	if n := whole(s.buf[s.pos:s.end]); n > 0 {
		s.pos += n
		return nil
	}
	s.accept("-")
	if !s.accept("0") {
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.accept(".") {
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.accept("eE") {
		s.accept("+-")
		return s.digits()
	}
	return nil
}

// digits consumes one or more digits.
func (s *Scanner) digits() error {
	switch {
	case !s.has(1):
		return s.ends("inside a number")
	case !isDigit(s.buf[s.pos]):
		return s.unexpected(s.buf[s.pos], "in a number")
	}
	for s.has(1) && isDigit(s.buf[s.pos]) {
		s.pos++
	}
	return nil
}

func isDigit(c byte) bool { return c-'0' < 10 }

// The escapes of one letter, without the backslash, and their texts.
const (
	escapes = `"\/bfnrt`
	escaped = "\"\\/\b\f\n\r\t"
)

// escape consumes an escape, or two that are a surrogate pair, and returns its rune.
func (s *Scanner) escape() (rune, error) {
	s.pos++ // the backslash
	if !s.has(1) {
		return 0, s.ends("inside a string")
	}
	c := s.buf[s.pos]
	if i := strings.IndexByte(escapes, c); i >= 0 {
		s.pos++
		return rune(escaped[i]), nil
	}
	if c != 'u' {
		return 0, s.unexpected(c, "after a backslash in a string")
	}
	s.pos++
	r, err := s.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if s.has(1) && s.buf[s.pos] == '\\' && s.has(2) && s.buf[s.pos+1] == 'u' && s.has(6) {
		// A second escape that makes no pair stays unread: the next call reads it.
		second, err := strconv.ParseUint(string(s.buf[s.pos+2:s.pos+6]), 16, 16)
		if pair := utf16.DecodeRune(r, rune(second)); err == nil && pair != utf8.RuneError {
			s.pos += 6
			return pair, nil
		}
	}
	return utf8.RuneError, nil
}

// hex4 consumes four hexadecimal digits.
func (s *Scanner) hex4() (r rune, err error) {
	for range 4 {
		if !s.has(1) {
			return 0, s.ends("inside a string")
		}
		i := strings.IndexByte("0123456789abcdefABCDEF", s.buf[s.pos])
		if i < 0 {
			return 0, s.unexpected(s.buf[s.pos], `in a \u escape`)
		}
		if i > 15 {
			i -= 6
		}
		r = r<<4 | rune(i)
		s.pos++
	}
	return r, nil
}
