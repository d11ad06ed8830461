package main

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/pictures/export"
	"github.com/cbl1/cbl1/tool/internal/pictures/page"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
	"github.com/cbl1/cbl1/tool/tensor"
)

func askPage(c *request) error {
	if c.to == "" && columns(c.out) > 0 {
		return errors.New("a page is HTML: name the file to write with -o, or - for the terminal")
	}
	return cmp.Or(c.checkOutput([]string{c.against}), c.readTerms())
}

// writePage writes a page about inputs. If one of them cannot be read nothing is written.
func writePage(c *request, names []string) (reply, error) {
	c.replay.Buffers, c.replay.Groups, c.replay.OnePeak, c.replay.Timeline, c.replay.Moments = true, true, true, true, page.Moments
	var (
		results []*answer.Result
		runs    []*diff.Run
		d       *diff.Document
	)
	err := c.each(names, func(r *answer.Result) error {
		results = append(results, r)
		if c.against != "" {
			runs = append(runs, diff.Of(r))
		}
		return nil
	})
	if err == nil && c.against != "" {
		var old []*diff.Run
		if old, err = c.runs(c.against); err == nil {
			d = diff.Compare(old, runs, diff.Terms{Accept: c.terms.Accept})
		}
	}
	return reply{file: func(w io.Writer) error { return page.Write(w, results, c.terms, d) }}, err
}

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
