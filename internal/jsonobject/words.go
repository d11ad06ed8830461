package jsonobject

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// Each byte's lowest bit, and its highest.
const ones, tops = 0x0101010101010101, 0x8080808080808080

// simple returns how much of a string can be passed, from between its quotes up to what needs
// a closer look: the closing quote, a \u escape, a fault, the end of b.
func simple(b []byte) (n int) {
	for len(b)-n >= 8 {
		hit := special(binary.LittleEndian.Uint64(b[n:]))
		if hit == 0 {
			n += 8
			continue
		}
		n += bits.TrailingZeros64(hit) / 8
		if b[n] != '\\' || n+1 == len(b) || strings.IndexByte(escapes, b[n+1]) < 0 {
			return n
		}
		n += 2
	}
	return n + plain(b[n:])
}

// whole returns the length of the whole number at the start of b; 0 if there is none, or not all of it.
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

// digits marks bytes other than digits among eight: the lowest top bit that is set is exact.
func digits(x uint64) uint64 {
	x ^= ones * '0' // digits become 0 to 9; more than that sets the top bit of its byte, or has it
	return (x + ones*(0x80-10) | x) & tops
}

// members returns the length of the members at the start of b like `"a":1,"b":"c",`, after
// which another key belongs, and the lines that end in them. Most of a report is rows of
// them, written without blanks or with one: of objects in an array, rows, it passes `},{`
// too. Keys and texts of at most 15 bytes and numbers of at most 7 digits are passed; others
// end it.
func members(b []byte, rows bool) (length int, lines int64) {
	for len(b)-length >= 64 {
		w := (*[64]byte)(b[length:])
		n := short(w, 0, 2)
		if n == 0 || w[n&63] != ':' {
			return length, lines
		}
		if n++; w[n&63] == ' ' {
			n++
		}
		x := binary.LittleEndian.Uint64(w[n&31:])
		switch c := byte(x); {
		case c == '"':
			if n = short(w, n, 4); n == 0 {
				return length, lines
			}
		case uint16(x) == '['|']'<<8:
			n += 2
		default:
			end := guess(digits(x))
			if end == 0 || end == 8 || c == '0' && end > 1 {
				return length, lines
			}
			n += end
		}
		switch {
		case w[n&63] == ',':
			if n++; w[n&63] == ' ' {
				n++
			}
		case rows && bytes.HasPrefix(w[n:], []byte(`},{"`)):
			n += 3
		case rows && bytes.HasPrefix(w[n:], []byte(`}, {"`)):
			n += 4
		case rows && bytes.HasPrefix(w[n:], []byte("},\n{\"")):
			n += 4
			lines++
		default:
			return length, lines
		}
		length += n
	}
	return length, lines
}

// short returns where a string ends that begins at w[n], if it needs no further check and ends
// in so many words of 8 bytes; 0 otherwise. n is at most 31, words at most 4.
func short(w *[64]byte, n, words int) int {
	n &= 31
	if w[n] != '"' {
		return 0
	}
	n++
	hit := special(binary.LittleEndian.Uint64(w[n:]))
	for ; hit == 0 && words > 1; words-- {
		n += 8
		hit = special(binary.LittleEndian.Uint64(w[n&63:]))
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

// plain returns the length of the longest start of b without a quote, a backslash or a
// control character.
func plain(b []byte) int {
	i := 0
	for ; len(b)-i >= 8; i += 8 {
		if hit := special(binary.LittleEndian.Uint64(b[i:])); hit != 0 {
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

// special marks quotes, backslashes and control characters among eight bytes. In each of the three
// differences below a byte's top bit is set if the byte matches, and may be set above a matching
// byte. So the lowest top bit that is set is exact, and 0 is too.
func special(x uint64) uint64 {
	quote, slash := x^ones*'"', x^ones*'\\'
	return ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops
}

// blanks returns the number of blanks at the start of b.
func blanks(b []byte) (n int) {
	for len(b)-n >= 8 && binary.LittleEndian.Uint64(b[n:]) == ones*' ' {
		n += 8
	}
	for n < len(b) && b[n] == ' ' {
		n++
	}
	return n
}
