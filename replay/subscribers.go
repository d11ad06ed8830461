package replay

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// subscribers answer questions of Options while events go by. One is there only for a question in Options. It adds
// the calls that it needs, and keeps its own data for each row.
type subscribers struct {
	before     []func(next *event.Event, rows *rows, marker *marker)           // an event is next; nil: there is none
	met        []func(d *row)                                                  // a row has new devices, or another mode
	back       []func(d *row, spec l1.Spec)                                    // a row has devices again
	launched   []func(moment uint64, all []launch)                             // programs were enqueued
	registered []func(rows []*row, def *definition, e *event.Event)            // a recording has CBs, which stay
	laid       []func(d *row, given fit.Buffer, b *buffer)                     // a buffer lies on a row
	gone       []func(d *row, b *buffer, now when)                             // a buffer is gone, nil: all are
	changed    []func(rows []*row, now when)                                   // an event has changed rows
	part       []func(d, other *row)                                           // some devices of a row have another one now
	device     []func(out *Result, d *row, id event.Opt[uint64], on *DeviceL1) // one of the Result; on may be nil
	finish     []func(out *Result, rows *rows, spec Spec)                      // the Result, with its Spec
}

// A groupsAt keeps what lay on every device after the node of Options.GroupsAt.
type groupsAt struct {
	node uint64
	done bool
}

// before keeps it if an event is the first beyond the node.
func (g *groupsAt) before(next *event.Event, rows *rows, marker *marker) {
	if g.done || next != nil && !beyond(event.Some(g.node), next) {
		return
	}
	g.done = true
	for _, d := range rows.All() {
		d.marks.after = marker.past(d)
	}
}
