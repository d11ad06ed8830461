package jsonobject

import (
	"encoding/binary"
	"math/bits"
)

// A step is what belongs next inside a value.
type step uint8

const (
	aValue step = iota
	aFirst      // the first element or key, or the end of what was just opened
	aKey
	anEnd // of a value: a comma, a closing bracket, or nothing more
)

// another returns what follows a comma.
func another(object bool) step {
	if object {
		return aKey
	}
	return aValue
}

// value consumes one value. It keeps its place in s.stack and not on Go's.
func (s *Scanner) value() error {
	outer := s.depth
	for next := aValue; ; {
		if next = s.skim(next, outer); next == anEnd && s.depth == outer {
			return nil
		}
		c, ok := s.space()
		if !ok {
			return s.ends(next.where(s))
		}
		var err error
		if next, err = s.take(next, c); err != nil {
			return err
		}
	}
}

// where says where the input ends.
func (next step) where(s *Scanner) string {
	switch next {
	case aValue:
		return "where a value belongs"
	case aKey:
		return "where a key belongs"
	}
	return "inside " + s.inside()
}

// take consumes what begins with c, up to the next step.
func (s *Scanner) take(next step, c byte) (step, error) {
	if next == aFirst && c != s.closer() {
		next = another(s.inObject())
	}
	switch next {
	case aKey:
		if err := s.quote(); err != nil {
			return 0, err
		}
		if err := s.str(); err != nil {
			return 0, err
		}
		return aValue, s.colon()
	case aValue:
		return s.token(c)
	}
	switch {
	case c == s.closer():
		s.pos++
		s.depth--
		return anEnd, nil
	case c != ',':
		return 0, s.unexpected(c, "after a value in "+s.inside())
	}
	s.pos++
	return another(s.inObject()), nil
}

// token consumes a value without what is in it.
func (s *Scanner) token(c byte) (step, error) {
	switch c {
	case '"':
		s.pos++
		return anEnd, s.str()
	case '{', '[':
		return aFirst, s.push(c == '{')
	case 't':
		return anEnd, s.literal("true")
	case 'f':
		return anEnd, s.literal("false")
	case 'n':
		return anEnd, s.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return anEnd, s.number(c)
	}
	return 0, s.unexpected(c, "where a value belongs")
}

// quote consumes the quote that opens a key.
func (s *Scanner) quote() error {
	c, ok := s.space()
	switch {
	case !ok:
		return s.ends("where a key belongs")
	case c != '"':
		return s.unexpected(c, "where a key belongs")
	}
	s.pos++
	return nil
}

func (s *Scanner) colon() error {
	c, ok := s.space()
	switch {
	case !ok:
		return s.ends("after a key")
	case c != ':':
		return s.unexpected(c, "after a key")
	}
	s.pos++
	return nil
}

// space consumes white space, counts lines, and returns the byte that follows
// without consuming it.
func (s *Scanner) space() (byte, bool) {
	if s.err != nil {
		return 0, false
	}
	if !s.started {
		s.start()
	}
	for {
		for b := s.buf[:s.end]; s.pos < len(b); {
			switch c := b[s.pos]; c {
			case ' ':
				s.pos += blanks(b[s.pos:])
				s.cr = false
			case '\n':
				if !s.cr {
					s.line++
				}
				s.cr = false
				s.pos++
			case '\r':
				s.line++
				s.cr = true
				s.pos++
			case '\t':
				s.cr = false
				s.pos++
			default:
				s.cr = false
				return c, true
			}
		}
		if !s.fill() {
			return 0, false
		}
	}
}

// blanks returns the number of blanks at the start of b, of which there is one.
func blanks(b []byte) int {
	n := 1
	for len(b)-n >= 8 && binary.LittleEndian.Uint64(b[n:]) == 0x2020202020202020 {
		n += 8
	}
	for n < len(b) && b[n] == ' ' {
		n++
	}
	return n
}

// peek returns the next byte, white space or not, without consuming it.
func (s *Scanner) peek() (byte, bool) {
	if s.pos == s.end && !s.fill() {
		return 0, false
	}
	return s.buf[s.pos], true
}

// str consumes a string after its opening quote.
func (s *Scanner) str() error {
	for {
		s.pos += plain(s.buf[s.pos:s.end])
		c, ok := s.peek()
		switch {
		case !ok:
			return s.ends("inside a string")
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if _, _, err := s.escape(); err != nil {
				return err
			}
		case c < ' ':
			return s.unexpected(c, "inside a string")
		}
	}
}

// plain returns the length of the longest start of b without a quote, a backslash
// or a control character. It looks at eight bytes at a time: in each of the three
// differences below a byte's top bit is set if the byte is (or, above such a one,
// may be) what is looked for, so the lowest top bit is exact.
func plain(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(b)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^ones*'"', x^ones*'\\'
		hit := ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

// Each byte's lowest bit, and its highest.
const ones, tops = 0x0101010101010101, 0x8080808080808080

// special looks for quotes, backslashes and control characters in eight bytes. In each of
// the three differences below a byte's top bit is set if the byte is (or, above such a one,
// may be) what is looked for, so the lowest top bit that is set is exact, and 0 is too.
func special(x uint64) uint64 {
	quote, slash := x^ones*'"', x^ones*'\\'
	return ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops
}

// escape consumes an escape sequence and returns what it stands for. It reports
// whether that is a UTF-16 code unit, which may be half of a surrogate pair.
func (s *Scanner) escape() (r rune, unit bool, err error) {
	s.pos++ // the backslash
	c, ok := s.peek()
	if !ok {
		return 0, false, s.ends("inside a string")
	}
	r = rune(c)
	switch c {
	case '"', '\\', '/':
	case 'b':
		r = '\b'
	case 'f':
		r = '\f'
	case 'n':
		r = '\n'
	case 'r':
		r = '\r'
	case 't':
		r = '\t'
	case 'u':
		s.pos++
		r, err = s.hex4()
		return r, true, err
	default:
		return 0, false, s.unexpected(c, "after a backslash in a string")
	}
	s.pos++
	return r, false, nil
}

// hex4 consumes four hexadecimal digits.
func (s *Scanner) hex4() (rune, error) {
	var r rune
	for range 4 {
		c, ok := s.peek()
		if !ok {
			return 0, s.ends("inside a string")
		}
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, s.unexpected(c, `in a \u escape`)
		}
		r = r<<4 | rune(c)
		s.pos++
	}
	return r, nil
}

// literal consumes true, false or null.
func (s *Scanner) literal(word string) error {
	for i := range len(word) {
		c, ok := s.peek()
		switch {
		case !ok:
			return s.ends("inside %q", word)
		case c != word[i]:
			return s.unexpected(c, `in "`+word+`"`)
		}
		s.pos++
	}
	return nil
}

// number consumes a number that begins with c, however long.
func (s *Scanner) number(c byte) error {
	if c == '-' {
		s.pos++
	}
	// A leading zero is the whole integer part: a digit after it is refused by
	// whoever wants a comma.
	if first, _ := s.peek(); first == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if c, _ := s.peek(); c == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if c, _ := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c, _ := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return nil
}

// digits consumes one or more digits.
func (s *Scanner) digits() error {
	c, ok := s.peek()
	switch {
	case !ok:
		return s.ends("inside a number")
	case c < '0' || c > '9':
		return s.unexpected(c, "in a number")
	}
	for {
		b := s.buf[s.pos:s.end]
		i := 0
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		s.pos += i
		if i < len(b) || !s.fill() {
			return nil
		}
	}
}
