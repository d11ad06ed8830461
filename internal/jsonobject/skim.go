package jsonobject

import (
	"encoding/binary"
	"math/bits"
)

// margin is how many bytes lie before skim when it looks at a token.
const margin = 16

// skim passes tokens, eight bytes at a time, while they are simple and wholly in the
// buffer, and returns what belongs next. It refuses nothing and reads nothing: a fraction,
// a \u escape, a carriage return, a fault and the end of the buffer are left to take, which
// looks at each byte and knows what is wrong. So what skim passes has to be right, and
// need not be all that is.
func (s *Scanner) skim(next step, outer int) step {
	if s.err != nil || !s.started || s.cr {
		return next
	}
	b, i, object := s.buf[:s.end], s.pos, s.inObject()
	for len(b)-i >= margin {
		c := b[i]
		if c <= ' ' {
			if next == anEnd && s.depth == outer { // what follows a value is not part of it
				break
			}
			n := s.blank(b[i:])
			if n == 0 {
				break
			}
			i += n
			continue
		}
		if next == anEnd || next == aFirst {
			if c == ',' && next == anEnd && s.depth > outer {
				i, next = i+1, another(object)
				continue
			}
			if (c == '}' && object || c == ']' && !object) && s.depth > outer {
				s.depth--
				i, next, object = i+1, anEnd, s.inObject()
				continue
			}
			if next == anEnd {
				break
			}
			next = another(object)
		}
		if next == aKey {
			i += members(b[i:])
			n := quoted(b[i:])
			if n == 0 || len(b)-i-n < margin || b[i+n] != ':' {
				break
			}
			i, next = i+n+1, aValue
			if c = b[i]; c <= ' ' {
				continue
			}
		}
		if (c == '{' || c == '[') && s.depth < MaxDepth {
			object = c == '{'
			s.nest(object)
			i, next = i+1, aFirst
			continue
		}
		n := simple(b[i:])
		if n == 0 {
			break
		}
		i, next = i+n, anEnd
	}
	s.pos = i
	return next
}

// blank returns the number of blanks and line feeds at the start of b, and counts lines.
// It is called with white space there, and returns 0 if that is of another kind.
func (s *Scanner) blank(b []byte) (n int) {
	for n < len(b) {
		switch b[n] {
		case ' ':
			n += blanks(b[n:])
		case '\n':
			s.line++
			n++
		default:
			return n
		}
	}
	return n
}

// simple returns the length of the text, whole number or literal at the start of b, which
// has a margin; 0 if there is no such thing, or not all of it.
func simple(b []byte) int {
	const (
		yes    = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
		no     = 'a' | 'l'<<8 | 's'<<16 | 'e'<<24
		absent = 'n' | 'u'<<8 | 'l'<<16 | 'l'<<24
	)
	switch c := b[0]; {
	case c == '"':
		return quoted(b)
	case c-'0' < 10, c == '-':
		return whole(b)
	case c == 't' && binary.LittleEndian.Uint32(b) == yes, c == 'n' && binary.LittleEndian.Uint32(b) == absent:
		return 4
	case c == 'f' && binary.LittleEndian.Uint32(b[1:]) == no:
		return 5
	}
	return 0
}

// quoted returns the length of the string at the start of b, with its quotes; 0 if there is
// none, or not all of it.
func quoted(b []byte) int {
	if b[0] != '"' {
		return 0
	}
	for i := 1; len(b)-i >= 8; {
		hit := special(binary.LittleEndian.Uint64(b[i:]))
		if hit == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(hit) / 8
		if b[i] == '"' {
			return i + 1
		}
		if b[i] != '\\' || i+1 == len(b) || !letter(b[i+1]) {
			return 0
		}
		i += 2
	}
	return 0
}

// letter reports whether c, after a backslash, is all of an escape.
func letter(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// whole returns the length of the whole number at the start of b, which begins with a
// digit or a minus; 0 if there is none, or not all of it.
func whole(b []byte) int {
	first := 0
	if b[0] == '-' {
		first = 1
	}
	for i := first; len(b)-i > 8; i += 8 {
		hit := digits(binary.LittleEndian.Uint64(b[i:]))
		if hit == 0 {
			continue
		}
		i += bits.TrailingZeros64(hit) / 8
		switch c := b[i]; {
		case i == first, b[first] == '0' && i > first+1, c == '.', c|' ' == 'e':
			return 0
		}
		return i
	}
	return 0
}

// digits looks for what is no digit in eight bytes: the lowest top bit that is set is exact.
func digits(x uint64) uint64 {
	x ^= ones * '0' // digits become 0 to 9; more than that sets the top bit of its byte, or has it
	return (x + ones*(0x80-10) | x) & tops
}

// members returns the length of the members at the start of b like `"a":1,"b":"c",`, after
// which another key belongs. Most of a report is rows of them, written without blanks or
// with one. Keys and texts of at most 15 bytes and numbers of at most 7 digits are passed;
// others end it.
func members(b []byte) (length int) {
	for len(b)-length >= 64 {
		w := (*[64]byte)(b[length:])
		n := short(w, 0)
		if n == 0 || w[n&63] != ':' {
			return length
		}
		if n++; w[n&63] == ' ' {
			n++
		}
		x := binary.LittleEndian.Uint64(w[n&31:])
		if c := byte(x); c == '"' {
			if n = short(w, n); n == 0 {
				return length
			}
		} else {
			end := guess(digits(x))
			if end == 0 || end == 8 || c == '0' && end > 1 {
				return length
			}
			n += end
		}
		if w[n&63] != ',' {
			return length
		}
		if n++; w[n&63] == ' ' {
			n++
		}
		length += n
	}
	return length
}

// short returns where a string ends that begins at w[n], if it has at most 15 bytes and
// nothing to look at; 0 otherwise. n is at most 31.
func short(w *[64]byte, n int) int {
	n &= 31
	if w[n] != '"' {
		return 0
	}
	n++
	hit := special(binary.LittleEndian.Uint64(w[n:]))
	if hit == 0 {
		n += 8
		hit = special(binary.LittleEndian.Uint64(w[n:]))
	}
	if n += guess(hit); w[n&63] != '"' {
		return 0
	}
	return n + 1
}

// guess returns the number of bytes below the lowest top bit that is set, 8 if none is.
// Lengths of rows repeat: in a switch the processor guesses them from those before and goes
// on to what follows, where a sum would make it wait for this one. That is twice as fast.
func guess(hit uint64) int {
	switch bits.TrailingZeros64(hit) / 8 {
	case 0:
		return 0
	case 1:
		return 1
	case 2:
		return 2
	case 3:
		return 3
	case 4:
		return 4
	case 5:
		return 5
	case 6:
		return 6
	case 7:
		return 7
	}
	return 8
}
