package render

import (
	"encoding"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/answers/parquet"
)

// A column is a member of the JSON in a row: one cell, or a cell for each of its own members. Members of a column
// without a name keep their own names.
type column struct {
	name  string
	value any
}

// A flatTable is rows with equal columns. The columns of empty have the types of a row.
type flatTable struct {
	empty []column
	rows  iter.Seq[[]column]
	first []string // columns that stand before the others
}

// A leaf is a column of one value.
type leaf struct {
	parquet.Column
	member int   // in a row
	path   []int // of fields, from the member on
	cell   func(reflect.Value) parquet.Value
}

// leaves returns the columns of a table. A list of objects and a map are no columns: they are rows of another kind.
func (t flatTable) leaves() (all []leaf) {
	for i, c := range t.empty {
		all = leavesOf(all, leaf{Column: parquet.Column{Name: c.name}, member: i}, reflect.TypeOf(c.value))
	}
	rank := func(l leaf) int {
		if i := slices.Index(t.first, l.Name); i >= 0 {
			return i
		}
		return len(t.first)
	}
	slices.SortStableFunc(all, func(a, b leaf) int { return rank(a) - rank(b) })
	return all
}

// leavesOf adds the columns of a member: itself if it is one value, else its members, with its name before theirs. An
// object without a name adds nothing to them.
func leavesOf(all []leaf, l leaf, typ reflect.Type) []leaf {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[l1.Range]():
		for i, end := range []string{"_start", "_end"} {
			one := l
			one.Name, one.Kind = l.Name+end, parquet.Uint
			one.cell = func(v reflect.Value) parquet.Value {
				if v.Interface() == (l1.Range{}) {
					return parquet.Value{}
				}
				return parquet.Value{Kind: parquet.Uint, Bits: v.Field(i).Uint()}
			}
			all = append(all, one)
		}
	case isCell(typ):
		l.Kind, l.cell = conversion(typ)
		all = append(all, l)
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			if f := typ.Field(i); isColumn(f) {
				one := l
				one.Name, one.path = memberName(l.Name, f), append(slices.Clip(l.path), i)
				all = leavesOf(all, one, f.Type)
			}
		}
	}
	return all
}

// of returns the cell of a member. There is none behind a nil pointer.
func (l leaf) of(v reflect.Value) parquet.Value {
	for i := 0; ; i++ {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return parquet.Value{}
			}
			v = v.Elem()
		}
		if i == len(l.path) {
			return l.cell(v)
		}
		v = v.Field(l.path[i])
	}
}

// each calls do with the cells of each row, in memory that is used again.
func (t flatTable) each(columns []leaf, do func([]parquet.Value) error) error {
	out := make([]parquet.Value, len(columns))
	values := make([]reflect.Value, len(t.empty))
	before, same := make([]any, len(t.empty)), make([]bool, len(t.empty))
	for row := range t.rows {
		for i, c := range row {
			values[i] = reflect.ValueOf(c.value)
			pointer := values[i].Kind() == reflect.Pointer // rows about one device share it
			same[i] = pointer && c.value == before[i]
			if before[i] = nil; pointer {
				before[i] = c.value
			}
		}
		for i, l := range columns {
			if !same[l.member] {
				out[i] = l.of(values[l.member])
			}
		}
		if err := do(out); err != nil {
			return err
		}
	}
	return nil
}

// isMember reports whether JSON has the field.
func isMember(f reflect.StructField) bool {
	return f.Anonymous || f.IsExported() && f.Tag.Get("json") != "-"
}

// isColumn reports whether CSV has the field. A count of what a list leaves out is none without that list.
func isColumn(f reflect.StructField) bool { return isMember(f) && f.Tag.Get("csv") != "-" }

func memberName(name string, f reflect.StructField) string {
	own, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if own == "" || name == "" {
		return name + own
	}
	return name + "_" + own
}

// isCell reports whether a value of JSON is one cell: everything but a map and a list of
// objects.
func isCell(typ reflect.Type) bool {
	switch typ.Kind() {
	case reflect.Struct:
		return typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || typ.Implements(reflect.TypeFor[json.Marshaler]())
	case reflect.Map, reflect.Interface:
		return false
	case reflect.Slice:
		return isCell(typ.Elem())
	}
	return true
}

// conversion returns the kind of a cell, and the function that makes it.
func conversion(typ reflect.Type) (parquet.Kind, func(reflect.Value) parquet.Value) {
	text := func(of func(reflect.Value) string) (parquet.Kind, func(reflect.Value) parquet.Value) {
		return parquet.Text, func(v reflect.Value) parquet.Value { return parquet.Value{Kind: parquet.Text, Text: of(v)} }
	}
	switch {
	case typ.Kind() == reflect.Slice:
		return text(words)
	case typ == reflect.TypeFor[json.Number](): // as it is written: it may have more digits than a float
		return parquet.Text, func(v reflect.Value) parquet.Value { return present(v.String()) }
	case typ == reflect.TypeFor[event.Opt[uint64]]():
		return parquet.Uint, func(v reflect.Value) parquet.Value {
			if o, _ := reflect.TypeAssert[event.Opt[uint64]](v); o.OK {
				return parquet.Value{Kind: parquet.Uint, Bits: o.V}
			}
			return parquet.Value{}
		}
	case typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return text(func(v reflect.Value) string {
			text, _ := v.Interface().(encoding.TextMarshaler).MarshalText() // never fails
			return shown.Visible(string(text))
		})
	case typ.Implements(reflect.TypeFor[json.Marshaler]()):
		return parquet.Text, func(v reflect.Value) parquet.Value {
			text, _ := v.Interface().(json.Marshaler).MarshalJSON()
			return present(strings.Trim(strings.TrimPrefix(string(text), "null"), `"`))
		}
	case typ.Kind() == reflect.String:
		return text(func(v reflect.Value) string { return shown.Visible(clip(v.String())) })
	}
	return number(typ)
}

// number is conversion of numbers and truth values.
func number(typ reflect.Type) (parquet.Kind, func(reflect.Value) parquet.Value) {
	switch {
	case typ.Kind() == reflect.Bool:
		return parquet.Bool, func(v reflect.Value) parquet.Value {
			return parquet.Value{Kind: parquet.Bool, Bits: map[bool]uint64{true: 1}[v.Bool()]}
		}
	case reflect.Zero(typ).CanInt():
		return parquet.Int, func(v reflect.Value) parquet.Value { return parquet.Value{Kind: parquet.Int, Bits: uint64(v.Int())} }
	case reflect.Zero(typ).CanUint():
		return parquet.Uint, func(v reflect.Value) parquet.Value { return parquet.Value{Kind: parquet.Uint, Bits: v.Uint()} }
	}
	return parquet.Float, func(v reflect.Value) parquet.Value {
		return parquet.Value{Kind: parquet.Float, Bits: math.Float64bits(v.Float())}
	}
}

// present returns a text, or no value if it is empty.
func present(text string) parquet.Value {
	if text == "" {
		return parquet.Value{}
	}
	return parquet.Value{Kind: parquet.Text, Text: text}
}

// words returns the elements of a list, with blanks between.
func words(list reflect.Value) string {
	var out []string
	if n := list.Len(); n > 0 {
		_, cell := conversion(list.Type().Elem())
		for i := range n {
			if one, is := reflect.TypeAssert[l1.Range](list.Index(i)); is {
				out = append(out, fmt.Sprintf("%d-%d", one.Start, one.End))
			} else {
				out = append(out, cellText(cell(list.Index(i))))
			}
		}
	}
	return strings.Join(out, " ")
}

// cellText returns a cell as text.
func cellText(v parquet.Value) string {
	switch v.Kind {
	case parquet.Bool:
		return strconv.FormatBool(v.Bits != 0)
	case parquet.Int:
		return strconv.FormatInt(int64(v.Bits), 10)
	case parquet.Uint:
		return strconv.FormatUint(v.Bits, 10)
	case parquet.Float:
		return fmt.Sprint(math.Float64frombits(v.Bits))
	}
	return v.Text
}

// A csvWriter writes rows as CSV.
type csvWriter struct {
	*csv.Writer
	cells []string
}

// Write writes a row. Names in it are inert.
func (w *csvWriter) Write(row []parquet.Value) error {
	w.cells = w.cells[:0]
	for _, v := range row {
		text := cellText(v)
		if v.Kind == parquet.Text {
			text = inertCell(text)
		}
		w.cells = append(w.cells, text)
	}
	return w.Writer.Write(w.cells)
}

// Close writes the rows that are buffered.
func (w *csvWriter) Close() error {
	w.Flush()
	return w.Error()
}

// newCSV begins with the names of the columns, or with the first row.
func newCSV(to io.Writer, columns []leaf, head bool) (*csvWriter, error) {
	w := &csvWriter{Writer: csv.NewWriter(to)}
	if !head {
		return w, nil
	}
	for _, c := range columns {
		w.cells = append(w.cells, c.Name)
	}
	return w, w.Writer.Write(w.cells)
}

// write writes a table as CSV.
func (t flatTable) write(to io.Writer, head bool) error {
	columns := t.leaves()
	w, err := newCSV(to, columns, head)
	if err != nil {
		return err
	}
	if err := t.each(columns, w.Write); err != nil {
		return err
	}
	return w.Close()
}

// inertCell returns a name that no spreadsheet takes for a formula: an apostrophe stands in
// front of one that could be. One that begins with an apostrophe gets another, so that taking
// one away gives every name back.
func inertCell(name string) string {
	if first := strings.TrimLeft(name, " "); first != "" && strings.ContainsAny(first[:1], "=+-@'") {
		return "'" + name
	}
	for _, wide := range []string{"＝", "＋", "－", "＠"} { // which some take for the same
		if strings.HasPrefix(strings.TrimLeft(name, " 　"), wide) {
			return "'" + name
		}
	}
	return name
}
