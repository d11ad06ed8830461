package device

import (
	"fmt"
	"iter"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// An audit holds kept numbers against those of a recount, and keeps the first that differs.
type audit struct {
	id      ID     // the device in question
	who     string // whose numbers they are, "" if their names say that
	subject any    // what they are of, or the cores they are on; nil if their names say that
	err     error
}

// about says whose numbers come next.
func (t *audit) about(id ID, who string, subject any) { t.id, t.who, t.subject = id, who, subject }

// differs notes that a number is not that of a recount.
func (t *audit) differs(what string, have, want uint64) {
	if t.err != nil {
		return
	}
	what = strings.TrimSpace(t.who + " " + what)
	switch of := t.subject.(type) {
	case nil:
	case l1.CoreSet:
		what += " on " + coresText(of)
	default:
		what += fmt.Sprintf(" of %.135v", of)
	}
	t.err = &InvariantError{t.id, what, have, want}
}

// same verifies that a kept number is that of a recount.
func same[N ~int | ~uint32 | ~uint64](t *audit, what string, have, want N) {
	if have != want {
		t.differs(what, uint64(have), uint64(want))
	}
}

// once verifies that something is so that is so once or not at all.
func (t *audit) once(what string, is bool) { same(t, what, flag(is), 1) }

// reached verifies that a high-water mark is not below what there is now.
func (t *audit) reached(what string, mark, now uint64) {
	if mark < now {
		t.differs("peak of "+what, mark, now)
	}
}

// flag returns 1 for true: how often something is so.
func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// each returns pointers to what is to be looked at, until a number differs.
func each[T any](t *audit, all []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range all {
			if t.err != nil || !yield(&all[i]) {
				return
			}
		}
	}
}
