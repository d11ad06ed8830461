package audit

import (
	"fmt"
	"iter"
	"strings"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// An Audit holds kept numbers against those of a recount, and keeps the first that differs.
type Audit struct {
	ID      fit.DeviceID // the device in question
	Who     string       // whose numbers they are, "" if their names say that
	Subject any          // what they are of, or the cores they are on; nil if their names say that
	Err     error
}

// About says whose numbers come next.
func (t *Audit) About(id fit.DeviceID, who string, subject any) {
	t.ID, t.Who, t.Subject = id, who, subject
}

// Differs notes that a number is not that of a recount.
func (t *Audit) Differs(what string, have, want uint64) {
	if t.Err != nil {
		return
	}
	what = strings.TrimSpace(t.Who + " " + what)
	switch of := t.Subject.(type) {
	case nil:
	case l1.CoreSet:
		what += " on " + CoresText(of)
	default:
		what += fmt.Sprintf(" of %.135v", of)
	}
	t.Err = &Miscount{t.ID, what, have, want}
}

// A Miscount is a kept number that is not that of a recount.
type Miscount struct {
	Device fit.DeviceID
	What   string
	Have   uint64
	Want   uint64
}

// Error names the device and the number.
func (d *Miscount) Error() string {
	return fmt.Sprintf("device %d: %s is %d, recounted %d", d.Device, d.What, d.Have, d.Want)
}

// Fail notes an error about some cores of the device in question.
func (t *Audit) Fail(cores l1.CoreSet, err error) {
	if t.Err == nil && err != nil {
		t.Err = fmt.Errorf("device %d: %s on %s: %w", t.ID, t.Who, CoresText(cores), err)
	}
}

// CoresText returns the first rectangle of some cores and the number of others.
func CoresText(cores l1.CoreSet) string {
	ranges := cores.Ranges()
	for r := range ranges.All() {
		if n := ranges.Len(); n > 1 {
			return fmt.Sprintf("%v (+%d more)", r, n-1)
		}
		return r.String()
	}
	return "no cores"
}

// Same verifies that a kept number is that of a recount.
func Same[N ~int | ~uint32 | ~uint64](t *Audit, what string, have, want N) {
	if have != want {
		t.Differs(what, uint64(have), uint64(want))
	}
}

// Once verifies that something is so that is so once or not at all.
func (t *Audit) Once(what string, is bool) { Same(t, what, Flag(is), 1) }

// Reached verifies that a high-water mark is not below what there is now.
func (t *Audit) Reached(what string, mark, now uint64) {
	if mark < now {
		t.Differs("peak of "+what, mark, now)
	}
}

// Flag returns 1 for true: how often something is so.
func Flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Each returns pointers to what is to be looked at, until a number differs.
func Each[T any](t *Audit, all []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range all {
			if t.Err != nil || !yield(&all[i]) {
				return
			}
		}
	}
}

// Ranges notes what differs first between two lists of ranges: an end of one, or their number.
func (t *Audit) Ranges(of string, have, want []l1.Range) {
	for i := range min(len(have), len(want)) {
		Same(t, "start of "+of, have[i].Start, want[i].Start)
		Same(t, "end of "+of, have[i].End, want[i].End)
	}
	Same(t, "number of times that there is "+of, len(have), len(want))
}

// Tell has another audit find what t has found.
func (t *Audit) Tell(to *Audit) { to.Err = t.Err }
