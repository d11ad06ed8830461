package parquetread

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// A File is all of a file.
type File struct {
	Names  []string
	Types  []string // BOOLEAN, INT64, DOUBLE or UTF8
	Rows   [][]any  // nil, bool, int64, float64 or string
	Groups []int64  // the bytes of each row group before they are compressed
}

// Read reads a file.
func Read(data []byte) (f File, err error) {
	defer func() {
		if p := recover(); p != nil { // an index beyond the end, or another type than is expected
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	n := len(data)
	if n < 12 || string(data[:4]) != "PAR1" || string(data[n-4:]) != "PAR1" {
		return f, errors.New("does not begin and end like Parquet")
	}
	size := int(binary.LittleEndian.Uint32(data[n-8:]))
	meta := &compact{data[n-8-size : n-8]}
	footer := meta.object()
	if len(meta.b) > 0 {
		return f, errors.New("bytes behind the footer")
	}
	r := reader{data: data[:n-8-size], next: 4}
	schema := footer[2].([]any)
	if root := schema[0].(fields); root[5].(int64) != int64(len(schema)-1) {
		return f, errors.New("another number of columns")
	}
	for _, s := range schema[1:] {
		c := s.(fields)
		name := map[int64]string{0: "BOOLEAN", 2: "INT64", 5: "DOUBLE", 6: "bytes"}[c[1].(int64)]
		if utf, is := c[6]; is && utf.(int64) == 0 && name == "bytes" {
			name = "UTF8"
		}
		if c[3].(int64) != 1 {
			return f, errors.New("a column is not optional")
		}
		f.Names, f.Types = append(f.Names, string(c[4].([]byte))), append(f.Types, name)
	}
	for _, g := range footer[4].([]any) {
		if err := r.group(&f, g.(fields)); err != nil {
			return f, err
		}
	}
	if int64(len(f.Rows)) != footer[3].(int64) || r.next != len(r.data) {
		return f, errors.New("another number of rows, or bytes that no column has")
	}
	return f, nil
}

// A reader reads pages, one behind the other.
type reader struct {
	data []byte
	next int
}

// group adds the rows of a row group.
func (r *reader) group(f *File, g fields) error {
	first, rows := len(f.Rows), int(g[3].(int64))
	for range rows {
		f.Rows = append(f.Rows, make([]any, len(f.Names)))
	}
	var sum int64
	for i, c := range g[1].([]any) {
		m := c.(fields)[3].(fields)
		if path := m[3].([]any); len(path) != 1 || string(path[0].([]byte)) != f.Names[i] || m[4].(int64) != 6 || m[5].(int64) != int64(rows) {
			return fmt.Errorf("column %d of another name, codec or length", i)
		}
		if m[9].(int64) != int64(r.next) || c.(fields)[2].(int64) != int64(r.next) {
			return fmt.Errorf("%s does not stand behind the column before", f.Names[i])
		}
		values, raw, packed, err := r.page(rows, f.Types[i])
		if err != nil {
			return fmt.Errorf("%s: %w", f.Names[i], err)
		}
		if m[6].(int64) != raw || m[7].(int64) != packed {
			return fmt.Errorf("%s has %d and %d bytes", f.Names[i], raw, packed)
		}
		sum += raw
		for k, v := range values {
			f.Rows[first+k][i] = v
		}
	}
	if g[2].(int64) != sum {
		return errors.New("a row group of another size")
	}
	f.Groups = append(f.Groups, sum)
	return nil
}

// page reads a page, and returns its bytes with its header, before and after they were compressed.
func (r *reader) page(rows int, kind string) (values []any, raw, packed int64, err error) {
	from := &compact{r.data[r.next:]}
	head := from.object()
	begin := r.next
	r.next = len(r.data) - len(from.b)
	header := int64(r.next - begin)
	size, length := head[2].(int64), head[3].(int64)
	in := head[5].(fields)
	if head[1].(int64) != 0 || in[1].(int64) != int64(rows) || in[2].(int64) != 0 || in[3].(int64) != 3 {
		return nil, 0, 0, errors.New("another page")
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, 0, 0, err
	}
	defer dec.Close()
	page, err := dec.DecodeAll(r.data[r.next:r.next+int(length)], nil)
	if err != nil || int64(len(page)) != size {
		return nil, 0, 0, fmt.Errorf("%d bytes, not %d: %w", len(page), size, err)
	}
	r.next += int(length)
	values, err = decode(page, rows, kind)
	return values, header + size, header + length, err
}

// decode reads the levels and values of a page.
func decode(page []byte, rows int, kind string) (values []any, err error) {
	levels, rest := page[4:4+binary.LittleEndian.Uint32(page)], page[4+binary.LittleEndian.Uint32(page):]
	run, n := binary.Uvarint(levels)
	if levels = levels[n:]; run&1 != 1 || int(run>>1) != len(levels) || len(levels) != (rows+7)/8 {
		return nil, errors.New("levels are not one bit-packed run")
	}
	bools := 0
	for i := range rows {
		if levels[i/8]>>(i%8)&1 == 0 {
			values = append(values, nil)
			continue
		}
		switch kind {
		case "BOOLEAN":
			values = append(values, rest[bools/8]>>(bools%8)&1 == 1)
			bools++
		case "INT64":
			values, rest = append(values, int64(binary.LittleEndian.Uint64(rest))), rest[8:]
		case "DOUBLE":
			values, rest = append(values, math.Float64frombits(binary.LittleEndian.Uint64(rest))), rest[8:]
		default:
			size := 4 + binary.LittleEndian.Uint32(rest)
			text := string(rest[4:size])
			if !utf8.ValidString(text) {
				return nil, fmt.Errorf("%q is not UTF-8", text)
			}
			values, rest = append(values, text), rest[size:]
		}
	}
	if len(rest) != (bools+7)/8 {
		return nil, errors.New("bytes behind the values")
	}
	return values, nil
}
