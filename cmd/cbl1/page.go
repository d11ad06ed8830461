package main

import (
	"errors"
	"io"
	"slices"

	"github.com/cbl1/cbl1/internal/answers/compare"
	"github.com/cbl1/cbl1/internal/pictures/page"
	"github.com/cbl1/cbl1/replay"
)

// runPage writes a page about inputs. If one of them cannot be read nothing is written.
func runPage(c *request, args []string) error {
	if c.to == "" && columns(c.out) > 0 {
		return errors.New("a page is HTML: name the file to write with -o, or - for the terminal")
	}
	for _, input := range append(slices.Clip(args), c.against) {
		if err := c.checkOutput(c.to, input); err != nil {
			return err
		}
	}
	c.replay.Buffers, c.replay.Groups, c.replay.OnePeak, c.replay.Timeline, c.replay.Moments = true, true, true, true, page.Moments
	var (
		results []*replay.Result
		runs    []*compare.Run
		d       *compare.Diff
	)
	err := c.each(args, func(r *replay.Result) error {
		results = append(results, r)
		if c.against != "" {
			runs = append(runs, compare.Of(r))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.against != "" {
		old, err := c.runs(c.against)
		if err != nil {
			return err
		}
		d = compare.Compare(old, runs, compare.Terms{Accept: c.accept})
	}
	return c.output(func(w io.Writer) error { return page.Write(w, results, c.terms, d) })
}
