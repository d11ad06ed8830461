package jsonobject

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
)

// An Object is an object of the text that its Reader has at hand.
type Object struct {
	r *Reader
	i int // in the list of the Reader
}

// Get returns the value of a key as it stands in the text, or nil if it is absent or null.
func (o Object) Get(name string) []byte {
	at := o.Place(name)
	raw := o.r.raw[at.Start:at.End]
	if len(raw) == 0 || raw[0] == 'n' {
		return nil
	}
	return raw
}

// Has reports whether a key has a value, other than null.
func (o Object) Has(name string) bool { return o.Get(name) != nil }

// Place returns where the value of a key is, the zero Span if there is none. Of a key that
// comes more than twice each value is compared with the one before: hostile ones would
// cost too much otherwise.
func (o Object) Place(name string) (at Span) {
	in := &o.r.objects[o.i]
	members, last := o.r.members[in.first:in.last], Span{}
	for i := range members {
		m := &members[i]
		if string(m.name) != name {
			continue
		}
		m.read = true
		switch {
		case at == Span{}:
			at = m.value
		case same(o.r.raw[last.Start:last.End], o.r.raw[m.value.Start:m.value.End]):
			o.r.twice = true
		default:
			o.r.fail(o.Path(name), m.value, "is the second value of this key, and not equal to the first", nil)
			return Span{}
		}
		last = m.value
	}
	return at
}

// Path returns the path of a member, as errors have it.
func (o Object) Path(name string) string { return o.r.path(o.i, name) }

// Fail notes that the value of a key makes no sense.
func (o Object) Fail(name, reason string, cause error) {
	o.r.fail(o.Path(name), o.Place(name), reason, cause)
}

// Missing notes that a key is missing.
func (o Object) Missing(name string) { o.r.fail(o.Path(name), Span{}, "missing", nil) }

// Number returns a whole number, and whether there is one. One above most is an error.
func (o Object) Number(name string, most uint64) (v uint64, ok bool) {
	raw := o.Get(name)
	if raw == nil {
		return 0, false
	}
	v, wrong := upTo(raw, most)
	if wrong != "" {
		o.Fail(name, wrong, nil)
		return 0, false
	}
	return v, true
}

// Need is Number for a required member.
func (o Object) Need(name string, most uint64) uint64 {
	v, ok := o.Number(name, most)
	if !ok {
		o.Missing(name)
	}
	return v
}

// Numbers returns a list of whole numbers, and whether there is one.
func (o Object) Numbers(name string) (list []uint64, ok bool) {
	return listOf[uint64](o, name, MaxWhole)
}

// IDs returns a list of ids, and whether there is one.
func IDs[T ~uint64](o Object, name string) (ids []T, ok bool) { return listOf[T](o, name, maxID) }

func listOf[T ~uint64](o Object, name string, most uint64) (list []T, ok bool) {
	ok = o.each(name, func(raw []byte) string {
		if list == nil { // most lists have their final size at once; commas in hostile text cost nothing
			list = make([]T, 0, min(bytes.Count(o.Get(name), []byte(",")), 1024)+1)
		}
		v, wrong := upTo(raw, most)
		list = append(list, T(v))
		return wrong
	})
	if !ok {
		return nil, false
	}
	return list, true
}

// IDLists returns a list of lists of ids, and whether there is one. A list of one id may
// stand without its brackets: [1,[2,3]] is [[1],[2,3]]. None may be empty.
func IDLists[T ~uint64](o Object, name string) (lists [][]T, ok bool) {
	ok = o.each(name, func(raw []byte) (wrong string) {
		if raw[0] != '[' {
			raw = slices.Concat([]byte("["), raw, []byte("]"))
		}
		list := []T(nil)
		for c := (cursor{raw, 1}); wrong == "" && c.next(); {
			at, id := c.value(), uint64(0)
			id, wrong = upTo(raw[at.Start:at.End], maxID)
			list = append(list, T(id))
		}
		if lists = append(lists, list); list == nil {
			return "is empty"
		}
		return wrong
	})
	return lists, ok
}

// Texts returns a list of texts, and whether there is one.
func (o Object) Texts(name string) (list []string, ok bool) {
	ok = o.each(name, func(raw []byte) string {
		if raw[0] != '"' {
			return "is not a string"
		}
		list = append(list, Unquote(raw))
		return ""
	})
	return list, ok
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

// Flag returns yes or no, and whether there is either. Writers have stated them in several
// ways.
func (o Object) Flag(name string) (v, ok bool) {
	switch string(o.Get(name)) {
	case "":
		return false, false
	case `true`, `"true"`, `1`, `"1"`:
		return true, true
	case `false`, `"false"`, `0`, `"0"`:
		return false, true
	}
	o.Fail(name, "is not a flag: 0, 1, true or false", nil)
	return false, false
}

// Object returns the object that is the value of a key, and whether there is one. If not, it
// is one without members.
func (o Object) Object(name string) (Object, bool) {
	at, raw := o.Place(name), o.Get(name)
	ok := len(raw) > 0 && raw[0] == '{'
	if raw != nil && !ok {
		o.Fail(name, "is not an object", nil)
	}
	if !ok {
		at = Span{}
	}
	return o.r.open(at, object{parent: o.i, name: name, index: -1}), ok
}

// Objects yields the elements of a list of objects, none if there is no such list. It ends
// at the first error.
func (o Object) Objects(name string) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		r := o.r
		members, objects := len(r.members), len(r.objects)
		for i, at := range o.Places(name) {
			if r.err != nil {
				return
			}
			if r.raw[at.Start] != '{' {
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

// each calls read with each element of a list, and reports whether there is one.
func (o Object) each(name string, read func(raw []byte) (wrong string)) bool {
	if !o.Has(name) {
		return false
	}
	fails := o.r.fails
	for _, at := range o.Places(name) {
		if wrong := read(o.r.raw[at.Start:at.End]); wrong != "" {
			o.r.fail(o.Path(name), at, wrong, nil)
			return false
		}
	}
	return o.r.fails == fails
}

// Places yields where the elements of a list are, none if there is no list.
func (o Object) Places(name string) iter.Seq2[int, Span] {
	return func(yield func(int, Span) bool) {
		if !o.Has(name) {
			return
		}
		at := o.Place(name)
		c := cursor{b: o.r.raw[:at.End], i: at.Start}
		if !c.enter('[') {
			o.r.fail(o.Path(name), at, "is not an array", nil)
			return
		}
		for i := 0; c.next() && yield(i, c.value()); i++ {
		}
	}
}
