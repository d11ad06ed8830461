package event

import (
	"strings"

	"github.com/cbl1/cbl1/internal/jsonobject"
)

// The members of an object as this package wants them: absent is an absent Opt, or nothing.

func text(o jsonobject.Object, name string) string { return textOr(o, name, "") }

func textOr(o jsonobject.Object, name, absent string) string {
	if s, ok := o.Text(name); ok {
		return s
	}
	return absent
}

func number(o jsonobject.Object, name string, most uint64) Opt[uint64] {
	v, ok := o.Number(name, most)
	return Opt[uint64]{v, ok}
}

func size(o jsonobject.Object, name string) uint64 {
	v, _ := o.Number(name, jsonobject.MaxWhole)
	return v
}

func flag(o jsonobject.Object, name string) bool {
	v, _ := o.Flag(name)
	return v
}

func id[T ~uint64](o jsonobject.Object, name string) Opt[T] {
	v, ok := o.ID(name)
	return Opt[T]{T(v), ok}
}

func needID[T ~uint64](o jsonobject.Object, name string) T { return T(o.NeedID(name)) }

func ids[T ~uint64](o jsonobject.Object, name string) Opt[[]T] {
	v, ok := jsonobject.IDs[T](o, name)
	return Opt[[]T]{v, ok}
}

func idLists[T ~uint64](o jsonobject.Object, name string) [][]T {
	v, _ := jsonobject.IDLists[T](o, name)
	return v
}

// word reads a text that is one of some words, or absent.
func word[T ~string](o jsonobject.Object, name string, known ...T) T {
	v := T(text(o, name))
	if v == "" {
		return ""
	}
	var list []string
	for _, k := range known {
		if v == k {
			return v
		}
		list = append(list, string(k))
	}
	o.Fail(name, "is none of "+strings.Join(list, ", "), nil)
	return ""
}
