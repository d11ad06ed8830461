package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

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

func pprof(c *request, names []string) (o reply, err error) {
	c.replay.Groups = !c.at.OK
	s, err := c.source(names)
	if err != nil {
		return o, err
	}
	err = c.replayAll(slices.Values([]source{s}), func(r *replay.Result) error {
		if c.ended(r) {
			return nil
		}
		m, ok := export.AtPeak(r)
		if c.at.OK {
			m, ok = export.After(r, c.at.V)
		}
		if !ok {
			o.no = fmt.Errorf("%s: nothing is known to have been in L1", s.name)
		}
		o.file = func(w io.Writer) error { return export.Pprof(w, m) }
		return nil
	})
	return o, err
}

func perfetto(c *request, names []string) (reply, error) {
	c.opt.Operations, c.replay.Timeline = true, true
	s, err := c.source(names)
	return reply{file: func(w io.Writer) error {
		t := export.NewTrace(w, s.name)
		s.events = t.Through(s.events)
		return c.replayAll(slices.Values([]source{s}), t.Finish)
	}}, err
}
