package capture

import (
	"slices"

	"github.com/cbl1/cbl1/event"
)

// A teller is the last stage of a reading. It keeps events until they are yielded, and counts
// odd and hidden facts until the end.
type teller struct {
	pos    event.Pos   // of events that have none of their own
	silent bool        // nothing is told
	stale  func() bool // nor is it once this is true, since another reading tells it; nil = never

	out        [][]event.Event // not yet yielded; its memory is used again
	notes      notes
	hidden     notes
	unlessPlan notes // hidden, unless the capture turns out to be a plan
}

// maxOut is how many events a block holds. One node seldom tells more, but the list of an
// operation in a database may tell 100,000: one slice that grows took 2.2 times their memory.
const maxOut = 256

func newTeller() teller {
	return teller{notes: notes{}, hidden: notes{}, unlessPlan: notes{}}
}

// tell keeps a copy of an event.
func (t *teller) tell(e *event.Event) {
	if t.silent || t.stale != nil && t.stale() {
		return
	}
	last := len(t.out) - 1
	if last < 0 || len(t.out[last]) == maxOut {
		t.out = append(t.out, nil)
		last++
	}
	t.out[last] = append(t.out[last], *e)
	if e.Pos == (event.Pos{}) {
		t.out[last][len(t.out[last])-1].Pos = t.pos
	}
}

// tellNotes tells the counts.
func (t *teller) tellNotes(plan bool) {
	if !plan {
		t.hidden.addAll(t.unlessPlan)
	}
	for _, e := range slices.Concat(t.hidden.events(event.KindHidden, t.pos), t.notes.events(event.KindAnomaly, t.pos)) {
		t.tell(e)
	}
}

// flush yields the events. It returns errStop if the caller wants no more.
func (t *teller) flush(yield func(*event.Event, error) bool) error {
	for n, block := range t.out {
		for i := range block {
			if !yield(&block[i], nil) {
				return errStop
			}
		}
		if n > 0 {
			t.out[n] = nil
		}
	}
	if len(t.out) > 0 {
		t.out = [][]event.Event{t.out[0][:0]}
	}
	return nil
}
