package jsonobject

import (
	"iter"
	"strconv"
)

// A Reader reads the objects of one text after the other. The zero Reader is ready.
type Reader struct {
	raw     []byte
	members []member // of the objects at hand, outer ones first
	objects []object
	twice   bool
	err     *Error
	fails   int
}

// An object is where it stands, and where its members are in the list of the Reader.
type object struct {
	parent      int    // in the list of the Reader, -1: the root
	name        string // of the member of the parent whose value, or element, it is
	index       int    // of the element, or -1
	first, last int
}

type member struct {
	name  []byte
	value Span
	read  bool // it was queried
}

// Read begins a text, which must be one valid JSON value, and returns its root. Of a value
// that is no object it returns one without members, and notes an error.
func (r *Reader) Read(raw []byte) Object {
	r.raw, r.twice, r.err, r.fails = raw, false, nil, 0
	r.members, r.objects = shrunk(r.members), shrunk(r.objects)
	root := Span{0, len(raw)}
	if c := (cursor{b: raw}); c.space() != '{' {
		r.fail("", root, "is not an object", ErrNoObject)
		root = Span{}
	}
	return r.open(root, object{parent: -1, index: -1})
}

// shrunk returns an empty list: the same one, unless a hostile text made it huge.
func shrunk[T any](list []T) []T {
	const most = 1 << 14
	if cap(list) > most {
		return nil
	}
	return list[:0]
}

// Err returns the first error of the text, or nil.
func (r *Reader) Err() *Error { return r.err }

// Fails returns the number of errors so far. A caller compares it before and after a key to learn
// whether that key can be read.
func (r *Reader) Fails() int { return r.fails }

// Twice reports whether a queried key came twice, with equal values.
func (r *Reader) Twice() bool { return r.twice }

// Unread yields the places of the values that no query has read, in the objects at hand.
func (r *Reader) Unread() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for _, m := range r.members {
			if !m.read && !yield(m.value) {
				return
			}
		}
	}
}

// open notes where the members of the object at a place are; at no place there are none.
func (r *Reader) open(at Span, o object) Object {
	o.first = len(r.members)
	if at != (Span{}) {
		c := cursor{b: r.raw[:at.End], i: at.Start}
		c.enter('{')
		for c.next() {
			key := c.key()
			r.members = append(r.members, member{name: unescaped(r.raw[key.Start:key.End]), value: c.value()})
		}
	}
	o.last = len(r.members)
	r.objects = append(r.objects, o)
	return Object{r, len(r.objects) - 1}
}

// path returns the path of a member of an object: "cbs[2].size".
func (r *Reader) path(o int, name string) string {
	for ; o >= 0; o = r.objects[o].parent {
		in := r.objects[o]
		if name != "" && in.name != "" {
			name = "." + name
		}
		if in.index >= 0 {
			name = "[" + strconv.Itoa(in.index) + "]" + name
		}
		name = in.name + name
	}
	return name
}

// fail notes the first error of a text. at is the value at fault, or nothing if it is
// missing.
func (r *Reader) fail(path string, at Span, reason string, cause error) {
	if r.fails++; r.err == nil {
		r.err = &Error{Path: path, Offset: int64(at.Start), Value: r.raw[at.Start:at.End], Reason: reason, Err: cause}
	}
}
