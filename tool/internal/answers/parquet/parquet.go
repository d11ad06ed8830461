// Package parquet writes a table as a Parquet file: one page a column in each row group, values PLAIN, columns
// optional, compressed with zstd.
//
// The footer is written by [Writer.Close]: a file that is cut is none. Memory is bounded by the size of a row group.
// A Writer belongs to one goroutine.
package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// groupBytes end a row group: the bytes of its values before they are compressed.
const groupBytes = 8 << 20

// ErrRange is a number that INT64 does not hold.
var ErrRange = errors.New("a number above 9223372036854775807, which INT64 does not hold")

// A Kind is the type of a value.
type Kind uint8

// The kinds. Int and Uint are INT64 in a file.
const (
	Null Kind = iota // no value
	Bool
	Int
	Uint
	Float
	Text
)

// A Value is a cell. The zero Value is Null.
type Value struct {
	Kind Kind
	Bits uint64 // of a number, 1 of true
	Text string // in a file, bytes that are not UTF-8 become U+FFFD
}

// A Column is the name of a column, and the Kind of its values.
type Column struct {
	Name string
	Kind Kind
}

// A Writer writes rows. Write and Close return the first error of the file.
type Writer struct {
	w       io.Writer
	err     error
	at      int64 // bytes written
	zstd    *zstd.Encoder
	columns []column
	size    int64 // bytes of values in the open row group
	rows    int64 // in the open row group
	total   int64 // rows
	groups  []group
}

// A column holds its page of the open row group.
type column struct {
	Column
	there  []byte // a bit for each row that has a value
	values []byte
	bools  int // values of type Bool
}

// A group is a row group in the file.
type group struct {
	rows   int64
	chunks []chunk
}

// A chunk is a column of a group: its place, and its bytes with their header.
type chunk struct{ at, raw, packed int64 }

// NewWriter begins a file.
func NewWriter(w io.Writer, columns []Column) *Writer {
	p := &Writer{w: w}
	p.zstd, p.err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	for _, c := range columns {
		p.columns = append(p.columns, column{Column: c})
	}
	p.write([]byte(magic))
	return p
}

const magic = "PAR1"

func (p *Writer) write(b []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
		p.at += int64(len(b))
	}
}

// Fits reports ErrRange if a value is a number that INT64 does not hold.
func Fits(row []Value) error {
	for _, v := range row {
		if v.Kind == Uint && v.Bits > math.MaxInt64 {
			return ErrRange
		}
	}
	return nil
}

// Write adds a row, which fits. It has a value for each column, of its Kind or Null.
func (p *Writer) Write(row []Value) error {
	for i := range p.columns {
		before := len(p.columns[i].values)
		p.columns[i].add(p.rows, row[i])
		p.size += int64(len(p.columns[i].values) - before)
	}
	if p.rows++; p.size >= groupBytes {
		p.flush()
	}
	return p.err
}

// add adds the value of a row.
func (c *column) add(row int64, v Value) {
	if row%8 == 0 {
		c.there = append(c.there, 0)
	}
	if v.Kind == Null {
		return
	}
	c.there[row/8] |= 1 << (row % 8)
	switch c.Kind {
	case Bool:
		if c.bools%8 == 0 {
			c.values = append(c.values, 0)
		}
		c.values[c.bools/8] |= byte(v.Bits) << (c.bools % 8)
		c.bools++
	case Text:
		text := strings.ToValidUTF8(v.Text, "\uFFFD")
		c.values = append(binary.LittleEndian.AppendUint32(c.values, uint32(len(text))), text...)
	default:
		c.values = binary.LittleEndian.AppendUint64(c.values, v.Bits)
	}
}

// page returns the levels of a column, which are one bit-packed run, and its values.
func (c *column) page() []byte {
	run := append(binary.AppendUvarint(nil, uint64(len(c.there))<<1|1), c.there...)
	page := binary.LittleEndian.AppendUint32(nil, uint32(len(run)))
	return append(append(page, run...), c.values...)
}

// flush writes the open row group.
func (p *Writer) flush() {
	if p.rows == 0 {
		return
	}
	g := group{rows: p.rows}
	for i := range p.columns {
		c := &p.columns[i]
		raw := c.page()
		var packed []byte
		if p.err == nil {
			packed = p.zstd.EncodeAll(raw, nil)
		}
		head := pageHeader(p.rows, len(raw), len(packed))
		g.chunks = append(g.chunks, chunk{p.at, int64(len(head) + len(raw)), int64(len(head) + len(packed))})
		p.write(head)
		p.write(packed)
		c.there, c.values, c.bools = c.there[:0], c.values[:0], 0
	}
	p.groups = append(p.groups, g)
	p.total += p.rows
	p.rows, p.size = 0, 0
}

// Close writes the rest of the file.
func (p *Writer) Close() error {
	p.flush()
	footer := p.footer()
	p.write(footer)
	p.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	p.write([]byte(magic))
	return p.err
}
