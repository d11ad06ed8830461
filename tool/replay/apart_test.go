package replay

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// RunApart is Run with a row for each device, whatever they have in common.
func RunApart(file string, events iter.Seq2[*event.Event, error], opt Options) (*answer.Result, error) {
	return drive(newReplay(file, opt), events, func(r *replay) {
		clear(r.rows.fresh)
		for _, d := range slices.Clone(r.rows.All()) {
			for d.members.Len() > 1 {
				r.rows.Part(d, []device.ID{d.members.Last()})
			}
		}
	})
}

// RunForgetful is Run that looks for what it can forget after every event.
func RunForgetful(file string, events iter.Seq2[*event.Event, error], opt Options) (*answer.Result, error) {
	r := newReplay(file, opt)
	r.catalogue.patience = -1 << 30
	return drive(r, events, func(*replay) {})
}

// drive is Run with something behind each event.
func drive(r *replay, events iter.Seq2[*event.Event, error], behind func(*replay)) (*answer.Result, error) {
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if err := r.event(e); err != nil {
			return nil, err
		}
		behind(r)
	}
	return r.finish()
}
