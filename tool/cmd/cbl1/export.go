package main

import (
	"errors"
	"io"
	"slices"

	"github.com/cbl1/cbl1/tool/internal/pictures/export"
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
		s.events = t.Through(s.events)
		return c.replayAll(slices.Values([]source{s}), t.Finish)
	}}, err
}
