package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
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

	// Allocations of buffers in L1 from before the capture without a known place, by their nodes, and these nodes by the
	// id that they name. Such an event waits until a program runs beside its buffer.
	absent map[uint64]*event.Event
	beside map[device.ID][]uint64
}

func newEvents() *events {
	return &events{notes: notes{}, hidden: notes{}, unlessPlan: notes{}, absent: map[uint64]*event.Event{}, beside: map[device.ID][]uint64{}}
}

// emit yields a copy of an event.
func (e *events) emit(one *event.Event) {
	if e.err != nil {
		return
	}
	if e.one = *one; one.Pos == (event.Pos{}) {
		e.one.Pos = e.pos
	}
	if !e.yield(&e.one, nil) {
		e.err = graph.ErrStop
	}
}

// emitAbsent yields the allocations that wait for the first program of some units.
func (e *events) emitAbsent(m *survey.Members, first []*unit) {
	var nodes []uint64
	for _, u := range first {
		for id := range m.Above(u.id) {
			nodes = append(nodes, e.beside[id]...)
			delete(e.beside, id)
		}
	}
	slices.Sort(nodes)
	for _, node := range nodes {
		if one := e.absent[node]; one != nil {
			e.emit(one)
			delete(e.absent, node)
		}
	}
}

// emitNotes yields the counts of the notes.
func (e *events) emitNotes(plan bool) {
	if !plan {
		e.hidden.addAll(e.unlessPlan)
	}
	e.hidden.emit(event.KindHidden, e)
	e.notes.emit(event.KindAnomaly, e)
}
