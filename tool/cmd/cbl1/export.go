package main

import (
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/pictures/export"
	"github.com/cbl1/cbl1/tool/tensor"
)

func askExport(c *request) error {
	if c.to == "" {
		return errors.New("name the file to write with -o, or - for standard output")
	}
	return nil
}

func perfetto(c *request, names []string) (reply, error) {
	c.opt.Operations, c.replay.Timeline = true, true
	s, err := c.source(names)
	return reply{file: func(w io.Writer) error {
		t := export.NewTrace(w, s.name)
		events := s.events
		s.events = func(to *tensor.Table) iter.Seq2[*event.Event, error] { return t.Through(events(to)) }
		return c.replayAll(slices.Values([]source{s}), t.Finish)
	}}, err
}
