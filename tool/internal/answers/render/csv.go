package render

import (
	"encoding"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// A column is a member of the JSON in a row: one cell, or a cell for each of its own members. Members of a column
// without a name keep their own names.
type column struct {
	name  string
	value any
}

// A csvTable is rows with equal columns. The columns of empty have the types of a row.
type csvTable struct {
	empty []column
	rows  iter.Seq[[]column]
}

func (t csvTable) write(to io.Writer, head bool) error {
	w := csv.NewWriter(to)
	if head {
		var names []string
		for _, c := range t.empty {
			names = columnNames(names, c.name, reflect.TypeOf(c.value))
		}
		if err := w.Write(names); err != nil {
			return err
		}
	}
	last := make([]struct {
		of    any // the pointer, if the value is one: rows about one device share it
		cells []string
	}, len(t.empty))
	for row := range t.rows {
		var out []string
		for i, c := range row {
			v := reflect.ValueOf(c.value)
			if v.Kind() != reflect.Pointer || c.value != last[i].of {
				last[i].cells = cells(nil, v, v.Type())
			}
			if v.Kind() == reflect.Pointer {
				last[i].of = c.value
			}
			out = append(out, last[i].cells...)
		}
		if err := w.Write(out); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// columnNames adds the names of the columns of a member: its own name if it is one value, else the names of its
// members behind it. An object without a name adds nothing to them. Lists of objects and maps are no columns: they
// are rows of another kind.
func columnNames(names []string, name string, typ reflect.Type) []string {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[l1.Range]():
		names = append(names, name+"_start", name+"_end")
	case isCell(typ):
		names = append(names, name)
	case typ.Kind() == reflect.Struct:
		for f := range typ.Fields() {
			if isColumn(f) {
				names = columnNames(names, memberName(name, f), f.Type)
			}
		}
	}
	return names
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

// cells adds the cells of a member, as columnNames names them. v is the zero Value if there is
// no such member: its cells are empty.
func cells(out []string, v reflect.Value, typ reflect.Type) []string {
	for typ.Kind() == reflect.Pointer {
		if typ = typ.Elem(); v.IsValid() {
			v = v.Elem() // the zero Value of nil
		}
	}
	switch {
	case typ == reflect.TypeFor[l1.Range]():
		if !v.IsValid() || v.Interface() == (l1.Range{}) {
			return append(out, "", "")
		}
		return append(out, cellText(v.Field(0)), cellText(v.Field(1)))
	case isCell(typ):
		text := ""
		if v.IsValid() {
			text = cellText(v)
		}
		out = append(out, text)
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			if !isColumn(typ.Field(i)) {
				continue
			}
			var member reflect.Value
			if v.IsValid() {
				member = v.Field(i)
			}
			out = cells(out, member, typ.Field(i).Type)
		}
	}
	return out
}

// cellText returns a value as a cell: numbers as they are, names inert, and what a list has
// with blanks between.
func cellText(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Slice:
		var words []string
		for i := range v.Len() {
			words = append(words, cellText(v.Index(i)))
		}
		return strings.Join(words, " ")
	case v.Type() == reflect.TypeFor[json.Number]():
		return v.String()
	}
	switch m := v.Interface().(type) {
	case l1.Range:
		return fmt.Sprintf("%d-%d", m.Start, m.End)
	case encoding.TextMarshaler:
		text, _ := m.MarshalText() // never fails
		return inertCell(shown.Visible(string(text)))
	case json.Marshaler:
		text, _ := m.MarshalJSON()
		return strings.Trim(strings.TrimPrefix(string(text), "null"), `"`)
	}
	if v.Kind() == reflect.String {
		return inertCell(shown.Visible(clip(v.String())))
	}
	return fmt.Sprint(v)
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
