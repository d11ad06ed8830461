package event

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/cbl1/cbl1/internal/asciijson"
	"github.com/cbl1/cbl1/internal/jsonobject"
)

// A line is an event as it is written: one object in ASCII, member after member. The first value
// that cannot be written stays.
type line struct {
	b    []byte
	kind Kind
	err  error
}

func (l *line) fail(field, reason string) {
	if l.err == nil {
		l.err = &WriteError{l.kind, field, reason}
	}
}

// key begins a member, or with "" an element of a list.
func (l *line) key(name string) {
	if last := l.b[len(l.b)-1]; last != '{' && last != '[' {
		l.b = append(l.b, ',')
	}
	if name != "" {
		l.b = append(asciijson.AppendString(l.b, name), ':')
	}
}

func (l *line) open(name string, bracket byte) {
	l.key(name)
	l.b = append(l.b, bracket)
}

func (l *line) end(bracket byte) { l.b = append(l.b, bracket) }

// text writes a text; half a surrogate pair and bytes that are not UTF-8 become U+FFFD.
func (l *line) text(name, s string) {
	l.key(name)
	l.b = asciijson.AppendString(l.b, s)
}

// some writes a text unless it is "".
func (l *line) some(name, s string) {
	if s != "" {
		l.text(name, s)
	}
}

func (l *line) id(name string, v uint64) {
	l.key(name)
	l.b = strconv.AppendUint(l.b, v, 10)
}

func (l *line) number(name string, v uint64) {
	if v > jsonobject.MaxWhole {
		l.fail(name, strconv.FormatUint(v, 10)+" is above 2^63-1")
	}
	l.id(name, v)
}

// count writes a number that is kept with a sign.
func (l *line) count(name string, v int64) {
	if v < 0 {
		l.fail(name, strconv.FormatInt(v, 10)+" is negative")
	}
	l.id(name, uint64(v))
}

// times is count for numbers that are read into 31 bits.
func (l *line) times(name string, v int64) {
	if v > jsonobject.MaxInt {
		l.fail(name, strconv.FormatInt(v, 10)+" is above 2^31-1")
	}
	l.count(name, v)
}

func (l *line) small(name string, v int) { l.times(name, int64(v)) }

// flag writes true, or nothing.
func (l *line) flag(name string, v bool) {
	if v {
		l.key(name)
		l.b = append(l.b, "true"...)
	}
}

func (l *line) optNumber(name string, v Opt[uint64]) {
	if v.OK {
		l.number(name, v.V)
	}
}

func optID[T ~uint64](l *line, name string, v Opt[T]) {
	if v.OK {
		l.id(name, uint64(v.V))
	}
}

func listIDs[T ~uint64](l *line, name string, list []T) {
	l.open(name, '[')
	for _, id := range list {
		l.id("", uint64(id))
	}
	l.end(']')
}

// raw writes JSON that was given, without its white space.
func (l *line) raw(name string, given []byte) {
	var b bytes.Buffer
	if err := json.Compact(&b, given); err != nil {
		l.fail(name, "is not JSON")
		return
	}
	l.key(name)
	l.b = append(l.b, asciijson.Escape(b.Bytes())...)
}

// time writes a number as it is spelled.
func (l *line) time(name, t string) {
	if t == "" {
		return
	}
	if c := t[0]; c != '-' && (c < '0' || c > '9') || len(t) > jsonobject.MaxDigits || !json.Valid([]byte(t)) {
		l.fail(name, "is not a number of at most 64 characters")
		return
	}
	l.key(name)
	l.b = append(l.b, t...)
}

// oneOf writes one of some words, or nothing.
func oneOf[T ~string](l *line, name string, v T, known ...T) {
	if v == "" {
		return
	}
	if !slices.Contains(known, v) {
		l.fail(name, "is none that a log knows")
	}
	l.text(name, string(v))
}
