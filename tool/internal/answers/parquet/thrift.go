package parquet

import "encoding/binary"

// A thrift writes structs in the compact protocol of Thrift, in which Parquet has its headers.
type thrift struct {
	out  []byte
	last []int16 // field of each open struct
}

// The types of fields.
const (
	typeI32    = 5
	typeI64    = 6
	typeBinary = 8
	typeList   = 9
	typeStruct = 12
)

func (t *thrift) begin() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.last = t.last[:len(t.last)-1]
	t.out = append(t.out, 0)
}

// field begins a field. Its number is at most 15 above the last number.
func (t *thrift) field(id int16, kind byte) {
	top := &t.last[len(t.last)-1]
	t.out = append(t.out, byte(id-*top)<<4|kind)
	*top = id
}

func (t *thrift) number(v int64) { t.out = binary.AppendVarint(t.out, v) }

func (t *thrift) text(s string) {
	t.out = append(binary.AppendUvarint(t.out, uint64(len(s))), s...)
}

func (t *thrift) i32(id int16, v int64) {
	t.field(id, typeI32)
	t.number(v)
}

func (t *thrift) i64(id int16, v int64) {
	t.field(id, typeI64)
	t.number(v)
}

func (t *thrift) object(id int16) {
	t.field(id, typeStruct)
	t.begin()
}

// list begins a list of n elements.
func (t *thrift) list(id int16, kind byte, n int) {
	t.field(id, typeList)
	if n < 15 {
		t.out = append(t.out, byte(n)<<4|kind)
		return
	}
	t.out = binary.AppendUvarint(append(t.out, 0xf0|kind), uint64(n))
}

// physical returns the type of the values of a kind in a file: BOOLEAN, INT64, DOUBLE or BYTE_ARRAY.
func physical(k Kind) int64 { return [...]int64{Bool: 0, Int: 2, Uint: 2, Float: 5, Text: 6}[k] }

// pageHeader is a PageHeader.
func pageHeader(rows int64, raw, packed int) []byte {
	var t thrift
	t.begin()
	t.i32(1, 0) // a data page
	t.i32(2, int64(raw))
	t.i32(3, int64(packed))
	t.object(5)
	t.i32(1, rows)
	t.i32(2, 0) // PLAIN
	t.i32(3, 3) // RLE, of definition levels
	t.i32(4, 3) // RLE, of repetition levels
	t.end()
	t.end()
	return t.out
}

// footer is the FileMetaData.
func (p *Writer) footer() []byte {
	var t thrift
	t.begin()
	t.i32(1, 1) // the version
	t.list(2, typeStruct, len(p.columns)+1)
	t.begin()
	t.field(4, typeBinary)
	t.text("schema")
	t.i32(5, int64(len(p.columns)))
	t.end()
	for i := range p.columns {
		t.begin()
		t.i32(1, physical(p.columns[i].Kind))
		t.i32(3, 1) // optional
		t.field(4, typeBinary)
		t.text(p.columns[i].Name)
		if p.columns[i].Kind == Text {
			t.i32(6, 0) // UTF8
		}
		t.end()
	}
	t.i64(3, p.total)
	t.list(4, typeStruct, len(p.groups))
	for _, g := range p.groups {
		p.rowGroup(&t, g)
	}
	t.field(6, typeBinary)
	t.text("cbl1") // the writer
	t.end()
	return t.out
}

// rowGroup adds a RowGroup with its ColumnChunks.
func (p *Writer) rowGroup(t *thrift, g group) {
	var raw int64
	t.begin()
	t.list(1, typeStruct, len(g.chunks))
	for i, k := range g.chunks {
		raw += k.raw
		t.begin()
		t.i64(2, k.at)
		t.object(3)
		t.i32(1, physical(p.columns[i].Kind))
		t.list(2, typeI32, 2)
		t.number(0) // PLAIN
		t.number(3) // RLE
		t.list(3, typeBinary, 1)
		t.text(p.columns[i].Name)
		t.i32(4, 6) // zstd
		t.i64(5, g.rows)
		t.i64(6, k.raw)
		t.i64(7, k.packed)
		t.i64(9, k.at)
		t.end()
		t.end()
	}
	t.i64(2, raw)
	t.i64(3, g.rows)
	t.end()
}
