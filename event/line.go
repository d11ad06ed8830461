package event

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/cbl1/cbl1/internal/asciijson"
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
		l.b = append(append(append(l.b, '"'), name...), '"', ':') // no name needs an escape
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

func (l *line) number(name string, v uint64) {
	l.key(name)
	l.b = strconv.AppendUint(l.b, v, 10)
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
	if !isTime([]byte(t)) || !json.Valid([]byte(t)) {
		l.fail(name, notTime)
		return
	}
	l.key(name)
	l.b = append(l.b, t...)
}
