package jsonobject

import "bytes"

// A span is a part of the bytes at hand. The zero span is nothing: a value is
// never empty.
type span struct{ start, end int }

// A cursor walks through bytes that are known to be one JSON value, so it checks
// nothing. It stands before a value at the start, after next and after key.
type cursor struct {
	b []byte
	i int
}

func (c *cursor) space() byte {
	for ; ; c.i++ {
		switch b := c.b[c.i]; b {
		case ' ', '\t', '\r', '\n':
		default:
			return b
		}
	}
}

// enter goes into the next value if it is of the kind that opens with bracket.
func (c *cursor) enter(bracket byte) bool {
	if c.space() != bracket {
		return false
	}
	c.i++
	return true
}

// next reports whether another element or member follows in the container that
// was entered; if not, it has left it.
func (c *cursor) next() bool {
	switch c.space() {
	case ']', '}':
		c.i++
		return false
	case ',':
		c.i++
	}
	return true
}

// key returns the key of a member, with its quotes, and passes the colon.
func (c *cursor) key() span {
	key := c.value()
	c.space()
	c.i++
	return key
}

// value returns the next value and passes it.
func (c *cursor) value() span {
	first := c.space()
	start := c.i
	switch first {
	case '"':
		c.str()
	case '{', '[':
		for depth := 0; ; {
			switch c.b[c.i] {
			case '"':
				c.str()
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			c.i++
			if depth == 0 {
				break
			}
		}
	default:
		for c.i < len(c.b) && !ends(c.b[c.i]) {
			c.i++
		}
	}
	return span{start, c.i}
}

// ends reports whether b cannot be part of a number or literal.
func ends(b byte) bool {
	switch b {
	case ' ', '\t', '\r', '\n', ',', ']', '}':
		return true
	}
	return false
}

// str passes a string.
func (c *cursor) str() {
	c.i++
	for {
		open := c.i
		c.i += bytes.IndexByte(c.b[c.i:], '"')
		slashes := c.i
		for slashes > open && c.b[slashes-1] == '\\' {
			slashes--
		}
		c.i++
		if (c.i-1-slashes)%2 == 0 {
			return
		}
	}
}

// hasEscape reports whether the inside of a string has an escape.
func hasEscape(text []byte) bool { return bytes.IndexByte(text, '\\') >= 0 }
