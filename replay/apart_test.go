package replay

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// RunApart is Run with a row for each device, whatever they have in common.
func RunApart(file string, events iter.Seq2[*event.Event, error], opt Options) (*Result, error) {
	r := newReplay(file, opt)
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if err := r.event(e); err != nil {
			return nil, err
		}
		clear(r.fresh)
		for _, d := range slices.Clone(r.all) {
			for d.members.len() > 1 {
				r.part(d, []device.ID{d.members.last()})
			}
		}
	}
	return r.finish()
}

// RunForgetful is Run that looks for what it can forget after every event.
func RunForgetful(file string, events iter.Seq2[*event.Event, error], opt Options) (*Result, error) {
	return run(file, events, opt, -1<<30)
}
