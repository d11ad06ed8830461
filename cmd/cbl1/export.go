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

func pprof(c *request, args []string) error {
	c.replay.Groups = !c.at.OK
	return c.file(args, func(s source, w io.Writer) error {
		return c.replayAll(slices.Values([]source{s}), func(r *replay.Result) error {
			m, ok := export.AtPeak(r)
			if c.at.OK {
				m, ok = export.After(r, c.at.V)
			}
			switch {
			case c.ended(r):
				return nil
			case !ok:
				c.complain(fmt.Errorf("%s: nothing is known to have been in L1", s.name))
				return errNo
			}
			return export.Pprof(w, m)
		})
	})
}

func perfetto(c *request, args []string) error {
	c.opt.Ahead, c.opt.Operations, c.replay.Timeline = true, true, true
	return c.file(args, func(s source, w io.Writer) error {
		t := export.NewTrace(w, s.name)
		s.events = t.Through(s.events)
		return c.replayAll(slices.Values([]source{s}), t.Finish)
	})
}
