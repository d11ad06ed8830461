package main

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/pictures/export"
	"github.com/cbl1/cbl1/replay"
)

func askExport(c *request) error {
	if c.to == "" {
		return errors.New("name the file to write with -o, or - for standard output")
	}
	c.replay.GroupsAt = c.opt.At
	return nil
}

// result replays the events.
func (c *request) result(name string, events iter.Seq2[*event.Event, error]) (*replay.Result, error) {
	r, err := replay.Run(name, events, c.replay)
	if err == nil && !r.Log {
		err = c.agrees(r.Spec.Spec)
	}
	if err != nil {
		c.refuse(err)
	}
	if err != nil || c.ended(r) {
		return nil, errUnreadable
	}
	return r, nil
}

func pprof(c *request, args []string) error {
	c.replay.Groups = !c.at.OK
	return c.file(args, func(events iter.Seq2[*event.Event, error], w io.Writer) error {
		r, err := c.result(args[0], events)
		if err != nil {
			return err
		}
		m, ok := export.AtPeak(r)
		if c.at.OK {
			m, ok = export.After(r, c.at.V)
		}
		if !ok {
			c.complain(fmt.Errorf("%s: nothing is known to have been in L1", args[0]))
			return errNo
		}
		return export.Pprof(w, m)
	})
}

func perfetto(c *request, args []string) error {
	c.opt.Ahead, c.opt.Operations, c.replay.Timeline = true, true, true
	return c.file(args, func(events iter.Seq2[*event.Event, error], w io.Writer) error {
		t := export.NewTrace(w, args[0])
		r, err := c.result(args[0], t.Through(events))
		if err != nil {
			return err
		}
		return t.Finish(r)
	})
}
