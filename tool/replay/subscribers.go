package replay

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// subscribers answer questions of Options while events go by. One is there only for a question in Options. It adds
// the calls that it needs. What it knows of a row is in the row.
type subscribers struct {
	before     []func(next *event.Event, rows *rows, marker *marker)       // an event is next; nil: there is none
	met        []func(d *row)                                              // a row has new devices, or another mode
	back       []func(d *row, spec l1.Spec)                                // a row has devices again
	launched   []func(moment uint64, all []launch)                         // programs were enqueued
	registered []func(rows []*row, def *source.Definition, e *event.Event) // a recording has CBs, which stay
	laid       []func(d *row, given fit.Buffer, b *buffer)                 // a buffer lies on a row
	gone       []func(d *row, b *buffer, now source.When)                  // a buffer is gone, nil: all are
	changed    []func(rows []*row, now source.When)                        // an event has changed rows
	finish     []func(out *answer.Result, rows *rows, spec answer.Spec)    // the Result, with its Spec
}

// after adds a call that comes once: with the state after a node, or at the end.
func (s *subscribers) after(node event.Opt[uint64], do func(rows *rows, marker *marker)) {
	done := false
	s.before = append(s.before, func(next *event.Event, rows *rows, marker *marker) {
		if !done && (next == nil || beyond(node, next)) {
			done = true
			do(rows, marker)
		}
	})
}
