// Package jsonobject reads JSON: a stream value by value, in memory that does not grow with it, and
// the members of objects by name, with limits, and with errors that name the place.
//
// # Model
//
// A [Scanner] stands before a value of a stream. The caller queries its kind and then either skips
// it, captures its bytes, enters it (arrays and objects) or reads its decoded text (strings).
// Skipping and capturing are the same code, so that skipped values are checked as strictly as
// captured ones.
//
// A [Reader] is given one text after the other, each one valid JSON value (a Scanner sees to that),
// and returns its root [Object]. An object returns its members by name: [Object.Number],
// [Object.Flag], [Object.Text], [Object.Object], or one element after the other
// [Object.Objects]. An absent member and null are the same. [Object.Need] and others record a
// missing member as an error.
//
//	var r jsonobject.Reader
//	o := r.Read([]byte(`{"cbs":[{"size":64},{"size":-1}]}`))
//	for cb := range o.Objects("cbs") {
//		sizes = append(sizes, cb.Need("size", jsonobject.MaxWhole))
//	}
//	r.Err() // cbs[1].size: -1 is negative
//
// # Guarantees
//
// A Scanner accepts RFC 8259 with three remarks: a byte order mark may come first, bytes
// inside strings need not be UTF-8, and arrays and objects nest at most [MaxDepth] deep.
// Apart from the mark and the depth that is exactly what encoding/json.Valid accepts.
// Nothing is recursive.
//
// The first error of a text stays: a caller reads all members and calls [Reader.Err] once. An
// [Error] has the path of the member, as cbs[1].size, and its place in the text. A repeated key
// must have equal values, and is recorded. Unread members may be anything.
//
// Numbers are whole and at most 2^63-1, ids at most 2^64-1. 4096.0, 4.096e3 and, from
// older writers, "4096" are 4096.
//
// # Cost
//
// A Scanner has one buffer of the size given to [New]; it grows only while a value is captured, at
// most to the limit of that capture, and shrinks again. Tokens are scanned eight bytes at a time.
//
// An object costs its length in bytes once, and each query a pass over the names of its members.
// Members are kept in one list that the Reader reuses; only Text copies bytes of a text. Hostile
// lengths cost time in proportion, and no number is read that is longer than 64 characters.
//
// # Why it is ours
//
// A trial put jsontext of github.com/go-json-experiment/json in its place. The answers were
// the same. Skipped text took twice the time, and one string of 300 MB that no caller reads
// took 576 MB of memory: a token must be whole there. Ask again when Go 1.27 is the oldest
// version that go.mod allows.
//
// # Concurrency
//
// A Scanner and a Reader belong to one goroutine each, and so do the objects of a Reader.
// They are valid until the next Read; an element of a list only until the next element.
package jsonobject
