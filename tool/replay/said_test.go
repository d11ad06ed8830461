package replay_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// said writes all that a Result says: a line for each field and for each thing in a list. Fields with nothing in
// them are left out.
func said(r *answer.Result) string {
	var b strings.Builder
	v := reflect.ValueOf(*r)
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch {
		case !v.Type().Field(i).IsExported() || field.IsZero() || name == "File" || name == "Spec":
		case field.Kind() == reflect.Slice:
			for k := range field.Len() {
				fmt.Fprintf(&b, "%s: %s\n", name, spelt(field.Index(k)))
			}
		default:
			fmt.Fprintf(&b, "%s: %s\n", name, spelt(field))
		}
	}
	return b.String()
}

// spelt writes a value in one line.
func spelt(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if rows, ok := reflect.TypeAssert[*answer.Programs](v); ok {
			return speltRows(rows)
		}
		if p, ok := reflect.TypeAssert[*program.Program](v); ok {
			return fmt.Sprintf("program %d", p.ID())
		}
		return spelt(v.Elem())
	}
	if s, ok := reflect.TypeAssert[fmt.Stringer](v); ok {
		return s.String()
	}
	switch v.Kind() {
	case reflect.Map:
		var all []string
		for _, key := range v.MapKeys() {
			all = append(all, spelt(key)+": "+spelt(v.MapIndex(key)))
		}
		slices.Sort(all)
		return "{" + strings.Join(all, ", ") + "}"
	case reflect.Struct:
		if ok := v.FieldByName("OK"); ok.IsValid() { // an event.Opt
			return spelt(v.FieldByName("V"))
		}
		var fields []string
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() && f.Type != reflect.TypeFor[*answer.Past]() { // which names a moment
				fields = append(fields, f.Name+" "+spelt(v.Field(i)))
			}
		}
		return "(" + strings.Join(fields, ", ") + ")"
	case reflect.Slice:
		var all []string
		for i := range v.Len() {
			all = append(all, spelt(v.Index(i)))
		}
		return "[" + strings.Join(all, " ") + "]"
	}
	return fmt.Sprint(v.Interface())
}

func speltRows(rows *answer.Programs) string {
	var all []string
	for _, d := range rows.All() {
		all = append(all, spelt(reflect.ValueOf(d)))
	}
	return "[" + strings.Join(all, " ") + "]"
}
