package parquetread

import (
	"encoding/binary"
	"fmt"
)

// fields are the members of a struct, by number.
type fields map[int64]any

// A compact reads the compact protocol of Thrift.
type compact struct{ b []byte }

func (c *compact) byte() byte {
	first := c.b[0]
	c.b = c.b[1:]
	return first
}

func (c *compact) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	c.b = c.b[n:]
	return v
}

func (c *compact) varint() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// object reads a struct.
func (c *compact) object() fields {
	out := fields{}
	id := int64(0)
	for {
		head := c.byte()
		if head == 0 {
			return out
		}
		if step := int64(head >> 4); step > 0 {
			id += step
		} else {
			id = c.varint()
		}
		out[id] = c.value(head & 15)
	}
}

// value reads a value of a type.
func (c *compact) value(kind byte) any {
	switch kind {
	case 5, 6:
		return c.varint()
	case 8:
		n := c.uvarint()
		text := c.b[:n]
		c.b = c.b[n:]
		return text
	case 9:
		head := c.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = c.uvarint()
		}
		list := []any{}
		for range n {
			list = append(list, c.value(head&15))
		}
		return list
	case 12:
		return c.object()
	}
	panic(fmt.Sprintf("type %d", kind))
}
