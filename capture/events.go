package capture

import (
	"slices"

	"github.com/cbl1/cbl1/event"
)

// events are the last stage. It yields events, and counts odd and hidden facts until the end.
type events struct {
	yield func(*event.Event, error) bool
	pos   event.Pos   // of events that have none of their own
	one   event.Event // that is yielded
	err   error       // after it nothing is yielded: errStop, or why a program cannot be defined

	notes      notes
	hidden     notes
	unlessPlan notes // hidden, unless the capture turns out to be a plan
}

func newEvents() *events {
	return &events{notes: notes{}, hidden: notes{}, unlessPlan: notes{}}
}

// tell yields a copy of an event.
func (e *events) tell(one *event.Event) {
	if e.err != nil {
		return
	}
	if e.one = *one; one.Pos == (event.Pos{}) {
		e.one.Pos = e.pos
	}
	if !e.yield(&e.one, nil) {
		e.err = errStop
	}
}

// tellNotes yields the counts of the notes.
func (e *events) tellNotes(plan bool) {
	if !plan {
		e.hidden.addAll(e.unlessPlan)
	}
	for _, one := range slices.Concat(e.hidden.events(event.KindHidden, e.pos), e.notes.events(event.KindAnomaly, e.pos)) {
		e.tell(one)
	}
}
