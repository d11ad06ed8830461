package device

import (
	"fmt"
	"iter"
	"strings"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// An audit holds kept numbers against those of a recount, and keeps the first that differs.
type audit struct {
	id      fit.DeviceID // the device in question
	who     string       // whose numbers they are, "" if their names say that
	subject any          // what they are of, or the cores they are on; nil if their names say that
	err     error
}

// about says whose numbers come next.
func (t *audit) about(id fit.DeviceID, who string, subject any) {
	t.id, t.who, t.subject = id, who, subject
}

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
	t.err = &miscount{t.id, what, have, want}
}

// A miscount is a kept number that is not that of a recount.
type miscount struct {
	Device fit.DeviceID
	What   string
	Have   uint64
	Want   uint64
}

// Error names the device and the number.
func (d *miscount) Error() string {
	return fmt.Sprintf("device %d: %s is %d, recounted %d", d.Device, d.What, d.Have, d.Want)
}

// fail notes an error about some cores of the device in question.
func (t *audit) fail(cores l1.CoreSet, err error) {
	if t.err == nil && err != nil {
		t.err = fmt.Errorf("device %d: %s on %s: %w", t.id, t.who, coresText(cores), err)
	}
}

// coresText returns the first rectangle of some cores and the number of others.
func coresText(cores l1.CoreSet) string {
	ranges := cores.Ranges()
	for r := range ranges.All() {
		if n := ranges.Len(); n > 1 {
			return fmt.Sprintf("%v (+%d more)", r, n-1)
		}
		return r.String()
	}
	return "no cores"
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

// ranges notes what differs first between two lists of ranges: an end of one, or their number.
func (t *audit) ranges(of string, have, want []l1.Range) {
	for i := range min(len(have), len(want)) {
		same(t, "start of "+of, have[i].Start, want[i].Start)
		same(t, "end of "+of, have[i].End, want[i].End)
	}
	same(t, "number of times that there is "+of, len(have), len(want))
}

// tell has another audit find what t has found.
func (t *audit) tell(to *audit) { to.err = t.err }
