package jsonobject

import (
	"bytes"
	"strconv"
)

// An Object is an object of the text that its Reader has at hand.
type Object struct {
	r *Reader
	i int // in the list of the Reader
}

// Get returns the value of a key as it stands in the text, or nil if it is absent or null.
func (o Object) Get(name string) []byte {
	at := o.at(name)
	raw := o.r.raw[at.start:at.end]
	if len(raw) == 0 || raw[0] == 'n' {
		return nil
	}
	return raw
}

// Has reports whether a key has a value, other than null.
func (o Object) Has(name string) bool { return o.Get(name) != nil }

// at returns where the value of a key is, the zero span if there is none. Of a key that
// comes more than twice each value is compared with the one before: hostile ones would
// cost too much otherwise.
func (o Object) at(name string) (at span) {
	in := o.r.objects[o.i]
	last := span{}
	for _, m := range o.r.members[in.first:in.last] {
		switch {
		case string(m.name) != name:
			continue
		case at == span{}:
			at = m.value
		case Same(o.r.raw[last.start:last.end], o.r.raw[m.value.start:m.value.end]):
			o.r.twice = true
		default:
			o.r.fail(o.Path(name), m.value, "is the second value of this key, and not equal to the first", nil)
			return span{}
		}
		last = m.value
	}
	return at
}

// Path returns the path of a member, as errors have it.
func (o Object) Path(name string) string { return o.r.path(o.i, name) }

// Fail notes that the value of a key makes no sense.
func (o Object) Fail(name, reason string, cause error) {
	o.r.fail(o.Path(name), o.at(name), reason, cause)
}

// Missing notes that a key is missing.
func (o Object) Missing(name string) { o.r.fail(o.Path(name), span{}, "missing", nil) }

// Number returns a whole number, and whether there is one. One above most is an error.
func (o Object) Number(name string, most uint64) (v uint64, ok bool) {
	raw := o.Get(name)
	if raw == nil {
		return 0, false
	}
	v, wrong := Whole(raw)
	if wrong == "" && v > most {
		wrong = above(most)
	}
	if wrong != "" {
		o.Fail(name, wrong, nil)
		return 0, false
	}
	return v, true
}

// Need is Number for what must be there.
func (o Object) Need(name string, most uint64) uint64 {
	v, ok := o.Number(name, most)
	if !ok {
		o.Missing(name)
	}
	return v
}

// ID returns an id, which may be up to 2^64-1, and whether there is one.
func (o Object) ID(name string) (id uint64, ok bool) {
	raw := o.Get(name)
	if raw == nil {
		return 0, false
	}
	id, wrong := WholeID(raw)
	if wrong != "" {
		o.Fail(name, wrong, nil)
		return 0, false
	}
	return id, true
}

// NeedID is ID for what must be there.
func (o Object) NeedID(name string) uint64 {
	id, ok := o.ID(name)
	if !ok {
		o.Missing(name)
	}
	return id
}

// Numbers returns a list of whole numbers, and whether there is one.
func (o Object) Numbers(name string) (list []uint64, ok bool) {
	raw := o.Get(name)
	if raw == nil {
		return nil, false
	}
	// Most lists have their final size at once; commas in hostile text cost nothing.
	list = make([]uint64, 0, min(bytes.Count(raw, []byte(",")), 1024)+1)
	ok = o.elements(name, func(raw []byte) string {
		v, wrong := Whole(raw)
		list = append(list, v)
		return wrong
	})
	if !ok {
		return nil, false
	}
	return list, true
}

// Texts returns a list of texts, and whether there is one.
func (o Object) Texts(name string) (list []string, ok bool) {
	ok = o.elements(name, func(raw []byte) string {
		if raw[0] != '"' {
			return "is not a string"
		}
		list = append(list, Unquote(raw))
		return ""
	})
	return list, ok
}

// IDs returns a list of ids, and whether there is one.
func IDs[T ~uint64](o Object, name string) (ids []T, ok bool) {
	ok = o.elements(name, func(raw []byte) string {
		id, wrong := WholeID(raw)
		ids = append(ids, T(id))
		return wrong
	})
	return ids, ok
}

// IDLists returns a list of lists of ids, and whether there is one. A list of one id may
// stand without its brackets: [1,[2,3]] is [[1],[2,3]]. None may be empty.
func IDLists[T ~uint64](o Object, name string) (lists [][]T, ok bool) {
	ok = o.elements(name, func(raw []byte) (wrong string) {
		c := cursor{b: raw}
		if !c.enter('[') {
			id, wrong := WholeID(raw)
			lists = append(lists, []T{T(id)})
			return wrong
		}
		var list []T
		for wrong == "" && c.next() {
			at := c.value()
			var id uint64
			id, wrong = WholeID(raw[at.start:at.end])
			list = append(list, T(id))
		}
		if lists = append(lists, list); list == nil {
			return "is empty"
		}
		return wrong
	})
	return lists, ok
}

// elements calls read with each element of a list, and reports whether there is one.
func (o Object) elements(name string, read func(raw []byte) (wrong string)) bool {
	if !o.Has(name) {
		return false
	}
	at := o.at(name)
	c := cursor{b: o.r.raw[:at.end], i: at.start}
	if !c.enter('[') {
		o.r.fail(o.Path(name), at, "is not an array", nil)
		return false
	}
	for c.next() {
		at := c.value()
		if wrong := read(o.r.raw[at.start:at.end]); wrong != "" {
			o.r.fail(o.Path(name), at, wrong, nil)
			return false
		}
	}
	return true
}

// Flag returns yes or no, and whether there is either.
func (o Object) Flag(name string) (v, ok bool) {
	raw := o.Get(name)
	if raw == nil {
		return false, false
	}
	if v, ok = Flag(raw); !ok {
		o.Fail(name, "is not a flag: 0, 1, true or false", nil)
	}
	return v, ok
}

// Text returns a text, and whether there is one. Half surrogate pairs and bytes that are
// not UTF-8 become U+FFFD.
func (o Object) Text(name string) (text string, ok bool) {
	raw := o.Get(name)
	switch {
	case raw == nil:
		return "", false
	case raw[0] != '"':
		o.Fail(name, "is not a string", nil)
		return "", false
	}
	return Unquote(raw), true
}

// Object returns the object that is the value of a key, and whether there is one.
func (o Object) Object(name string) (Object, bool) {
	raw := o.Get(name)
	switch {
	case raw == nil:
		return Object{}, false
	case raw[0] != '{':
		o.Fail(name, "is not an object", nil)
		return Object{}, false
	}
	return o.r.open(o.at(name), object{parent: o.i, name: name, index: -1}), true
}

// ObjectOrEmpty is Object, but returns one without members where there is none.
func (o Object) ObjectOrEmpty(name string) Object {
	if inner, ok := o.Object(name); ok {
		return inner
	}
	r := o.r
	r.objects = append(r.objects, object{parent: o.i, name: name, index: -1, first: len(r.members), last: len(r.members)})
	return Object{r, len(r.objects) - 1}
}

// Objects yields the elements of a list of objects, none if there is no such list. It ends
// at the first error.
func (o Object) Objects(name string) func(yield func(Object) bool) {
	return func(yield func(Object) bool) {
		if !o.Has(name) {
			return
		}
		r, at := o.r, o.at(name)
		c := cursor{b: r.raw[:at.end], i: at.start}
		if !c.enter('[') {
			r.fail(o.Path(name), at, "is not an array", nil)
			return
		}
		members, objects := len(r.members), len(r.objects)
		for i := 0; r.err == nil && c.next(); i++ {
			at := c.value()
			if r.raw[at.start] != '{' {
				r.fail(o.Path(name)+"["+strconv.Itoa(i)+"]", at, "is not an object", nil)
				return
			}
			if !yield(r.open(at, object{parent: o.i, name: name, index: i})) {
				return
			}
			r.members, r.objects = r.members[:members], r.objects[:objects]
		}
	}
}
