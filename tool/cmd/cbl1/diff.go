package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

func compareSides(c *request, names []string) (reply, error) {
	t := diff.Terms{Accept: c.terms.Accept, MaxGrowth: c.growth}
	if len(names) == 1 {
		return c.compareNeighbours(names[0], t)
	}
	d, err := c.diff(names[0], names[1], t)
	if err != nil {
		return reply{}, err
	}
	return answerOf(d), nil
}

// compareNeighbours compares each dump of a folder with the one before it. The worst answer counts.
func (c *request) compareNeighbours(folder string, t diff.Terms) (last reply, err error) {
	c.replay.Buffers, c.replay.Groups = true, true
	runs, err := c.runs(folder)
	if err != nil {
		return last, err
	}
	if len(runs) < 2 {
		return last, fmt.Errorf("%s: neighbours are compared, and this is one run alone: cbl1 diff OLD NEW", folder)
	}
	for i := range runs[1:] {
		d := diff.Compare(runs[i:i+1], runs[i+1:i+2], t)
		if !d.TensorsOnly() {
			return last, fmt.Errorf("%s: neighbours are compared in a folder of dumps alone: cbl1 diff OLD NEW", folder)
		}
		if i > 0 {
			if err := c.print(last); err != nil {
				return last, err
			}
		}
		worst := last.answer
		if last = answerOf(d); i > 0 && worst != answer.Fits {
			last.answer = worst
		}
	}
	return last, nil
}

// answerOf returns the answer about two sides.
func answerOf(d *diff.Document) reply {
	o := reply{Output: render.Diff(d), answer: answer.Fits}
	switch {
	case d.Growth != nil && d.Growth.Exceeded:
		o.answer = answer.DoesNotFit
	case d.TensorsOnly(): // nothing that they could show is hidden
	case d.Sides.Old.Answer == answer.CannotTell || d.Sides.New.Answer == answer.CannotTell:
		o.answer = answer.CannotTell
	}
	return o
}

// diff compares two inputs. If one of them cannot be read, or in part, nothing is compared.
func (in *inputs) diff(old, new string, t diff.Terms) (*diff.Document, error) {
	in.replay.Buffers, in.replay.Groups = true, true
	before, err := in.runs(old)
	after, other := in.runs(new)
	if err = errors.Join(err, other); err != nil {
		return nil, err
	}
	return diff.Compare(before, after, t), nil
}

// runs reads one side.
func (in *inputs) runs(arg string) (runs []*diff.Run, err error) {
	text, err := in.savedReport(arg)
	if err != nil {
		in.refuse(arg, missing(arg, fileError(arg, err)))
		return nil, errUnreadable
	}
	if text != nil {
		defer func() { _ = text.Close() }() // open for reading only
		name := arg
		if arg == "-" {
			name = "stdin"
		}
		if runs, err = diff.Decode(text, name); err != nil {
			in.refuse(arg, err)
			return nil, errUnreadable
		}
		return runs, nil
	}
	err = in.each([]string{arg}, func(r *answer.Result) error {
		runs = append(runs, diff.Of(r))
		return nil
	})
	if err == nil && len(runs) == 0 {
		err = fmt.Errorf("%s: nothing to compare", arg)
	}
	return runs, err
}

// savedReport opens an input if it is a saved report; nil if it is something else, or is not
// there.
func (in *inputs) savedReport(arg string) (io.ReadCloser, error) {
	const enough = 4 << 10
	if arg == "-" {
		r := bufio.NewReaderSize(in.in, enough)
		in.in = r
		head, err := r.Peek(enough)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if !diff.IsReport(head) {
			return nil, nil
		}
		return io.NopCloser(r), nil
	}
	f, err := in.openRegular(arg)
	if f == nil {
		return nil, err
	}
	head := make([]byte, enough)
	n, _ := io.ReadFull(f, head) // what cannot be read is no report
	if _, err := f.Seek(0, io.SeekStart); err != nil || !diff.IsReport(head[:n]) {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
