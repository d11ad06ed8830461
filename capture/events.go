package capture

import (
	"slices"

	"github.com/cbl1/cbl1/event"
)

// events are the queue between the third stage and the caller. The last stage yields the events of each
// node, and counts odd and hidden facts until the end.
type events struct {
	pos event.Pos // of events that have none of their own

	out        [][]event.Event // not yet yielded; its memory is used again
	notes      notes
	hidden     notes
	unlessPlan notes // hidden, unless the capture turns out to be a plan
}

// maxOut is how many events a block holds. One node seldom has more events, but the list of
// an operation in a database may have 100,000: one slice that grows took 2.2 times their memory.
const maxOut = 256

func newEvents() *events {
	return &events{notes: notes{}, hidden: notes{}, unlessPlan: notes{}}
}

// tell queues a copy of an event.
func (e *events) tell(one *event.Event) {
	last := len(e.out) - 1
	if last < 0 || len(e.out[last]) == maxOut {
		e.out = append(e.out, nil)
		last++
	}
	e.out[last] = append(e.out[last], *one)
	if one.Pos == (event.Pos{}) {
		e.out[last][len(e.out[last])-1].Pos = e.pos
	}
}

// tellNotes queues the counts of the notes.
func (e *events) tellNotes(plan bool) {
	if !plan {
		e.hidden.addAll(e.unlessPlan)
	}
	for _, one := range slices.Concat(e.hidden.events(event.KindHidden, e.pos), e.notes.events(event.KindAnomaly, e.pos)) {
		e.tell(one)
	}
}

// flush yields the events. It returns errStop if the caller wants no more.
func (e *events) flush(yield func(*event.Event, error) bool) error {
	for n, block := range e.out {
		for i := range block {
			if !yield(&block[i], nil) {
				return errStop
			}
		}
		if n > 0 {
			e.out[n] = nil
		}
	}
	if len(e.out) > 0 {
		e.out = [][]event.Event{e.out[0][:0]}
	}
	return nil
}
