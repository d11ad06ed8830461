package jsonobject

// A Span is a part of the bytes at hand. The zero Span is nothing: a value is
// never empty.
type Span struct{ Start, End int }

// A cursor walks through bytes that are known to be one JSON value, so it checks
// nothing. It stands before a value at the start, after next and after key.
type cursor struct {
	b []byte
	i int
}

func (c *cursor) space() byte {
	for c.b[c.i] <= ' ' {
		c.i++
	}
	return c.b[c.i]
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
func (c *cursor) key() Span {
	key := c.value()
	c.space()
	c.i++
	return key
}

// value returns the next value and passes it.
func (c *cursor) value() Span {
	c.space()
	start := c.i
	for depth := 0; c.i < len(c.b); {
		switch b := c.b[c.i]; {
		case b == '"':
			c.str()
			continue
		case b == '{' || b == '[':
			depth++
		case depth == 0 && (b <= ' ' || b == ',' || b == ':' || b == '}' || b == ']'):
			return Span{start, c.i}
		case b == '}' || b == ']':
			depth--
		}
		c.i++
	}
	return Span{start, c.i}
}

// str passes a string.
func (c *cursor) str() {
	for c.i++; ; c.i += 2 { // an escape begins with two bytes
		if c.i += plain(c.b[c.i:]); c.b[c.i] == '"' {
			c.i++
			return
		}
	}
}
