package capture

import (
	"slices"

	"github.com/cbl1/cbl1/event"
)

// A writer is the last stage of a reading. It keeps events until they are yielded, and counts
// odd and hidden facts until the end.
type writer struct {
	pos  event.Pos   // of events that have none of their own
	mute func() bool // reports whether another reading tells the events instead; nil = never

	out        [][]event.Event // not yet yielded; its memory is used again
	notes      notes
	hidden     notes
	unlessPlan notes // hidden, unless the capture turns out to be a plan
}

// maxOut is how many events a block holds. One node seldom tells more, but the list of an
// operation in a database may tell 100,000: one slice that grows took 2.2 times their memory.
const maxOut = 256

func newWriter() writer {
	return writer{notes: notes{}, hidden: notes{}, unlessPlan: notes{}}
}

// tell keeps a copy of an event.
func (w *writer) tell(e *event.Event) {
	if w.mute != nil && w.mute() {
		return
	}
	last := len(w.out) - 1
	if last < 0 || len(w.out[last]) == maxOut {
		w.out = append(w.out, nil)
		last++
	}
	w.out[last] = append(w.out[last], *e)
	if e.Pos == (event.Pos{}) {
		w.out[last][len(w.out[last])-1].Pos = w.pos
	}
}

// tellNotes tells the counts.
func (w *writer) tellNotes(plan bool) {
	if !plan {
		w.hidden.addAll(w.unlessPlan)
	}
	for _, e := range slices.Concat(w.hidden.events(event.KindHidden, w.pos), w.notes.events(event.KindAnomaly, w.pos)) {
		w.tell(e)
	}
}

// flush yields the events. It returns errStop if the caller wants no more.
func (w *writer) flush(yield func(*event.Event, error) bool) error {
	for n, block := range w.out {
		for i := range block {
			if !yield(&block[i], nil) {
				return errStop
			}
		}
		if n > 0 {
			w.out[n] = nil
		}
	}
	if len(w.out) > 0 {
		w.out = [][]event.Event{w.out[0][:0]}
	}
	return nil
}
